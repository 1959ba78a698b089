import {
  CoreV1Api,
  type Informer,
  KubeConfig,
  ListWatch,
  type ObjectCache,
  PatchStrategy,
  type V1ConfigMap,
  type V1ConfigMapList,
  Watch,
  makeInformer,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CuttableProxy } from './support/proxy.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* The official JavaScript client: what it does every day, and its informers over connections that break. */

const PATH = '/api/v1/namespaces/default/configmaps';
const namespace = 'default';

function configFor({ ca }: ServerProcess, url: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'test', server: url, caData: Buffer.from(ca).toString('base64') }],
    users: [{ name: 'admin', token: 'admin-token' }],
    contexts: [{ name: 'test', cluster: 'test', user: 'admin' }],
    currentContext: 'test',
  });
  return config;
}

let server: ServerProcess;
let config: KubeConfig;
let api: CoreV1Api;

beforeAll(async () => {
  server = await startServer();
  config = configFor(server, server.url);
  api = config.makeApiClient(CoreV1Api);
});
afterAll(() => server.stop());

const create = (name: string, metadata: V1ConfigMap['metadata'] = {}, data: Record<string, string> = {}, client = api): Promise<V1ConfigMap> =>
  client.createNamespacedConfigMap({ namespace, body: { metadata: { name, ...metadata }, data } });
const versionOf = (object: V1ConfigMap | V1ConfigMapList): string => object.metadata!.resourceVersion!;

const patch = (body: unknown, strategy: string): Promise<V1ConfigMap> =>
  api.patchNamespacedConfigMap({ name: 'patched', namespace, body }, setHeaderOptions('Content-Type', strategy));

describe('one object', () => {
  test('is created, read, replaced and deleted', async () => {
    const created = await create('one', {}, { a: '1' });
    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);
    expect(await api.readNamespacedConfigMap({ name: 'one', namespace })).toEqual(created);
    const replaced = await api.replaceNamespacedConfigMap({ name: 'one', namespace, body: { ...created, data: { b: '2' } } });
    expect(replaced).toMatchObject({ data: { b: '2' }, metadata: { uid: created.metadata!.uid } });
    await expect(api.replaceNamespacedConfigMap({ name: 'one', namespace, body: created })).rejects.toMatchObject({ code: 409 });
    await api.deleteNamespacedConfigMap({ name: 'one', namespace });
    await expect(api.readNamespacedConfigMap({ name: 'one', namespace })).rejects.toMatchObject({ code: 404 });
  });

  test('is patched in three ways', async () => {
    await create('patched', {}, { a: '1', b: '2' });
    expect((await patch([{ op: 'remove', path: '/data/a' }], PatchStrategy.JsonPatch)).data).toEqual({ b: '2' });
    expect((await patch({ data: { b: null, c: '3' } }, PatchStrategy.MergePatch)).data).toEqual({ c: '3' });
    expect((await patch({ data: { d: '4', $patch: 'replace' } }, PatchStrategy.StrategicMergePatch)).data).toEqual({ d: '4' });
    await expect(patch([{ op: 'test', path: '/data/d', value: '5' }], PatchStrategy.JsonPatch)).rejects.toMatchObject({ code: 422 });
  });

  test('gets its name from the server', async () => {
    const made = await api.createNamespacedConfigMap({ namespace, body: { metadata: { generateName: 'made-' } } });
    expect(made.metadata?.name).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });
});

