/** Fewer are not looked through for what may go. */
const KEPT_MIN = 1_024;

/**
 * At which revisions an object came to have, had or ceased to have a value: the way from a value to the changes in history that concern it. Holds numbers
 * only, so that history alone decides how long changes are kept.
 */
export class RevisionLog {
  /** All changes after this revision were noted. */
  readonly since: number;
  readonly #byValue = new Map<string, number[]>();
  #count = 0;
  #trimAt = KEPT_MIN;

  constructor(since: number) {
    this.since = since;
  }

  add(value: string, revision: number): void {
    const revisions = this.#byValue.get(value);
    if (revisions === undefined) this.#byValue.set(value, [revision]);
    else if (revisions.at(-1) === revision) return;
    else revisions.push(revision);
    this.#count++;
  }

  /** The revisions after `revision` that concern one of the values, ascending, each once. */
  after(revision: number, values: readonly string[]): number[] {
    const found = values.map((value) => {
      const revisions = this.#byValue.get(value) ?? [];
      return revisions.slice(firstAfter(revisions, revision));
    });
    return found.length === 1 ? found[0]! : [...new Set(found.flat())].toSorted((a, b) => a - b);
  }

  /** Forgets what history has forgotten; costs nothing while there is little of it. */
  trim(base: number): void {
    if (this.#count < this.#trimAt) return;
    this.#count = 0;
    for (const [value, revisions] of this.#byValue) {
      const gone = firstAfter(revisions, base);
      if (gone === revisions.length) this.#byValue.delete(value);
      else if (gone > 0) this.#byValue.set(value, revisions.slice(gone));
      this.#count += revisions.length - gone;
    }
    this.#trimAt = Math.max(KEPT_MIN, this.#count * 2);
  }
}

/** The place of the first that is greater. */
function firstAfter(revisions: readonly number[], revision: number): number {
  let low = 0;
  let high = revisions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (revisions[middle]! <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
