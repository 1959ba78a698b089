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
  /** What `run` may throw. Whatever else it throws is a crash; TypeError and RangeError are, unless they are named themselves. */
  readonly refusals: readonly ErrorClass[];
  /** Inputs do not grow beyond this. 4 KiB unless told; 64 KiB where slow inputs are looked for. */
  readonly maxBytes?: number;
  /** Throws WrongAnswer where the input is accepted that should not be, or where a second opinion differs. It may keep or change the input's bytes. */
  run(input: Buffer): void | Promise<void>;
}

/** The input was accepted, and should not have been; or two ways to read it have not come to the same. */
export class WrongAnswer extends Error {}

/** The two must be the same text; `what` says of what they are. */
export function mustAgree(what: string, one: string, other: string): void {
  if (one !== other) throw new WrongAnswer(`${what}: ${one.slice(0, 300)} and ${other.slice(0, 300)}`);
}

/** Tokens of a binary language. */
export const bytes = (...texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text, 'latin1'));
