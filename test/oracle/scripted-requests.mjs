import { request } from 'node:https';

/*
 * A thousand requests, the same each time, and what `apiserver_request_total` counts of them: `node test/oracle/scripted-requests.mjs --server URL` prints that
 * as one line a series. facts/v1.36/request-counts.json is what a kube-apiserver counts (`npm run facts:record -- --replay`); test/metrics.test.ts sends the
 * same requests to our server.
 */

const NAMESPACE = 'scripted-requests';
const ALICE = 'alice-token';
const ADMIN = 'admin-token';

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'parcels.scripted.example.com' },
  spec: {
    group: 'scripted.example.com',
    scope: 'Namespaced',
    names: { plural: 'parcels', singular: 'parcel', kind: 'Parcel', listKind: 'ParcelList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { weight: { type: 'integer', minimum: 1 } } } } } },
      },
    ],
  },
};

const podSpec = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels: { a: 'b' } }, spec: podSpec };

/** What is written of each resource, and what is not valid of it. None of them is written by the server itself. */
const RESOURCES = [
  { path: 'api/v1', resource: 'configmaps', kind: 'ConfigMap', apiVersion: 'v1', body: { data: { a: 'b' } }, wrong: { data: { '/': 'x' } } },
  { path: 'api/v1', resource: 'secrets', kind: 'Secret', apiVersion: 'v1', body: { stringData: { a: 'b' } }, wrong: { data: { '/': 'eA==' } } },
  { path: 'apis/apps/v1', resource: 'deployments', kind: 'Deployment', apiVersion: 'apps/v1', hasStatus: true, hasScale: true, body: { spec: { selector: { matchLabels: { a: 'b' } }, template } }, wrong: { spec: { selector: { matchLabels: { a: 'c' } }, template } } },
  { path: 'apis/batch/v1', resource: 'jobs', kind: 'Job', apiVersion: 'batch/v1', hasStatus: true, body: { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } }, wrong: { spec: { template: { spec: podSpec } } } },
  { path: 'apis/networking.k8s.io/v1', resource: 'networkpolicies', kind: 'NetworkPolicy', apiVersion: 'networking.k8s.io/v1', body: { spec: { podSelector: {} } }, wrong: { spec: { podSelector: { matchLabels: { '/': 'x' } } } } },
  { path: 'apis/storage.k8s.io/v1', resource: 'storageclasses', kind: 'StorageClass', apiVersion: 'storage.k8s.io/v1', isCluster: true, body: { provisioner: 'example.com/p' }, wrong: { provisioner: '' } },
  { path: 'apis/scripted.example.com/v1', resource: 'parcels', kind: 'Parcel', apiVersion: 'scripted.example.com/v1', hasStatus: true, isCustom: true, body: { spec: { weight: 1 } }, wrong: { spec: { weight: 0 } } },
];

/** The resources whose series are compared, as `resource.group`. */
export const SCRIPTED_RESOURCES = new Set(RESOURCES.map(({ resource, apiVersion }) => `${resource}.${apiVersion.includes('/') ? apiVersion.split('/')[0] : ''}`));

const json = (value) => JSON.stringify(value);
const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

