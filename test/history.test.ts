import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, TestList, TestObject } from './support/api-client.ts';
import { hasEtcd, startEtcd } from './support/etcd.ts';
import { startServerOnEtcd } from './support/etcd-server.ts';
import { Clients } from './support/kubectl.ts';
import { CommandProcess, type ServerProcess, startServer, temporaryFolder } from './support/server.ts';

/* The history that a server keeps (--history), by its API: several users, kubectl, rights, restarts, Secrets. */

const GROUP = '/apis/history.binnacle.dev/v1alpha1';
const NAMESPACE = 'shop';
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`;

interface Change {
  metadata: { name: string; namespace?: string; resourceVersion: string };
  object: { group: string; version: string; resource: string; kind: string; namespace?: string; name: string; uid: string };
  time: string;
  type: string;
  verb?: string;
  subresource?: string;
  user?: { username: string; groups: string[] };
  impersonator?: { username: string };
  userAgent?: string;
  fieldManager?: string;
  auditID?: string;
  objectResourceVersion: string;
  previousResourceVersion?: string;
  fields: { path: string; from?: unknown; to?: unknown }[];
}

interface ChangeList {
  kind: string;
  metadata: { resourceVersion: string; continue?: string };
  items: Change[];
}

const changes = async (client: ApiClient, query: Record<string, string> = {}, namespace = NAMESPACE): Promise<Change[]> =>
  (await client.get<ChangeList>(`${GROUP}/${namespace === '' ? '' : `namespaces/${namespace}/`}changes?${new URLSearchParams(query)}`)).items;

/** Bob may write configmaps, and alice may read one of them. */
async function prepare(admin: ApiClient): Promise<void> {
  await admin.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`;
  await admin.create(roles, { metadata: { name: 'writer' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }] });
  await admin.create(roles, {
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'], verbs: ['get'] }],
  });
  for (const [name, user] of [
    ['writer', 'bob'],
    ['reader', 'alice'],
  ])
    await admin.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings`, {
      metadata: { name },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
      roleRef: { kind: 'Role', apiGroup: 'rbac.authorization.k8s.io', name },
    });
}

const STORES = ['memory', 'embedded', ...(hasEtcd() ? ['etcd'] : [])];

describe.each(STORES)('on %s', (store) => {
  let server: ServerProcess;
  let admin: ApiClient;
  let bob: ApiClient;

  beforeAll(async () => {
    const flags = ['--history=1h,64Mi'];
    if (store === 'etcd') server = await startServerOnEtcd((await startEtcd()).endpoints, { flags });
    else server = await startServer({ ...(store === 'embedded' && { storage: 'embedded' }), flags });
    admin = server.client();
    bob = server.client('bob');
    await prepare(admin);
  });
  afterAll(() => server.stop());

  test('every write is told with its author, verb, subresource and fields; a dry run is not', async () => {
    const created = await bob.create(CONFIG_MAPS, { metadata: { name: 'one' }, data: { a: '1' } });
    await bob.send({ method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body: { metadata: { name: 'dry' } } });
    const headers = { 'content-type': 'application/merge-patch+json', 'user-agent': 'tester/1.0', 'audit-id': '4f7c2b1e-0000-4000-8000-00000000abcd' };
    const patched = await admin.expect(200, {
      method: 'PATCH',
      path: `${CONFIG_MAPS}/one?fieldManager=mine`,
      headers: { ...headers, 'impersonate-user': 'bob' },
      body: JSON.stringify({ data: { a: '2', b: '3' } }),
    });
    const applied = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'one' }, data: { c: '4' } };
    await bob.expect(200, {
      method: 'PATCH',
      path: `${CONFIG_MAPS}/one?fieldManager=applier`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: JSON.stringify(applied),
    });
    await bob.delete(`${CONFIG_MAPS}/one`);
    await bob.create(CONFIG_MAPS, { metadata: { name: 'zero' } });
    await bob.expect(200, { method: 'DELETE', path: CONFIG_MAPS });
    const found = await changes(admin, { fieldSelector: 'object.resource=configmaps,object.name=one' });
    expect(found.map(({ type, verb, user }) => [type, verb, user?.username])).toEqual([
      ['created', 'create', 'bob'],
      ['modified', 'patch', 'bob'],
      ['modified', 'apply', 'bob'],
      ['deleted', 'delete', 'bob'],
    ]);
    const [creation, patch, apply] = found;
    expect(creation!.object).toMatchObject({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', name: 'one', uid: created.metadata.uid });
    expect(patch).toMatchObject({
      impersonator: { username: 'admin' },
      userAgent: 'tester/1.0',
      fieldManager: 'mine',
      auditID: '4f7c2b1e-0000-4000-8000-00000000abcd',
      objectResourceVersion: patched.json().metadata.resourceVersion,
      previousResourceVersion: created.metadata.resourceVersion,
      fields: [
        { path: 'data.a', from: '1', to: '2' },
        { path: 'data.b', to: '3' },
      ],
    });
    expect(apply!.fields).toEqual([{ path: 'data.c', to: '4' }]);
    expect(await changes(admin, { fieldSelector: 'object.name=dry' })).toEqual([]);
    expect((await changes(admin, { fieldSelector: 'object.resource=configmaps,verb=deletecollection' })).length).toBeGreaterThan(0);
  });

  test('objects and lists are answered as they were at a time and at a version, also as tables; 404 and 410 where there was or is none', async () => {
    const before = await bob.create(CONFIG_MAPS, { metadata: { name: 'two' }, data: { a: '1' } });
    const after = await bob.update(`${CONFIG_MAPS}/two`, { ...before, data: { a: '2' } });
    const others = await bob.create(CONFIG_MAPS, { metadata: { name: 'three' } });
    await bob.delete(`${CONFIG_MAPS}/two`);
    const at = (path: string, moment: string): string => `${GROUP}/objects${path}?at=${moment}`;
    expect(await admin.get(at(`${CONFIG_MAPS}/two`, before.metadata.resourceVersion))).toEqual(before);
    expect(await admin.get(at(`${CONFIG_MAPS}/two`, after.metadata.resourceVersion))).toEqual(after);
    const list = await admin.get<TestList>(at(CONFIG_MAPS, others.metadata.resourceVersion));
    expect(list.metadata.resourceVersion).toBe(others.metadata.resourceVersion);
    expect(list.items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt')).toEqual(['three', 'two']);
    const [deletion] = await changes(admin, { fieldSelector: 'object.name=two,type=deleted' });
    expect((await admin.send({ path: at(`${CONFIG_MAPS}/two`, deletion!.time) })).status).toBe(404);
    expect((await admin.get<TestList>(at(CONFIG_MAPS, deletion!.time))).items.map(({ metadata }) => metadata.name)).not.toContain('two');
    expect((await admin.send({ path: at(`${CONFIG_MAPS}/two`, '2020-01-01T00:00:00Z') })).status).toBe(410);
    expect((await admin.send({ path: at(`${CONFIG_MAPS}/two`, 'yesterday') })).status).toBe(400);
    expect((await admin.send({ path: at('/apis/coordination.k8s.io/v1/leases', '1') })).status).toBe(410);
    const table = await admin.expect(200, {
      path: at(CONFIG_MAPS, others.metadata.resourceVersion),
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    expect(table.json<{ kind: string }>().kind).toBe('Table');
  });

  test('users see the history of what they may get, and nothing else', async () => {
    const alice = server.client('alice');
    const mallory = server.client('mallory');
    expect(new Set((await changes(alice)).map(({ object }) => `${object.resource}/${object.name}`))).toEqual(new Set(['configmaps/one']));
    expect(await changes(mallory)).toEqual([]);
    expect(await changes(mallory, {}, '')).toEqual([]);
    const [one] = await changes(alice);
    expect((await alice.send({ path: `${GROUP}/namespaces/${NAMESPACE}/changes/${one!.metadata.name}` })).status).toBe(200);
    expect((await mallory.send({ path: `${GROUP}/namespaces/${NAMESPACE}/changes/${one!.metadata.name}` })).status).toBe(404);
    const path = `${GROUP}/objects${CONFIG_MAPS}/one?at=${one!.objectResourceVersion}`;
    expect((await alice.send({ path })).status).toBe(200);
    expect((await mallory.send({ path })).status).toBe(403);
    expect((await alice.send({ path: `${GROUP}/objects${CONFIG_MAPS}?at=${one!.objectResourceVersion}` })).status).toBe(403);
    expect((await alice.send({ method: 'DELETE', path: `${GROUP}/namespaces/${NAMESPACE}/changes/${one!.metadata.name}` })).status).toBe(403);
    expect((await server.client('').send({ path: `${GROUP}/changes` })).status).toBe(403);
  });

  test('lists are paged, in either order and between times; a watch goes on from a version', async () => {
    const all = await changes(admin, {}, '');
    const paged: Change[] = [];
    let next = '';
    do {
      const page = await admin.get<ChangeList>(`${GROUP}/changes?limit=7&continue=${next}`);
      paged.push(...page.items);
      next = page.metadata.continue ?? '';
    } while (next !== '');
    expect(paged.slice(0, all.length)).toEqual(all);
    const newest = await changes(admin, { order: 'newest', limit: '3' }, '');
    expect(newest).toEqual(paged.slice(-3).toReversed());
    const { time } = all[5]!;
    expect((await changes(admin, { from: time, to: time }, '')).map((change) => change.time)).toEqual(
      all.filter((change) => change.time === time).map((change) => change.time),
    );
    const version = paged.at(-1)!.metadata.resourceVersion;
    const watch = await admin.watch(`${GROUP}/changes?watch=true&resourceVersion=${version}&fieldSelector=object.name%3Dfour`);
    await bob.create(CONFIG_MAPS, { metadata: { name: 'four' } });
    await bob.create(CONFIG_MAPS, { metadata: { name: 'five' } });
    await bob.delete(`${CONFIG_MAPS}/four`);
    const events = await watch.take(2);
    watch.stop();
    expect(events.map(({ type, object }) => [type, (object as unknown as Change).type])).toEqual([
      ['ADDED', 'created'],
      ['ADDED', 'deleted'],
    ]);
  });

  test('of a Secret, only which keys changed is kept', async () => {
    const encoded = (text: string): string => Buffer.from(text).toString('base64');
    const made = await admin.create(SECRETS, {
      metadata: { name: 'db', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'hunter-secret-0' } },
      data: { user: encoded('hunter-secret-1'), password: encoded('hunter-secret-2') },
    });
    await admin.update(`${SECRETS}/db`, { ...made, data: { ...made.data, password: encoded('hunter-secret-3') } });
    const found = await changes(admin, { fieldSelector: 'object.resource=secrets,object.name=db' });
    expect(found[1]!.fields.map(({ path }) => path)).toEqual(['data.password']);
    expect(JSON.stringify(found)).not.toMatch(/hunter|aHVudGVy/);
    const past = await admin.get(`${GROUP}/objects${SECRETS}/db?at=${made.metadata.resourceVersion}`);
    const present = await admin.get(`${GROUP}/objects${SECRETS}/db?at=${found[1]!.objectResourceVersion}`);
    for (const secret of [past, present]) expect(JSON.stringify(secret)).not.toMatch(/hunter|aHVudGVy/);
    expect(Object.keys(past.data!)).toEqual(['user', 'password'].toSorted());
  });
});

test('kubectl gets, watches, selects and explains changes', { timeout: 60_000 }, async () => {
  const server = await startServer({ flags: ['--history=1h'] });
  const clients = new Clients(server);
  await clients.kubectl('create namespace shop');
  await clients.kubectl('create deployment web --image=web:1 -n shop');
  await clients.kubectl('set image deployment/web web=web:2 -n shop');
  await clients.kubectl('scale deployment/web --replicas=3 -n shop');
  const lines = (await clients.kubectl('get changes -n shop --field-selector object.name=web')).trim().split('\n');
  expect(lines[0]).toMatch(/^NAME +TIME +OBJECT +VERB +USER +MANAGER +CHANGED$/);
  expect(lines.slice(1).map((line) => line.split(/ {2,}/).slice(2))).toEqual([
    ['deployment.apps/web', 'create', 'admin', 'kubectl-create', 'created'],
    ['deployment.apps/web', 'patch', 'admin', 'kubectl-set', 'spec.template.spec.containers[0].image: "web:1" → "web:2"'],
    ['deployment.apps/web', 'patch/scale', 'admin', 'kubectl', 'spec.replicas: 1 → 3'],
  ]);
  expect(await clients.kubectl('get changes -A -o wide')).toMatch(/USER-AGENT +AUDIT-ID +VERSION/);
  const [, , image] = lines.map((line) => line.split(' ')[0]!);
  expect(await clients.kubectl(`get change ${image} -n shop -o yaml`)).toContain('path: spec.template.spec.containers[0].image');
  expect(await clients.kubectl('explain changes.user')).toContain('Who made the change.');
  expect(await clients.kubectl('api-resources --api-group=history.binnacle.dev')).toContain('history.binnacle.dev/v1alpha1');
  await server.stop();
});

test('a history goes on after a restart, and begins anew where writes were not recorded', { timeout: 60_000 }, async () => {
  const flags = ['--history=1h'];
  let server = await startServer({ storage: 'embedded', flags });
  const { dataDir } = server;
  await prepare(server.client());
  const first = await server.client('bob').create(CONFIG_MAPS, { metadata: { name: 'one' }, data: { step: '1' } });
  await server.stop();
  server = await startServer({ storage: 'embedded', dataDir, flags });
  const second = await server.client('bob').update(`${CONFIG_MAPS}/one`, { ...first, data: { step: '2' } });
  const found = await changes(server.client(), { fieldSelector: 'object.name=one' });
  expect(found.map(({ type, fields }) => [type, fields.length])).toEqual([
    ['created', 1],
    ['modified', 1],
  ]);
  expect(await server.client().get(`${GROUP}/objects${CONFIG_MAPS}/one?at=${first.metadata.resourceVersion}`)).toEqual(first);
  await server.stop();

  server = await startServer({ storage: 'embedded', dataDir });
  expect((await server.client().send({ path: `${GROUP}/changes` })).status).toBe(404);
  const groups = async (): Promise<string[]> => (await server.client().get<{ groups: { name: string }[] }>('/apis')).groups.map(({ name }) => name);
  await expect.poll(groups).not.toContain('history.binnacle.dev');
  const third = await server.client('bob').update(`${CONFIG_MAPS}/one`, { ...second, data: { step: '3' } });
  await server.stop();

  server = await startServer({ storage: 'embedded', dataDir, flags });
  expect(await changes(server.client(), { fieldSelector: 'object.name=one' })).toEqual([]);
  expect((await server.client().send({ path: `${GROUP}/objects${CONFIG_MAPS}/one?at=${second.metadata.resourceVersion}` })).status).toBe(410);
  expect(await server.client().get<TestObject>(`${CONFIG_MAPS}/one`)).toEqual(third);
  await server.stop();
});

test('a backup takes the history along where it is asked to, while a server runs', { timeout: 60_000 }, async () => {
  const flags = ['--history=1h'];
  const server = await startServer({ storage: 'embedded', flags });
  await prepare(server.client());
  const first = await server.client('bob').create(CONFIG_MAPS, { metadata: { name: 'one' }, data: { step: '1' } });
  await server.client('bob').update(`${CONFIG_MAPS}/one`, { ...first, data: { step: '2' } });
  const file = join(temporaryFolder(), 'backup');
  const run = async (...args: string[]): Promise<void> => expect(await new CommandProcess(args).exited).toEqual({ code: 0, signal: null });
  await run('backup', file, `--data-dir=${server.dataDir}`, '--with-history');
  await server.client('bob').delete(`${CONFIG_MAPS}/one`);
  const kept = await changes(server.client(), { fieldSelector: 'object.name=one,type!=deleted' });
  await server.stop();
  const dataDir = temporaryFolder();
  await run('restore', file, `--data-dir=${dataDir}`);
  const restored = await startServer({ storage: 'embedded', dataDir, flags });
  expect(await changes(restored.client(), { fieldSelector: 'object.name=one' })).toEqual(kept);
  expect(await restored.client().get(`${GROUP}/objects${CONFIG_MAPS}/one?at=${first.metadata.resourceVersion}`)).toEqual(first);
  await restored.client('bob').delete(`${CONFIG_MAPS}/one`);
  expect((await changes(restored.client(), { fieldSelector: 'object.name=one' })).map(({ type }) => type)).toEqual(['created', 'modified', 'deleted']);
  await restored.stop();
});

/** All that is in a folder. */
const contentOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');

test.each(['keys', 'hashed', 'encrypted'])(
  'with --history-secrets=%s no value of a Secret is in the files of the history',
  { timeout: 60_000 },
  async (mode) => {
    const configuration = join(temporaryFolder(), 'encryption.json');
    const keys = [{ name: 'one', secret: Buffer.alloc(32, 7).toString('base64') }];
    const providers = [{ aescbc: { keys } }, { identity: {} }];
    writeFileSync(
      configuration,
      JSON.stringify({
        kind: 'EncryptionConfiguration',
        apiVersion: 'apiserver.config.k8s.io/v1',
        resources: [{ resources: ['secrets', 'configmaps'], providers }],
      }),
    );
    const flags = ['--history=1h', `--history-secrets=${mode}`, `--encryption-provider-config=${configuration}`];
    let server = await startServer({ storage: 'embedded', flags });
    const { dataDir } = server;
    await prepare(server.client());
    const value = (text: string): string => Buffer.from(text).toString('base64');
    const made = await server.client().create(SECRETS, { metadata: { name: 'db' }, data: { password: value('correct-horse') } });
    await server.client().update(`${SECRETS}/db`, { ...made, data: { password: value('battery-staple') } });
    const map = await server.client().create(CONFIG_MAPS, { metadata: { name: 'map' }, data: { text: 'sealed-envelope' } });
    await server.client().update(`${CONFIG_MAPS}/map`, { ...map, data: { text: 'sealed-envelope-2' } });
    await server.stop();
    expect(contentOf(join(dataDir, 'history'))).not.toMatch(/correct-horse|battery-staple|sealed-envelope|Y29ycmVjdC1ob3JzZ|YmF0dGVyeS1zdGFwbG/);
    server = await startServer({ storage: 'embedded', dataDir, flags });
    const past = await server.client().get(`${GROUP}/objects${SECRETS}/db?at=${made.metadata.resourceVersion}`);
    if (mode === 'encrypted') expect(past).toEqual(made);
    else expect(past.data!['password']).not.toBe(made.data!['password']);
    expect(await server.client().get(`${GROUP}/objects${CONFIG_MAPS}/map?at=${map.metadata.resourceVersion}`)).toEqual(map);
    expect((await changes(server.client(), { fieldSelector: 'object.name=db' }))[1]!.fields.map(({ path }) => path)).toEqual(['data.password']);
    await server.stop();
  },
);

test.each([
  [['--history=soon'], '"soon" is neither a duration (24h) nor a size (256Mi)'],
  [['--history=1h', '--workers=2'], '--history needs one process'],
  [['--history=1h', '--history-secrets=plain'], '--history-secrets must be one of keys, hashed, encrypted'],
  [['--history=1h', '--history-secrets=encrypted'], '--history-secrets=encrypted needs --encryption-provider-config'],
])('%j is refused in one line', async (flags, message) => {
  await expect(startServer({ flags })).rejects.toThrow(message);
});
