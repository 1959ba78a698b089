import type { GateFacts, Gates } from '../tree/feature-gates.ts';

/** A family of `/metrics` as some server showed it. */
export interface MetricFamily {
  name: string;
  type: string;
  labels: string[];
  buckets?: string[];
}

/** Families of Go's runtime and of the process say nothing about Kubernetes. */
const RUNTIME = /^(go|process|promhttp)_/;
/** Families that a timer or a slow machine brings about, not what was asked: two records of one version would differ in them. */
const BY_CHANCE = /^apiserver_(storage_consistency_checks|request_aborts|request_post_timeout)_total$/;

/** Every family of a text in Prometheus' format, with the labels and buckets that its series have. */
export function metricFamilies(text: string): MetricFamily[] {
  const families = new Map<string, MetricFamily & { buckets: string[] }>();
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\w+)$/gm)) {
    if (!RUNTIME.test(name!) && !BY_CHANCE.test(name!)) families.set(name!, { name: name!, type: type!, labels: [], buckets: [] });
  }
  for (const [, series, labelText = ''] of text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/gm)) {
    const family = families.get(series!) ?? families.get(series!.replace(/_(bucket|sum|count)$/, ''));
    if (!family) continue;
    for (const [, label, value] of labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      const list = label === 'le' ? family.buckets : family.labels;
      const item = label === 'le' ? value! : label!;
      if (label !== 'quantile' && !list.includes(item)) list.push(item);
    }
  }
  return [...families.values()].map(({ name, type, labels, buckets }) => ({ name, type, labels: labels.toSorted(), ...(buckets.length > 0 && { buckets }) }));
}

/** The gates that a server reports. One that is GA has an empty stage; whether it is locked is not told. */
export function reportedGates(text: string): Gates {
  const gates: Record<string, GateFacts> = {};
  for (const [, name, stage, value] of text.matchAll(/^kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)"\} ([01])$/gm)) {
    gates[name!] = { stage: (stage === '' ? 'GA' : stage) as GateFacts['stage'], default: value === '1' };
  }
  return gates;
}
