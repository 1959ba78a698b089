import { existsSync, readFileSync } from 'node:fs';
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

/** Where upstream's list is; it moved with v1.37. */
const LISTS = ['hack/tools/instrumentation', 'test/instrumentation'].map((folder) => `${folder}/documentation/documentation-list.yaml`);

/** The metrics that upstream documents for kube-apiserver. */
export function documentedMetrics(tree: string): MetricFacts[] {
  const list = LISTS.map((path) => join(tree, path)).find((path) => existsSync(path));
  if (list === undefined) throw new Error(`${tree} has no list of metrics: none of ${LISTS.join(', ')}`);
  const all = parse(readFileSync(list, 'utf8')) as DocumentedMetric[];
  const ours = all.filter(({ componentEndpoints = [] }) => componentEndpoints.some(({ component }) => component === 'kube-apiserver'));
  return ours.map(({ namespace, subsystem, name, type, stabilityLevel, labels, buckets }) => ({
    name: [namespace, subsystem, name].filter((part) => part !== undefined && part !== '').join('_'),
    type,
    stability: stabilityLevel,
    ...(labels && { labels }),
    ...(buckets && { buckets }),
  }));
}
