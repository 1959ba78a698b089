import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export interface MetricFacts {
  readonly name: string;
  readonly type: string;
  readonly stability: string;
  readonly labels?: readonly string[];
  readonly buckets?: readonly number[];
}

interface DocumentedMetric {
  name: string;
  namespace?: string;
  subsystem?: string;
  type: string;
  stabilityLevel: string;
  labels?: string[];
  buckets?: number[];
  componentEndpoints?: { component: string }[];
}

const LIST = 'test/instrumentation/documentation/documentation-list.yaml';

/** The metrics that upstream documents for kube-apiserver. */
export function documentedMetrics(tree: string): MetricFacts[] {
  const all = parse(readFileSync(join(tree, LIST), 'utf8')) as DocumentedMetric[];
  const ours = all.filter(({ componentEndpoints = [] }) => componentEndpoints.some(({ component }) => component === 'kube-apiserver'));
  return ours.map(({ namespace, subsystem, name, type, stabilityLevel, labels, buckets }) => ({
    name: [namespace, subsystem, name].filter((part) => part !== undefined && part !== '').join('_'),
    type,
    stability: stabilityLevel,
    ...(labels && { labels }),
    ...(buckets && { buckets }),
  }));
}
