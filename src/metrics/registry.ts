import type { Declarations } from './declaration.ts';
import { Family, type FamilyOf, type Series } from './family.ts';
import { INVENTORY } from './inventory.ts';
import { EVERY_METRIC, type MetricSelection } from './selection.ts';
import { type FamilyHead, familyPieces } from './text.ts';
import { TimeSlice } from '../util/time-slice.ts';

/** A family as it is shown: under its own name, or a former one. */
export interface ShownFamily extends FamilyHead {
  family: Family<Series>;
}

/** The metrics of one server: one family for each declaration of an inventory. */
export class MetricRegistry<D extends Declarations = typeof INVENTORY> {
  readonly selection: MetricSelection;
  readonly #families = new Map<string, Family<Series>>();
  readonly #collectors: (() => void)[] = [];
  /** Called for each label value that the selection does not allow. */
  onUnexpectedValue: () => void = () => {};

  constructor(selection: MetricSelection = EVERY_METRIC, inventory: D = INVENTORY as Declarations as D) {
    this.selection = selection;
    for (const [name, declaration] of Object.entries(inventory)) {
      const allowed = selection.allowedValues.get(name);
      const limit = allowed && { allowed, onUnexpected: () => this.onUnexpectedValue() };
      // What is not shown takes no memory either.
      this.#families.set(name, new Family(name, declaration, { ...(selection.disabled.has(name) && { maxSeries: 0 }), ...(limit && { limit }) }));
    }
  }

  /** Where a metric is counted. */
  family<N extends keyof D & string>(name: N): FamilyOf<D[N]> {
    return this.#families.get(name) as unknown as FamilyOf<D[N]>;
  }

  /** Runs before each scrape, for values that are read only when asked for. */
  onCollect(collector: () => void): void {
    this.#collectors.push(collector);
  }

  /** Prometheus' text format 0.0.4; families without a series are left out. */
  print(): string {
    let text = '';
    for (const shown of this.gather()) for (const piece of familyPieces(shown)) text += piece;
    return text;
  }

  /** The same, in slices of the thread's time: a thousand custom resources have a hundred thousand lines. */
  async printInSlices(): Promise<string> {
    const slice = new TimeSlice();
    let text = '';
    for (const shown of this.gather()) {
      for (const piece of familyPieces(shown)) {
        text += piece;
        if (slice.isSpent) await slice.next();
      }
    }
    return text;
  }

  /** The families that are shown, by name, with what is read only when asked for. */
  gather(): ShownFamily[] {
    for (const collect of this.#collectors) collect();
    return this.#shownFamilies().map((family) => shownFamily(family, this.#families));
  }

  /** How many metrics there are that are shown or could be, by stability and the version that deprecated them. */
  countShown(): Map<readonly [stability: string, deprecatedVersion: string], number> {
    const counts = new Map<string, [readonly [string, string], number]>();
    for (const { declaration } of this.#shownFamilies()) {
      const { stability, deprecatedVersion = '' } = declaration;
      const count = counts.get(`${stability} ${deprecatedVersion}`);
      counts.set(`${stability} ${deprecatedVersion}`, [[stability, deprecatedVersion], (count?.[1] ?? 0) + 1]);
    }
    return new Map(counts.values());
  }

  /** How many metrics are not shown. */
  countHidden(): number {
    return this.#families.size - this.#shownFamilies().length;
  }

  /** Begins anew. */
  reset(): void {
    for (const family of this.#families.values()) family.reset();
  }

  #shownFamilies(): Family<Series>[] {
    const { disabled, showsHidden } = this.selection;
    return [...this.#families.values()]
      .filter(({ name, declaration: { deprecatedVersion, valuesOf } }) => {
        if (disabled.has(name) || (valuesOf !== undefined && disabled.has(valuesOf))) return false;
        return deprecatedVersion === undefined || showsHidden;
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

function shownFamily(family: Family<Series>, families: ReadonlyMap<string, Family<Series>>): ShownFamily {
  const { name, declaration } = family;
  const { type, stability, deprecatedVersion, valuesOf } = declaration;
  const deprecation = deprecatedVersion === undefined ? '' : `(Deprecated since ${deprecatedVersion}) `;
  return {
    name,
    type,
    help: `[${stability}] ${deprecation}${declaration.help}`,
    buckets: declaration.buckets,
    family: valuesOf === undefined ? family : families.get(valuesOf)!,
  };
}
