import type { Declaration, MetricType } from './declaration.ts';
import { NativeBuckets } from './native-buckets.ts';
import { SeriesPage } from './page.ts';
import type { AllowedValues } from './selection.ts';
import { type Sample, labelText } from './text.ts';

/** One metric with certain label values. Whoever counts over and over keeps it: it stays the one that is shown, whatever is reset. */
export interface Series {
  /** Not after a reset, until it is counted again. */
  isShown: boolean;
  /** Since it was last printed. */
  hasChanged: boolean;
  samples(): Sample[];
  reset(): void;
}

/** A counter or a gauge. */
export class NumberSeries implements Series {
  isShown = true;
  hasChanged = true;
  value = 0;
  inc(by = 1): void {
    this.set(this.value + by);
  }
  dec(): void {
    this.set(this.value - 1);
  }
  set(value: number): void {
    if (value === this.value && this.isShown) return;
    this.value = value;
    this.isShown = this.hasChanged = true;
  }
  samples(): Sample[] {
    return [{ suffix: '', value: this.value }];
  }
  reset(): void {
    this.value = 0;
    this.isShown = false;
    this.hasChanged = true;
  }
}

export class HistogramSeries implements Series {
  isShown = true;
  hasChanged = true;
  readonly bounds: readonly number[];
  /** With NativeHistograms: beside the buckets of the declaration. */
  readonly native: NativeBuckets | undefined;
  readonly #counts: number[];
  #sum = 0;
  #count = 0;
  constructor(bounds: readonly number[], isNative = false) {
    this.bounds = bounds;
    this.native = isNative ? new NativeBuckets() : undefined;
    this.#counts = bounds.map(() => 0);
  }

  /** `weight` is how often, or for how long. */
  observe(value: number, weight = 1): void {
    this.isShown = this.hasChanged = true;
    this.#sum += value * weight;
    this.#count += weight;
    if (this.native !== undefined) this.native.observe(value);
    const { bounds } = this;
    for (let i = 0; i < bounds.length; i++) {
      if (value <= bounds[i]!) {
        this.#counts[i]! += weight;
        return;
      }
    }
  }

