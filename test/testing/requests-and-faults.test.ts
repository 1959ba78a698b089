import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { FaultRule, StartedServer } from '../../src/index.ts';
import { startServer } from '../support/library.ts';
import { KUBECTL } from '../support/paths.ts';
import { CommandProcess, startServer as startProcess, temporaryFolder } from '../support/server.ts';

let server: StartedServer;
let config: KubeConfig;
let client: CoreV1Api;
beforeAll(async () => {
  // Without the controller that puts a config map into each namespace: it would be an event at any time.
  server = await startServer({ flags: ['--controllers=*,-root-ca-certificate-publisher-controller'] });
  config = new KubeConfig();
  config.loadFromString(server.user({ name: 'jane', groups: ['system:masters'] }).kubeconfig);
  client = config.makeApiClient(CoreV1Api);
});
afterEach(() => {
  server.faults.clear();
  server.requests.clear();
});
afterAll(() => server.stop());

/** What fetch says of it, or the socket. */
const CONNECTION_LOST = /fetch failed|socket|ECONNRESET|other side closed/i;
let nameCount = 0;
const newName = (): string => `one-${++nameCount}`;
const createConfigMap = (name: string) => client.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name } } });
const exists = (name: string): Promise<boolean> =>
  server.get({ apiVersion: 'v1', kind: 'ConfigMap', name }).then(
    () => true,
    () => false,
  );

describe('the record of requests', () => {
  test('has who asked for what, and how it ended', async () => {
    const name = newName();
    await createConfigMap(name);
    await expect(client.readNamespacedSecret({ namespace: 'default', name: 'none' })).rejects.toThrow('not found');
    await server.get({ apiVersion: 'v1', kind: 'ConfigMap', name });
    expect(server.requests.all()).toMatchObject([
      { user: 'jane', verb: 'create', resource: 'configmaps', namespace: 'default', code: 201, durationMs: expect.any(Number) },
      { user: 'jane', verb: 'get', resource: 'secrets', name: 'none', code: 404 },
    ]);
    expect(server.requests.filter({ verb: 'create' })).toHaveLength(1);
    server.requests.assertNoneFailed({ resource: 'configmaps' });
    expect(() => server.requests.assertNoneFailed()).toThrow(
      /^1 requests failed:\n.* get \/api\/v1\/namespaces\/default\/secrets\/none → 404 in [\d.]+ ms, jane/,
    );
  });

  test('can be waited for, a watch as soon as it is open', async () => {
    const opened = server.requests.waitFor({ verb: 'watch', resource: 'configmaps' });
    const controller = await new Watch(config).watch(
      '/api/v1/configmaps',
      {},
      () => {},
      () => {},
    );
    expect(await opened).toMatchObject({ user: 'jane', code: 200, durationMs: undefined });
    controller.abort();
    await server.requests.waitFor(({ verb, durationMs }) => verb === 'watch' && durationMs !== undefined);
    await expect(server.requests.waitFor({ verb: 'patch' }, { timeout: 50 })).rejects.toThrow(
      /^waited 50 ms for a request with \{"verb":"patch"\}, in vain; the last ones:\n.* watch \/api/,
    );
  });
});