/** One round on one resource: some of every verb, and of every way to be refused. */
function* roundOn({ path, resource, kind, apiVersion, body, wrong, isCluster, hasStatus, hasScale, isCustom }, round) {
  const all = `/${path}/${resource}`;
  const collection = isCluster ? all : `/${path}/namespaces/${NAMESPACE}/${resource}`;
  const name = `n${round}`;
  const one = `${collection}/${name}`;
  const object = (more, own = name) => json({ apiVersion, kind, metadata: { name: own, ...(round === 1 && { labels: { l: 'x' } }) }, ...more });
  yield { method: 'POST', path: collection, body: object(body) };
  yield { method: 'POST', path: collection, body: object(body) };
  yield { method: 'POST', path: `${collection}?dryRun=All`, body: object(body, `${name}-dry`) };
  yield { method: 'POST', path: `${collection}?dryRun=Some`, body: object(body, `${name}-dry`) };
  yield { method: 'POST', path: collection, body: object(wrong, `${name}-wrong`) };
  yield { method: 'POST', path: collection, body: '{' };
  yield { method: 'POST', path: collection, body: object(body), type: 'text/nonsense' };
  yield { method: 'POST', path: `${collection}?fieldValidation=Strict`, body: object({ ...body, unknownField: 1 }, `${name}-strict`) };
  yield { method: 'POST', path: collection, body: object(body), token: ALICE };
  yield { method: 'POST', path: collection, body: object(body), token: 'no-such-token' };
  yield { method: 'GET', path: one };
  yield { method: 'GET', path: `${one}-none` };
  yield { method: 'HEAD', path: one };
  yield { method: 'GET', path: one, token: ALICE };
  yield { method: 'GET', path: one, accept: 'application/nonsense' };
  yield { method: 'GET', path: collection };
  yield { method: 'GET', path: `${collection}?limit=1` };
  yield { method: 'GET', path: `${collection}?labelSelector=l%3Dx` };
  yield { method: 'GET', path: `${collection}?labelSelector=%2B` };
  yield { method: 'GET', path: `${collection}?fieldSelector=metadata.name%3D${name}` };
  yield { method: 'GET', path: `${collection}?resourceVersion=0` };
  yield { method: 'GET', path: all };
  yield { method: 'GET', path: `${collection}?watch=1&timeoutSeconds=1&resourceVersion=0` };
  yield { method: 'GET', path: `${all}?watch=1&timeoutSeconds=1` };
  yield { method: 'PUT', path: collection, body: object(body) };
  yield { method: 'OPTIONS', path: collection };
  yield { method: 'PUT', path: one, body: object(body) };
  yield { method: 'PUT', path: one, body: object(body, 'another') };
  yield { method: 'PUT', path: `${one}-none`, body: object(body, `${name}-none`) };
  yield { method: 'PATCH', path: one, body: json({ metadata: { annotations: { a: `${round}` } } }), type: MERGE };
  yield { method: 'PATCH', path: one, body: json([{ op: 'test', path: '/kind', value: 'Other' }]), type: 'application/json-patch+json' };
  yield { method: 'PATCH', path: one, body: json({ metadata: { annotations: { a: 'x' } } }), type: 'application/strategic-merge-patch+json' };
  yield { method: 'PATCH', path: one, body: '{}', type: 'text/nonsense' };
  yield { method: 'PATCH', path: `${one}-none`, body: '{}', type: MERGE };
  yield { method: 'PATCH', path: `${one}-applied?fieldManager=m&force=true`, body: object(body, `${name}-applied`), type: APPLY };
  yield { method: 'PATCH', path: `${one}-applied`, body: object(body, `${name}-applied`), type: APPLY };
  yield { method: 'GET', path: `${one}/nonsense` };
  if (hasStatus) {
    yield { method: 'GET', path: `${one}/status` };
    yield { method: 'PATCH', path: `${one}/status`, body: json({ metadata: { labels: { s: `${round}` } } }), type: MERGE };
  }
  if (hasScale) {
    yield { method: 'GET', path: `${one}/scale` };
    yield { method: 'PATCH', path: `${one}/scale`, body: json({ spec: { replicas: 2 } }), type: MERGE };
  }
  yield { method: 'DELETE', path: `${one}?dryRun=All` };
  yield { method: 'DELETE', path: one };
  yield { method: 'DELETE', path: one };
  yield { method: 'DELETE', path: `${collection}?labelSelector=none%3Dx` };
  if (!isCustom) yield { method: 'DELETE', path: all };
  yield { method: 'DELETE', path: collection, token: ALICE };
}

/** All of them, a thousand, in order. */
export function scriptedRequests() {
  const requests = [];
  for (let round = 0; requests.length < 1000; round++) for (const resource of RESOURCES) requests.push(...roundOn(resource, round));
  return requests.slice(0, 1000);
}

