import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, TestList, TestObject } from './support/api-client.ts';
import { Clients } from './support/kubectl.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* What `binnacle up` adds to an API server, so that kubectl finds a cluster that it can use. One server; every test has a namespace of its own. */

let server: ServerProcess;
let admin: Clients;
let api: ApiClient;
let count = 0;

beforeAll(async () => {
  server = await startServer({ flags: ['--controllers=*'] });
  admin = new Clients(server);
  api = server.client();
});

async function newNamespace(): Promise<string> {
  const name = `test-${++count}`;
  await admin.kubectl(`create namespace ${name}`);
  return name;
}

interface Owner extends TestObject {
  metadata: TestObject['metadata'] & { finalizers?: string[]; ownerReferences?: object[]; deletionTimestamp?: string };
}

const reference = ({ metadata: { name, uid } }: TestObject, more: object = {}): object => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more });

/** A ConfigMap: objects of any kind own and are owned alike. */
const configMap = (namespace: string, name: string, metadata: object = {}): Promise<TestObject> =>
  api.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name, ...metadata } });

const getConfigMap = (namespace: string, name: string): Promise<Owner> => api.get<Owner>(`/api/v1/namespaces/${namespace}/configmaps/${name}`);

async function configMapNames(namespace: string): Promise<string[]> {
  const { items } = await api.get<TestList>(`/api/v1/namespaces/${namespace}/configmaps`);
  return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
}

/** Takes off all finalizers. */
const release = (namespace: string, kind: string, name: string): Promise<string> =>
  admin.kubectl(`patch ${kind} ${name} -n ${namespace} --type=merge -p {"metadata":{"finalizers":null}}`);

const gone = (namespace: string, ...names: string[]): Promise<string> => admin.kubectl(`wait --for=delete -n ${namespace} ${names.join(' ')} --timeout=20s`);

/** Waits for a state of one object. */
async function until(collection: string, name: string, isReached: (object: TestObject) => boolean): Promise<void> {
  const watch = await api.watch(`${collection}?watch=true&fieldSelector=metadata.name=${name}`);
  for (let event = await watch.next(); event !== undefined; event = await watch.next()) if (isReached(event.object)) break;
  watch.stop();
}

describe('a fresh namespace', () => {
  test('takes pods at once', async () => {
    const namespace = await newNamespace();
    expect(await admin.kubectl(`run web --image=nginx -n ${namespace}`)).toBe('pod/web created\n');
    expect(await admin.kubectl(`get pod web -n ${namespace} -o jsonpath={.spec.serviceAccountName}`)).toBe('default');
  });

  test('gets its default service account again', async () => {
    const namespace = await newNamespace();
    await admin.kubectl(`wait --for=create sa/default -n ${namespace} --timeout=20s`);
    const before = await admin.kubectl(`get sa default -n ${namespace} -o jsonpath={.metadata.uid}`);
    await admin.kubectl(`delete sa default -n ${namespace} --wait=false`);
    await admin.kubectl(`wait --for=create sa/default -n ${namespace} --timeout=20s`);
    expect(await admin.kubectl(`get sa default -n ${namespace} -o jsonpath={.metadata.uid}`)).not.toBe(before);
  });

  test('has the certificate that clients trust, and keeps it right', async () => {
    const namespace = await newNamespace();
    const wait = (): Promise<string> => admin.kubectl(`wait --for=create cm/kube-root-ca.crt -n ${namespace} --timeout=20s`);
    await wait();
    const published = await getConfigMap(namespace, 'kube-root-ca.crt');
    expect(published.data).toEqual({ 'ca.crt': server.ca });
    await admin.kubectl(`patch cm kube-root-ca.crt -n ${namespace} --type=merge -p {"data":{"ca.crt":"x","more":"y"}}`);
    await until(`/api/v1/namespaces/${namespace}/configmaps`, 'kube-root-ca.crt', ({ data = {} }) => JSON.stringify(data) === JSON.stringify(published.data));
    await admin.kubectl(`delete cm kube-root-ca.crt -n ${namespace} --wait=false`);
    await wait();
  });
});

