import type { Random } from '../src/util/test-random.ts';

/** A class that the entry function throws to refuse its input. */
type ErrorClass = abstract new (...args: never[]) => Error;

/** One parser or entry point, as the fuzzer drives it. */
export interface FuzzTarget {
  readonly name: string;
  /** Inputs that are right, or nearly so: what is sent is made of them. */
  seeds(): readonly (Buffer | string)[];
  /** Words of the input's language, of which a mutation puts some in. */
  readonly tokens?: readonly (Buffer | string)[];
  /** Inputs are JSON: most of them are changed in a way that leaves them so. */
  readonly isJson?: boolean;
  /** Most inputs are made by this, which changes one inside of its structure and leaves it well-formed; undefined where the input is not. */
  readonly mutateStructure?: (random: Random, input: Buffer) => Buffer | undefined;
  /** It gives way to others while it runs: what counts is how long it keeps the thread at a time. */
  readonly isSliced?: boolean;
  /** What `run` may throw. Whatever else it throws is a crash; TypeError and RangeError are, unless they are named themselves. */
  readonly refusals: readonly ErrorClass[];
  /** Inputs do not grow beyond this. 4 KiB unless told; 64 KiB where slow inputs are looked for. */
  readonly maxBytes?: number;
  /** Reads the input, of which it may keep or change the bytes. Only this is timed; what it gives back is called afterwards. */
  run(input: Buffer): void | Check | Promise<void | Check>;
}

/** Throws WrongAnswer where the input was accepted and should not have been, or where a second opinion differs. */
export type Check = () => void | Promise<void>;

/** The input was accepted, and should not have been; or two ways to read it have not come to the same. */
export class WrongAnswer extends Error {}

/** The two must be the same text; `what` says of what they are. */
export function mustAgree(what: string, one: string, other: string): void {
  if (one === other) return;
  let at = 0;
  while (one[at] === other[at]) at++;
  const shown = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 60), at + 100));
  throw new WrongAnswer(`${what}: ${shown(one)} and ${shown(other)}`);
}

/** Tokens of a binary language. */
export const bytes = (...texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text, 'latin1'));
