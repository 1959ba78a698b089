import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify as toYaml } from 'yaml';
import type { Answer, ApiClient, ApiRequest } from '../support/api-client.ts';
import { type ServerProcess, startServer } from '../support/server.ts';
import { Random } from '../../src/util/test-random.ts';
import { mutate } from '../../fuzz/mutate.ts';
import { type OpenApi, type Schema, ValueMaker } from './schema-values.ts';

/*
 * Bodies and paths that nobody would send, for some seconds: no answer that blames the server, none that comes late, and a process that lives. To see a
 * finding again: FUZZ_SEED=<the number it names> npx vitest run test/security/fuzz.test.ts. FUZZ_SECONDS=600 looks for longer.
 */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const DURATION_MS = Number(process.env.FUZZ_SECONDS ?? 4) * 1000;
const WORKERS = 4;
const LATE_MS = 1000;
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
/** What a client is told of a fault that is the server's own. */
const OWN_FAULT = 'the server failed to handle the request';

let server: ServerProcess;
let admin: ApiClient;
let documents: OpenApi[];

beforeAll(async () => {
  server = await startServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
  admin = server.client();
  const { paths } = await admin.get<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3');
  const urls = Object.entries(paths).filter(([path]) => /^apis?\/.*v\d/.test(path));
  documents = await Promise.all(urls.map(([, { serverRelativeURL }]) => admin.get<OpenApi>(serverRelativeURL)));
});
afterAll(async () => {
  expect(server.lines.filter((line) => line.includes('A fault outside of any request'))).toEqual([]);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

/** Sends made-up requests until the time is up, and answers with those that went wrong. */
async function fuzz(next: (random: Random) => ApiRequest | Promise<ApiRequest>): Promise<{ sent: number; findings: string[] }> {
  const findings = new Set<string>();
  const endMs = performance.now() + DURATION_MS;
  let sent = 0;
  const work = async (seed: number): Promise<void> => {
    const random = new Random(seed);
    while (performance.now() < endMs && findings.size < 20) {
      const request = await next(random);
      sent++;
      const finding = await problemOf(request);
      if (finding !== undefined) findings.add(`${finding} (seed ${SEED}): ${describeRequest(request)}`);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, index) => work(SEED + index)));
  return { sent, findings: [...findings] };
}

async function problemOf(request: ApiRequest): Promise<string | undefined> {
  const { answer, durationMs } = await timed(request);
  if (answer.status >= 500 && answer.text.includes(OWN_FAULT)) return `${answer.status}`;
  // Late on a busy machine is not late: what was is tried once more.
  if (durationMs > LATE_MS && (await timed(request)).durationMs > LATE_MS) return `after ${durationMs.toFixed(0)} ms`;
  return undefined;
}

async function timed(request: ApiRequest): Promise<{ answer: Answer; durationMs: number }> {
  const startMs = performance.now();
  const answer = await admin.send(request);
  return { answer, durationMs: performance.now() - startMs };
}

function describeRequest({ method = 'GET', path, headers, body = '' }: ApiRequest): string {
  const text = Buffer.isBuffer(body) ? body.toString('latin1') : typeof body === 'string' ? body : JSON.stringify(body);
  return `${method} ${path.slice(0, 300)} ${headers?.['content-type'] ?? ''} ${JSON.stringify(text.slice(0, 4000))}`;
}

interface Target {
  path: string;
  schema: Schema;
  document: OpenApi;
}

/** Everything that can be created, with what it is made of. */
const targets = (): Target[] =>
  documents.flatMap((document) =>
    Object.entries(document.paths).flatMap(([path, { post }]) => {
      const schema = post?.requestBody?.content['*/*']?.schema ?? post?.requestBody?.content['application/json']?.schema;
      return schema ? [{ path: path.replace('{namespace}', 'default').replace('{name}', 'some'), schema, document }] : [];
    }),
  );

/** As objects: text that is JSON, or the same in YAML; now and then no longer quite. */
function bodyOf(random: Random, value: unknown): { body: Buffer; headers: { 'content-type': string } } {
  const isYaml = random.chance(0.15);
  const body = Buffer.from(isYaml ? toYaml(value) : JSON.stringify(value));
  return { body: random.chance(0.15) ? mutate(random, body) : body, headers: { 'content-type': isYaml ? 'application/yaml' : 'application/json' } };
}

test('objects of every kind', async () => {
  const all = targets();
  expect(all.length).toBeGreaterThan(60);
  const { sent, findings } = await fuzz((random) => {
    const { path, schema, document } = random.pick(all);
    const object = new ValueMaker(random, document.components.schemas).value(schema);
    // Mostly with a name that passes, or all that is looked at is the name.
    if (typeof object === 'object' && object !== null && random.chance(0.9))
      Object.assign(object, {
        metadata: { name: 'some', ...(random.chance(0.3) && (object as { metadata?: object }).metadata) },
        kind: undefined,
        apiVersion: undefined,
      });
    const query = `dryRun=All&fieldManager=fuzz&fieldValidation=${random.pick(['Ignore', 'Warn', 'Strict'])}`;
    return { method: 'POST', path: `${path}?${query}`, ...bodyOf(random, object) };
  });
  expect(findings).toEqual([]);
  expect(sent).toBeGreaterThan(100);
}, 60_000);

const SEEDS: readonly [path: string, object: object][] = [
  ['/api/v1/namespaces/default/configmaps', { data: { a: 'b', c: 'd' }, binaryData: { e: 'aGVsbG8=' } }],
  ['/api/v1/namespaces/default/services', { spec: { ports: [{ port: 80, name: 'http', targetPort: 'web' }], selector: { a: 'b' } } }],
  [
    '/api/v1/namespaces/default/pods',
    {
      spec: {
        containers: [
          { name: 'a', image: 'b', env: [{ name: 'A', value: 'b' }], ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1', memory: '1Gi' } } },
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    },
  ],
  [
    '/apis/apps/v1/namespaces/default/deployments',
    { spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } } } },
  ],
  [
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }] } },
  ],
  ['/apis/rbac.authorization.k8s.io/v1/clusterroles', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }],
  [
    '/apis/batch/v1/namespaces/default/cronjobs',
    { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } } } } } },
  ],
];

