/** How long one piece of long work keeps the thread before others have their turn. A GET takes some tens of microseconds. */
const SLICE_MS = 5;

/** Those whose slice is spent, in order. There is one thread, so there is one queue: ten that each had a slice a turn would make a turn of ten slices. */
const waiting: (() => void)[] = [];

/** Clears up after long work, and answers whether that took time: see clearUpBetweenTurns. */
let clearUp: (() => boolean) | undefined;
let hasClearedUp = false;

/** What is done for the whole process between the turns of long work, in a turn of its own. Undefined ends it. */
export function clearUpBetweenTurns(task: (() => boolean) | undefined): void {
  clearUp = task;
}

function beginTurn(): void {
  hasClearedUp = !hasClearedUp && clearUp?.() === true;
  if (hasClearedUp) return void setImmediate(beginTurn);
  const next = waiting.shift()!;
  // An immediate that is set by one runs in the next turn of the event loop: sockets are read in between.
  if (waiting.length > 0) setImmediate(beginTurn);
  next();
}

/** An immediate that is set while sockets are read runs in the same turn, before any other socket is read: the one that it sets comes a turn later. */
const awaitTurn = (): void => void setImmediate(beginTurn);

/** Resolves in a later turn of the event loop, of which no other that waited here has a part. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(awaitTurn);
  });

/**
 * The part of the thread's time that long work has at once, for work that consists of many small steps:
 *
 *     const slice = new TimeSlice();
 *     for (const item of items) {
 *       work(item);
 *       if (slice.isSpent) await slice.next();
 *     }
 */
export class TimeSlice {
  #startMs = performance.now();

  /** Costs some tens of nanoseconds. */
  get isSpent(): boolean {
    return performance.now() - this.#startMs >= SLICE_MS;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#startMs = performance.now();
  }
}

/** Long work that yields where others may have their turn. A step may take a millisecond. */
export type SlicedWork<T> = Generator<void, T, void>;

/** What comes after long work begins with a turn of its own. */
export async function runInSlices<T>(work: SlicedWork<T>): Promise<T> {
  const slice = new TimeSlice();
  let turns = 1;
  for (;;) {
    const { done, value } = work.next();
    if (slice.isSpent || (done && turns > 1)) {
      await slice.next();
      turns++;
    }
    if (done) return value;
  }
}

/** Work of a request: in slices where that is large (LARGE_BYTES), and at once where slices would only cost. */
export const runSliced = <T>(work: SlicedWork<T>, isLarge: boolean | undefined): T | Promise<T> => (isLarge ? runInSlices(work) : runAtOnce(work));

/** The same for who has all the time. */
export function runAtOnce<T>(work: SlicedWork<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
