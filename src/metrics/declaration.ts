export type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary';
export type Stability = 'ALPHA' | 'BETA' | 'STABLE';

/** All that is to be known of a metric before anything is counted. */
export interface Declaration<T extends MetricType = MetricType, L extends readonly string[] = readonly string[]> extends DeclarationOptions {
  readonly type: T;
  readonly stability: Stability;
  readonly help: string;
  /** In the order in which code names their values. */
  readonly labels: L;
  /** Of a histogram: upper bounds, ascending, without infinity. */
  readonly buckets: readonly number[];
}

interface DeclarationOptions {
  /** Series beyond this many share one whose labels all read `unexpected`: no client can fill memory with labels (CVE-2020-8552). */
  readonly maxSeries?: number;
  /** Of a metric without labels: shown only once it was counted. All others are shown from the start, as upstream's are. */
  readonly isLazy?: true;
  /** Of a gauge: each worker process has a part of it (`--workers`), so that theirs are added up. Else they see the same, and the largest is shown. */
  readonly isPerProcess?: true;
  /** Of a histogram: values count for as long as they last (upstream's timing histograms), and not once each. It has no native buckets. */
  readonly isWeighted?: true;
  /** Upstream no longer shows it, but to those who ask for hidden metrics (--show-hidden-metrics-for-version). */
  readonly deprecatedVersion?: string;
  /** Of a deprecated metric: the metric that has taken its place, and whose values it shows. */
  readonly valuesOf?: string;
}

export type Declarations = Readonly<Record<string, Declaration>>;

type Declare<T extends MetricType> = <const L extends readonly string[] = readonly []>(
  stability: Stability,
  help: string,
  labels?: L,
  options?: DeclarationOptions,
) => Declaration<T, L>;

const declare =
  <T extends MetricType>(type: T): Declare<T> =>
  (stability, help, labels, options) => ({ type, stability, help, labels: labels ?? ([] as never), buckets: [], ...options });

export const counter = declare('counter');
export const gauge = declare('gauge');
/** Of no quantiles, as upstream's are. */
export const summary = declare('summary');

export const histogram = <const L extends readonly string[] = readonly []>(
  stability: Stability,
  help: string,
  buckets: readonly number[],
  labels?: L,
  options?: DeclarationOptions,
): Declaration<'histogram', L> => ({ type: 'histogram', stability, help, labels: labels ?? ([] as never), buckets, ...options });

/** A deprecated and hidden name of `valuesOf`. */
export const formerName = <T extends MetricType, const L extends readonly string[]>(
  successor: Declaration<T, L>,
  valuesOf: string,
  deprecatedVersion: string,
): Declaration<T, L> => ({ ...successor, stability: 'ALPHA', valuesOf, deprecatedVersion });

/** So many bounds, each `factor` times the one before. Rounded as Go's products of the same come out when they are printed. */
export const exponential = (first: number, factor: number, count: number): number[] => Array.from({ length: count }, (_, i) => first * factor ** i);

/** So many bounds, each `step` more than the one before. */
export const linear = (first: number, step: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + step * i);

/** prometheus.DefBuckets */
export const DEFAULT_BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
