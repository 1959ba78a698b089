import { admission } from './admission.ts';
import { apiEnablement } from './api-enablement.ts';
import { auditing } from './auditing.ts';
import { authentication } from './authentication.ts';
import { authorization } from './authorization.ts';
import { binnacle } from './binnacle.ts';
import { egressSelector } from './egress-selector.ts';
import { etcd } from './etcd.ts';
import { features } from './features.ts';
import type { AnyFlag, Flag, FlagSet } from './flag.ts';
import { generic } from './generic.ts';
import { global } from './global.ts';
import { logs } from './logs.ts';
import { metrics } from './metrics.ts';
import { misc } from './misc.ts';
import { secureServing } from './secure-serving.ts';
import { traces } from './traces.ts';

/** Every flag by its set, in the order in which `--help` shows them: upstream's 15 sets and our own. */
export const flagSets = [
  generic,
  etcd,
  secureServing,
  auditing,
  features,
  authentication,
  authorization,
  apiEnablement,
  egressSelector,
  admission,
  metrics,
  logs,
  traces,
  misc,
  binnacle,
  global,
] as const satisfies readonly FlagSet[];

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;
type OptionName<Name extends string, F> = F extends Flag<infer _, infer Suffix> ? `${CamelCase<Name>}${Suffix}` : never;
type OptionsOf<Flags> = { [Name in keyof Flags & string as OptionName<Name, Flags[Name]>]: Flags[Name] extends Flag<infer Value> ? Value : never };
type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (member: infer All) => void ? All : never;

type AllFlags = Intersection<(typeof flagSets)[number]['flags']>;
export type FlagName = keyof AllFlags & string;

/** The values of all flags: `--request-timeout` is `requestTimeoutMs`. The types and the units come from the tables of flags. */
export type Options = OptionsOf<AllFlags>;

const camelCase = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
export const optionName = (name: string, flag: AnyFlag): keyof Options => `${camelCase(name)}${flag.type.suffix}` as keyof Options;

export const flagsByName: ReadonlyMap<string, AnyFlag> = new Map(flagSets.flatMap(({ flags }): [string, AnyFlag][] => Object.entries(flags)));

const DEFAULTS = Object.fromEntries(Array.from(flagsByName, ([name, flag]) => [optionName(name, flag), flag.default])) as Options;

export const defaultOptions = (): Options => ({ ...DEFAULTS });

/** Every flag with its value as pflag prints it, by name. */
export function printOptions(options: Options): Record<string, string> {
  const names = [...flagsByName.keys()].toSorted();
  const printed = names.map((name): [string, string] => {
    const flag = flagsByName.get(name)!;
    const value = options[optionName(name, flag)];
    return [name, typeof value === 'string' ? value : flag.type.format(value)];
  });
  return Object.fromEntries(printed);
}
