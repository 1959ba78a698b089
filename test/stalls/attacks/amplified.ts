import type { ApiClient } from '../../support/api-client.ts';
import { type Attack, inNamespace, names, post, repeated } from '../attack.ts';

/* Little is sent, and much follows from it: defaults that are filled in again and again, and expressions that go over large objects. */

const GROUP = 'amplified.example.com';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = `${POLICIES.slice(0, -'policies'.length)}policybindings`;
const configMaps = inNamespace('v1', 'configmaps');

async function define(client: ApiClient, plural: string, spec: object): Promise<void> {
  await client.create(DEFINITIONS, {
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural, kind: `${plural.slice(0, 1).toUpperCase()}${plural.slice(1, -1)}` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
    },
  });
  while ((await client.send({ path: inNamespace(`${GROUP}/v1`, plural) })).status !== 200);
}

const custom = (name: string, plural: string, schema: object, spec: unknown): Attack => ({
  name,
  row: 14,
  async prepare({ admin, onEnd }) {
    onEnd(() => admin.send({ method: 'DELETE', path: `${DEFINITIONS}/${plural}.${GROUP}` }));
    await define(admin, plural, schema);
  },
  send: ({ admin }) =>
    post(admin, `${inNamespace(`${GROUP}/v1`, plural)}?dryRun=All`, {
      apiVersion: `${GROUP}/v1`,
      kind: `${plural.slice(0, 1).toUpperCase()}${plural.slice(1, -1)}`,
      metadata: { name: 'x' },
      spec,
    }),
});

const fields = (count: number): Record<string, object> => Object.fromEntries(names('f', count).map((name) => [name, { type: 'string', default: 'some text' }]));

/** A policy over a ConfigMap of 18,000 keys and a text of 600 KB. */
const policy = (name: string, ...expressions: string[]): Attack => ({
  name: `a policy that ${name}`,
  row: 18,
  async prepare({ admin, onEnd }) {
    onEnd(() => admin.send({ method: 'DELETE', path: `${POLICIES}/amplified` }));
    onEnd(() => admin.send({ method: 'DELETE', path: `${BINDINGS}/amplified` }));
    await admin.create(POLICIES, {
      metadata: { name: 'amplified' },
      spec: {
        failurePolicy: 'Ignore',
        matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }] },
        validations: expressions.map((expression) => ({ expression })),
      },
    });
    await admin.create(BINDINGS, { metadata: { name: 'amplified' }, spec: { policyName: 'amplified', validationActions: ['Deny'] } });
    const probe = { metadata: { name: 'met' } };
    while ((await admin.send({ method: 'POST', path: `${configMaps}?dryRun=All`, body: probe })).status >= 500);
  },
  send: ({ namespaceAdmin }) =>
    post(namespaceAdmin, `${configMaps}?dryRun=All`, {
      metadata: { name: 'large' },
      data: { text: 'ab,'.repeat(200_000), ...Object.fromEntries(names('key', 18_000).map((key) => [key, 'v'])) },
    }),
});

const TEXT = 'object.data.text';

export const amplifiedAttacks: readonly Attack[] = [
  custom(
    '20,000 items of 100 defaults each',
    'items',
    { type: 'object', properties: { list: { type: 'array', items: { type: 'object', properties: fields(100) } } } },
    { list: repeated(20_000, () => ({})) },
  ),
  custom(
    'one item with 2,000 defaults of 500 values',
    'wholes',
    {
      type: 'object',
      properties: {
        list: {
          type: 'array',
          items: { type: 'object', properties: { all: { type: 'array', items: { type: 'integer' }, default: repeated(500, (index) => index) } } },
        },
      },
    },
    { list: repeated(2_000, () => ({})) },
  ),
  custom(
    'a set of 20,000 objects',
    'sets',
    {
      type: 'object',
      properties: {
        list: {
          type: 'array',
          'x-kubernetes-list-type': 'set',
          items: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'integer' } } },
        },
      },
    },
    { list: repeated(20_000, (index) => ({ a: index })) },
  ),
  custom(
    'a rule that takes all of its cost',
    'costs',
    {
      type: 'object',
      properties: { list: { type: 'array', maxItems: 500, items: { type: 'integer' } } },
      'x-kubernetes-validations': repeated(5, () => ({ rule: 'self.list.all(x, self.list.exists(y, x == y + 1000000) == false)' })),
    },
    { list: repeated(500, (index) => index) },
  ),
  policy('compares all keys with all', 'object.data.all(a, object.data.all(b, a == b || a != b))'),
  ...Object.entries({
    'splits a text': `${TEXT}.split(',').size() > 0`,
    'joins and splits a text': `${TEXT}.split(',').join(';').split(';').size() > 0`,
    'replaces in a text': `${TEXT}.replace('a', 'bbbb').size() > 0`,
    'looks for what is nearly in a text': `${TEXT}.indexOf('ab,ab,ab,ab,ab,ab,ab,ac') < 0`,
    'takes a text for a quantity': `!isQuantity(${TEXT})`,
    'takes a text for a URL': `!isURL(${TEXT})`,
    'reverses a text': `${TEXT}.reverse().size() > 0`,
    'doubles a text': `(${repeated(60, () => TEXT).join('+')}).size() > 0`,
    'makes lists of all keys': `object.data.map(a, object.data[a]).map(b, b + b).size() > 0`,
    'sorts nothing': `${TEXT}.split(',').isSorted()`,
    'makes sets': `sets.equivalent(${TEXT}.split(','), ${TEXT}.split(','))`,
    formats: `'%s %s'.format([${TEXT}, ${TEXT}]).size() > 0`,
    'finds all': `${TEXT}.findAll('a').size() > 0`,
  }).map(([name, expression]) => policy(name, ...repeated(5, (index) => `${expression} || ${index} > 9`))),
];
