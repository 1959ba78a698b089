import { exampleKinds } from '../../kinds/examples.ts';
import { encodeProtobufObject } from '../../../src/schema/protobuf.ts';
import { type Attack, type AttackClients, inNamespace, repeated } from '../attack.ts';
import { encodeCbor } from '../cbor.ts';
import { type Place, filled } from '../filled-objects.ts';
import { prepareKinds } from './filled-kinds.ts';

const GROUP = 'shapes.example.com';
const shapes = inNamespace(`${GROUP}/v1`, 'shapes');

let isThere = false;

/** Custom objects that may hold anything. */
async function prepare({ admin }: AttackClients): Promise<void> {
  if (isThere) return;
  isThere = true;
  const properties = { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await admin.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `shapes.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'shapes', kind: 'Shape' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } }],
    },
  });
  while ((await admin.send({ path: shapes })).status !== 200);
  await admin.create(shapes, { apiVersion: `${GROUP}/v1`, kind: 'Shape', metadata: { name: 'x' }, spec: { a: 1 } });
}

const list = (count: number, item: (index: number) => string): string => `[${repeated(count, item).join(',')}]`;
const map = (count: number, key: (index: number) => string, value: (index: number) => string): string =>
  `{${repeated(count, (index) => `"${key(index)}":${value(index)}`).join(',')}}`;

/** JSON of what the limits of a body's bytes, values and depth have room for, in as many ways as come to mind. */
const SHAPES: Readonly<Record<string, () => string>> = {
  '45,000 objects of one key': () => list(45_000, () => '{"a":1}'),
  '45,000 objects 900 levels down': () => `${'['.repeat(900)}${list(45_000, () => '{"a":1}')}${']'.repeat(900)}`,
  '30,000 objects of a key of their own': () => list(30_000, (index) => `{"k${index}":"v"}`),
  '90 chains of 990 objects': () => list(90, () => `${'{"a":'.repeat(990)}1${'}'.repeat(990)}`),
  '95,000 empty objects': () => list(95_000, () => '{}'),
  '45,000 lists of one item': () => list(45_000, () => '[1]'),
  '300 lists of 300 lists': () => list(300, () => list(300, () => '[]')),
  '10,000 keys of 250 characters': () => list(10_000, (index) => `{"${String(index).padStart(250, 'k')}":1}`),
  'one key of 2.9 MB': () => `{"${'k'.repeat(2_900_000)}":1}`,
  'one text of 1.4 million escapes': () => `["${'\\n'.repeat(1_400_000)}"]`,
  '30,000 texts of escapes': () => list(30_000, () => `"${'\\u00e9'.repeat(14)}"`),
  '90,000 numbers written at length': () => list(90_000, (index) => `${index}.50e1`),
  '90,000 integers of 19 digits': () => list(90_000, () => '9223372036854775807'),
  'a number of 2.9 million digits': () => `[${'1'.repeat(2_900_000)}]`,
  '19,000 keys that are numbers': () =>
    map(
      19_000,
      (index) => String(index * 7919),
      () => '1',
    ),
  '19,000 times one key': () =>
    map(
      19_000,
      () => 'a',
      (index) => `{"b":${index}}`,
    ),
  '20,000 objects that repeat a key': () => list(20_000, () => '{"a":1,"a":2}'),
  '2.9 MB of spaces': () => `[${' '.repeat(2_900_000)}1]`,
};

const FAULTY: Readonly<Record<string, () => string>> = {
  '90,000 values and a fault at their end': () => `${list(45_000, () => '{"a":1}')}é`,
  '100,000 values too many': () => list(200_000, () => '{}'),
};

const object = (name: string, json: string): string => `{"apiVersion":"${GROUP}/v1","kind":"Shape","metadata":{"name":"${name}"},"spec":{"a":${json}}}`;

/** The ways in which JSON comes to the server. */
const WAYS: Readonly<Record<string, (clients: AttackClients, json: string) => ReturnType<Attack['send']>>> = {
  created: ({ admin }, json) =>
    admin.send({ method: 'POST', path: `${shapes}?dryRun=All`, body: object('y', json), headers: { 'content-type': 'application/json' } }),
  'created from YAML': ({ admin }, json) =>
    admin.send({ method: 'POST', path: `${shapes}?dryRun=All`, body: `---\n${object('y', json)}`, headers: { 'content-type': 'application/yaml' } }),
  'as unknown field of a ConfigMap': ({ admin }, json) =>
    admin.send({
      method: 'POST',
      path: `${inNamespace('v1', 'configmaps')}?dryRun=All&fieldValidation=Strict`,
      body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"y"},"a":${json}}`,
      headers: { 'content-type': 'application/json' },
    }),
  'merged in': ({ admin }, json) =>
    admin.send({
      method: 'PATCH',
      path: `${shapes}/x?dryRun=All`,
      body: `{"spec":{"a":${json}}}`,
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  'added by a JSON patch': ({ admin }, json) =>
    admin.send({
      method: 'PATCH',
      path: `${shapes}/x?dryRun=All`,
      body: `[{"op":"add","path":"/spec/b","value":${json}}]`,
      headers: { 'content-type': 'application/json-patch+json' },
    }),
  applied: ({ admin }, json) =>
    admin.send({
      method: 'PATCH',
      path: `${shapes}/x?dryRun=All&fieldManager=m&force=true`,
      body: object('x', json),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    }),
};

/** What the short form has: one of the shapes in every way, and every shape in one. */
const isShort = (shape: string, way: string): boolean => shape === '45,000 objects of one key' || way === 'created';

const shaped: readonly Attack[] = Object.entries({ ...SHAPES, ...FAULTY }).flatMap(([shape, make]) =>
  Object.entries(WAYS).map(([way, send]): Attack => ({
    name: `${shape}, ${way}`,
    row: 17,
    prepare,
    send: (clients) => send(clients, make()),
    isLong: !isShort(shape, way),
  })),
);

const kinds = exampleKinds();

/** Lists and maps of a kind that has a type, in the other forms that a body may have. */
const TYPED: Readonly<Record<string, readonly string[]>> = {
  'v1/pods': ['spec.containers', 'spec.volumes', 'status.nodeAllocatableResourceClaimStatuses'],
  'v1/configmaps': ['data', 'metadata.ownerReferences'],
  'networking.k8s.io/v1/networkpolicies': ['spec.egress'],
};

const typed: readonly Attack[] = Object.entries(TYPED).flatMap(([name, places]) => {
  const kind = kinds.find((one) => one.name === name)!;
  const body = (place: Place): { apiVersion: string; kind: string } => filled(kind, place, 60_000) as unknown as { apiVersion: string; kind: string };
  const forms: Readonly<Record<string, (place: Place) => Buffer>> = {
    'application/cbor': (place) => encodeCbor(body(place)),
    'application/vnd.kubernetes.protobuf': (place) => encodeProtobufObject(kind.schema, body(place)),
  };
  return places.flatMap((place) =>
    Object.entries(forms).map(([form, encode]): Attack => ({
      name: `60,000 values in ${name} ${place} as ${form}`,
      row: 17,
      isLong: true,
      prepare: prepareKinds,
      send: ({ admin }) => admin.send({ method: 'POST', path: `${kind.path}?dryRun=All`, body: encode(place.split('.')), headers: { 'content-type': form } }),
    })),
  );
});

/** One long text, in each way that YAML has for it. */
const YAML_TEXTS: Readonly<Record<string, () => string>> = {
  'in double quotes': () => `"${'b'.repeat(1_400_000)}"`,
  'in double quotes, of lines': () => `"${'b\n  '.repeat(350_000)}"`,
  'in double quotes, of escapes that JSON has not': () => `"${'\\x41'.repeat(350_000)}"`,
  'in double quotes, of escapes, some of them wrong': () => `"${'b'.repeat(1_400_000)}\\q"`,
  'in single quotes, of spaces': () => `'${' '.repeat(1_400_000)}'`,
  'in single quotes, of quotes': () => `'${"''".repeat(700_000)}'`,
  'in single quotes, of lines': () => `'${'b\n  '.repeat(350_000)}'`,
  'without quotes': () => `b${' '.repeat(1_400_000)}c`,
  'without quotes, of lines': () => 'b\n  '.repeat(350_000),
  'of literal lines': () => `|\n${'  b\n'.repeat(350_000)}`,
  'of 40,000 literal lines': () => `|\n${'  line of text\n'.repeat(40_000)}`,
  'of folded lines': () => `>\n${'  b\n'.repeat(350_000)}`,
  'of folded lines, empty': () => `>\n${'\n'.repeat(1_400_000)}`,
};

const yamlTexts: readonly Attack[] = Object.entries(YAML_TEXTS).map(([text, make]): Attack => ({
  name: `a YAML text ${text}`,
  row: 17,
  isLong: text !== 'in double quotes',
  send: ({ admin }) =>
    admin.send({
      method: 'POST',
      path: `${inNamespace('v1', 'configmaps')}?dryRun=All`,
      body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata:\n  a: ${make()}\n`,
      headers: { 'content-type': 'application/yaml' },
    }),
}));

export const bodyShapeAttacks: readonly Attack[] = [...shaped, ...typed, ...yamlTexts];
