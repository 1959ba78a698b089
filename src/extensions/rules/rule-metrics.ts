import type { MetricRegistry } from '../../metrics/registry.ts';

/** Called with how long the rules of custom resources take. */
export interface RuleObserver {
  /** One rule was compiled. */
  compiled(durationMs: number): void;
  /** All rules of one object were evaluated. */
  evaluated(durationMs: number): void;
  /** An update of an object was compared with what was there, as far as that was asked for. */
  ratcheted(durationMs: number): void;
}

export const NO_OBSERVER: RuleObserver = { compiled() {}, evaluated() {}, ratcheted() {} };

/** apiserver/pkg/cel/metrics and apiextensions-apiserver/pkg/apiserver/validation/metrics.go: upstream, too, counts expressions of definitions alone. */
export function ruleMetrics(registry: MetricRegistry): RuleObserver {
  const compilations = registry.family('apiserver_cel_compilation_duration_seconds').with();
  const evaluations = registry.family('apiserver_cel_evaluation_duration_seconds').with();
  const ratchetings = registry.family('apiextensions_apiserver_validation_ratcheting_seconds').with();
  return {
    compiled: (durationMs) => compilations.observe(durationMs / 1000),
    evaluated: (durationMs) => evaluations.observe(durationMs / 1000),
    ratcheted: (durationMs) => ratchetings.observe(durationMs / 1000),
  };
}
