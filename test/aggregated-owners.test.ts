import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient, TestObject } from './support/api-client.ts';
import { eventually, register, startBackend, startFront, waitForAvailability } from './support/aggregation.ts';
import type { ServerProcess } from './support/server.ts';

/* Owners and dependents on an aggregated server: garbage is collected, and namespaces are emptied, over both. */

const GROUP = 'owners.example.com';
const AT = `/apis/${GROUP}/v1`;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

type Thing = Pick<TestObject, 'metadata'> & { kind: string; apiVersion: string };

/** An aggregated server that keeps things in memory. */
class Things {
  readonly byKey = new Map<string, Thing>();
  readonly #watchers = new Set<ServerResponse>();
  readonly #events: { version: number; line: string }[] = [];
  #version = 1;
  isDown = false;

  add(namespace: string, name: string, more: object = {}): Thing {
    const metadata = { name, namespace, uid: `uid-${namespace}-${name}`, resourceVersion: String(++this.#version), ...more };
    const thing = { kind: 'Thing', apiVersion: `${GROUP}/v1`, metadata };
    this.byKey.set(`${namespace}/${name}`, thing);
    this.#tell('ADDED', thing);
    return thing;
  }

  remove(key: string): void {
    const thing = this.byKey.get(key)!;
    this.#version++;
    this.byKey.delete(key);
    this.#tell('DELETED', thing);
  }

  #tell(type: string, object: Thing): void {
    this.#events.push({ version: this.#version, line: `${JSON.stringify({ type, object })}\n` });
    for (const watcher of this.#watchers) watcher.write(`${JSON.stringify({ type, object })}\n`);
  }

  readonly serve = (request: IncomingMessage, response: ServerResponse): void => {
    const send = (status: number, body: object): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (this.isDown) return send(503, {});
    const [path, query = ''] = request.url!.split('?');
    const resource = { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: VERBS };
    if (path === AT) return send(200, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${GROUP}/v1`, resources: [resource] });
    const [, namespace, name] = /^\/apis\/[^/]+\/v1(?:\/namespaces\/([^/]+))?\/things(?:\/([^/]+))?$/.exec(path!) ?? [];
    if (name === undefined)
      return query.includes('watch=true') ? this.#watch(response, Number(/resourceVersion=(\d+)/.exec(query)![1])) : this.#list(send, namespace);
    const key = `${namespace}/${name}`;
    const found = this.byKey.get(key);
    if (!found) return send(404, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404, message: 'not found' });
    if (request.method === 'DELETE') this.remove(key);
    send(200, found);
  };

  #list(send: (status: number, body: object) => void, namespace: string | undefined): void {
    const items = [...this.byKey.values()].filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
    send(200, { kind: 'ThingList', apiVersion: `${GROUP}/v1`, metadata: { resourceVersion: String(this.#version) }, items });
  }

  #watch(response: ServerResponse, after: number): void {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    for (const { version, line } of this.#events) if (version > after) response.write(line);
    this.#watchers.add(response);
    response.once('close', () => this.#watchers.delete(response));
  }
}

const things = new Things();
let front: ServerProcess;
let client: ApiClient;
beforeAll(async () => {
  front = await startFront(['--controllers=*']);
  client = front.client();
  const { port } = await startBackend('owners', things.serve);
  await register(front, GROUP, 'v1', 'owners', port);
  await waitForAvailability(front, `v1.${GROUP}`, 'Passed');
});
afterAll(async () => {
  await front?.stop();
});

const ownedBy = (name: string, { metadata }: Thing): object => ({
  metadata: { name, ownerReferences: [{ apiVersion: `${GROUP}/v1`, kind: 'Thing', name: metadata.name, uid: metadata.uid }] },
});
const isThere = async (path: string): Promise<boolean> => (await client.send({ path })).status === 200;
const isGone = (path: string): Promise<void> => eventually(async () => expect(await isThere(path)).toBe(false));

/** A change of the APIService has its server looked at at once. */
async function setDown(isDown: boolean): Promise<void> {
  things.isDown = isDown;
  const path = `/apis/apiregistration.k8s.io/v1/apiservices/v1.${GROUP}`;
  const body = { metadata: { annotations: { down: String(isDown) } } };
  await client.send({ method: 'PATCH', path, headers: { 'content-type': 'application/merge-patch+json' }, body });
}

test('what is owned by an object elsewhere stays while that is there, and goes with it', async () => {
  const owner = things.add('default', 'owner');
  const stranger: Thing = { ...owner, metadata: { ...owner.metadata, uid: 'another' } };
  await client.create(CONFIG_MAPS, ownedBy('owned', owner));
  await client.create(CONFIG_MAPS, ownedBy('of-nobody', stranger));
  await isGone(`${CONFIG_MAPS}/of-nobody`);
  expect(await isThere(`${CONFIG_MAPS}/owned`)).toBe(true);
  things.remove('default/owner');
  await isGone(`${CONFIG_MAPS}/owned`);
});

test('an object elsewhere goes with its owner here', async () => {
  const owner = await client.create(CONFIG_MAPS, { metadata: { name: 'local-owner' } });
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'local-owner', uid: owner.metadata.uid };
  things.add('default', 'dependent', { ownerReferences: [reference] });
  await client.send({ method: 'DELETE', path: `${CONFIG_MAPS}/local-owner` });
  await eventually(() => expect([...things.byKey.keys()]).not.toContain('default/dependent'));
});

test('a namespace is emptied there too, and waits for a server that is away; nothing is taken for gone meanwhile', async () => {
  await client.create('/api/v1/namespaces', { metadata: { name: 'both' } });
  things.add('both', 'content');
  const owner = things.add('default', 'unreachable');
  await setDown(true);
  await waitForAvailability(front, `v1.${GROUP}`, 'FailedDiscoveryCheck');
  await client.create(CONFIG_MAPS, ownedBy('patient', owner));
  await client.send({ method: 'DELETE', path: '/api/v1/namespaces/both' });
  await eventually(async () => {
    const { status } = await client.get('/api/v1/namespaces/both');
    const conditions = (status!['conditions'] ?? []) as { reason: string; message: string }[];
    expect(conditions.map(({ reason }) => reason)).toContain('DiscoveryFailed');
    expect(conditions.find(({ reason }) => reason === 'DiscoveryFailed')!.message).toBe(
      `Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: ${GROUP}/v1: stale GroupVersion discovery: ${GROUP}/v1`,
    );
  });
  await setDown(false);
  await isGone('/api/v1/namespaces/both');
  expect([...things.byKey.keys()]).toEqual(['default/unreachable']);
  expect(await isThere(`${CONFIG_MAPS}/patient`)).toBe(true);
}, 120_000);