  samples(): Sample[] {
    let below = 0;
    const buckets = this.bounds.map((bound, i): Sample => {
      below += this.#counts[i]!;
      return { suffix: '_bucket', le: bound, value: below };
    });
    return [
      ...buckets,
      { suffix: '_bucket', le: Infinity, value: this.#count },
      { suffix: '_sum', value: this.#sum },
      { suffix: '_count', value: this.#count },
    ];
  }

  reset(): void {
    this.native?.reset();
    this.#counts.fill(0);
    this.#sum = this.#count = 0;
    this.isShown = false;
    this.hasChanged = true;
  }
}

export class SummarySeries implements Series {
  isShown = true;
  hasChanged = true;
  #sum = 0;
  #count = 0;

  observe(value: number, weight = 1): void {
    this.isShown = this.hasChanged = true;
    this.#sum += value * weight;
    this.#count += weight;
  }

  samples(): Sample[] {
    return [
      { suffix: '_sum', value: this.#sum },
      { suffix: '_count', value: this.#count },
    ];
  }

  reset(): void {
    this.#sum = this.#count = 0;
    this.isShown = false;
    this.hasChanged = true;
  }
}

/** Which series a type of metric has. */
export interface SeriesOf {
  counter: NumberSeries;
  gauge: NumberSeries;
  histogram: HistogramSeries;
  summary: SummarySeries;
}

export type LabelValues<L extends readonly string[]> = { [K in keyof L]: string };

/** What a declaration becomes in a server: where its series are. */
export type FamilyOf<D> = D extends Declaration<infer T, infer L> ? Family<SeriesOf[T], L> : never;

/** Label values that --allow-metric-labels leaves out, and what to do when one comes. */
export interface LabelLimit {
  allowed: AllowedValues;
  onUnexpected: () => void;
}

const MAX_SERIES = 10_000;
const UNEXPECTED = 'unexpected';

/** About so many lines are printed together: 200 kB, half a millisecond. */
const PAGE_LINES = 1024;

/** A series and its labels, whose text is made when it is first printed: of the thousand series of a start, most processes print none. */
export class LabelledSeries<S extends Series = Series> {
  readonly values: readonly string[];
  readonly series: S;
  /** Every so many series, one begins a page, and keeps doing so when others come before and behind it: their pages stay as they are. */
  readonly beginsPage: boolean;
  readonly #labels: readonly string[];
  #pairs: string | undefined;

  constructor(labels: readonly string[], values: readonly string[], series: S, beginsPage: boolean) {
    this.#labels = labels;
    this.values = values;
    this.series = series;
    this.beginsPage = beginsPage;
  }

  /** `a="1",b="2"`, by name of the label. */
  get pairs(): string {
    return (this.#pairs ??= labelText(this.#labels, this.values));
  }
}

/** One metric with all its label values. */
export class Family<S extends Series, L extends readonly string[] = readonly string[]> {
  readonly name: string;
  readonly declaration: Declaration;
  readonly #series = new Map<string, LabelledSeries<S>>();
  readonly #maxSeries: number;
  readonly #limit: LabelLimit | undefined;
  readonly #seriesOfPage: number;
  readonly #isNative: boolean;
  #pages: readonly SeriesPage[] = [];
  /** Whether all series have their page, and no others. */
  #isArranged = true;

  constructor(
    name: string,
    declaration: Declaration,
    { maxSeries = declaration.maxSeries ?? MAX_SERIES, limit, isNative = false }: { maxSeries?: number; limit?: LabelLimit; isNative?: boolean } = {},
  ) {
    this.#isNative = isNative && !declaration.isWeighted;
    this.name = name;
    this.declaration = declaration;
    this.#maxSeries = maxSeries;
    this.#limit = limit;
    this.#seriesOfPage = Math.ceil(PAGE_LINES / (declaration.buckets.length + 3));
    this.#start();
  }

  /** The series of these label values, in the order of the labels. Keep it where the values do not change. */
  with(...values: LabelValues<L>): S {
    return this.#with(values as unknown as string[]);
  }

  /** For gauges that are set anew for each scrape: those that are not set until the next one are no longer shown, and are dropped then. */
  clear(): void {
    for (const [key, { series }] of this.#series) {
      if (series.isShown) series.reset();
      else if (this.#series.delete(key)) this.#isArranged = false;
    }
  }

  /** Begins anew. Series that were kept by callers are shown again as soon as they are counted. */
  reset(): void {
    for (const { series } of this.#series.values()) series.reset();
    this.#start();
  }

  /** Its series by their labels, so that two scrapes compare line by line. */
  pages(): readonly SeriesPage[] {
    if (!this.#isArranged) this.#pages = this.#arrange();
    this.#isArranged = true;
    return this.#pages;
  }

  #arrange(): SeriesPage[] {
    const sorted = [...this.#series.values()].sort((a, b) => (a.pairs < b.pairs ? -1 : 1));
    const runs: LabelledSeries<S>[][] = [];
    for (const one of sorted) {
      if (one.beginsPage || runs.length === 0) runs.push([]);
      runs.at(-1)!.push(one);
    }
    const former = new Map(this.#pages.map((page) => [page.series[0], page]));
    return runs.map((run) => {
      const page = former.get(run[0]);
      return page?.consistsOf(run) ? page : new SeriesPage(run);
    });
  }

  #start(): void {
    if (this.declaration.labels.length > 0 || this.declaration.isLazy) return;
    this.#with([]).isShown = true;
  }

  #with(values: readonly string[]): S {
    const key = values.length === 1 ? values[0]! : values.join('\u0000');
    const known = this.#series.get(key);
    if (known !== undefined) return known.series;
    const { labels } = this.declaration;
    if (values.length !== labels.length) throw new Error(`metric ${this.name} has labels ${labels.join(', ')}`);
    if (this.#limit !== undefined) {
      const allowed = limited(labels, values, this.#limit);
      if (allowed !== values) return this.#with(allowed);
    }
    const isFull = this.#series.size >= this.#maxSeries;
    if (isFull && values.some((value) => value !== UNEXPECTED)) return this.#with(labels.map(() => UNEXPECTED));
    const series = createSeries(this.declaration, this.#isNative) as unknown as S;
    const beginsPage = this.#series.size % this.#seriesOfPage === 0;
    this.#series.set(key, new LabelledSeries(labels, values, series, beginsPage));
    this.#isArranged = false;
    return series;
  }
}

function createSeries({ type, buckets }: Declaration, isNative: boolean): SeriesOf[MetricType] {
  if (type === 'histogram') return new HistogramSeries(buckets, isNative);
  return type === 'summary' ? new SummarySeries() : new NumberSeries();
}

/** The same values, or where some are not allowed, others. */
function limited(labels: readonly string[], values: readonly string[], { allowed, onUnexpected }: LabelLimit): readonly string[] {
  const isAllowed = (value: string, index: number): boolean => value === UNEXPECTED || (allowed.get(labels[index]!)?.has(value) ?? true);
  if (values.every(isAllowed)) return values;
  return values.map((value, index) => {
    if (isAllowed(value, index)) return value;
    onUnexpected();
    return UNEXPECTED;
  });
}
