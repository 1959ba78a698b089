import type { FlagType } from './types.ts';

/**
 * What a flag does. `works`: what upstream's does. `noEffect`: accepted, with a warning that says why there is nothing here for it to change.
 */
type FlagState = { readonly is: 'works' } | { readonly is: 'noEffect'; readonly reason: string };

export interface Flag<Value, Suffix extends string = string> {
  readonly type: FlagType<Value, Suffix>;
  readonly default: Value;
  /** One sentence or more; after a line break come details that only `--help` shows. */
  readonly help: string;
  readonly state: FlagState;
  readonly short?: string;
  /** What to use instead; a deprecated flag still does its work. */
  readonly deprecated?: string;
  /** Accepted, but not listed by `--help`. */
  readonly isHidden: boolean;
}

interface FlagDetails<Value> {
  default?: Value;
  noEffect?: string;
  short?: string;
  deprecated?: string;
  isHidden?: boolean;
}

export type AnyFlag = Flag<unknown>;

/** A named group of flags, as `--help` shows them: the key is the flag's name. */
export interface FlagSet<Flags extends Record<string, AnyFlag> = Record<string, AnyFlag>> {
  readonly title: string;
  readonly flags: Flags;
}

const stateOf = ({ noEffect }: { noEffect?: string }): FlagState => (noEffect === undefined ? { is: 'works' } : { is: 'noEffect', reason: noEffect });

export function flag<Value, Suffix extends string>(type: FlagType<Value, Suffix>, help: string, details: FlagDetails<Value> = {}): Flag<Value, Suffix> {
  const { short, deprecated, isHidden = false } = details;
  return {
    type,
    help,
    default: details.default ?? type.zero,
    state: stateOf(details),
    isHidden,
    ...(short !== undefined && { short }),
    ...(deprecated !== undefined && { deprecated }),
  };
}

export const flagSet = <Flags extends Record<string, AnyFlag>>(title: string, flags: Flags): FlagSet<Flags> => ({ title, flags });

/** The line that a user sees who sets a flag that does nothing. */
export const stateWarning = (name: string, { state }: AnyFlag): string | undefined =>
  state.is === 'noEffect' ? `--${name} has no effect here: ${state.reason}` : undefined;