test('pages are of one moment, whatever is written between them', async () => {
  const labels = { suite: 'pages' };
  const names = Array.from({ length: 25 }, (_, index) => `page-${String(index).padStart(2, '0')}`);
  for (const name of names) await create(name, { labels });
  const seen: string[] = [];
  const versions = new Set<string>();
  let token: string | undefined;
  do {
    const page: V1ConfigMapList = await api.listNamespacedConfigMap({ namespace, labelSelector: 'suite=pages', limit: 7, ...(token && { _continue: token }) });
    seen.push(...page.items.map(({ metadata }) => metadata!.name!));
    versions.add(versionOf(page));
    token = page.metadata?._continue; // oxlint-disable-line no-underscore-dangle -- the client's name
    await create(`page-0${seen.length}-between`, { labels });
    await api.deleteNamespacedConfigMap({ name: names.at(-1 - versions.size)!, namespace }).catch(() => undefined);
  } while (token);
  expect(seen).toEqual(names);
  expect(versions.size).toBe(1);
});

const versionNames = async (options: { resourceVersion: string; resourceVersionMatch?: string; limit?: number }): Promise<(string | undefined)[]> =>
  (await api.listNamespacedConfigMap({ namespace, labelSelector: 'suite=versions', ...options })).items.map(({ metadata }) => metadata!.name);

test('a list of a version is what was asked for', async () => {
  const first = await create('version-1', { labels: { suite: 'versions' } });
  const second = await create('version-2', { labels: { suite: 'versions' } });
  expect(await versionNames({ resourceVersion: versionOf(first), resourceVersionMatch: 'Exact' })).toEqual(['version-1']);
  expect(await versionNames({ resourceVersion: versionOf(second), resourceVersionMatch: 'Exact' })).toEqual(['version-1', 'version-2']);
  expect(await versionNames({ resourceVersion: versionOf(first), resourceVersionMatch: 'NotOlderThan' })).toEqual(['version-1', 'version-2']);
  expect(await versionNames({ resourceVersion: '0' })).toEqual(['version-1', 'version-2']);
  await expect(versionNames({ resourceVersion: '0', resourceVersionMatch: 'Exact' })).rejects.toMatchObject({ code: 422 });
  await expect(versionNames({ resourceVersion: 'x' })).rejects.toMatchObject({ code: 400 });
});

/** The events of a watch until `count` of them came. */
function watchFor(count: number, query: Record<string, string | boolean>): Promise<string[]> {
  const events: string[] = [];
  return new Promise((resolve, reject) => {
    const controller = new Watch(config).watch(
      PATH,
      query,
      (type, object: V1ConfigMap) => {
        events.push([type, object.metadata?.name, object.metadata?.annotations?.['k8s.io/initial-events-end'] && 'end'].filter(Boolean).join(' '));
        if (events.length === count) void controller.then((stopper) => stopper.abort()).then(() => resolve(events));
      },
      reject,
    );
  });
}

describe('watch', () => {
  test('from a version tells what happened since', async () => {
    const labels = { suite: 'watch' };
    const first = await create('watch-1', { labels });
    await create('watch-2', { labels });
    await api.deleteNamespacedConfigMap({ name: 'watch-1', namespace });
    expect(await watchFor(2, { labelSelector: 'suite=watch', resourceVersion: versionOf(first) })).toEqual(['ADDED watch-2', 'DELETED watch-1']);
  });

  test('with initial events ends them with a bookmark', async () => {
    const labels = { suite: 'initial' };
    await create('initial-2', { labels });
    await create('initial-1', { labels });
    const query = { labelSelector: 'suite=initial', sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true };
    expect(await watchFor(3, query)).toEqual(['ADDED initial-1', 'ADDED initial-2', 'BOOKMARK end']);
  });
});

/** What an informer told, in order, and a way to wait for it. */
class Told {
  readonly events: string[] = [];
  readonly #listeners = new Set<() => void>();

  constructor(informer: Informer<V1ConfigMap>) {
    for (const verb of ['add', 'update', 'delete'] as const) {
      informer.on(verb, (object) => {
        this.events.push(`${verb} ${object.metadata!.name} ${object.data?.step ?? ''}`.trim());
        for (const listener of this.#listeners) listener();
      });
    }
  }

  until(event: string): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.events.includes(event)) return;
        this.#listeners.delete(look);
        resolve();
      };
      this.#listeners.add(look);
      look();
    });
  }
}

