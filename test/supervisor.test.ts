import { CoreV1Api, KubeConfig, type V1ConfigMap, makeInformer } from '@kubernetes/client-node';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePorts } from './support/free-ports.ts';
import { ServerProcess, startServer, temporaryFolder } from './support/server.ts';

/*
 * `--supervised`: real processes that stand still, run out of memory and are killed. No request is known to do that to the server, so a program that Node loads in
 * front of it makes one that does: reading a body with one of these words in it never ends, or never ends to allocate.
 */

const ENDLESS = 'stand-still-for-ever';
const HUNGRY = 'allocate-for-ever';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const CLEAN_EXIT = { code: 0, signal: null };

function environment(): Record<string, string> {
  const file = join(temporaryFolder(), 'deadly-words.cjs');
  writeFileSync(
    file,
    `const { toString } = Buffer.prototype;
Buffer.prototype.toString = function (...args) {
  const text = toString.apply(this, args);
  if (text.includes('${ENDLESS}')) for (;;);
  const held = [];
  if (text.includes('${HUNGRY}')) for (;;) held.push(new Array(1000).fill(0));
  return text;
};`,
  );
  return { NODE_OPTIONS: `--require=${file}` };
}

const supervised = (...flags: string[]): Promise<ServerProcess> =>
  startServer({ storage: 'embedded', flags: ['--supervised', '--stall-report-after=200ms', '--stall-kill-after=2s', ...flags], environment: environment() });

/** The process that serves, as it says itself: klog's lines begin with the writer's process id. */
const servingPids = (server: ServerProcess): number[] =>
  server.lines.flatMap((line) => {
    const match = /^I\S+ \S+\s+(\d+) .*Serving url=/.exec(line);
    return match ? [Number(match[1])] : [];
  });

const untilServing = (server: ServerProcess, starts: number): Promise<void> => server.lineCount(/Serving url=/, starts);

/** One that stays the same when the server is started again. */
const anyPort = async (): Promise<string> => `--secure-port=${(await freePorts(1))[0]}`;

const deadly = (server: ServerProcess, word: string) =>
  server.client().send({ method: 'POST', path: CONFIG_MAPS, body: { metadata: { name: 'deadly' }, data: { word } } });

describe('a supervised server', { timeout: 120_000 }, () => {
  test('is started again when it is killed, with all that it had acknowledged', async () => {
    const server = await supervised(await anyPort());
    await server.client().create(CONFIG_MAPS, { metadata: { name: 'kept' } });
    process.kill(servingPids(server)[0]!, 'SIGKILL');
    await untilServing(server, 2);
    expect((await server.client().send({ path: `${CONFIG_MAPS}/kept` })).status).toBe(200);
    expect(server.lines.join('\n')).toMatch(/The server process died and is started again code=null signal="SIGKILL"/);
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('is watched on from where its clients were when it was killed', async () => {
    const server = await supervised(await anyPort());
    const client = server.client();
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: 'test', server: server.url, caData: Buffer.from(server.ca).toString('base64') }],
      users: [{ name: 'admin', token: 'admin-token' }],
      contexts: [{ name: 'test', cluster: 'test', user: 'admin' }],
      currentContext: 'test',
    });
    const api = config.makeApiClient(CoreV1Api);
    let lists = 0;
    const informer = makeInformer<V1ConfigMap>(config, CONFIG_MAPS, () => {
      lists++;
      return api.listNamespacedConfigMap({ namespace: 'default' });
    });
    const added: string[] = [];
    informer.on('add', ({ metadata }) => void added.push(metadata!.name!));
    // As its users do: it goes on from the last version that it saw.
    informer.on('error', () => void setTimeout(() => void informer.start().catch(() => informer.start()), 50));
    await informer.start();
    await client.create(CONFIG_MAPS, { metadata: { name: 'before' } });
    const watch = await client.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${(await client.get(`${CONFIG_MAPS}/before`)).metadata.resourceVersion}`);
    const last = await client.create(CONFIG_MAPS, { metadata: { name: 'seen' } });
    expect((await watch.next())?.object.metadata.name).toBe('seen');
    process.kill(servingPids(server)[0]!, 'SIGKILL');
    expect(await watch.next().catch(() => undefined)).toBeUndefined();
    await untilServing(server, 2);
    await client.create(CONFIG_MAPS, { metadata: { name: 'after' } });
    // The version of before the kill still tells what came behind it, and nothing else.
    const resumed = await client.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${last.metadata.resourceVersion}`);
    expect((await resumed.next())?.object.metadata.name).toBe('after');
    resumed.stop();
    await expect.poll(() => added, { timeout: 20_000 }).toContain('after');
    expect(added.filter((name) => name === 'seen')).toHaveLength(1);
    expect(lists).toBeLessThan(10);
    await informer.stop();
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('is reported, ended and started again when a request stands still; the request is refused from the third time on', async () => {
    const server = await supervised(await anyPort());
    for (const starts of [2, 3]) {
      await expect(deadly(server, ENDLESS)).rejects.toThrow('socket hang up');
      await untilServing(server, starts);
    }
    const log = server.lines.join('\n');
    expect(log).toMatch(/The event loop of the server stands still stalledMs=\d+ user="admin" verb="create" resource="v1\/configmaps" namespace="default"/);
    expect(log).toMatch(/auditId="[-0-9a-f]{36}" fingerprint="[0-9a-f]{64}" stack="Buffer\.toString .*parseJson/);
    expect(log).toMatch(/died and is started again code=null signal="SIGKILL" killedFor="stall"/);
    expect(log).toMatch(/A request has ended the server process twice and is refused from now on user="admin"/);
    const refused = await deadly(server, ENDLESS);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('has ended the server process more than once')]);
    expect((await server.client().send({ method: 'POST', path: CONFIG_MAPS, body: { metadata: { name: 'harmless' } } })).status).toBe(201);
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('is started again when V8 ends it for its heap, and the request that filled it is known', async () => {
    const server = await supervised(await anyPort(), '--heap-limit-mib=128', '--stall-kill-after=100s');
    await expect(deadly(server, HUNGRY)).rejects.toThrow('socket hang up');
    await untilServing(server, 2);
    const log = server.lines.join('\n');
    expect(log).toMatch(/stands still stalledMs=\d+ user="admin" verb="create"/);
    expect(log).toMatch(/died and is started again code=null signal="SIGABRT"/);
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('is ended when its memory is above the limit', async () => {
    const server = await supervised(await anyPort(), '--memory-limit-mib=600', '--stall-kill-after=100s');
    await expect(deadly(server, HUNGRY)).rejects.toThrow('socket hang up');
    await untilServing(server, 2);
    expect(server.lines.join('\n')).toMatch(/died and is started again code=null signal="SIGKILL" killedFor="memory"/);
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('stops when its supervisor is killed', async () => {
    const server = await supervised();
    const [pid] = servingPids(server);
    await server.kill();
    while (isRunning(pid!)) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  test('whose flags are wrong says so once, and is not started again', async () => {
    const server = new ServerProcess({ flags: ['--supervised', '--stall-kill-after=10ms'] });
    expect(await server.exited).toEqual({ code: 1, signal: null });
    expect(server.lines).toEqual(['error: --stall-kill-after must be longer than --stall-report-after']);
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
