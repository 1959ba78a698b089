import type { Json } from '../encoding/json-types.ts';
import { Pending, settled } from '../util/pending.ts';
import { TimeSlice, nextTurn } from '../util/time-slice.ts';

/** Items of a list that are decoded before it is asked whether others are to have their turn. */
export const ITEMS_AT_ONCE = 64;

/** Decodes what may be large: others have their turn meanwhile. */
export function decodeInRuns<T>(decodeIn: (run: DecodeRun) => T): T | Promise<T> {
  const run = new DecodeRun();
  return settled(() => {
    run.begin();
    return decodeIn(run);
  });
}

/**
 * A decoding that others have their turn during. The decoder is plain recursion, which cannot wait: where its slice is spent it throws Pending, and is run
 * again from the top. What it had made of long lists by then is kept here, so that only the fields on the way down are read twice.
 */
export class DecodeRun {
  /** The first mismatch of any run: the decoding goes on behind it. */
  firstError: string | undefined;
  /** Of each list, once for every place that it stands in. */
  readonly #decoded = new Map<readonly Json[], Json[][]>();
  /** How many of those places this run has come by. */
  readonly #places = new Map<readonly Json[], number>();
  #slice: TimeSlice | undefined;
  #kept: unknown;

  begin(): void {
    this.#places.clear();
    this.#slice = undefined;
  }

  end(firstError: string | undefined): void {
    this.firstError = firstError;
  }

  /** What a decoder has from its first run to its last. */
  keep<T>(make: () => T): T {
    return (this.#kept ??= make()) as T;
  }

  /** What was made of a list so far; to be added to. */
  itemsOf(list: readonly Json[]): Json[] {
    const place = this.#places.get(list) ?? 0;
    this.#places.set(list, place + 1);
    const lists = this.#decoded.get(list) ?? [];
    this.#decoded.set(list, lists);
    return (lists[place] ??= []);
  }

  /** Time counts from the first item that is new: each run gets on. */
  pauseIfSpent(): void {
    if (this.#slice === undefined) this.#slice = new TimeSlice();
    else if (this.#slice.isSpent) throw new Pending(nextTurn());
  }
}
