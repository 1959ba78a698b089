import type { MetricRegistry } from './registry.ts';

/** Metrics about the metrics themselves (component-base/metrics/registry.go RegisterMetaMetrics). */
export function registerMetaMetrics(registry: MetricRegistry): void {
  const registered = registry.counter({
    name: 'registered_metrics_total',
    help: 'Metrics there are, by stability and the version that deprecated them.',
    stability: 'BETA',
    labels: ['stability_level', 'deprecated_version'],
  });
  const disabled = registry.counter({ name: 'disabled_metrics_total', help: 'Metrics that are left out because a flag says so.', stability: 'BETA' });
  const hidden = registry.counter({
    name: 'hidden_metrics_total',
    help: 'Metrics that are left out because they are deprecated or disabled.',
    stability: 'BETA',
  });
  const unexpected = registry.counter({
    name: 'cardinality_enforcement_unexpected_categorizations_total',
    help: 'Label values that were shown as "unexpected" because they are not allowed.',
    stability: 'ALPHA',
  });
  registry.onUnexpectedValue = () => unexpected.with().inc();
  registry.onCollect(() => {
    unexpected.with();
    disabled.with().set(registry.selection.disabled.size);
    hidden.with().set(registry.countHidden());
    registered.reset();
    for (const { stability } of registry.families()) registered.with(stability, '').inc();
    for (const [{ deprecatedVersion }] of registry.formerNames()) registered.with('ALPHA', deprecatedVersion).inc();
  });
}
