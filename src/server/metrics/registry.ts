import { type AllowedValues, EVERY_METRIC, HIDDEN_METRICS, type HiddenMetric, type MetricSelection } from './selection.ts';
import { type Sample, familyText } from './text.ts';

export interface MetricOptions {
  name: string;
  help: string;
  stability: 'ALPHA' | 'BETA' | 'STABLE';
  labels?: readonly string[];
  /** Series beyond this many share one whose labels all read `unexpected`: no client can fill memory with labels (CVE-2020-8552). */
  maxSeries?: number;
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending, without infinity. */
  buckets: readonly number[];
}

const MAX_SERIES = 10_000;
const UNEXPECTED = 'unexpected';

/** A set of metrics, printed together as Prometheus reads them (text format 0.0.4). */
export class MetricRegistry {
  readonly selection: MetricSelection;
  readonly #families = new Map<string, Family<Series>>();
  readonly #collectors: (() => void)[] = [];
  readonly #resetListeners: (() => void)[] = [];
  /** Called for each label value that the selection does not allow. */
  onUnexpectedValue: () => void = () => {};

  constructor(selection: MetricSelection = EVERY_METRIC) {
    this.selection = selection;
  }

  counter(options: MetricOptions): Family<NumberSeries> {
    return this.#register(options, 'counter', () => new NumberSeries());
  }
  gauge(options: MetricOptions): Family<NumberSeries> {
    return this.#register(options, 'gauge', () => new NumberSeries());
  }
  histogram(options: HistogramOptions): Family<HistogramSeries> {
    return this.#register(options, 'histogram', () => new HistogramSeries(options.buckets));
  }
  /** Of no quantiles, as upstream's are. */
  summary(options: MetricOptions): Family<SummarySeries> {
    return this.#register(options, 'summary', () => new SummarySeries());
  }

  /** Runs before each printing, for values that are read only when asked for. */
  onCollect(collector: () => void): void {
    this.#collectors.push(collector);
  }