describe('faults', () => {
  test.each([
    [{ error: 409 }, 409, 'Conflict', undefined],
    [{ error: 429, retryAfter: 7 }, 429, 'TooManyRequests', '7'],
    [{ error: 500 }, 500, 'InternalError', undefined],
    [{ error: 503 }, 503, 'ServiceUnavailable', undefined],
    [{ error: 504 }, 504, 'Timeout', undefined],
  ] as const)('%j is what the client gets, once', async (fault, code, reason, retryAfter) => {
    const name = newName();
    const added = server.faults.add({ ...fault, match: { verbs: ['create'], resources: ['configmaps'], users: ['jane'] }, times: 1 });
    const refused = await createConfigMap(name).then(
      () => undefined,
      (error: { code: number; body: string; headers: Record<string, string> }) => error,
    );
    expect(refused?.code).toBe(code);
    expect(JSON.parse(refused!.body)).toMatchObject({ reason });
    expect(refused!.headers['retry-after']).toBe(retryAfter);
    expect(await exists(name)).toBe(false);
    await createConfigMap(name);
    expect(added.count).toBe(1);
    expect(server.faults.injected.at(-1)).toMatchObject({ verb: 'create', resource: 'configmaps', namespace: 'default', user: 'jane', rule: fault });
  });

  test('a connection goes before or after the write', async () => {
    const [before, after] = [newName(), newName()];
    server.faults.add({ reset: 'before', match: { verbs: ['create'] }, times: 1 });
    await expect(createConfigMap(before)).rejects.toThrow(CONNECTION_LOST);
    server.faults.add({ reset: 'after', match: { verbs: ['create'] }, times: 1 });
    await expect(createConfigMap(after)).rejects.toThrow(CONNECTION_LOST);
    expect([await exists(before), await exists(after)]).toEqual([false, true]);
    await server.requests.waitFor(({ verb, code, durationMs }) => verb === 'create' && code === 0 && durationMs !== undefined);
    await createConfigMap(newName());
  });

  test('a delay comes first; what does not match is not delayed; a rule that is removed is over', async () => {
    const added = server.faults.add({ delay: 300, match: { resources: ['configmaps'], namespaces: ['default'], names: ['slow'] } });
    const startMs = performance.now();
    await expect(client.readNamespacedConfigMap({ namespace: 'default', name: 'slow' })).rejects.toThrow('not found');
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(295);
    await client.listNamespacedConfigMap({ namespace: 'default' });
    expect(added.count).toBe(1);
    added.remove();
    await expect(client.readNamespacedConfigMap({ namespace: 'default', name: 'slow' })).rejects.toThrow('not found');
    expect(added.count).toBe(1);
  });

  test('by chance, as the seed has it', async () => {
    const outcomes = async (seed: number): Promise<boolean[]> => {
      const added = server.faults.add({ error: 503, probability: 0.5, seed });
      const results: boolean[] = [];
      for (let index = 0; index < 20; index++)
        results.push(
          await client.listNamespace().then(
            () => true,
            () => false,
          ),
        );
      added.remove();
      return results;
    };
    const first = await outcomes(7);
    expect(new Set(first).size).toBe(2);
    expect(await outcomes(7)).toEqual(first);
    expect(await outcomes(8)).not.toEqual(first);
  });

  test.each([
    [{ delay: 1, nonsense: 1 }, 'a rule has no field "nonsense"'],
    [{}, 'a rule must have error, reset, read, watch or delay'],
    [{ error: 418 }, 'error must be one of 409, 410, 429, 500, 503, 504'],
    [{ error: 500, reset: 'before' }, 'a rule has one of error, reset, read and watch'],
    [{ delay: -1 }, 'delay must be a whole number, and not negative'],
    [{ read: 'new' }, 'read must be stale'],
    [{ watch: 'twice' }, 'watch must be end, expire, silence, duplicate or late'],
    [{ delay: 1, match: { verbs: 'get' } }, 'match.verbs must be a list of at most 1000 strings'],
    [{ delay: 1, probability: 2 }, 'probability must be from 0 to 1'],
  ])('the rule %j is refused', (rule, message) => {
    expect(() => server.faults.add(rule as FaultRule)).toThrow(`a fault rule is wrong: ${message}`);
  });
});

