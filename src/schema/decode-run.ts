import type { Json, JsonObject } from '../encoding/json-types.ts';
import { Pending, settled } from '../util/pending.ts';
import { TimeSlice, nextTurn } from '../util/time-slice.ts';

/** Items of lists and maps that are decoded before it is asked whether others are to have their turn. */
const ITEMS_AT_ONCE = 64;
/** What is made of shorter lists and maps is not kept: to decode them again takes less. */
export const KEPT_FROM = 8;

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
 * again from the top. What it had made of lists and maps by then is kept here, so that only the fields on the way down are read twice.
 */
export class DecodeRun {
  /** The first mismatch of any run: the decoding goes on behind it. */
  firstError: string | undefined;
  /** Of each list and map, once for every place that it stands in. */
  readonly #decoded = new Map<readonly Json[] | JsonObject, unknown[]>();
  /** How many of those places this run has come by. */
  readonly #places = new Map<readonly Json[] | JsonObject, number>();
  #slice: TimeSlice | undefined;
  #itemCount = 0;
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
    return this.#keptOf<Json[]>(list, () => []);
  }

  /** The same of a map whose keys are these. */
  entriesOf(map: JsonObject, keys: readonly string[]): DecodedMap {
    return this.#keptOf<DecodedMap>(map, () => ({ keys, done: 0, map: {} }));
  }

  #keptOf<T>(value: readonly Json[] | JsonObject, make: () => T): T {
    const place = this.#places.get(value) ?? 0;
    this.#places.set(value, place + 1);
    const places = this.#decoded.get(value) ?? [];
    this.#decoded.set(value, places);
    return (places[place] ??= make()) as T;
  }

  /** Before an item that is new. Throws Pending where this run has done some, and its time is spent. */
  beforeItem(): void {
    if (this.#itemCount++ % ITEMS_AT_ONCE > 0) return;
    if (this.#slice === undefined) this.#slice = new TimeSlice();
    else if (this.#slice.isSpent) throw new Pending(nextTurn());
  }
}

export interface DecodedMap {
  readonly keys: readonly string[];
  /** Of the keys, so many are in the map. */
  done: number;
  map: JsonObject;
}