  /** All families by name; those without a series are left out. */
  print(): string {
    for (const collect of this.#collectors) collect();
    const texts = this.families().map((family): [string, string] => [family.name, family.print()]);
    for (const [former, family] of this.formerNames()) texts.push([former.name, family.print(former)]);
    return texts
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, text]) => text)
      .join('');
  }

  /** Those that are shown. */
  families(): Family<Series>[] {
    return [...this.#families.values()].filter(({ name }) => !this.selection.disabled.has(name));
  }

  /** Hidden metrics that are shown, each with the metric that it was. */
  formerNames(): [HiddenMetric, Family<Series>][] {
    if (!this.selection.showsHidden) return [];
    return this.#formerNames().filter(([{ name, of }]) => !this.selection.disabled.has(name) && !this.selection.disabled.has(of));
  }

  /** How many metrics are not shown. */
  countHidden(): number {
    return this.#families.size - this.families().length + this.#formerNames().length - this.formerNames().length;
  }

  #formerNames(): [HiddenMetric, Family<Series>][] {
    return HIDDEN_METRICS.flatMap((former) => {
      const family = this.#families.get(former.of);
      return family ? [[former, family]] : [];
    });
  }

  /** Begins anew. Whoever keeps series must let them go: see onReset. */
  reset(): void {
    for (const family of this.#families.values()) family.reset();
    for (const listener of this.#resetListeners) listener();
  }
  onReset(listener: () => void): void {
    this.#resetListeners.push(listener);
  }

  #register<S extends Series>(options: MetricOptions, type: MetricType, create: () => S): Family<S> {
    const { name } = options;
    if (this.#families.has(name)) throw new Error(`metric ${name} is registered twice`);
    const { disabled, allowedValues } = this.selection;
    const allowed = allowedValues.get(name);
    const limit = allowed && { allowed, onUnexpected: () => this.onUnexpectedValue() };
    // What is not shown takes no memory either.
    const family = new Family(disabled.has(name) ? { ...options, maxSeries: 0 } : options, type, create, limit);
    this.#families.set(name, family);
    return family;
  }
}

interface Series {
  samples(): Sample[];
}

export type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary';

interface LabelLimit {
  allowed: AllowedValues;
  onUnexpected: () => void;
}

/** The same values, or where some are not allowed, others. */
function limited(labels: readonly string[], values: string[], { allowed, onUnexpected }: LabelLimit): string[] {
  const isAllowed = (value: string, index: number): boolean => value === UNEXPECTED || (allowed.get(labels[index]!)?.has(value) ?? true);
  if (values.every(isAllowed)) return values;
  return values.map((value, index) => {
    if (isAllowed(value, index)) return value;
    onUnexpected();
    return UNEXPECTED;
  });
}

/** One metric with all its label values. */
export class Family<S extends Series> {
  readonly name: string;
  readonly #options: MetricOptions;
  readonly #type: MetricType;
  readonly #create: () => S;
  readonly #series = new Map<string, { values: readonly string[]; series: S }>();
  readonly #limit: LabelLimit | undefined;

  constructor(options: MetricOptions, type: MetricType, create: () => S, limit?: LabelLimit) {
    this.name = options.name;
    this.#limit = limit;
    this.#options = options;
    this.#type = type;
    this.#create = create;
  }

  /** The series of these label values, in the order of the labels. Keep it where the values do not change. */
  with(...values: string[]): S {
    const key = values.length === 1 ? values[0]! : values.join('\u0000');
    const known = this.#series.get(key);
    if (known !== undefined) return known.series;
    const labels = this.#options.labels ?? [];
    if (values.length !== labels.length) throw new Error(`metric ${this.name} has labels ${labels.join(', ')}`);
    if (this.#limit !== undefined) {
      const allowed = limited(labels, values, this.#limit);
      if (allowed !== values) return this.with(...allowed);
    }
    const isFull = this.#series.size >= (this.#options.maxSeries ?? MAX_SERIES);
    if (isFull && values.some((value) => value !== UNEXPECTED)) return this.with(...labels.map(() => UNEXPECTED));
    const series = this.#create();
    this.#series.set(key, { values, series });
    return series;
  }

  /** Forgets all series. Ones that were kept by callers are no longer printed. */
  reset(): void {
    this.#series.clear();
  }

  get stability(): MetricOptions['stability'] {
    return this.#options.stability;
  }

  /** Where a former name is given, as the metric of that name. */
  print(former?: HiddenMetric): string {
    const { name, help, stability, labels = [] } = this.#options;
    const series = [...this.#series.values()].map(({ values, series: one }) => ({ values, samples: one.samples() }));
    if (former === undefined) return familyText({ name, help: `[${stability}] ${help}`, type: this.#type, labels, series });
    return familyText({
      name: former.name,
      help: `[ALPHA] (Deprecated since ${former.deprecatedVersion}) ${help}`,
      type: former.type ?? this.#type,
      labels,
      series,
    });
  }
}

/** A counter or a gauge. */
export class NumberSeries implements Series {
  value = 0;
  inc(by = 1): void {
    this.value += by;
  }
  dec(): void {
    this.value--;
  }
  set(value: number): void {
    this.value = value;
  }
  samples(): Sample[] {
    return [{ suffix: '', value: this.value }];
  }
}

export class HistogramSeries implements Series {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  /** `weight` is how often, or for how long. */
  observe(value: number, weight = 1): void {
    this.#sum += value * weight;
    this.#count += weight;
    const bounds = this.#bounds;
    for (let i = 0; i < bounds.length; i++) {
      if (value <= bounds[i]!) {
        this.#counts[i]! += weight;
        return;
      }
    }
  }

  samples(): Sample[] {
    let below = 0;
    const buckets = this.#bounds.map((bound, i): Sample => {
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
}

export class SummarySeries implements Series {
  #sum = 0;
  #count = 0;

  observe(value: number): void {
    this.#sum += value;
    this.#count++;
  }

  samples(): Sample[] {
    return [
      { suffix: '_sum', value: this.#sum },
      { suffix: '_count', value: this.#count },
    ];
  }
}
