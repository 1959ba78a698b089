import { groupVersions } from '../../src/apis/facts/resources.ts';
import type { Random } from '../../src/util/test-random.ts';
import { SCENARIO } from '../placeholders.ts';
import type { Request, User } from '../step.ts';
import type { Draft } from './draft.ts';
import { kinds } from './kinds.ts';

/* Discovery, unusual paths and unusual methods: each request stands alone. */

const PLAIN = [
  '/api',
  '/api/',
  '/apis',
  '/apis/',
  '/version',
  '/version/',
  '/healthz',
  '/healthz/ping',
  '/livez',
  '/livez/nothing',
  '/readyz/ping',
  '/nothing',
  '/openapi',
  '/openapi/v3',
  '/.well-known/openid-configuration',
  '/api/v2',
  '/apis/nothing',
  '/apis/nothing.example.com/v1',
  '/apis/apps/v9',
  '/apis/apps/v1/nothing',
  '/api/v1/nothing',
  '/api/v1/namespaces/x/nothing',
  '/apis/apps',
  '/apis/apps/',
  '/logs/',
  '/flagz',
  '/statusz',
  '/debug/nothing',
];
const ACCEPTS = [
  'application/json',
  'application/yaml',
  '*/*',
  'text/html',
  'application/vnd.kubernetes.protobuf',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json',
  'application/nothing',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
];
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'POST', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'];

export function addPaths(draft: Draft): void {
  const { random } = draft;
  for (let count = 6 + random.below(12); count > 0; count--)
    draft.choose([
      [3, () => addDiscovery(draft)],
      [4, () => addOddPath(draft)],
      [2, () => addOddMethod(draft)],
      [2, () => addOddQuery(draft)],
    ]);
}

function addDiscovery(draft: Draft): void {
  const { random } = draft;
  const { group, groupVersion } = random.pick(groupVersions);
  const path = random.pick([...PLAIN, group === '' ? '/api/v1' : `/apis/${groupVersion}`, group === '' ? '/api' : `/apis/${group}`]);
  draft.add({ method: 'GET', path, headers: { accept: random.pick(ACCEPTS) }, user: random.pick<User>(['admin', 'admin', 'mallory', '']) });
}

function addOddPath(draft: Draft): void {
  const { random } = draft;
  const { collection } = random.pick(kinds());
  const path = random.pick([
    `${collection}/`,
    `/${collection}`,
    `${collection}//x`,
    `${collection}/x/`,
    `${collection}/x/y`,
    `${collection}/x/y/z`,
    `${collection}/%2e%2e`,
    `${collection}/a%2Fb`,
    `${collection}/..`,
    `${collection}/.`,
    `${collection}/%20`,
    `${collection}/${'x'.repeat(300)}`,
    `${collection}/UPPER`,
    `${collection}/x?watch=1&timeoutSeconds=1`,
    collection.replace('/api', '/API'),
    collection.replace(/namespaces\/[^/]+/, 'namespaces/'),
    collection.replace(/namespaces\/[^/]+/, 'namespaces/Not_A_Name'),
    collection.replace(/namespaces\/[^/]+/, 'namespaces/missing'),
    collection.replace(/(\/api\/|\/apis\/[^/]+\/)/, '$1watch/'),
    `${collection.replace(/(\/(?:api|apis\/[^/]+)\/[^/]+\/)/, '$1watch/')}?timeoutSeconds=1&resourceVersion=abc`,
    `${collection}/x/status`,
    `${collection}/x/scale`,
    `${collection}/x/proxy`,
    `/api/v1/namespaces/${SCENARIO}/pods/x/exec?command=ls`,
    `/api/v1/namespaces/${SCENARIO}/pods/x/log?tailLines=-1`,
    `/api/v1/namespaces/${SCENARIO}/services/x/proxy/a`,
    '/api/v1/nodes/x/proxy/a',
  ]);
  // Lists of what other scenarios make too would not be the same.
  const isWide = /^\/+(api|apis\/[^/]+)\/[^/]+\/(namespaces\/*)?[a-z]*\/?$/.test(path);
  draft.add({ method: isWide ? 'PROPFIND' : random.pick(['GET', 'GET', 'DELETE', 'PATCH']), path, ...(random.chance(0.2) && { user: 'mallory' as const }) });
}

function addOddMethod(draft: Draft): void {
  const { random } = draft;
  const { collection, namespaced } = random.pick(kinds());
  const method = random.pick(METHODS);
  const path = random.pick([namespaced ? collection : `${collection}/nothing`, `${collection}/nothing`, '/api/v1', '/version', '/healthz']);
  if (!namespaced && method === 'DELETE') return;
  draft.add({ method, path, ...(random.chance(0.3) && { body: { metadata: { name: SCENARIO } } }), headers: { accept: random.pick(ACCEPTS) } });
}

const QUERIES = [
  'limit=x',
  'limit=-1',
  'timeoutSeconds=x',
  'watch=maybe',
  'watch=false',
  'resourceVersion=x',
  'resourceVersionMatch=Exact',
  'continue=x',
  'continue=e30',
  'labelSelector=%3D',
  'fieldSelector=a%3Db',
  'dryRun=x',
  'dryRun=All&dryRun=x',
  'fieldValidation=x',
  'fieldManager=%01',
  'fieldManager=a&fieldManager=b',
  'pretty=x',
  'sendInitialEvents=true',
  'sendInitialEvents=x&watch=1',
  'allowWatchBookmarks=x&watch=1',
  'unknown=1',
  'gracePeriodSeconds=x',
  'propagationPolicy=x',
  'force=true',
  'force=x',
  'a;b=c',
  '%',
  'limit=1&limit=2',
  'limit=%zz',
  'timeout=x',
  'timeout=1h',
  'shardSelector=x',
];

function addOddQuery(draft: Draft): void {
  const { random } = draft;
  const { collection, namespaced } = random.pick(kinds());
  const query = Array.from({ length: 1 + random.below(2) }, () => random.pick(QUERIES)).join('&');
  const object: Request = { method: random.pick(['GET', 'DELETE', 'PUT']), path: `${collection}/nothing?${query}`, body: { metadata: { name: 'nothing' } } };
  const list: Request = { method: random.pick(['GET', 'POST']), path: `${collection}?${query}`, body: { metadata: { generateName: `${SCENARIO}-` } } };
  const chosen = namespaced && random.chance(0.6) ? list : object;
  const isWatch = /watch=(1|maybe)/.test(query) && chosen.method === 'GET';
  draft.add({ ...chosen, ...(chosen.method === 'GET' && { body: undefined as never }) }, isWatch ? { isWatch } : {});
}

/** Documents that are large: seldom asked for. */
export function addDocuments(draft: Draft): void {
  const { random } = draft;
  const { group, groupVersion } = random.pick(groupVersions.filter(({ isOnByDefault }) => isOnByDefault));
  draft.get(`/openapi/v3/${group === '' ? 'api' : 'apis'}/${groupVersion}`, randomDocumentType(random));
}

const randomDocumentType = (random: Random): string => random.pick(['application/json', 'application/json', 'application/nothing']);
