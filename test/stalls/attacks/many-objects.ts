import type { ApiClient } from '../../support/api-client.ts';
import { type Attack, type AttackClients, NAMESPACE, inNamespace, names, post, repeated } from '../attack.ts';

const AT_ONCE = 50;

/** So many objects at a path, fifty at a time. */
async function createMany(client: ApiClient, path: string, count: number, make: (index: number) => object): Promise<void> {
  const indexes = repeated(count, (index) => index).values();
  const work = async (): Promise<void> => {
    for (const index of indexes) await client.create(path, make(index));
  };
  await Promise.all(repeated(AT_ONCE, work));
}

const removeAll = (client: ApiClient, path: string): Promise<unknown> => client.send({ method: 'DELETE', path });

/** Until the server says so, or for so long. */
async function until(isReached: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!(await isReached()) && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 20));
}

const secrets = inNamespace('v1', 'secrets');
const secret = (index: number, more: object = {}) => ({ metadata: { name: `many-${index}`, ...more }, stringData: { a: 'b' } });
const CANDIDATES = inNamespace('coordination.k8s.io/v1beta1', 'leasecandidates');
const MIGRATIONS = '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations';
const shard = (index: number): string =>
  `shardRange(object.metadata.uid, '0x${index.toString(16).padStart(16, '0')}', '0x${(index + 1).toString(16).padStart(16, '0')}')`;

async function isGone({ admin }: AttackClients, path: string): Promise<boolean> {
  return (await admin.get<{ items: unknown[] }>(`${path}?limit=1`)).items.length === 0;
}