/** As the client's users write it: after an error, start again. */
function keepStarted(informer: Informer<V1ConfigMap>): void {
  informer.on('error', () => setImmediate(() => void informer.start()));
}

const listed = (client: CoreV1Api, labelSelector: string) => (): Promise<V1ConfigMapList> => client.listNamespacedConfigMap({ namespace, labelSelector });

describe('an informer', () => {
  test('tells what is there and what changes', async () => {
    const labels = { suite: 'informer' };
    await create('there', { labels });
    const informer: Informer<V1ConfigMap> & ObjectCache<V1ConfigMap> = makeInformer(config, PATH, listed(api, 'suite=informer'), 'suite=informer');
    const told = new Told(informer);
    await informer.start();
    const changed = await create('changed', { labels }, { step: '1' });
    await api.replaceNamespacedConfigMap({ name: 'changed', namespace, body: { ...changed, data: { step: '2' } } });
    await api.deleteNamespacedConfigMap({ name: 'there', namespace });
    await told.until('delete there');
    expect(told.events).toEqual(['add there', 'add changed 1', 'update changed 2', 'delete there']);
    expect(informer.list().map(({ metadata, data }) => [metadata!.name, data])).toEqual([['changed', { step: '2' }]]);
    await informer.stop();
  });

  test('sees every event once and in order, though its connection is cut again and again', async () => {
    const proxy = await CuttableProxy.start(server.port);
    const throughProxy = configFor(server, `https://127.0.0.1:${proxy.port}`);
    const labelSelector = 'suite=cut';
    // Reconnects wait for nothing: the client's own back-off would only make the test longer.
    const informer = new ListWatch<V1ConfigMap>(
      PATH,
      new Watch(throughProxy),
      listed(throughProxy.makeApiClient(CoreV1Api), labelSelector),
      false,
      labelSelector,
      undefined,
      { delayFn: async () => {} },
    );
    const told = new Told(informer);
    keepStarted(informer);
    await informer.start();
    const expected: string[] = [];
    for (let step = 0; step < 60; step++) {
      const name = `cut-${step % 5}`;
      const body = { metadata: { name, labels: { suite: 'cut' } }, data: { step: String(step) } };
      if (step < 5) await api.createNamespacedConfigMap({ namespace, body });
      else await api.replaceNamespacedConfigMap({ name, namespace, body });
      expected.push(`${step < 5 ? 'add' : 'update'} ${name} ${step}`);
      if (step % 4 === 3) proxy.cut();
    }
    await told.until(expected.at(-1)!);
    expect(told.events).toEqual(expected);
    await informer.stop();
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)('sees every event once and in order over a restart of the server by %s', async (signal) => {
    let own = await startServer({ storage: 'embedded' });
    const ownConfig = configFor(own, own.url);
    const ownApi = ownConfig.makeApiClient(CoreV1Api);
    const labelSelector = 'suite=restart';
    const informer = new ListWatch<V1ConfigMap>(PATH, new Watch(ownConfig), listed(ownApi, labelSelector), false, labelSelector, undefined, {
      delayFn: async () => {},
    });
    const told = new Told(informer);
    keepStarted(informer);
    await informer.start();
    const createSeries = async (from: number): Promise<void> => {
      for (let step = from; step < from + 10; step++) await create(`restart-${step}`, { labels: { suite: 'restart' } }, { step: String(step) }, ownApi);
    };
    await createSeries(10);
    own.signal(signal);
    await own.exited;
    own = await startServer({ storage: 'embedded', dataDir: own.dataDir, port: own.port });
    await createSeries(20);
    await told.until('add restart-29 29');
    expect(told.events).toEqual(Array.from({ length: 20 }, (_, index) => `add restart-${index + 10} ${index + 10}`));
    await informer.stop();
    await own.stop();
  });
});
