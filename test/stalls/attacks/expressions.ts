import type { ApiClient } from '../../support/api-client.ts';
import { type Attack, type AttackClients, inNamespace, names, post, repeated, unevenText } from '../attack.ts';

const GROUP = 'stalls.example.com';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MANY_STATES = '[ab]*a[ab]{900}c';

interface Kind {
  plural: string;
  spec: object;
  columns?: object[];
}

/** Waits until the kind is served. */
async function define(client: ApiClient, { plural, spec, columns }: Kind): Promise<void> {
  const schema = { type: 'object', properties: { spec } };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    ...(columns && { additionalPrinterColumns: columns }),
  };
  const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1);
  await client.create(definitions, {
    metadata: { name: `${plural}.${GROUP}` },
    spec: { group: GROUP, scope: 'Namespaced', names: { plural, kind }, versions: [version] },
  });
  while ((await client.send({ path: inNamespace(`${GROUP}/v1`, plural) })).status !== 200);
}

function customAttack(name: string, kind: Kind, spec: unknown, row = 14): Attack {
  const apiKind = kind.plural.slice(0, 1).toUpperCase() + kind.plural.slice(1, -1);
  return {
    name,
    row,
    prepare: ({ admin }: AttackClients) => define(admin, kind),
    send: ({ admin }) => post(admin, inNamespace(`${GROUP}/v1`, kind.plural), { apiVersion: `${GROUP}/v1`, kind: apiKind, metadata: { name: 'x' }, spec }),
  };
}

const pattern = (count: number): string => '[a-b]{990}'.repeat(count);

const claimAttack = (name: string, requests: number, selectors: number, repetitions: number): Attack => ({
  name,
  row: 4,
  send: ({ namespaceAdmin }) =>
    post(namespaceAdmin, inNamespace('resource.k8s.io/v1', 'resourceclaims'), {
      metadata: { name: 'claim' },
      spec: {
        devices: {
          requests: repeated(requests, (request) => ({
            name: `r${request}`,
            exactly: {
              deviceClassName: 'c',
              selectors: repeated(selectors, (index) => ({
                cel: { expression: `device.driver.matches("${pattern(repetitions)}${request}x${index}")` },
              })),
            },
          })),
        },
      },
    }),
});

/** CEL, regular expressions, schemas and JSONPaths. */
export const expressionAttacks: readonly Attack[] = [
  claimAttack('selectors of a claim whose patterns repeat', 10, 24, 40),
  claimAttack('selectors of a claim, three megabytes of them', 12, 24, 900),
  customAttack(
    'a rule whose pattern has a state for each character',
    {
      plural: 'rules',
      spec: {
        type: 'object',
        properties: { text: { type: 'string', maxLength: 30_000 } },
        'x-kubernetes-validations': [{ rule: `!self.text.matches('${MANY_STATES}')` }],
      },
    },
    { text: unevenText(30_000) },
  ),
  customAttack(
    'a pattern that has a state for each character',
    { plural: 'patterns', spec: { type: 'object', properties: { text: { type: 'string', pattern: MANY_STATES } } } },
    { text: unevenText(1_000_000) },
  ),
  customAttack(
    'an enumeration of 10,000 for 10,000 values',
    { plural: 'choices', spec: { type: 'array', items: { type: 'string', enum: names('v', 10_000) } } },
    names('v', 10_000).toReversed(),
  ),
  customAttack(
    'one of 600 patterns for 5,000 values',
    { plural: 'alternatives', spec: { type: 'array', items: { type: 'string', oneOf: repeated(600, (index) => ({ pattern: `^v${index}$` })) } } },
    names('v', 5_000),
  ),
  {
    name: '50 columns that each go through the object',
    row: 14,
    async prepare({ admin }) {
      const columns = repeated(50, (index) => ({ name: `c${index}`, type: 'string', jsonPath: '.spec..x..y..z' }));
      await define(admin, { plural: 'columns', spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, columns });
      await admin.create(inNamespace(`${GROUP}/v1`, 'columns'), {
        apiVersion: `${GROUP}/v1`,
        kind: 'Column',
        metadata: { name: 'x' },
        spec: Object.fromEntries(names('k', 10_000).map((key) => [key, { x: { y: { w: 1 } } }])),
      });
    },
    send: ({ admin }) => admin.send({ path: inNamespace(`${GROUP}/v1`, 'columns'), headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }),
  },
];