function send(server, { method, path, body, type = 'application/json', accept = '*/*', token = ADMIN }) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept, ...(body !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(body) }) };
    const sent = request(new URL(path, server), { method, headers, rejectUnauthorized: false, agent: server.agent }, (response) => {
      const pieces = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(pieces).toString() }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** What is there before them: a namespace with its service account, and a definition. */
async function prepare(server) {
  const account = { method: 'POST', path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, body: json({ metadata: { name: 'default' } }) };
  await send(server, { method: 'POST', path: '/api/v1/namespaces', body: json({ metadata: { name: NAMESPACE } }) });
  await send(server, account);
  await send(server, { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: json(definition) });
  // Objects can be created once the definition is established: what is not counted is tried until then.
  for (let tries = 0; tries < 600; tries++) {
    const { text } = await send(server, { method: 'GET', path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}` });
    const { status = {} } = JSON.parse(text);
    const isEstablished = status.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
    if (isEstablished && (await send(server, { method: 'GET', path: '/apis/scripted.example.com/v1' })).status === 200) return;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
  throw new Error('the definition is not established');
}

const LABELS = ['verb', 'code', 'group', 'version', 'resource', 'subresource', 'scope', 'dry_run', 'component'];

async function counts(server) {
  const { text } = await send(server, { method: 'GET', path: '/metrics' });
  const found = new Map();
  for (const line of text.split('\n')) {
    if (!line.startsWith('apiserver_request_total{')) continue;
    const labels = Object.fromEntries([...line.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
    if (!SCRIPTED_RESOURCES.has(`${labels.resource}.${labels.group}`)) continue;
    found.set(LABELS.map((name) => `${name}=${labels[name]}`).join(' '), Number(line.slice(line.lastIndexOf(' ') + 1)));
  }
  return found;
}

/** Sends all of them, and answers how often each series was counted meanwhile. Watches, which take a second, run beside the rest. */
export async function countScriptedRequests(url) {
  const server = new URL(url);
  await prepare(server);
  const before = await counts(server);
  const watches = [];
  for (const one of scriptedRequests()) {
    const answer = send(server, one);
    if (one.path.includes('watch=1')) watches.push(answer);
    else await answer;
  }
  await Promise.all(watches);
  const after = await counts(server);
  const counted = [...after].map(([series, count]) => [series, count - (before.get(series) ?? 0)]).filter(([, count]) => count > 0);
  return Object.fromEntries(counted.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Writes that admission alone looks at: connections, which no resource above has, and what single plug-ins refuse. */
const ADMITTED = [
  { method: 'POST', path: `/api/v1/namespaces/${NAMESPACE}/configmaps`, body: json({ metadata: { name: 'admitted' } }) },
  { method: 'PUT', path: `/api/v1/namespaces/${NAMESPACE}/configmaps/admitted`, body: json({ metadata: { name: 'admitted' } }) },
  { method: 'DELETE', path: `/api/v1/namespaces/${NAMESPACE}/configmaps/admitted` },
  { method: 'POST', path: '/api/v1/namespaces/no-such-namespace/configmaps', body: json({ metadata: { name: 'x' } }) },
  { method: 'DELETE', path: '/api/v1/namespaces/default' },
  { method: 'GET', path: `/api/v1/namespaces/${NAMESPACE}/services/none/proxy/` },
  { method: 'POST', path: `/api/v1/namespaces/${NAMESPACE}/pods`, body: json({ metadata: { name: 'p' }, spec: { ...podSpec, serviceAccountName: 'none' } }) },
  { method: 'POST', path: `/api/v1/namespaces/${NAMESPACE}/pods`, body: json({ metadata: { name: 'p' }, spec: { ...podSpec, priorityClassName: 'none' } }) },
];

const ADMISSION_SERIES = /^apiserver_admission_(?:controller|step)_admission_duration_seconds_count\{(.*)\} (\d+)$/gm;

async function admissions(server) {
  const { text } = await send(server, { method: 'GET', path: '/metrics' });
  return new Map([...text.matchAll(ADMISSION_SERIES)].map(([, labels, count]) => [labels.replaceAll('"', '').replaceAll(',', ' '), Number(count)]));
}

/** Which plug-ins and steps of admission have counted something while these were sent. A server that writes by itself counts that, too. */
export async function admissionSeries(url) {
  const server = new URL(url);
  await prepare(server);
  const before = await admissions(server);
  for (const one of ADMITTED) await send(server, one);
  return [...(await admissions(server))].filter(([series, count]) => count > (before.get(series) ?? 0)).map(([series]) => series).toSorted();
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const url = process.argv[process.argv.indexOf('--server') + 1];
  for (const [series, count] of Object.entries(await countScriptedRequests(url))) console.log(`${series} ${count}`);
}
