import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openEtcdEngine } from '../src/storage/engines/etcd/engine.ts';
import type { ApiClient, TestList } from './support/api-client.ts';
import { type EtcdCluster, hasEtcd, startEtcd } from './support/etcd.ts';
import { etcdFlags, startServerOnEtcd } from './support/etcd-server.ts';
import { TOKENS_FILE } from './support/paths.ts';
import { CommandProcess, type ServerProcess, temporaryFolder } from './support/server.ts';

/* Two servers on one etcd, which start at once on nothing: what is done through one is true of the other. */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const SERVICES = '/api/v1/namespaces/default/services';
const CLEAN_EXIT = { code: 0, signal: null };
const TIMES = 20;
const RBAC = 'rbac.authorization.k8s.io';
const READER = { metadata: { name: 'reader' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }] };
const ALICE_READS = {
  metadata: { name: 'alice' },
  roleRef: { apiGroup: RBAC, kind: 'Role', name: 'reader' },
  subjects: [{ kind: 'User', name: 'alice', apiGroup: RBAC }],
};

let cluster: EtcdCluster;
let servers: ServerProcess[];
let clients: ApiClient[];

const other = (index: number): ApiClient => clients[1 - (index % 2)]!;
const clientOf = (index: number): ApiClient => clients[index % 2]!;
const namesOf = ({ items }: TestList): string[] => items.map(({ metadata }) => metadata.name);

const startOne = (address: string): Promise<ServerProcess> =>
  startServerOnEtcd(cluster.endpoints, {
    flags: ['--controllers=*', '--endpoint-reconciler-type=lease', `--advertise-address=${address}`],
  });

const widgets = (name: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${name}s.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: `${name}s`, singular: name, kind: name, listKind: `${name}List` },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
  },
});

describe.runIf(hasEtcd())('two servers on one etcd', () => {
  beforeAll(async () => {
    cluster = await startEtcd();
    servers = await Promise.all([startOne('192.0.2.1'), startOne('192.0.2.2')]);
    clients = servers.map((server) => server.client());
  });

  afterAll(async () => {
    for (const client of clients) client.close();
    for (const server of servers) expect(await server.stop()).toEqual(CLEAN_EXIT);
    // Neither has had anything to complain about but the machine, which may be busy.
    const complaints = servers.flatMap(({ lines }) =>
      lines.filter((line) => /^[WEF]\d{4}/.test(line) && !/A write to the store was slow|keepalive ping failed/.test(line)),
    );
    expect(complaints).toEqual([]);
  });

  async function endpointAddresses(): Promise<string[]> {
    const endpoints = await clients[0]!.get<{ subsets: { addresses: { ip: string }[] }[] }>('/api/v1/namespaces/default/endpoints/kubernetes');
    return endpoints.subsets[0]!.addresses.map(({ ip }) => ip);
  }

  test('start on the same set of objects, and are both endpoints of the service', async () => {
    for (const path of ['/apis/rbac.authorization.k8s.io/v1/clusterroles', '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', '/api/v1/namespaces']) {
      const lists = await Promise.all(clients.map((client) => client.get<TestList>(path)));
      expect(namesOf(lists[0]!)).toEqual(namesOf(lists[1]!));
    }
    // Two that wrote their leases at the same moment learn of each other when they look again, every ten seconds.
    await expect.poll(endpointAddresses, { timeout: 30_000 }).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  test('a list through one has what the other has acknowledged', async () => {
    for (let i = 0; i < TIMES; i++) {
      const { metadata } = await clientOf(i).create(CONFIG_MAPS, { metadata: { name: `listed-${i}` } });
      expect(namesOf(await other(i).get<TestList>(CONFIG_MAPS))).toContain(metadata.name);
      await other(i).delete(`${CONFIG_MAPS}/${metadata.name}`);
      expect(namesOf(await clientOf(i).get<TestList>(CONFIG_MAPS))).not.toContain(metadata.name);
    }
  });

  test('no address and no port is given out twice', async () => {
    const spec = { type: 'NodePort', ports: [{ port: 80 }] };
    const made = await Promise.all(Array.from({ length: 60 }, (_, i) => clientOf(i).create(SERVICES, { metadata: { name: `service-${i}` }, spec })));
    const specs = made.map((service) => service.spec as { clusterIP: string; ports: { nodePort: number }[] });
    expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(60);
    expect(new Set(specs.map(({ ports }) => ports[0]!.nodePort)).size).toBe(60);
    const wanted = { type: 'NodePort', clusterIP: '10.0.77.7', ports: [{ port: 80, nodePort: 30077 }] };
    const race = await Promise.all(
      Array.from({ length: 8 }, (_, i) => clientOf(i).send({ method: 'POST', path: SERVICES, body: { metadata: { name: `wants-${i}` }, spec: wanted } })),
    );
    expect(race.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(7).fill(422)]);
    const winner = race.find(({ status }) => status === 201)!.json().metadata.name;
    await other(0).delete(`${SERVICES}/${winner}`);
    await clients[0]!.create(SERVICES, { metadata: { name: 'next' }, spec: wanted });
  });

  test('a quota is not exceeded by writing through both', async () => {
    await clients[0]!.create('/api/v1/namespaces', { metadata: { name: 'limited' } });
    const quotas = '/api/v1/namespaces/limited/resourcequotas';
    await clients[0]!.create(quotas, { metadata: { name: 'secrets' }, spec: { hard: { 'count/secrets': '10' } } });
    await vi.waitFor(async () => {
      for (const client of clients) expect((await client.get(`${quotas}/secrets`)).status).toMatchObject({ used: { 'count/secrets': '0' } });
    });
    const path = '/api/v1/namespaces/limited/secrets';
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => clientOf(i).send({ method: 'POST', path, body: { metadata: { name: `secret-${i}` } } })),
    );
    const made = answers.filter(({ status }) => status === 201).length;
    expect((await clients[1]!.get<TestList>(path)).items).toHaveLength(made);
    expect(made).toBeLessThanOrEqual(10);
    for (let i = made; i < 10; i++) await other(i).create(path, { metadata: { name: `late-${i}` } });
    expect((await clientOf(0).send({ method: 'POST', path, body: { metadata: { name: 'too-many' } } })).status).toBe(403);
  });

  test('what is defined through one is served by the other', async () => {
    for (let i = 0; i < 6; i++) {
      await clientOf(i).create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets(`widget${i}`));
      const path = `/apis/example.com/v1/namespaces/default/widget${i}s`;
      await vi.waitFor(async () => expect((await clientOf(i).send({ path })).status).toBe(200));
      // As soon as one serves it, the other does.
      await other(i).create(path, { apiVersion: 'example.com/v1', kind: `widget${i}`, metadata: { name: 'one' } });
      expect(namesOf(await clientOf(i).get<TestList>(path))).toEqual(['one']);
    }
  });

  test('rights that are given and taken through one soon count at the other', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    await clients[0]!.create(`${roles}/roles`, READER);
    const alice = servers[1]!.client('alice');
    const statusIs = (status: number): Promise<void> =>
      vi.waitFor(async () => expect((await alice.send({ path: CONFIG_MAPS })).status).toBe(status), { interval: 2 });
    await clients[0]!.create(`${roles}/rolebindings`, ALICE_READS);
    await statusIs(200);
    await clients[0]!.delete(`${roles}/rolebindings/alice`);
    await statusIs(403);
    alice.close();
  });

  test('a policy that is made through one soon counts at the other', async () => {
    const policies = '/apis/admissionregistration.k8s.io/v1';
    await clients[0]!.create(`${policies}/validatingadmissionpolicies`, {
      metadata: { name: 'no-bad' },
      spec: {
        matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }] },
        validations: [{ expression: "!object.metadata.name.startsWith('bad-')" }],
      },
    });
    await clients[0]!.create(`${policies}/validatingadmissionpolicybindings`, {
      metadata: { name: 'no-bad' },
      spec: { policyName: 'no-bad', validationActions: ['Deny'] },
    });
    const create = async (): Promise<number> => {
      const answer = await clients[1]!.send({ method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body: { metadata: { name: 'bad-one' } } });
      return answer.status;
    };
    await vi.waitFor(async () => expect(await create()).toBe(422), { interval: 2 });
  });

  test('one of them runs the controllers', async () => {
    const lease = await clients[0]!.get('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/binnacle-controllers');
    expect(lease.spec).toMatchObject({ leaseDurationSeconds: 15, holderIdentity: expect.stringMatching(/_/) as string });
    await clients[0]!.create('/api/v1/namespaces', { metadata: { name: 'kept' } });
    await vi.waitFor(async () => expect((await clients[1]!.send({ path: '/api/v1/namespaces/kept/serviceaccounts/default' })).status).toBe(200));
    await clients[1]!.delete('/api/v1/namespaces/kept');
    await vi.waitFor(async () => expect((await clients[0]!.send({ path: '/api/v1/namespaces/kept' })).status).toBe(404), { timeout: 20_000 });
  });
});

