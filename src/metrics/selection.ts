/** Which metrics are shown, and with which label values (component-base/metrics/options.go). */
export interface MetricSelection {
  /** --disabled-metrics. Goes before `showsHidden`. */
  disabled: ReadonlySet<string>;
  /** --allow-metric-labels: by metric, by label. Any other value reads `unexpected`. */
  allowedValues: ReadonlyMap<string, AllowedValues>;
  /** --show-hidden-metrics-for-version */
  showsHidden: boolean;
}

/** The values that a metric's labels may take, by label. A label that is not named takes any. */
export type AllowedValues = ReadonlyMap<string, ReadonlySet<string>>;

export const EVERY_METRIC: MetricSelection = { disabled: new Set(), allowedValues: new Map(), showsHidden: false };