test('patches and protobuf of objects that are there', async () => {
  const there: { path: string; protobuf: Buffer; json: Buffer; schema: Target }[] = [];
  const all = targets();
  for (const [path, object] of SEEDS) {
    await admin.create(path, { metadata: { name: 'there', labels: { a: 'b' }, finalizers: ['example.org/keep'] }, ...object });
    const { body: protobuf } = await admin.expect(200, { path: `${path}/there`, headers: { accept: PROTOBUF } });
    const { body: json } = await admin.expect(200, { path: `${path}/there` });
    there.push({ path: `${path}/there`, protobuf, json, schema: all.find((target) => target.path === path)! });
  }
  const { sent, findings } = await fuzz((random) => {
    const { path, protobuf, json, schema } = random.pick(there);
    const query = `dryRun=All&fieldManager=fuzz&fieldValidation=${random.pick(['Ignore', 'Warn', 'Strict'])}`;
    const value = (): unknown => new ValueMaker(random, schema.document.components.schemas).value(schema.schema);
    const kind = random.below(6);
    if (kind === 0) return { method: 'PUT', path: `${path}?${query}`, body: mutate(random, protobuf), headers: { 'content-type': PROTOBUF } };
    if (kind === 1)
      return {
        method: 'PUT',
        path: `${path}?${query}`,
        body: mutate(random, json),
        headers: { 'content-type': random.pick(['application/json', 'application/yaml']) },
      };
    if (kind === 2) {
      const type = random.pick(['application/merge-patch+json', 'application/strategic-merge-patch+json']);
      return { method: 'PATCH', path: `${path}?${query}`, body: JSON.stringify(withDirectives(random, value())), headers: { 'content-type': type } };
    }
    if (kind === 3) {
      const body = JSON.stringify({
        ...JSON.parse(json.toString()),
        ...(value() as object),
        apiVersion: undefined,
        kind: undefined,
        metadata: { name: 'there' },
        ...(random.chance(0.9) && typeOf(json)),
      });
      return { method: 'PATCH', path: `${path}?${query}&force=true`, body, headers: { 'content-type': 'application/apply-patch+yaml' } };
    }
    if (kind === 4)
      return {
        method: 'PATCH',
        path: `${path}?${query}`,
        body: JSON.stringify(operations(random, value)),
        headers: { 'content-type': 'application/json-patch+json' },
      };
    return {
      method: 'DELETE',
      path: `${path}?dryRun=All`,
      body: mutate(
        random,
        Buffer.from('{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5,"preconditions":{"uid":"x"},"propagationPolicy":"Orphan"}'),
      ),
    };
  });
  expect(findings).toEqual([]);
  expect(sent).toBeGreaterThan(100);
}, 60_000);

const typeOf = (json: Buffer): object => {
  const { kind, apiVersion } = JSON.parse(json.toString()) as { kind: string; apiVersion: string };
  return { kind, apiVersion };
};