describe.runIf(hasEtcd())('a server whose etcd was away', () => {
  test('for longer than history is kept takes in what has changed, and goes on', async () => {
    const { endpoints, members } = await startEtcd({ members: 3 });
    const cut = await startServerOnEtcd(endpoints.slice(0, 1));
    const whole = await startServerOnEtcd(endpoints.slice(1));
    const [client, alice] = [whole.client(), cut.client('alice')];
    const isListed = (status: number): Promise<void> =>
      vi.waitFor(async () => expect((await alice.send({ path: CONFIG_MAPS })).status).toBe(status), { timeout: 20_000 });
    await isListed(403);
    await members[0]!.kill();
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    await vi.waitFor(() => client.create(`${roles}/roles`, READER), { timeout: 20_000 });
    await client.create(`${roles}/rolebindings`, ALICE_READS);
    await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets('gadget'));
    const engine = await openEtcdEngine({ endpoints: endpoints.slice(1) });
    await engine.compact((await engine.currentRevision()) + 1);
    await engine.close();
    members[0]!.start();
    await isListed(200);
    const gadgets = '/apis/example.com/v1/namespaces/default/gadgets';
    await vi.waitFor(async () => expect((await cut.client().send({ path: gadgets })).status).toBe(200));
    await client.delete(`${roles}/rolebindings/alice`);
    await isListed(403);
    for (const server of [cut, whole]) expect(await server.stop()).toEqual(CLEAN_EXIT);
  });
});

describe.runIf(hasEtcd())('a server that cannot start', () => {
  test('says why in one line, whatever it had begun', async () => {
    const { endpoints } = await startEtcd();
    const engine = await openEtcdEngine({ endpoints });
    await engine.commit({ type: 'put', key: '/registry/clusterroles/x', value: Buffer.from('garbage'), expected: 0 });
    await engine.close();
    for (let attempt = 0; attempt < 3; attempt++) {
      const dataDir = temporaryFolder();
      const flags = [
        `--data-dir=${dataDir}`,
        '--secure-port=0',
        '--service-account-issuer=https://x',
        `--token-auth-file=${TOKENS_FILE}`,
        ...etcdFlags(endpoints, dataDir),
      ];
      const command = new CommandProcess(['serve', ...flags]);
      expect((await command.exited).code).toBe(1);
      expect(command.lines).toEqual([expect.stringContaining('Version: '), expect.stringContaining('error: /registry/clusterroles/x: ')]);
    }
  });
});
