import { type Attack, type AttackClients, inNamespace, names, repeated } from '../attack.ts';

const configMaps = inNamespace('v1', 'configmaps');
const LARGE = `${configMaps}/large`;
const GROUP = 'large.example.com';
const customs = inNamespace(`${GROUP}/v1`, 'larges');
const TABLE = ';as=Table;v=v1;g=meta.k8s.io';
const METADATA = ';as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

/** A ConfigMap of 20,000 keys and a megabyte. */
const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: Object.fromEntries(names('key-', 20_000).map((key) => [key, `value: of "${key}"\n  and more`])),
});

/** A custom object of 90,000 values. */
const custom = (name: string) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Large',
  metadata: { name },
  spec: { items: repeated(22_000, (index) => ({ name: `n${index}`, count: index, text: 'some text' })) },
});

let isThere = false;

async function prepare({ admin }: AttackClients): Promise<void> {
  if (isThere) return;
  isThere = true;
  await admin.create(configMaps, configMap('large'));
  const item = { type: 'object', properties: { name: { type: 'string' }, count: { type: 'integer' }, text: { type: 'string' } } };
  const spec = { type: 'object', properties: { items: { type: 'array', items: item } } };
  await admin.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `larges.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'larges', kind: 'Large' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
    },
  });
  while ((await admin.send({ path: customs })).status !== 200);
  await admin.create(customs, custom('large'));
}

const read = (name: string, path: string, accept: string): Attack => ({
  name,
  row: 17,
  prepare,
  send: ({ namespaceAdmin, admin }) => (path.startsWith(customs) ? admin : namespaceAdmin).send({ path, headers: { accept } }),
});

const FORMS = [
  'application/json',
  'application/yaml',
  'application/cbor',
  `application/json${TABLE}`,
  `application/yaml${TABLE}`,
  `application/json${METADATA}`,
];

const written = (name: string, method: string, path: string, contentType: string, body: () => object | string): Attack => ({
  name,
  row: 17,
  prepare,
  send: ({ admin }) => admin.send({ method, path, headers: { 'content-type': contentType }, body: body() }),
});

/** JSON is YAML; of block style there is more to be read. */
const asYaml = ({ data, ...object }: ReturnType<typeof configMap>): string =>
  `${JSON.stringify(object)
    .slice(1, -1)
    .replaceAll(/"(apiVersion|kind|metadata)":/g, '\n$1: ')
    .replaceAll(/,\n/g, '\n')
    .trimStart()}\ndata:\n${Object.entries(data)
    .slice(0, 12_000)
    .map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`)
    .join('')}`;

const pods = inNamespace('v1', 'pods');
const POD = {
  metadata: { name: 'large', finalizers: ['example.com/held'] },
  spec: { containers: [{ name: 'c', image: 'i', env: repeated(15_000, (index) => ({ name: `E${index}`, value: 'some text' })) }] },
};

/** Requests of some bytes, each of which writes the pod as a whole. */
const lifeOfPod: Attack = {
  name: 'a pod of 15,000 variables bound, evicted, deleted and let go',
  row: 17,
  prepare: ({ admin }) => admin.create(pods, POD),
  async send({ admin }) {
    const large = `${pods}/large`;
    await admin.expect(201, { method: 'POST', path: `${large}/binding`, body: { metadata: { name: 'large' }, target: { name: 'n' } } });
    await admin.expect(201, {
      method: 'POST',
      path: `${large}/eviction`,
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'large' } },
    });
    await admin.expect(200, { method: 'DELETE', path: `${large}?gracePeriodSeconds=0` });
    return admin.send({ method: 'PATCH', path: large, headers: { 'content-type': 'application/merge-patch+json' }, body: { metadata: { finalizers: null } } });
  },
};

/** One object of about a megabyte, written for good and read in every form. */
export const largeObjectAttacks: readonly Attack[] = [
  ...FORMS.map((form) => read(`a ConfigMap of 20,000 keys as ${form}`, LARGE, form)),
  read('a ConfigMap of 20,000 keys as protobuf', LARGE, 'application/vnd.kubernetes.protobuf'),
  read('a ConfigMap of 20,000 keys as pretty JSON', `${LARGE}?pretty=true`, 'application/json'),
  ...FORMS.map((form) => ({ ...read(`a custom object of 90,000 values as ${form}`, `${customs}/large`, form), isLong: true })),
  read('a custom object of 90,000 values as pretty JSON', `${customs}/large?pretty=true`, 'application/json'),
  ...FORMS.filter((form) => !form.endsWith(METADATA)).map((form) => ({
    ...read(`a list with an object of 90,000 values as ${form}`, customs, form),
    isLong: true,
  })),
  read('a list with an object of 90,000 values as pretty JSON', `${customs}?pretty=true`, 'application/json'),
  read('a list with a ConfigMap of 20,000 keys as YAML', configMaps, 'application/yaml'),
  read('a list with a ConfigMap of 20,000 keys as protobuf', configMaps, 'application/vnd.kubernetes.protobuf'),
  {
    ...read('a ConfigMap of 20,000 keys, audited', LARGE, 'application/json'),
    send: ({ audited }) => audited.send({ method: 'PUT', path: LARGE, body: configMap('large') }),
  },
  {
    ...read('a ConfigMap of 20,000 keys, audited without managed fields', LARGE, 'application/json'),
    send: ({ auditedInPart }) => auditedInPart.send({ method: 'PUT', path: LARGE, body: configMap('large') }),
  },
  written('a ConfigMap of 20,000 keys created', 'POST', configMaps, 'application/json', () => configMap('created')),
  written('a ConfigMap of 20,000 keys replaced', 'PUT', LARGE, 'application/json', () => ({
    ...configMap('large'),
    metadata: { name: 'large', labels: { a: 'b' } },
  })),
  written('a ConfigMap of 12,000 keys created from YAML', 'POST', configMaps, 'application/yaml', () => asYaml(configMap('from-yaml'))),
  written('a custom object of 90,000 values created', 'POST', customs, 'application/json', () => custom('created')),
  written('a custom object of 90,000 values replaced', 'PATCH', `${customs}/large`, 'application/merge-patch+json', () => ({ spec: custom('large').spec })),
  { name: 'a ConfigMap of 20,000 keys deleted', row: 17, send: ({ admin }) => admin.send({ method: 'DELETE', path: `${configMaps}/created` }) },
  { name: 'a custom object of 90,000 values deleted', row: 17, send: ({ admin }) => admin.send({ method: 'DELETE', path: `${customs}/created` }) },
  lifeOfPod,
  { name: 'the OpenAPI document of all', row: 11, send: ({ namespaceAdmin }) => namespaceAdmin.send({ path: '/openapi/v2' }) },
  {
    name: 'the OpenAPI document of all as protobuf',
    row: 11,
    send: ({ namespaceAdmin }) =>
      namespaceAdmin.send({ path: '/openapi/v2', headers: { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' } }),
  },
  { name: 'the index of all OpenAPI documents', row: 11, send: ({ namespaceAdmin }) => namespaceAdmin.send({ path: '/openapi/v3' }) },
];
