import type { Json } from '../../src/encoding/json-types.ts';
import { SCENARIO } from '../placeholders.ts';
import { type Draft, maybe, withQuery } from './draft.ts';
import type { Readable } from './reads.ts';

/** A deletion with options, in the query or in the body. */
export function addDelete(draft: Draft, path: string, isDryRunOnly = false): void {
  const { random } = draft;
  const options: Json[] = [
    {},
    { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 },
    { gracePeriodSeconds: 5 },
    { gracePeriodSeconds: -1 },
    { propagationPolicy: 'Foreground' },
    { propagationPolicy: 'Background' },
    { propagationPolicy: 'Orphan' },
    { propagationPolicy: 'Nothing' },
    { orphanDependents: true },
    { orphanDependents: true, propagationPolicy: 'Orphan' },
    { preconditions: { uid: `«uid:${path}»` } },
    { preconditions: { uid: 'other' } },
    { preconditions: { resourceVersion: `«rv:${path}»` } },
    { preconditions: { resourceVersion: '1' } },
    { dryRun: ['All'] },
    { dryRun: ['Nothing'] },
    { kind: 'Pod', apiVersion: 'v1' },
    { kind: 'DeleteOptions', apiVersion: 'apps/v1' },
    { unknown: 1 },
    { ignoreStoreReadErrorWithClusterBreakingPotential: true },
    'text',
    [],
  ];
  const query = {
    dryRun: isDryRunOnly ? 'All' : maybe(random, 0.05, 'All'),
    gracePeriodSeconds: maybe(random, 0.1, random.pick(['0', '1', '-1', 'x'])),
    propagationPolicy: maybe(random, 0.1, random.pick(['Foreground', 'Background', 'Orphan', 'x'])),
    orphanDependents: maybe(random, 0.03, 'true'),
    pretty: maybe(random, 0.03, 'true'),
  };
  const body = maybe(random, 0.6, random.pick(options));
  const hasDryRun = typeof body === 'object' && body !== null && 'dryRun' in body;
  draft.add({ method: 'DELETE', path: withQuery(path, hasDryRun ? { ...query, dryRun: undefined } : query), ...(body !== undefined && { body }) });
}

/** Of cluster-scoped resources only what the scenario has made. */
export function addDeleteCollection(draft: Draft, { collection, namespaced }: Readable): void {
  const { random } = draft;
  const query = {
    labelSelector: namespaced ? maybe(random, 0.3, random.pick(['a=b', 'a!=b', '='])) : undefined,
    fieldSelector: namespaced ? maybe(random, 0.2, `metadata.name=${SCENARIO}`) : `metadata.name=${SCENARIO}`,
    dryRun: maybe(random, 0.2, 'All'),
    limit: maybe(random, 0.1, '1'),
    gracePeriodSeconds: maybe(random, 0.2, '0'),
    propagationPolicy: maybe(random, 0.1, random.pick(['Foreground', 'Orphan'])),
  };
  draft.add({ method: 'DELETE', path: withQuery(collection, query), ...(random.chance(0.2) && { body: { preconditions: { resourceVersion: '1' } } }) });
}
