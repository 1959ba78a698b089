import { encodeCbor } from '../cbor.ts';
import { type Attack, type AttackClients, inNamespace, names, patch, repeated } from '../attack.ts';

const configMap = inNamespace('v1', 'configmaps', 'patched');
const GROUP = 'patches.example.com';
const lists = inNamespace(`${GROUP}/v1`, 'lists');

/** The last of so many managers applies the same keys with other values, by force. */
function applied(name: string, type: string, object: string, managers: number, keys: number): Attack {
  const path = inNamespace('v1', 'configmaps', object);
  const apply = ({ admin }: AttackClients, manager: number) => {
    const data = Object.fromEntries(repeated(keys, (index) => [`k${index}`, `v${manager === managers - 1 ? manager : 0}`]));
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: object }, data };
    const body = type.endsWith('cbor') ? encodeCbor(config) : blockYaml(config);
    return admin.send({ method: 'PATCH', path: `${path}?fieldManager=m${manager}&force=true`, headers: { 'content-type': `application/${type}` }, body });
  };
  return {
    name,
    row: 5,
    isLong: managers > 1 || type.endsWith('cbor'),
    async prepare(clients) {
      for (let manager = 0; manager < managers - 1; manager++) await apply(clients, manager);
    },
    send: (clients) => apply(clients, managers - 1),
  };
}

const blockYaml = ({ data, ...object }: { data: Record<string, string> }): string => {
  const { apiVersion, kind, metadata } = object as unknown as { apiVersion: string; kind: string; metadata: { name: string } };
  const lines = Object.entries(data).map(([key, value]) => `  ${key}: ${value}\n`);
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${metadata.name}\ndata:\n${lines.join('')}`;
};

/** Upstream's message shows what was found in place of the type, all of it. */
const mistyped = (name: string, data: object): Attack => ({
  name: `${name}, applied`,
  row: 5,
  status: 500,
  send: ({ admin }) =>
    admin.send({
      method: 'PATCH',
      path: inNamespace('v1', 'configmaps', 'mistyped?fieldManager=m'),
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mistyped' }, data },
    }),
});

/** What patches ask to be done, beside what they bring. */
export const patchAttacks: readonly Attack[] = [
  {
    name: '20,000 finalizers deleted from 20,000',
    row: 5,
    prepare: ({ admin }) => admin.create(inNamespace('v1', 'configmaps'), { metadata: { name: 'patched', finalizers: names('example.com/f', 20_000) } }),
    send: ({ admin }) =>
      patch(admin, configMap, 'strategic-merge-patch', { metadata: { '$deleteFromPrimitiveList/finalizers': names('example.com/f', 20_000).toReversed() } }),
  },
  {
    name: '15,000 owners deleted by their keys',
    row: 5,
    async prepare({ admin }) {
      const ownerReferences = repeated(15_000, (index) => ({ apiVersion: 'v1', kind: 'Node', name: 'n', uid: `u${index}` }));
      await admin.create(inNamespace('v1', 'configmaps'), { metadata: { name: 'owned', ownerReferences } });
    },
    send: ({ admin }) =>
      patch(admin, inNamespace('v1', 'configmaps', 'owned'), 'strategic-merge-patch', {
        metadata: { ownerReferences: repeated(15_000, (index) => ({ uid: `u${14_999 - index}`, $patch: 'delete' })) },
      }),
  },
  {
    name: 'one item patched 5,000 times',
    row: 5,
    async prepare({ admin }) {
      const env = repeated(5_000, (index) => ({ name: `E${index}`, value: 'x' }));
      const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i', env }] } };
      const spec = { selector: { matchLabels: { a: 'b' } }, template };
      await admin.create(inNamespace('apps/v1', 'deployments'), { metadata: { name: 'patched' }, spec });
    },
    send: ({ admin }) =>
      patch(admin, inNamespace('apps/v1', 'deployments', 'patched'), 'strategic-merge-patch', {
        spec: { template: { spec: { containers: repeated(5_000, () => ({ name: 'c', env: [{ name: 'E1', value: 'y' }] })) } } },
      }),
  },
  {
    name: 'copies of copies',
    row: 16,
    async prepare({ admin }) {
      const version = {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } },
      };
      await admin.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        metadata: { name: `lists.${GROUP}` },
        spec: { group: GROUP, scope: 'Namespaced', names: { plural: 'lists', kind: 'List' }, versions: [version] },
      });
      while ((await admin.send({ path: lists })).status !== 200);
      const spec = { short: repeated(1_000, () => 1), long: repeated(95_000, () => 1) };
      await admin.create(lists, { apiVersion: `${GROUP}/v1`, kind: 'List', metadata: { name: 'x' }, spec });
    },
    send: ({ admin }) =>
      patch(
        admin,
        `${lists}/x`,
        'json-patch',
        repeated(1_400, (index) => ({ op: 'copy', from: '/spec/short', path: `/spec/c${index}` })),
      ),
  },
  {
    name: 'a merge patch that takes 10,000 keys and adds 10,000',
    row: 5,
    prepare: ({ admin }) =>
      admin.create(inNamespace('v1', 'configmaps'), { metadata: { name: 'merged' }, data: Object.fromEntries(names('k', 10_000).map((key) => [key, 'v'])) }),
    send: ({ admin }) =>
      patch(admin, inNamespace('v1', 'configmaps', 'merged'), 'merge-patch', {
        data: Object.fromEntries([...names('k', 10_000).map((key) => [key, null]), ...names('n', 10_000).map((key) => [key, 'v'])]),
      }),
  },
  {
    name: '10,000 tests of one value',
    row: 16,
    send: ({ admin }) =>
      patch(
        admin,
        inNamespace('v1', 'configmaps', 'merged'),
        'json-patch',
        repeated(10_000, () => ({ op: 'test', path: '/metadata/name', value: 'merged' })),
      ),
  },
  ...['apply-patch+yaml', 'apply-patch+cbor'].flatMap((type) => [
    applied(`14,000 keys applied as ${type}`, type, `applied-${type.slice(-4)}`, 1, 14_000),
    applied(`3,000 keys applied by ten managers as ${type}`, type, `shared-${type.slice(-4)}`, 10, 3_000),
    applied(`60,000 keys applied as ${type}`, type, `refused-${type.slice(-4)}`, 1, 60_000),
  ]),
  mistyped('a list of 90,000 in place of a map', names('a text of some length ', 90_000)),
  mistyped('a list of 30,000 objects in place of a text', { a: repeated(30_000, (index) => ({ a: `v${index}`, b: 'a text of some length' })) }),
  {
    name: '10,000 insertions at the front of 95,000',
    row: 16,
    send: ({ admin }) =>
      patch(
        admin,
        `${lists}/x`,
        'json-patch',
        repeated(10_000, () => ({ op: 'add', path: '/spec/long/0', value: 1 })),
      ),
  },
];
