import type { INVENTORY } from '../../metrics/inventory.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';

type MetaMetrics = Pick<
  typeof INVENTORY,
  'registered_metrics_total' | 'disabled_metrics_total' | 'hidden_metrics_total' | 'cardinality_enforcement_unexpected_categorizations_total'
>;

/** Metrics about the metrics themselves (component-base/metrics/registry.go RegisterMetaMetrics). */
export function registerMetaMetrics(registry: MetricRegistry<MetaMetrics>): void {
  const registered = registry.family('registered_metrics_total');
  const disabled = registry.family('disabled_metrics_total');
  const hidden = registry.family('hidden_metrics_total');
  const unexpected = registry.family('cardinality_enforcement_unexpected_categorizations_total');
  registry.onUnexpectedValue = () => unexpected.with().inc();
  registry.onCollect(() => {
    disabled.with().set(registry.selection.disabled.size);
    hidden.with().set(registry.countHidden());
    registered.clear();
    for (const [[stability, deprecatedVersion], count] of registry.countShown()) registered.with(stability, deprecatedVersion).set(count);
  });
}