/** Thousands of objects at once, and what follows from them. */
export const manyObjectAttacks: readonly Attack[] = [
  {
    name: 'a quota that counts 5,000 secrets, of which one goes',
    row: 17,
    async prepare(clients) {
      const { admin, onEnd } = clients;
      await createMany(admin, secrets, 5_000, (index) => secret(index));
      const quotas = inNamespace('v1', 'resourcequotas');
      onEnd(() => removeAll(admin, quotas));
      await admin.create(quotas, { metadata: { name: 'counting' }, spec: { hard: { 'count/secrets': '100000' } } });
    },
    async send({ admin }) {
      const answer = await admin.send({ method: 'DELETE', path: `${secrets}/many-0` });
      const isCounted = async (): Promise<boolean> => {
        const { status } = await admin.get(inNamespace('v1', 'resourcequotas', 'counting'));
        return (status?.['used'] as Record<string, string> | undefined)?.['count/secrets'] === '4999';
      };
      await until(isCounted);
      return answer;
    },
  },
  {
    name: '5,000 secrets by 1,000 ranges of a shard',
    row: 13,
    send: ({ namespaceAdmin }) => namespaceAdmin.send({ path: `${secrets}?shardSelector=${encodeURIComponent(repeated(1_000, shard).join(' || '))}` }),
  },
  {
    name: 'a shard selector of 80,000 brackets',
    row: 2,
    send: ({ namespaceAdmin }) => namespaceAdmin.send({ path: `${secrets}?shardSelector=${'('.repeat(80_000)}` }),
    status: 500,
  },
  {
    name: '5,000 secrets deleted by one request',
    row: 17,
    send: ({ namespaceAdmin }) => removeAll(namespaceAdmin, secrets) as ReturnType<Attack['send']>,
  },
  {
    name: 'an owner of 5,000 that goes',
    row: 6,
    isLong: true,
    async prepare({ admin }) {
      const { metadata } = await admin.create(inNamespace('v1', 'configmaps'), { metadata: { name: 'owner' } });
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid }];
      await createMany(admin, secrets, 5_000, (index) => secret(index, { ownerReferences }));
    },
    async send(clients) {
      const answer = await clients.admin.send({ method: 'DELETE', path: `${inNamespace('v1', 'configmaps', 'owner')}?propagationPolicy=Foreground` });
      await until(() => isGone(clients, secrets));
      return answer;
    },
  },
  {
    name: 'a namespace of 5,000 objects that goes',
    row: 17,
    isLong: true,
    async prepare({ admin }) {
      await admin.create('/api/v1/namespaces', { metadata: { name: 'full' } });
      await createMany(admin, '/api/v1/namespaces/full/secrets', 5_000, (index) => secret(index));
    },
    async send({ admin }) {
      const answer = await admin.send({ method: 'DELETE', path: '/api/v1/namespaces/full' });
      await until(async () => (await admin.send({ path: '/api/v1/namespaces/full' })).status === 404);
      return answer;
    },
  },
  {
    name: '3,000 candidates of a lease',
    row: 17,
    isLong: true,
    async send({ admin, onEnd }) {
      onEnd(() => removeAll(admin, CANDIDATES));
      await createMany(admin, CANDIDATES, 3_000, (index) => ({
        metadata: { name: `c${index}` },
        spec: {
          leaseName: 'wanted',
          binaryVersion: '1.36.0',
          emulationVersion: '1.36.0',
          strategy: 'OldestEmulationVersion',
          renewTime: new Date().toISOString().replace('Z', '000Z'),
        },
      }));
      await until(async () => (await admin.send({ path: inNamespace('coordination.k8s.io/v1', 'leases', 'wanted') })).status === 200, 15_000);
      return admin.send({ path: inNamespace('coordination.k8s.io/v1', 'leases', 'wanted') });
    },
  },
  {
    name: 'a candidate of a version of a million digits',
    row: 2,
    send: ({ admin }) =>
      post(admin, CANDIDATES, { metadata: { name: 'long' }, spec: { leaseName: 'x', binaryVersion: `1.2.${'9'.repeat(1_000_000)}`, strategy: 'a/b' } }),
  },
  {
    name: '2,000 migrations of one resource',
    row: 17,
    isLong: true,
    async send({ admin, onEnd }) {
      onEnd(() => removeAll(admin, MIGRATIONS));
      await createMany(admin, MIGRATIONS, 2_000, (index) => ({ metadata: { name: `m${index}` }, spec: { resource: { group: '', resource: 'limitranges' } } }));
      return admin.send({ path: `${MIGRATIONS}?limit=1` });
    },
  },
  { name: 'the page of metrics', row: 13, send: ({ admin }) => admin.send({ path: '/metrics' }) },
  {
    name: 'the page of metrics as protobuf',
    row: 13,
    send: ({ admin }) =>
      admin.send({ path: '/metrics', headers: { accept: 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited' } }),
  },
  {
    name: 'a change that 200 watches by 1,000 requirements each look at',
    row: 13,
    async prepare({ admin, onEnd }) {
      const selector = encodeURIComponent(names('!k', 1_000).join(','));
      const path = `${secrets}?watch=true&labelSelector=${selector}`;
      const open = await Promise.all(repeated(200, () => admin.open({ path })));
      onEnd(() => open.forEach((response) => response.destroy()));
      for (const response of open) response.resume();
    },
    send: ({ namespaceAdmin }) => post(namespaceAdmin, secrets, secret(0)),
  },
  {
    name: 'a secret of a megabyte of JSON',
    row: 17,
    send: ({ namespaceAdmin }) =>
      post(namespaceAdmin, `${secrets}?dryRun=All`, {
        metadata: { name: 'long' },
        type: 'kubernetes.io/dockerconfigjson',
        data: { '.dockerconfigjson': Buffer.from(`{"auths":[${'[],'.repeat(250_000)}[]]}`).toString('base64') },
      }),
  },
  {
    name: 'a patch of 2 MB, audited',
    row: 13,
    async prepare({ admin }) {
      await admin.send({ method: 'POST', path: inNamespace('v1', 'configmaps'), body: { metadata: { name: 'noted' } } });
    },
    send: ({ audited }) =>
      audited.send({
        method: 'PATCH',
        path: `/api/v1/namespaces/${NAMESPACE}/configmaps/noted`,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { unknown: repeated(45_000, (index) => ({ [`k${index}`]: 'some text in it' })) },
      }),
  },
];