describe('stale reads', () => {
  const readAtHand = async (path: string): Promise<{ metadata: { resourceVersion: string }; data?: object; items?: { data: object }[] }> => {
    const { cluster, user } = { cluster: config.getCurrentCluster()!, user: config.getCurrentUser()! };
    const [ca, cert, key] = [cluster.caData!, user.certData!, user.keyData!].map((text) => Buffer.from(text, 'base64'));
    return new Promise((resolve, reject) => {
      get(`${server.url}/api/v1/namespaces/default/configmaps${path}`, { ca, cert, key }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
      }).on('error', reject);
    });
  };

  test('are as of when the rule was added, for those who take what is at hand', async () => {
    const name = newName();
    const body = (color: string) => ({ metadata: { name, labels: { stale: name } }, data: { color } });
    await client.createNamespacedConfigMap({ namespace: 'default', body: body('blue') });
    const added = server.faults.add({ read: 'stale', match: { resources: ['configmaps'] } });
    await client.replaceNamespacedConfigMap({ namespace: 'default', name, body: body('red') });
    expect(await readAtHand(`/${name}?resourceVersion=0`)).toMatchObject({ data: { color: 'blue' } });
    const stale = await readAtHand(`?resourceVersion=0&labelSelector=stale%3D${name}&limit=500`);
    expect(stale.items).toMatchObject([{ data: { color: 'blue' } }]);
    for (const path of [`/${name}`, `/${name}?resourceVersion=1`]) expect(await readAtHand(path)).toMatchObject({ data: { color: 'red' } });
    expect(added.count).toBe(2);
    const later = newName();
    await createConfigMap(later);
    expect(await readAtHand(`/${later}?resourceVersion=0`)).toMatchObject({ code: 404 });
    added.remove();
    const newest = await readAtHand(`?resourceVersion=0&labelSelector=stale%3D${name}`);
    expect(newest.items).toMatchObject([{ data: { color: 'red' } }]);
    expect(Number(newest.metadata.resourceVersion)).toBeGreaterThan(Number(stale.metadata.resourceVersion));
  });

  test('are new ones where that state is gone', async () => {
    const name = newName();
    const snapshot = server.snapshot();
    await createConfigMap(name);
    server.faults.add({ read: 'stale' });
    await server.reset(snapshot);
    expect(await readAtHand(`/${name}?resourceVersion=0`)).toMatchObject({ code: 404 });
  });
});

