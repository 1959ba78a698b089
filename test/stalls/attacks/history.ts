import { type Attack, type AttackClients, NAMESPACE, inNamespace, names, repeated } from '../attack.ts';

const COUNT = 10_000;
const AT_ONCE = 50;
const HISTORY = '/apis/history.binnacle.dev/v1alpha1';
const configMaps = inNamespace('v1', 'configmaps');
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** When ten thousand objects had their first version of two. */
let pastMoment = '';

async function fill({ admin }: AttackClients): Promise<void> {
  if (pastMoment !== '') return;
  const write = async (each: (name: string) => Promise<unknown>): Promise<void> => {
    const indexes = repeated(COUNT, (index) => index).values();
    const work = async (): Promise<void> => {
      for (const index of indexes) await each(`past-${index}`);
    };
    await Promise.all(repeated(AT_ONCE, work));
  };
  const object = (name: string, data: string): object => ({ metadata: { name }, data: { a: data.repeat(400) } });
  await write((name) => admin.create(configMaps, object(name, 'x')));
  const list = await admin.get<{ metadata: { resourceVersion: string } }>(`${configMaps}?limit=1`);
  await write((name) => admin.send({ method: 'PUT', path: `${configMaps}/${name}`, body: object(name, 'y') }));
  await admin.expect(201, { method: 'POST', path: configMaps, body: large('x') });
  for (const value of ['y', 'z', 'x']) await admin.send({ method: 'PUT', path: `${configMaps}/large-past`, body: large(value) });
  await admin.send({ method: 'DELETE', path: `${configMaps}/large-past` });
  await admin.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', DEFINITION);
  while ((await admin.send({ path: numbers })).status !== 200);
  await admin.create(numbers, manyNumbers(0));
  await admin.expect(200, { method: 'PATCH', path: `${numbers}/many`, headers: { 'content-type': 'application/merge-patch+json' }, body: manyNumbers(1) });
  pastMoment = list.metadata.resourceVersion;
}

const large = (value: string): object => ({ metadata: { name: 'large-past' }, data: Object.fromEntries(names('key', 20_000).map((key) => [key, value])) });

const GROUP = 'past.example.com';
const numbers = inNamespace(`${GROUP}/v1`, 'numbers');
const DEFINITION = {
  metadata: { name: `numbers.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'numbers', kind: 'Numbers' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
  },
};
const manyNumbers = (from: number): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Numbers',
  metadata: { name: 'many' },
  spec: { numbers: repeated(90_000, (index) => index + from) },
});

const asked = (name: string, path: () => string, accept = 'application/json'): Attack => ({
  name,
  row: 13,
  prepare: fill,
  send: ({ namespaceAdmin }) => namespaceAdmin.send({ path: `${HISTORY}/${path()}`, headers: { accept } }),
});

const changes = (query = ''): string => `namespaces/${NAMESPACE}/changes${query}`;
const past = (query = ''): string => `objects${configMaps}?at=${pastMoment}${query}`;

/** What a server with `--history` is asked of twenty thousand changes to ten thousand objects. */
export const historyAttacks: readonly Attack[] = [
  asked('5,000 changes', () => changes()),
  asked('5,000 changes as a Table', () => changes(), TABLE),
  asked('5,000 changes as YAML', () => changes(), 'application/yaml'),
  asked('changes of one object of 10,000', () => changes('?fieldSelector=object.name=past-9999')),
  asked('changes of an object of 20,000 keys', () => changes('?fieldSelector=object.name=large-past')),
  asked('changes of an object of 20,000 keys as a Table', () => changes('?fieldSelector=object.name=large-past'), TABLE),
  ...['application/json', TABLE, 'application/yaml'].map((type) => ({
    ...asked(`changes of an object of 90,000 numbers as ${type}`, () => ''),
    send: ({ admin }: AttackClients) => admin.send({ path: `${HISTORY}/${changes('?fieldSelector=object.name=many')}`, headers: { accept: type } }),
  })),
  asked('changes by a user that made none', () => changes('?fieldSelector=user.username=nobody')),
  asked('changes to which 1,000 requirements apply', () => changes(`?fieldSelector=${repeated(1_000, (index) => `object.name!=n${index}`).join(',')}`)),
  asked('the newest 5,000 changes of all namespaces', () => 'changes?order=newest'),
  asked('a watch that begins with 20,000 changes', () => changes('?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=2')),
  asked('10,000 objects as they were', () => past()),
  asked('10,000 objects as they were, as a Table', () => past(), TABLE),
  asked('10,000 objects as they were, as YAML', () => past(), 'application/yaml'),
  asked('10,000 objects as they were, by a label that none has', () => past('&labelSelector=a=b')),
];
