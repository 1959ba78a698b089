import { expect, test } from 'vitest';
import { formerName, histogram } from './declaration.ts';
import { processMetrics } from './inventory/process.ts';
import { registerMetaMetrics } from '../server/metrics/meta-metrics.ts';
import { MetricRegistry } from './registry.ts';
import { EVERY_METRIC, type MetricSelection } from './selection.ts';

const SLI = 'apiserver_request_sli_duration_seconds';
const sliDeclaration = histogram('ALPHA', 'Seconds.', [1], ['verb', 'resource']);
const { registered_metrics_total, disabled_metrics_total, hidden_metrics_total, cardinality_enforcement_unexpected_categorizations_total } = processMetrics;
const inventory = {
  registered_metrics_total,
  disabled_metrics_total,
  hidden_metrics_total,
  cardinality_enforcement_unexpected_categorizations_total,
  [SLI]: sliDeclaration,
  apiserver_request_slo_duration_seconds: formerName(sliDeclaration, SLI, '1.27.0'),
} as const;

function registryOf(selection: Partial<MetricSelection>) {
  const registry = new MetricRegistry({ ...EVERY_METRIC, ...selection }, inventory);
  registerMetaMetrics(registry);
  return { registry, sli: registry.family(SLI) };
}

test('a disabled metric is not shown, keeps no series, and is counted', () => {
  const { registry, sli } = registryOf({ disabled: new Set(['apiserver_request_sli_duration_seconds', 'no_such_metric']) });
  for (let i = 0; i < 100; i++) sli.with('GET', `${i}`).observe(1);
  const text = registry.print();
  expect(text).not.toContain('sli_duration');
  expect(text).toContain('\ndisabled_metrics_total 2\n');
  // The metric itself, and its former name.
  expect(text).toContain('\nhidden_metrics_total 2\n');
  expect(sli.with('GET', '1')).toBe(sli.with('LIST', '2'));
});

test('values of a label that are not allowed read unexpected, and are counted', () => {
  const { registry, sli } = registryOf({
    allowedValues: new Map([['apiserver_request_sli_duration_seconds', new Map([['verb', new Set(['LIST'])]])]]),
  });
  for (const verb of ['LIST', 'GET', 'PUT', 'unexpected', '__proto__']) sli.with(verb, 'pods').observe(1);
  const text = registry.print();
  expect(text).toContain('sli_duration_seconds_count{resource="pods",verb="LIST"} 1\n');
  expect(text).toContain('sli_duration_seconds_count{resource="pods",verb="unexpected"} 4\n');
  expect(text.match(/sli_duration_seconds_count/g)).toHaveLength(2);
  expect(text).toContain('\ncardinality_enforcement_unexpected_categorizations_total 3\n');
});

test('hidden metrics show the values of their successors', () => {
  const hiddenOnly = registryOf({});
  hiddenOnly.sli.with('GET', 'pods').observe(0.5);
  expect(hiddenOnly.registry.print()).not.toContain('slo_duration');
  expect(hiddenOnly.registry.print()).toContain('\nhidden_metrics_total 1\n');
  const { registry, sli } = registryOf({ showsHidden: true });
  sli.with('GET', 'pods').observe(0.5);
  const text = registry.print();
  expect(text).toContain('# HELP apiserver_request_slo_duration_seconds [ALPHA] (Deprecated since 1.27.0) Seconds.\n');
  expect(text).toContain('apiserver_request_slo_duration_seconds_count{resource="pods",verb="GET"} 1\n');
  expect(text).toContain('\nhidden_metrics_total 0\n');
  expect(text).toContain('registered_metrics_total{deprecated_version="1.27.0",stability_level="ALPHA"} 1\n');
  expect(text).toContain('registered_metrics_total{deprecated_version="",stability_level="BETA"} 3\n');
  const withoutIt = registryOf({ showsHidden: true, disabled: new Set(['apiserver_request_slo_duration_seconds']) });
  withoutIt.sli.with('GET', 'pods').observe(1);
  expect(withoutIt.registry.print()).not.toContain('slo_duration');
});
