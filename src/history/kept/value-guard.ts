import type { HandedChange } from './kept-history.ts';
import type { KeptVersion } from './history-reader.ts';

/** What becomes of values that are not to be kept as they are. */
export interface ValueGuard {
  /** Whether the objects at this key are kept as they are stored. */
  isPlain(key: string): boolean;
  /** What is kept of a change's versions. `before`: what is kept of the version before it, where something is. */
  guard(change: HandedChange, before: KeptVersion | undefined): Promise<GuardedChange>;
  /** The stored value of what was sealed. */
  open(key: string, value: Buffer): Promise<Buffer>;
}

export interface GuardedChange {
  previous: Buffer | undefined;
  value: Buffer | undefined;
  isSealed: boolean;
}
