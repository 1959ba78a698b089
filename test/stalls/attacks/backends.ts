import type { IncomingMessage } from 'node:http';
import { caBundle, eventually, startBackend } from '../../support/aggregation.ts';
import type { Answer } from '../../support/api-client.ts';
import { ALLOWED, WebhookServer, patched } from '../../support/webhook-server.ts';
import { type Attack, type AttackClients, inNamespace, names, post, repeated } from '../attack.ts';

/* What webhooks and aggregated servers answer. */

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const configMaps = inNamespace('v1', 'configmaps');

/** A webhook for one write of a ConfigMap, which it answers so. */
function webhook(name: string, kind: 'mutating' | 'validating', answer: () => object | string, more: Partial<Attack> = {}): Attack {
  const path = `${ADMISSION}/${kind}webhookconfigurations`;
  return {
    name: `a ${kind} webhook that answers with ${name}`,
    row: 18,
    async prepare({ admin, onEnd }) {
      onEnd(() => admin.send({ method: 'DELETE', path: `${path}/hostile` }));
      const made = answer();
      const server = await new WebhookServer(() => made).listen();
      await admin.create(path, {
        metadata: { name: 'hostile' },
        webhooks: [
          {
            name: 'hostile.example.com',
            clientConfig: server.clientConfig,
            rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      });
    },
    send: ({ namespaceAdmin }) => post(namespaceAdmin, `${configMaps}?dryRun=All`, { metadata: { name: 'reviewed' }, data: { a: 'b' } }),
    ...more,
  };
}

/** What is shown to a webhook is as large as objects are; it changes next to nothing of it. */
const shownLarge = (kind: 'mutating' | 'validating', answer: object, values: number): Attack => ({
  ...webhook(`little, to ${values} values`, kind, () => answer),
  send: ({ admin }) =>
    post(admin, `${configMaps}?dryRun=All`, { metadata: { name: 'reviewed', finalizers: names('example.com/f', values) }, data: { a: 'b' } }),
});

const add = (count: number, value: (index: number) => unknown): object[] =>
  repeated(count, (index) => ({ op: 'add', path: `/data/k${index}`, value: value(index) }));

type Documents = Readonly<Record<string, () => unknown>>;

const GROUP = 'hostile.example.com';
const NAME = `v1.${GROUP}`;
const APISERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

const resource = (index: number) => ({ name: `r${index}`, singularName: `r${index}`, namespaced: true, kind: `R${index}`, verbs: ['get', 'list', 'watch'] });

const DISCOVERY: Documents = {
  [`/apis/${GROUP}/v1`]: () => ({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${GROUP}/v1`, resources: repeated(3, resource) }),
};

/** An aggregated server that answers these paths so: it is registered, asked by us, and seen by others. */
function aggregated(name: string, documents: Documents): Attack {
  let port = 0;
  let asked: IncomingMessage[] = [];
  return {
    name: `an aggregated server that answers with ${name}`,
    row: 14,
    async prepare({ admin, onEnd }) {
      const bodies = new Map(Object.entries({ ...DISCOVERY, ...documents }).map(([path, make]) => [path, JSON.stringify(make())]));
      const backend = await startBackend('hostile', (request, response) => {
        const { pathname } = new URL(request.url!, 'https://backend');
        const body = bodies.get(pathname);
        response.writeHead(body === undefined ? 404 : 200, { 'content-type': typeOf(pathname, body) }).end(body ?? '{}');
      });
      ({ port, requests: asked } = backend);
      onEnd(() => admin.send({ method: 'DELETE', path: `${APISERVICES}/${NAME}` }));
      onEnd(() => backend.server.close().closeAllConnections());
      const service = { metadata: { name: 'hostile' }, spec: { type: 'ExternalName', externalName: 'localhost' } };
      await admin.send({ method: 'POST', path: '/api/v1/namespaces/default/services', body: service });
    },
    send: (clients) => registered(clients, port, asked),
  };
}

const typeOf = (pathname: string, body: string | undefined): string =>
  body !== undefined && pathname === '/apis' ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' : 'application/json';

async function registered({ admin }: AttackClients, port: number, asked: readonly IncomingMessage[]): Promise<Answer> {
  await admin.create(APISERVICES, {
    metadata: { name: NAME },
    spec: { group: GROUP, version: 'v1', groupPriorityMinimum: 1000, versionPriority: 10, caBundle, service: { namespace: 'default', name: 'hostile', port } },
  });
  await eventually(() => {
    if (!asked.some(({ url }) => url === '/openapi/v2')) throw new Error('the backend was not asked');
  }, 60_000);
  await admin.send({ path: '/openapi/v2' });
  await admin.send({ path: '/openapi/v3' });
  await admin.send({ path: '/apis', headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' } });
  return admin.send({ path: '/apis' });
}

const definition = (index: number) => ({
  type: 'object',
  description: 'A type of a backend that has many.',
  properties: { metadata: { $ref: '#/definitions/d0' }, text: { type: 'string' }, next: { $ref: `#/definitions/d${index + 1}` } },
});
const operation = (index: number) => ({
  get: { operationId: `get${index}`, responses: { 200: { description: 'OK', schema: { $ref: `#/definitions/d${index}` } } } },
});

const openApi =
  (types: number, paths: number): (() => unknown) =>
  () => ({
    swagger: '2.0',
    info: { title: 'x', version: 'v1' },
    paths: Object.fromEntries(repeated(paths, (index) => [`/apis/${GROUP}/v1/r${index}`, operation(index)])),
    definitions: Object.fromEntries(repeated(types + 1, (index) => [`d${index}`, definition(index)])),
  });

export const backendAttacks: readonly Attack[] = [
  webhook('a patch of 9,900 additions', 'mutating', () => patched(...add(9_900, (index) => `v${index}`))),
  webhook('a patch of one value of 90,000', 'mutating', () => patched(...add(1, () => repeated(90_000, (index) => index))), { status: 500 }),
  webhook('a patch of 700 KB', 'mutating', () => patched(...add(7, () => 'x'.repeat(100_000)))),
  webhook('10,000 warnings', 'validating', () => ({ ...ALLOWED, warnings: names('careful ', 10_000) })),
  webhook('one warning of 2 MB', 'validating', () => ({ ...ALLOWED, warnings: ['\\"'.repeat(1_000_000)] })),
  webhook('40,000 annotations for the audit log', 'validating', () => ({
    ...ALLOWED,
    auditAnnotations: Object.fromEntries(names('a', 40_000).map((name) => [name, 'v'])),
  })),
  webhook('a refusal of 40,000 causes', 'validating', () => ({
    allowed: false,
    status: { message: 'no', details: { causes: repeated(40_000, (index) => ({ reason: 'r', field: `f${index}`, message: 'm' })) } },
  })),
  webhook('2 MB of JSON that is no review', 'validating', () => `[${repeated(500_000, () => '{}').join(',')}]`, { status: 500 }),
  shownLarge('validating', ALLOWED, 40_000),
  shownLarge('mutating', patched(...add(1, () => 'v')), 40_000),
  aggregated('an OpenAPI document of 20,000 types', { '/openapi/v2': openApi(20_000, 10_000) }),
  { ...aggregated('an OpenAPI document of 200,000 types', { '/openapi/v2': openApi(200_000, 10) }), isLong: true },
  aggregated('an index of 50,000 OpenAPI documents', {
    '/openapi/v3': () => ({ paths: Object.fromEntries(names('apis/g', 50_000).map((name) => [name, { serverRelativeURL: `/openapi/v3/${name}?hash=x` }])) }),
  }),
  aggregated('discovery of 100,000 resources', {
    [`/apis/${GROUP}/v1`]: () => ({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${GROUP}/v1`, resources: repeated(100_000, resource) }),
  }),
  aggregated('merged discovery of 50,000 groups', {
    '/apis': () => ({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      items: repeated(50_000, (index) => ({ metadata: { name: index === 49_999 ? GROUP : `g${index}` }, versions: [{ version: 'v1', resources: [] }] })),
    }),
  }),
];
