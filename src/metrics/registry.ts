import type { Declarations } from './declaration.ts';
import { Family, type FamilyOf, type Series } from './family.ts';
import { INVENTORY } from './inventory.ts';
import { EVERY_METRIC, type MetricSelection } from './selection.ts';
import type { ExpositionFormat, FamilyHead } from './page.ts';
import { textFormat } from './text.ts';
import type { DeflatedBlock } from '../encoding/gzip-blocks.ts';
import { TimeSlice } from '../util/time-slice.ts';

const CHUNK_BYTES = 64 * 1024;

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

  /** `isNative`: histograms have native buckets too (the gate NativeHistograms), which pages in protobuf show. */
  constructor(selection: MetricSelection = EVERY_METRIC, inventory: D = INVENTORY as Declarations as D, isNative = false) {
    this.selection = selection;
    for (const [name, declaration] of Object.entries(inventory)) {
      const allowed = selection.allowedValues.get(name);
      const limit = allowed && { allowed, onUnexpected: () => this.onUnexpectedValue() };
      // What is not shown takes no memory either.
      this.#families.set(name, new Family(name, declaration, { isNative, ...(selection.disabled.has(name) && { maxSeries: 0 }), ...(limit && { limit }) }));
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
    for (const { family, ...head } of this.gather()) {
      const series = family.pages().flatMap((page) => page.shown());
      if (series.length > 0) text += `${textFormat.head(head, 0)}${textFormat.series(head, series)}`;
    }
    return text;
  }

  /** The same, in slices of the thread's time. */
  async printInSlices(): Promise<string> {
    let text = '';
    for await (const part of this.printParts(textFormat)) text += Buffer.isBuffer(part) ? part : part.inflate();
    return text;
  }

  /** In slices of the thread's time and parts of a size to be sent. Large families come as what is kept of them. */
  async *printParts(format: ExpositionFormat): AsyncGenerator<Buffer | DeflatedBlock> {
    const slice = new TimeSlice();
    let small: Buffer[] = [];
    let smallBytes = 0;
    for (const { family, ...head } of this.gather()) {
      const parts: (Buffer | DeflatedBlock)[] = [];
      for (const page of family.pages()) {
        parts.push(page.print(head, format));
        if (slice.isSpent) await slice.next();
      }
      const seriesBytes = parts.reduce((sum, { length }) => sum + length, 0);
      if (seriesBytes === 0) continue;
      for (const part of [format.head(head, seriesBytes), ...parts]) {
        const isBlock = !Buffer.isBuffer(part);
        if (!isBlock) smallBytes += small[small.push(part) - 1]!.length;
        if (smallBytes > 0 && (isBlock || smallBytes >= CHUNK_BYTES)) {
          yield Buffer.concat(small);
          small = [];
          smallBytes = 0;
        }
        if (isBlock) yield part;
      }
    }
    yield Buffer.concat(small);
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

  /** Begins anew. What was counted elsewhere until a scrape is of the time before, too. */
  reset(): void {
    for (const collect of this.#collectors) collect();
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
    labels: declaration.labels,
    buckets: declaration.buckets,
    family: valuesOf === undefined ? family : families.get(valuesOf)!,
  };
}