describe('faults of watches', () => {
  interface Seen {
    events: string[];
    ended: Promise<void>;
    stop(): void;
  }

  async function watchConfigMaps(namespace: string): Promise<Seen> {
    const events: string[] = [];
    let over = (): void => {};
    const ended = new Promise<void>((resolve) => (over = resolve));
    const controller = await new Watch(config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      {},
      (type, object: { code?: number; metadata?: { name?: string } }) => void events.push(`${type} ${object.code ?? object.metadata?.name}`),
      () => over(),
    );
    return { events, ended, stop: () => controller.abort() };
  }

  async function namespaceWith(count: number): Promise<string> {
    const namespace = newName();
    const objects = Array.from({ length: count }, (_, index) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${index}`, namespace } }));
    await server.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
    await server.apply(objects);
    return namespace;
  }

  test('a watch ends after as many events as the rule says', async () => {
    const namespace = await namespaceWith(3);
    server.faults.add({ watch: 'end', afterEvents: 2, match: { namespaces: [namespace] } });
    const seen = await watchConfigMaps(namespace);
    await seen.ended;
    expect(seen.events).toHaveLength(2);
  });

  test('a watch expires', async () => {
    const namespace = await namespaceWith(1);
    server.faults.add({ watch: 'expire', match: { namespaces: [namespace] }, times: 1 });
    const seen = await watchConfigMaps(namespace);
    await seen.ended;
    expect(seen.events).toEqual(['ERROR 410']);
  });

  test('events come twice', async () => {
    const namespace = await namespaceWith(2);
    server.faults.add({ watch: 'duplicate', afterEvents: 1, match: { namespaces: [namespace] }, times: 1 });
    const seen = await watchConfigMaps(namespace);
    await vi.waitFor(() => expect(seen.events).toEqual(['ADDED c0', 'ADDED c1', 'ADDED c1']));
    seen.stop();
  });

  test('events come late, in their order, and not those of others', async () => {
    const namespace = await namespaceWith(1);
    server.faults.add({ watch: 'late', lateBy: 1_500, afterEvents: 1, match: { namespaces: [namespace] }, times: 1 });
    const late = await watchConfigMaps(namespace);
    const other = await watchConfigMaps(namespace);
    const startMs = performance.now();
    for (const name of ['d0', 'd1']) await client.createNamespacedConfigMap({ namespace, body: { metadata: { name } } });
    await vi.waitFor(() => expect(other.events).toEqual(['ADDED c0', 'ADDED d0', 'ADDED d1']));
    if (performance.now() - startMs < 1_400) expect(late.events).toEqual(['ADDED c0']);
    await vi.waitFor(() => expect(late.events).toEqual(other.events), { timeout: 10_000 });
    expect(performance.now() - startMs).toBeGreaterThan(1_500);
    for (const { stop } of [late, other]) stop();
  });

  test('a watch goes silent, and stays open', async () => {
    const namespace = await namespaceWith(1);
    server.faults.add({ watch: 'silence', afterEvents: 1, match: { namespaces: [namespace] }, times: 1 });
    const silent = await watchConfigMaps(namespace);
    const other = await watchConfigMaps(namespace);
    await server.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late', namespace } });
    await expect.poll(() => other.events).toContain('ADDED late');
    expect(silent.events).toHaveLength(1);
    expect(server.requests.filter({ verb: 'watch', namespace }).every(({ durationMs }) => durationMs === undefined)).toBe(true);
    silent.stop();
    other.stop();
  });

  test('kubectl, which speaks HTTP/2, survives them', async () => {
    const namespace = await namespaceWith(1);
    server.faults.add({ error: 429, retryAfter: 1, match: { verbs: ['list'], namespaces: [namespace] }, times: 1 });
    server.faults.add({ watch: 'expire', match: { namespaces: [namespace] } });
    const kubectl = (...args: string[]) => promisify(execFile)(KUBECTL, [`--kubeconfig=${server.kubeconfigFile}`, `--namespace=${namespace}`, ...args]);
    expect((await kubectl('get', 'configmaps', '--output=name')).stdout).toBe('configmap/c0\n');
    await kubectl('delete', 'configmap', 'c0', '--timeout=20s');
    expect(server.faults.injected.filter((fault) => fault.namespace === namespace).map(({ rule }) => rule.error ?? rule.watch)).toContain(429);
  });
});

describe('--fault-config-file', () => {
  test('has the same rules, for a server of any language; what was injected is logged', async () => {
    const file = join(temporaryFolder(), 'faults.yaml');
    writeFileSync(file, 'rules:\n- name: no secrets\n  match: {resources: [secrets], users: [admin]}\n  error: 503\n  times: 1\n');
    const process = await startProcess({ flags: [`--fault-config-file=${file}`] });
    const path = '/api/v1/secrets';
    expect((await process.client().send({ path })).status).toBe(503);
    expect((await process.client().send({ path })).status).toBe(200);
    await process.line(/Injected a fault rule="no secrets" verb="list" resource="secrets"/);
    await process.stop();
  });

  test.each([
    ['rules:\n- delay: x\n', /: rules\[0\]: delay must be a whole number/],
    ['- delay: 1\n', /: it must have a list "rules", and nothing else$/],
  ])('%j is refused in a line', async (text, message) => {
    const folder = temporaryFolder();
    const file = join(folder, 'faults.yaml');
    writeFileSync(file, text);
    const command = new CommandProcess(['serve', '--storage-backend=memory', `--data-dir=${folder}`, '--secure-port=0', `--fault-config-file=${file}`]);
    expect((await command.exited).code).toBe(1);
    expect(command.lines.at(-1)).toMatch(/^error: --fault-config-file: /);
    expect(command.lines.at(-1)).toMatch(message);
  });
});
