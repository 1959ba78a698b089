import { expect, test } from 'vitest';
import type { ApiClient, TestObject } from './support/api-client.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* Kills lose no change that was acknowledged, nor who made it, and invent none (npm test: 8 of them; HISTORY_KILLS=1000 for a long run). */

const KILLS = Number(process.env['HISTORY_KILLS'] ?? 8);
/** After each kill all changes are read: so many, and the next ones are of a new store. */
const KILLS_A_STORE = 25;
const STORES = Array.from({ length: Math.ceil(KILLS / KILLS_A_STORE) }, (_, index) => Math.min(KILLS_A_STORE, KILLS - index * KILLS_A_STORE));
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const CHANGES = '/apis/history.binnacle.dev/v1alpha1';
const USERS = ['admin', 'alice', 'bob'] as const;
const NAMES = 12;
const WRITERS_A_USER = 4;

interface Change {
  metadata: { name: string };
  object: { name: string; uid: string };
  type: 'created' | 'modified' | 'deleted';
  user?: { username: string };
  objectResourceVersion: string;
  previousResourceVersion?: string;
  fields: { path: string; from?: unknown; to?: unknown }[];
}

/** What was answered to a write. */
interface Acknowledged {
  type: Change['type'];
  user: string;
  name: string;
  object: TestObject | undefined;
}

const open = (server?: ServerProcess): Promise<ServerProcess> =>
  startServer({ storage: 'embedded', flags: ['--history=24h'], ...(server && { dataDir: server.dataDir, port: server.port }) });

async function allChanges(client: ApiClient): Promise<Change[]> {
  const changes: Change[] = [];
  let next = '';
  do {
    const query = new URLSearchParams({ fieldSelector: 'object.resource=configmaps,object.namespace=default', limit: '500', continue: next });
    const list = await client.get<{ metadata: { continue?: string }; items: Change[] }>(`${CHANGES}/changes?${query}`);
    changes.push(...list.items.filter(({ object }) => object.name.startsWith('map-')));
    next = list.metadata.continue ?? '';
  } while (next !== '');
  return changes;
}

/** Writes until the server is gone. */
async function writeUntilGone(
  client: ApiClient,
  user: string,
  onSent: (text: string) => void,
  onDone: (version: string, done: Acknowledged) => void,
): Promise<void> {
  for (let step = 0; ; step++) {
    const name = `map-${Math.floor(Math.random() * NAMES)}`;
    const path = `${CONFIG_MAPS}/${name}`;
    const text = `${user} ${Math.random()}`;
    const isDeletion = Math.random() < 0.15;
    try {
      const current = await client.send({ path });
      const body = { metadata: { name, ...(current.status === 200 && { resourceVersion: current.json().metadata.resourceVersion }) }, data: { text, name } };
      if (isDeletion && current.status === 200) {
        const preconditions = { resourceVersion: current.json().metadata.resourceVersion };
        await client.send({ method: 'DELETE', path, body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions } });
        continue;
      }
      onSent(text);
      const request = current.status === 200 ? { method: 'PUT', path, body } : { method: 'POST', path: CONFIG_MAPS, body };
      const answer = await client.send(request);
      if (answer.status === 200 || answer.status === 201) {
        const object = answer.json();
        onDone(object.metadata.resourceVersion, { type: answer.status === 201 ? 'created' : 'modified', user, name, object });
      }
    } catch {
      return;
    }
  }
}

const textOf = ({ fields }: Change): unknown => {
  const text = fields.find(({ path }) => path === 'data.text')?.to;
  return text ?? (fields.find(({ path }) => path === 'data')?.to as { text?: string } | undefined)?.text;
};

test.each(STORES)(
  'killed %i times while three users write: every change that was acknowledged is kept with its author, and no other',
  { timeout: 60_000 + KILLS_A_STORE * 8_000 },
  async (kills) => {
    let server = await open();
    const admin = server.client();
    const subjects = USERS.map((name) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }));
    const roleRef = { kind: 'ClusterRole', apiGroup: 'rbac.authorization.k8s.io', name: 'cluster-admin' };
    await admin.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { metadata: { name: 'writers' }, subjects, roleRef });
    const acknowledged = new Map<string, Acknowledged>();
    const sent = new Set<string>();
    for (let round = 0; round < kills; round++) {
      const killAfter = acknowledged.size + 20 + Math.floor(Math.random() * 200);
      const clients = USERS.map((user) => ({ user, client: server.client(user) }));
      const writers = clients.flatMap(({ user, client }) =>
        Array.from({ length: WRITERS_A_USER }, () =>
          writeUntilGone(
            client,
            user,
            (text) => sent.add(text),
            (version, done) => {
              acknowledged.set(version, done);
              if (acknowledged.size === killAfter) server.signal('SIGKILL');
            },
          ),
        ),
      );
      await Promise.all(writers);
      await server.exited;
      for (const { client } of clients) client.close();
      server = await open(server);
      await expectHistory(server.client(), acknowledged, sent);
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);

async function expectHistory(client: ApiClient, acknowledged: ReadonlyMap<string, Acknowledged>, sent: ReadonlySet<string>): Promise<void> {
  const changes = await allChanges(client);
  const byVersion = new Map(changes.map((change) => [change.objectResourceVersion, change]));
  expect(byVersion.size).toBe(changes.length);
  const wrong = [...acknowledged].filter(([version, { type, user, name, object }]) => {
    const found = byVersion.get(version);
    return found?.type !== type || found.user?.username !== user || found.object.name !== name || textOf(found) !== object!.data!['text'];
  });
  expect(wrong).toEqual([]);
  const newest = new Map<string, Change>();
  for (const change of changes) {
    const before = newest.get(change.object.name);
    const expected = before === undefined || before.type === 'deleted' ? undefined : before.objectResourceVersion;
    expect(change.previousResourceVersion).toBe(expected);
    expect(change.user?.username).toBeDefined();
    if (change.type !== 'deleted') expect(sent).toContain(textOf(change));
    newest.set(change.object.name, change);
  }
  await expectState(client, newest);
  await expectVersions(client, acknowledged);
}

/** What the last change left is what is stored. */
async function expectState(client: ApiClient, newest: ReadonlyMap<string, Change>): Promise<void> {
  const { items } = await client.get<{ items: TestObject[] }>(CONFIG_MAPS);
  const stored = new Map(items.filter(({ metadata }) => metadata.name.startsWith('map-')).map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  const told = [...newest].filter(([, { type }]) => type !== 'deleted').map(([name, { objectResourceVersion }]) => [name, objectResourceVersion] as const);
  expect(stored).toEqual(new Map(told));
}

/** Some of the acknowledged versions, as they were answered. */
async function expectVersions(client: ApiClient, acknowledged: ReadonlyMap<string, Acknowledged>): Promise<void> {
  const some = [...acknowledged].filter(() => Math.random() < Math.min(1, 10 / acknowledged.size));
  for (const [version, { name, object }] of some) expect(await client.get(`${CHANGES}/objects${CONFIG_MAPS}/${name}?at=${version}`)).toEqual(object);
}
