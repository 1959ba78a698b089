import type { Json } from '../util/json-types.ts';
import { Pending } from '../util/pending.ts';
import { TimeSlice, nextTurn } from '../util/time-slice.ts';

/** Items of a list that are decoded before it is asked whether others are to have their turn. */
export const ITEMS_AT_ONCE = 64;

/**
 * A decoding that others have their turn during. The decoder is plain recursion, which cannot wait: where its slice is spent it throws Pending, and is run
 * again from the top. What it had made of long lists by then is kept here, so that only the fields on the way down are read twice.
 */
export class DecodeRun {
  /** The first mismatch of any run: the decoding goes on behind it. */
  firstError: string | undefined;
  readonly #decoded = new Map<readonly Json[], Json[]>();
  readonly #taken = new Set<readonly Json[]>();
  #slice: TimeSlice | undefined;

  begin(): void {
    this.#taken.clear();
    this.#slice = undefined;
  }

  end(firstError: string | undefined): void {
    this.firstError = firstError;
  }

  /** What was made of a list so far; to be added to. A list that stands in two places is decoded for each. */
  itemsOf(list: readonly Json[]): Json[] {
    if (this.#taken.has(list)) return [];
    this.#taken.add(list);
    let items = this.#decoded.get(list);
    if (items === undefined) this.#decoded.set(list, (items = []));
    return items;
  }

  /** Time counts from the first item that is new: each run gets on. */
  pauseIfSpent(): void {
    if (this.#slice === undefined) this.#slice = new TimeSlice();
    else if (this.#slice.isSpent) throw new Pending(nextTurn());
  }
}
