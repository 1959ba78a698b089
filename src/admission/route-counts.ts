import type { Durations } from './metrics.ts';

/**
 * Counts the calls of plug-ins that are not asked, since nothing of the target concerns them: upstream asks them all, and each returns at once. Here it is
 * one addition a write, which is given to the plug-ins' own metrics when somebody looks.
 */
export class RouteCounts {
  /** Writes that all who were asked let through, since the last collection. */
  passed = 0;
  /** Of those who are asked, by place: how often they refused since then. */
  readonly #refusals = new Map<number, number>();
  /** All that are counted, in order. */
  readonly #called: readonly Durations[];
  readonly #asked: readonly (Durations | undefined)[];

  constructor(called: readonly Durations[], asked: readonly (Durations | undefined)[]) {
    this.#called = called;
    this.#asked = asked;
  }

  /** The one at this place among the asked refused: nobody behind it is called. */
  refused(place: number): void {
    this.#refusals.set(place, (this.#refusals.get(place) ?? 0) + 1);
  }

  collect(): void {
    this.#give(this.passed, this.#called.length);
    for (const [place, times] of this.#refusals) this.#give(times, this.#countedBefore(place));
    this.passed = 0;
    this.#refusals.clear();
  }

  #give(times: number, until: number): void {
    if (times === 0) return;
    const asked = new Set(this.#asked);
    for (const durations of this.#called.slice(0, until)) if (!asked.has(durations)) durations.passed(times);
  }

  /** How many of the counted stand before who is asked at this place; a check stands behind all of them. */
  #countedBefore(place: number): number {
    const refusing = this.#asked[place];
    const index = refusing === undefined ? -1 : this.#called.indexOf(refusing);
    return index === -1 ? this.#called.length : index;
  }
}
