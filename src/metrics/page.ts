import { DeflatedBlock } from '../encoding/gzip-blocks.ts';
import type { MetricType } from './declaration.ts';
import type { LabelledSeries } from './family.ts';

export interface FamilyHead {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly labels: readonly string[];
  readonly buckets: readonly number[];
}

/** What metrics are written in. A family is its head and its series, in one part or in several. */
export interface ExpositionFormat {
  /** As upstream names it. */
  readonly contentType: string;
  head(head: FamilyHead, seriesBytes: number): Buffer;
  series(head: FamilyHead, series: readonly LabelledSeries[]): Buffer;
}

/** Shorter pages are printed anew. */
const KEPT_BYTES = 16 * 1024;

/**
 * Some neighbouring series of a family. What was printed is kept until one of them changes: a thousand custom resources that are in use have half a million
 * lines, few of which change from scrape to scrape. Compressed, they take a fortieth of the memory, and can be sent as they are.
 */
export class SeriesPage {
  readonly series: readonly LabelledSeries[];
  /** By format and name of the metric, which may have a former name too. */
  readonly #printed = new Map<string, DeflatedBlock>();

  constructor(series: readonly LabelledSeries[]) {
    this.series = series;
  }

  consistsOf(series: readonly LabelledSeries[]): boolean {
    return series.length === this.series.length && series.every((one, index) => one === this.series[index]);
  }

  shown(): readonly LabelledSeries[] {
    return this.series.filter(({ series }) => series.isShown);
  }

  print(head: FamilyHead, format: ExpositionFormat): Buffer | DeflatedBlock {
    if (this.#takeChange()) this.#printed.clear();
    const key = `${head.name} ${format.contentType}`;
    const printed = this.#printed.get(key);
    if (printed !== undefined) return printed;
    const bytes = format.series(head, this.shown());
    if (bytes.length < KEPT_BYTES) return bytes;
    const block = new DeflatedBlock(bytes);
    this.#printed.set(key, block);
    return block;
  }

  #takeChange(): boolean {
    let hasChanged = false;
    for (const { series } of this.series) {
      hasChanged ||= series.hasChanged;
      series.hasChanged = false;
    }
    return hasChanged;
  }
}