const DIRECTIVES: readonly [string, unknown][] = [
  ['$patch', 'delete'],
  ['$patch', 'replace'],
  ['$patch', 'merge'],
  ['$patch', 5],
  ['$retainKeys', ['a']],
  ['$retainKeys', 1],
  ['$setElementOrder/containers', [{ name: 'a' }]],
  ['$setElementOrder/finalizers', ['x']],
  ['$deleteFromPrimitiveList/finalizers', ['x']],
  ['$deleteFromPrimitiveList/finalizers', 5],
];

function withDirectives(random: Random, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withDirectives(random, item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withDirectives(random, item)]);
  return Object.fromEntries(random.chance(0.1) ? [...entries, random.pick(DIRECTIVES)] : entries);
}

const POINTERS = [
  '',
  '/',
  '/metadata',
  '/metadata/labels',
  '/metadata/labels/a',
  '/metadata/finalizers/0',
  '/metadata/finalizers/-',
  '/spec',
  '/spec/containers/0',
  '/spec/template',
  '/spec/ports/0/port',
  '/data',
  '/data/a',
  '/rules/0',
  '/__proto__/x',
  '/a~1b',
  '/~2',
  '/metadata/name',
  '/kind',
  '/status',
  '/spec/jobTemplate/spec',
];

const operations = (random: Random, value: () => unknown): object[] =>
  Array.from({ length: 1 + random.below(4) }, () => ({
    op: random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'dance']),
    path: random.pick(POINTERS),
    ...(random.chance(0.5) && { from: random.pick(POINTERS) }),
    ...(random.chance(0.7) && { value: random.chance(0.5) ? value() : random.pick(['x', 1, null, [], {}]) }),
  }));

test('paths and queries', async () => {
  const segments = [
    'api',
    'apis',
    'v1',
    'apps',
    'batch',
    'namespaces',
    'default',
    'pods',
    'configmaps',
    'deployments',
    'nodes',
    'there',
    'status',
    'scale',
    'log',
    'exec',
    'proxy',
    'watch',
    'token',
    'binding',
    'eviction',
    'finalize',
    'openapi',
    'v2',
    'v3',
    'healthz',
    'metrics',
    'version',
    '.well-known',
    '..',
    '.',
    '',
    '%2e%2e',
    '%2f',
    '%00',
    '%zz',
    '__proto__',
    'constructor',
    'a%20b',
    '%F0%9F%98%80',
    'rbac.authorization.k8s.io',
    'apiextensions.k8s.io',
    'customresourcedefinitions',
    'componentstatuses',
    'serviceaccounts',
    '*',
  ];
  const names = [
    'watch',
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'labelSelector',
    'fieldSelector',
    'timeoutSeconds',
    'timeout',
    'allowWatchBookmarks',
    'sendInitialEvents',
    'pretty',
    'dryRun',
    'fieldManager',
    'fieldValidation',
    'includeObject',
    'gracePeriodSeconds',
    'propagationPolicy',
    'verbose',
    'exclude',
    'export',
    'container',
    'tailLines',
    'command',
    'ports',
    'path',
    '__proto__',
    '',
  ];
  const values = [
    '',
    '0',
    '1',
    '-1',
    'true',
    'false',
    'a',
    'a%3Db',
    'metadata.name%3Dthere',
    'metadata.name%3D%3D%3D',
    'a+in+(b,c)',
    '!a',
    '%28',
    '99999999999999999999',
    '1.5',
    '1e9',
    '100ms',
    'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0',
    '%00',
    '%ff',
    'Exact',
    'NotOlderThan',
    'All',
    'Object',
    'Orphan',
    '..',
  ];
  const accepts = [
    'application/json',
    'application/yaml',
    PROTOBUF,
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    '*/*',
    'text/plain',
    ';',
    'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  ];
  const { sent, findings } = await fuzz((random) => {
    const start = random.chance(0.7)
      ? random.pick(['/api/v1/', '/apis/apps/v1/', '/api/v1/namespaces/default/', '/api/v1/namespaces/default/pods/there/', '/apis/'])
      : '/';
    const path = start + Array.from({ length: random.below(5) }, () => random.pick(segments)).join('/');
    const query = Array.from({ length: random.below(4) }, () => `${random.pick(names)}=${random.pick(values)}`);
    // Watches end by themselves, at once.
    const method = random.pick(['GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'DELETE', 'POST', 'PUT', 'PATCH']);
    return {
      method,
      path: `${path}?timeoutSeconds=-1&timeout=500ms&dryRun=All&${query.join('&')}`,
      headers: { accept: random.pick(accepts), ...(method === 'PATCH' && { 'content-type': 'application/merge-patch+json' }) },
      ...(['POST', 'PUT', 'PATCH'].includes(method) && { body: Buffer.from('{}') }),
    };
  });
  expect(findings).toEqual([]);
  expect(sent).toBeGreaterThan(100);
}, 60_000);