describe('deleting a namespace', () => {
  test('takes all that is in it', async () => {
    const namespace = await newNamespace();
    await admin.kubectl(`run web --image=nginx -n ${namespace}`);
    await admin.kubectl(`create deployment web --image=nginx -n ${namespace}`);
    await admin.kubectl(`create role reader --verb=get --resource=pods -n ${namespace}`);
    await configMap(namespace, 'settings');
    expect(await admin.kubectl(`delete namespace ${namespace} --timeout=20s`)).toContain(`namespace "${namespace}" deleted`);
    for (const path of [
      'api/v1/namespaces/NS/pods',
      'apis/apps/v1/namespaces/NS/deployments',
      'apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles',
      'api/v1/namespaces/NS/serviceaccounts',
    ]) {
      expect((await api.get<TestList>(`/${path.replace('NS', namespace)}`)).items).toEqual([]);
    }
  });

  test('waits for finalizers, and says for which', async () => {
    const namespace = await newNamespace();
    await configMap(namespace, 'held', { finalizers: ['example.com/hold'] });
    await admin.kubectl(`delete namespace ${namespace} --wait=false`);
    await admin.kubectl(`wait --for=condition=NamespaceFinalizersRemaining namespace/${namespace} --timeout=20s`);
    const { status } = await api.get<{ status: { phase: string; conditions: { type: string; status: string; reason: string; message: string }[] } }>(
      `/api/v1/namespaces/${namespace}`,
    );
    expect(status.phase).toBe('Terminating');
    expect(status.conditions.map(({ type, status: value, reason, message }) => [type, value, reason, message])).toEqual([
      ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
      ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
      ['NamespaceContentRemaining', 'True', 'SomeResourcesRemain', 'Some resources are remaining: configmaps. has 1 resource instances'],
      [
        'NamespaceFinalizersRemaining',
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
      ],
    ]);
    await release(namespace, 'cm', 'held');
    await admin.kubectl(`wait --for=delete namespace/${namespace} --timeout=5s`);
  });

  test('removes pods first', async () => {
    const namespace = await newNamespace();
    await admin.kubectl(`wait --for=create sa/default -n ${namespace} --timeout=20s`);
    await api.create(`/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: 'held', finalizers: ['example.com/hold'] },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await configMap(namespace, 'settings');
    await admin.kubectl(`delete namespace ${namespace} --wait=false`);
    await admin.kubectl(`wait --for=condition=NamespaceContentRemaining namespace/${namespace} --timeout=20s`);
    expect(await configMapNames(namespace)).toEqual(['settings']);
    await release(namespace, 'pod', 'held');
    await admin.kubectl(`wait --for=delete namespace/${namespace} --timeout=5s`);
  });

  test('leaves it to others whose finalizer it has', async () => {
    const name = `test-${++count}`;
    await api.create('/api/v1/namespaces', { metadata: { name }, spec: { finalizers: ['example.com/mine', 'kubernetes'] } });
    await admin.kubectl(`delete namespace ${name} --wait=false`);
    await admin.kubectl(`wait namespace/${name} --for=jsonpath={.spec.finalizers[*]}=example.com/mine --timeout=20s`);
    const namespace = await api.get(`/api/v1/namespaces/${name}`);
    expect(namespace.status).toMatchObject({ phase: 'Terminating' });
    await api.update(`/api/v1/namespaces/${name}/finalize`, { ...namespace, spec: { finalizers: [] } });
    await admin.kubectl(`wait --for=delete namespace/${name} --timeout=5s`);
  });
});

describe('owners', () => {
  test('take their dependents with them, and those theirs', async () => {
    const namespace = await newNamespace();
    const owner = await configMap(namespace, 'owner');
    const child = await configMap(namespace, 'child', { ownerReferences: [reference(owner)] });
    await configMap(namespace, 'grandchild', { ownerReferences: [reference(child)] });
    await configMap(namespace, 'bystander');
    await admin.kubectl(`delete cm owner -n ${namespace}`);
    await gone(namespace, 'cm/child', 'cm/grandchild');
    expect(await configMapNames(namespace)).toEqual(['bystander']);
  });

  test('in the foreground go last', async () => {
    const namespace = await newNamespace();
    const owner = await configMap(namespace, 'owner');
    await configMap(namespace, 'blocking', { ownerReferences: [reference(owner, { blockOwnerDeletion: true })], finalizers: ['example.com/hold'] });
    await configMap(namespace, 'other', { ownerReferences: [reference(owner)] });
    await admin.kubectl(`delete cm owner -n ${namespace} --cascade=foreground --wait=false`);
    await gone(namespace, 'cm/other');
    expect((await getConfigMap(namespace, 'owner')).metadata.finalizers).toEqual(['foregroundDeletion']);
    expect((await getConfigMap(namespace, 'blocking')).metadata.deletionTimestamp).toBeDefined();
    await release(namespace, 'cm', 'blocking');
    await gone(namespace, 'cm/owner');
    expect(await configMapNames(namespace)).toEqual([]);
  });

  test('in a circle go too', async () => {
    const namespace = await newNamespace();
    const first = await configMap(namespace, 'first');
    const second = await configMap(namespace, 'second', { ownerReferences: [reference(first, { blockOwnerDeletion: true })] });
    await admin.kubectl(
      `patch cm first -n ${namespace} --type=merge -p ${JSON.stringify({ metadata: { ownerReferences: [reference(second, { blockOwnerDeletion: true })] } })}`,
    );
    await admin.kubectl(`delete cm first -n ${namespace} --cascade=foreground --timeout=20s`);
    await gone(namespace, 'cm/second');
    expect(await configMapNames(namespace)).toEqual([]);
  });

  test('that orphan are forgotten', async () => {
    const namespace = await newNamespace();
    const owner = await configMap(namespace, 'owner');
    await configMap(namespace, 'child', { ownerReferences: [reference(owner)] });
    await admin.kubectl(`delete cm owner -n ${namespace} --cascade=orphan --timeout=20s`);
    expect((await getConfigMap(namespace, 'child')).metadata.ownerReferences).toBeUndefined();
  });

  test('of whom one is left keep their dependents', async () => {
    const namespace = await newNamespace();
    const [first, second] = [await configMap(namespace, 'first'), await configMap(namespace, 'second')];
    await configMap(namespace, 'child', { ownerReferences: [reference(first), reference(second)] });
    await admin.kubectl(`delete cm first -n ${namespace}`);
    await admin.kubectl(`wait cm/child -n ${namespace} --for=jsonpath={.metadata.ownerReferences[*].name}=second --timeout=20s`);
    expect(await configMapNames(namespace)).toEqual(['child', 'second']);
  });

  test('that never were have no dependents', async () => {
    const namespace = await newNamespace();
    const owner = await configMap(namespace, 'owner');
    const impostor = { ...owner, metadata: { ...owner.metadata, uid: '00000000-0000-0000-0000-000000000001' } };
    await configMap(namespace, 'child', { ownerReferences: [reference(impostor)] });
    await gone(namespace, 'cm/child');
    expect(await configMapNames(namespace)).toEqual(['owner']);
  });

  test('of a kind that nobody knows are left alone', async () => {
    const namespace = await newNamespace();
    await configMap(namespace, 'child', {
      ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Unknown', name: 'x', uid: '00000000-0000-0000-0000-000000000002' }],
    });
    const owner = await configMap(namespace, 'owner');
    await configMap(namespace, 'later', { ownerReferences: [reference(owner)] });
    await admin.kubectl(`delete cm owner -n ${namespace}`);
    await gone(namespace, 'cm/later');
    expect(await configMapNames(namespace)).toEqual(['child']);
  });

  test('in another namespace are none, and an event says so', async () => {
    const [here, there] = [await newNamespace(), await newNamespace()];
    const owner = await configMap(there, 'owner');
    await configMap(here, 'child', { ownerReferences: [reference(owner)] });
    await gone(here, 'cm/child');
    const events = await admin.kubectl(`get events -n ${here} --field-selector=reason=OwnerRefInvalidNamespace -o jsonpath={.items[*].message}`);
    expect(events).toBe(`ownerRef [v1/ConfigMap, namespace: ${here}, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "${here}"`);
    expect(await configMapNames(there)).toEqual(['owner']);
  });

  test('without a namespace own what is in one', async () => {
    const namespace = await newNamespace();
    const node = await api.create('/api/v1/nodes', { metadata: { name: namespace } });
    await configMap(namespace, 'child', { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: namespace, uid: node.metadata.uid }] });
    await admin.kubectl(`delete node ${namespace}`);
    await gone(namespace, 'cm/child');
    expect(await configMapNames(namespace)).toEqual([]);
  });
});

test('custom resources own, are owned, and go with their namespace', async () => {
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const spec = { group: 'example.com', scope: 'Namespaced', names: { kind: 'Ship', plural: 'ships' }, versions };
  await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { metadata: { name: 'ships.example.com' }, spec });
  await admin.kubectl('wait --for=condition=Established crd/ships.example.com --timeout=20s');
  const namespace = await newNamespace();
  const ships = `/apis/example.com/v1/namespaces/${namespace}/ships`;
  const ship = (name: string, metadata: object = {}): Promise<TestObject> =>
    api.create(ships, { apiVersion: 'example.com/v1', kind: 'Ship', metadata: { name, ...metadata } });
  const first = await ship('first');
  const crew = await configMap(namespace, 'crew', {
    ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Ship', name: 'first', uid: first.metadata.uid }],
  });
  await ship('second', { ownerReferences: [reference(crew)] });
  await ship('third');
  await admin.kubectl(`delete ship first -n ${namespace}`);
  await gone(namespace, 'cm/crew', 'ship/second');
  expect((await api.get<TestList>(ships)).items.map(({ metadata }) => metadata.name)).toEqual(['third']);
  await admin.kubectl(`delete namespace ${namespace} --timeout=20s`);
  expect((await api.get<TestList>(ships)).items).toEqual([]);
});

describe('custom resources that are stored in two versions', () => {
  const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema: { openAPIV3Schema: { type: 'object' } } });
  const merge = async (path: string, body: object): Promise<void> =>
    void (await api.expect(200, { method: 'PATCH', path, headers: { 'content-type': 'application/merge-patch+json' }, body }));

  /** The path of a definition whose objects are of v1 until `change`, and of v2 then. */
  async function define(kind: string, plural: string): Promise<{ definition: string; change(): Promise<void> }> {
    const definition = `${DEFINITIONS}/${plural}.example.com`;
    const spec = { group: 'example.com', scope: 'Namespaced', names: { kind, plural }, versions: [version('v1', true), version('v2', false)] };
    await api.create(DEFINITIONS, { metadata: { name: `${plural}.example.com` }, spec });
    await admin.kubectl(`wait --for=condition=Established crd/${plural}.example.com --timeout=20s`);
    const change = async (): Promise<void> => {
      await merge(definition, { spec: { versions: [version('v1', false), version('v2', true)] } });
      expect(await api.get(definition)).toMatchObject({ status: { storedVersions: ['v1', 'v2'] } });
    };
    return { definition, change };
  }

  test('own, are owned, and go with their definition', async () => {
    const { definition, change } = await define('Boat', 'boats');
    const namespace = await newNamespace();
    const boats = (inVersion: string): string => `/apis/example.com/${inVersion}/namespaces/${namespace}/boats`;
    const boat = (name: string, metadata: object = {}): Promise<TestObject> =>
      api.create(boats('v1'), { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name, ...metadata } });
    const first = await boat('first');
    await change();
    const owner = { apiVersion: 'example.com/v1', kind: 'Boat', name: 'first', uid: first.metadata.uid };
    const crew = await configMap(namespace, 'crew', { ownerReferences: [owner] });
    await boat('second', { ownerReferences: [reference(crew)] });
    await boat('third');
    await boat('fourth', { finalizers: ['example.com/mine'] });
    await admin.kubectl(`delete boats.v2.example.com first -n ${namespace}`);
    await gone(namespace, 'cm/crew', 'boats.v2.example.com/second');
    expect((await api.get<TestList>(boats('v2'))).items.map(({ metadata }) => metadata.name)).toEqual(['fourth', 'third']);
    await admin.kubectl('delete crd boats.example.com --wait=false');
    await gone(namespace, 'boats.example.com/third');
    expect(await api.get(definition)).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
    await release(namespace, 'boats.example.com', 'fourth');
    await gone(namespace, 'crd/boats.example.com');
  });

  test('cannot be deleted while they cannot be converted, as their definition tells', async () => {
    const { definition, change } = await define('Raft', 'rafts');
    await api.create('/apis/example.com/v1/namespaces/default/rafts', { apiVersion: 'example.com/v1', kind: 'Raft', metadata: { name: 'first' } });
    await change();
    const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/nobody' } };
    await merge(definition, { spec: { conversion: { strategy: 'Webhook', webhook } } });
    await admin.kubectl('delete crd rafts.example.com --wait=false');
    const refusal = 'could not list instances: conversion webhook for example.com/v1, Kind=Raft failed: Post';
    await expect.poll(async () => (await api.send({ path: definition })).text).toContain(refusal);
    await merge(definition, { spec: { conversion: { strategy: 'None', webhook: null } } });
    await gone('default', 'crd/rafts.example.com');
  });
});

test('aggregated roles have the rules of their parts', async () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  expect(await admin.kubectl('get clusterrole view -o jsonpath={.rules[*].resources}')).toContain('"pods"');
  const rules = [{ apiGroups: ['example.com'], resources: ['ships'], verbs: ['get'] }];
  await api.create(roles, { metadata: { name: 'ships', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } }, rules });
  for (const role of ['view', 'edit', 'admin']) await until(roles, role, (object) => JSON.stringify(object).includes('"ships"'));
});

test('pods on a node that does not exist go when their grace is over', async () => {
  const namespace = await newNamespace();
  await admin.kubectl(`wait --for=create sa/default -n ${namespace} --timeout=20s`);
  await api.create(`/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name: 'lost' },
    spec: { nodeName: 'nowhere', containers: [{ name: 'c', image: 'i' }] },
  });
  expect(await admin.kubectl(`delete pod lost -n ${namespace} --grace-period=1 --timeout=20s`)).toContain('pod "lost" deleted');
});

test('what was left undone is done at the next start', async () => {
  const before = await startServer({ storage: 'embedded' });
  const client = before.client();
  await client.create('/api/v1/namespaces', { metadata: { name: 'leaving' } });
  const owner = await client.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'owner' } });
  await client.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'child', ownerReferences: [reference(owner)] } });
  await client.delete('/api/v1/namespaces/default/configmaps/owner');
  await client.delete('/api/v1/namespaces/leaving');
  expect((await client.get<TestList>('/api/v1/serviceaccounts')).items).toEqual([]);
  client.close();
  await before.stop();

  const after = await startServer({ storage: 'embedded', dataDir: before.dataDir, flags: ['--controllers=*'] });
  const kubectl = new Clients(after);
  await kubectl.kubectl('wait --for=delete namespace/leaving cm/child --timeout=20s');
  expect(await after.stop()).toMatchObject({ code: 0 });
  expect(after.lines.filter((line) => line.includes('failed'))).toEqual([]);
});
