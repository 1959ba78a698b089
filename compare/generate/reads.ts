import type { Random } from '../../src/util/test-random.ts';
import { SCENARIO } from '../placeholders.ts';
import { type Draft, maybe, withQuery } from './draft.ts';
import { readAccept } from './media-types.ts';

/** What reads need to know of a resource: built-in or custom. */
export interface Readable {
  collection: string;
  namespaced: boolean;
}

const LABEL_SELECTORS = [
  'a=b',
  'a!=b',
  'a',
  '!a',
  'a in (b,c)',
  'a notin (b)',
  'example.com/c=D_1.x',
  'a=b,!c',
  'a>1',
  'a<2',
  'a=',
  '=',
  'a==b',
  'a in ()',
  'a b',
  'a=b=c',
  '%%',
  'x'.repeat(70),
];
const FIELD_SELECTORS = [
  `metadata.name=${SCENARIO}`,
  `metadata.name!=${SCENARIO}`,
  `metadata.namespace=${SCENARIO}`,
  'metadata.name=',
  'spec.nodeName=',
  'status.phase=Pending',
  'status.phase!=Running,spec.nodeName=x',
  'type=Opaque',
  'nothing.here=x',
  'spec.host=a',
  'metadata.name',
  '=x',
  'metadata.name==x',
];
/** Of cluster-scoped resources: what other scenarios have made must stay out. */
const OWN_FIELD_SELECTORS = [
  `metadata.name=${SCENARIO}`,
  `metadata.name=${SCENARIO}`,
  `metadata.name==${SCENARIO},metadata.name!=x`,
  'nothing.here=x',
  'metadata.namespace=x',
];
const VERSIONS = ['0', '1', 'abc', '-1', '99999999999', '18446744073709551615'];
const MATCHES = ['Exact', 'NotOlderThan', 'Nothing'];

export function addGet(draft: Draft, path: string): void {
  const { random } = draft;
  const query = { resourceVersion: maybe(random, 0.08, random.pick(VERSIONS.filter((version) => version !== '1'))), pretty: maybe(random, 0.05, 'true') };
  draft.get(withQuery(path, query), readAccept(random, false));
}

/** Lists of cluster-scoped resources are narrowed to what the scenario has made. */
export function addList(draft: Draft, { collection, namespaced }: Readable): void {
  const { random } = draft;
  const limit = maybe(random, 0.3, random.pick(['1', '2', '500', '0', '-1', 'x']));
  const query = { ...selectors(random, namespaced), limit, pretty: maybe(random, 0.03, 'true') };
  draft.get(withQuery(collection, { ...query, ...versions(random, collection) }), readAccept(random, true));
  if (limit !== undefined && random.chance(0.7)) draft.get(withQuery(collection, { ...query, continue: `«continue:${collection}»` }), readAccept(random, true));
}

function selectors(random: Random, namespaced: boolean): Record<string, string | undefined> {
  const fieldSelector = maybe(random, 0.2, random.pick(FIELD_SELECTORS));
  if (!namespaced) return { labelSelector: maybe(random, 0.2, random.pick(LABEL_SELECTORS)), fieldSelector: random.pick(OWN_FIELD_SELECTORS) };
  return { labelSelector: maybe(random, 0.25, random.pick(LABEL_SELECTORS)), fieldSelector };
}

function versions(random: Random, collection: string): Record<string, string | undefined> {
  if (random.chance(0.6)) return {};
  const resourceVersion = random.chance(0.5) ? `«rv:${collection}/${SCENARIO}»` : random.pick(VERSIONS);
  const resourceVersionMatch = maybe(random, 0.5, random.pick(MATCHES));
  // An exact old version is gone or not, as compaction has it.
  return resourceVersion === '1' && resourceVersionMatch !== 'NotOlderThan' ? {} : { resourceVersion, resourceVersionMatch };
}

const WATCH_ACCEPT = [
  'application/json',
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/yaml',
];

/** Events since the object was last seen, or the present state as events. */
export function addWatch(draft: Draft, { collection, namespaced }: Readable): void {
  const { random } = draft;
  const isInitial = random.chance(0.4);
  const query = {
    watch: random.pick(['1', 'true']),
    ...selectors(random, namespaced),
    resourceVersion: isInitial ? maybe(random, 0.5, random.pick(['0', ''])) : `«rv:${collection}/${SCENARIO}»`,
    timeoutSeconds: maybe(random, 0.05, '1'),
    allowWatchBookmarks: maybe(random, isInitial ? 0.9 : 0.2, 'true'),
    sendInitialEvents: maybe(random, isInitial ? 0.6 : 0.1, random.pick(['true', 'true', 'false'])),
    resourceVersionMatch: maybe(random, isInitial ? 0.6 : 0.1, random.pick(['NotOlderThan', 'NotOlderThan', 'Exact'])),
  };
  draft.add({ method: 'GET', path: withQuery(collection, query), headers: { accept: random.pick(WATCH_ACCEPT) } }, { isWatch: true });
}
