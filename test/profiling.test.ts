import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { decodePprof } from '../src/server/debug/test-pprof.ts';
import type { ApiClient } from './support/api-client.ts';
import { type ServerProcess, startServer, temporaryFolder } from './support/server.ts';

const socketPath = join(temporaryFolder(), 'debug.sock');
let server: ServerProcess;
let admin: ApiClient;

beforeAll(async () => {
  server = await startServer({ flags: [`--debug-socket-path=${socketPath}`] });
  admin = server.client();
});

const read = async (path: string): Promise<Buffer> => (await admin.expect(200, { path })).body;

/** Lists and creates until `done`. */
async function load(done: Promise<unknown>): Promise<void> {
  const state = { isDone: false };
  const end = (): void => void (state.isDone = true);
  done.then(end, end);
  while (!state.isDone) {
    await admin.create('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'load-' }, data: { text: 'x'.repeat(1000) } });
    await admin.get('/api/v1/namespaces/default/configmaps');
  }
}

function fromSocket(path: string, method = 'GET', body = ''): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ socketPath, path, method }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode!, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('profiles', () => {
  test('the CPU profile of a server under load has our function names; another one at the same time is refused', async () => {
    const pending = read('/debug/pprof/profile?seconds=2');
    const loading = load(pending);
    const refused = await admin.send({ path: '/debug/pprof/heap?seconds=1' });
    expect([refused.status, refused.text]).toEqual([500, 'Could not enable memory profiling: cpu profiling already in use\n']);
    const profile = decodePprof(await pending);
    await loading;
    expect(profile.sampleTypes).toEqual(['samples/count', 'cpu/nanoseconds']);
    expect(profile.period).toBe(10_000_000);
    const names = new Set(profile.samples.flatMap(({ stack }) => stack));
    expect([...names]).toEqual(expect.arrayContaining(['serveResource']));
  });

  test('heap and allocs', async () => {
    for (const [name, types] of [
      ['allocs', ['alloc_objects/count', 'alloc_space/bytes']],
      ['heap', ['inuse_objects/count', 'inuse_space/bytes']],
    ] as const) {
      const pending = read(`/debug/pprof/${name}?seconds=1`);
      await load(pending);
      const profile = decodePprof(await pending);
      expect(profile.sampleTypes).toEqual(types);
      expect(profile.samples.length).toBeGreaterThan(0);
    }
    const sum = decodePprof(await read('/debug/pprof/heap?seconds=1&gc=1')).samples.reduce((total, { values }) => total + values[1]!, 0);
    // All of the process's memory is accounted for.
    expect(sum).toBeGreaterThan(40 << 20);
  });

  test('goroutine: requests under way, with what they wait for', async () => {
    const watch = await admin.watch('/api/v1/namespaces/default/secrets?watch=1&labelSelector=who%3Dme');
    const { samples } = decodePprof(await read('/debug/pprof/goroutine'));
    expect(samples).toContainEqual({ stack: ['watching', 'watch v1/secrets', '(request)'], values: [1] });
    expect((await read('/debug/pprof/goroutine?debug=1')).toString()).toMatch(
      /^goroutine profile: total \d+\n[^]*1 @\n#\twatching\n#\twatch v1\/secrets\n#\t\(request\)\n/,
    );
    const separate = (await read('/debug/pprof/goroutine?debug=2')).toString();
    expect(separate).toMatch(/\[watching, [\d.]+ seconds\]:\nGET \/api\/v1\/namespaces\/default\/secrets 1\.1 user="admin"/);
    expect(separate).not.toContain('labelSelector');
    watch.response.destroy();
  });

  test('trace is a Chrome trace, and the snapshot one that DevTools read', async () => {
    const trace = JSON.parse((await read('/debug/pprof/trace?seconds=0.3')).toString()) as { traceEvents: { ph: string; name: string }[] };
    expect(trace.traceEvents.map(({ name }) => name)).toContain('thread_name');
    const snapshot = JSON.parse((await read('/debug/v8/heapsnapshot')).toString()) as { snapshot: { node_count: number }; nodes: number[] };
    expect(snapshot.snapshot.node_count).toBeGreaterThan(10_000);
  });

  test.each(['block', 'mutex', 'threadcreate', 'goroutine'])('%s is a profile, and a text', async (name) => {
    expect(decodePprof(await read(`/debug/pprof/${name}`)).sampleTypes).not.toEqual([]);
    expect((await admin.send({ path: `/debug/pprof/${name}?debug=1` })).headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  test.each<[string, number, string]>([
    ['/debug/pprof/nosuch', 404, 'Unknown profile\n'],
    ['/debug/pprof/heap?seconds=x', 400, 'invalid value for "seconds" - must be a positive integer\n'],
    ['/debug/pprof/goroutine?seconds=1&debug=1', 400, 'seconds and debug params are incompatible\n'],
    ['/debug/pprof', 302, '<a href="/debug/pprof/">Found</a>.\n\n'],
    ['/debug/pprof/symbol', 200, 'num_symbols: 1\n'],
  ])('%s is answered %i as kube-apiserver does', async (path, status, text) => {
    const answer = await admin.send({ path });
    expect([answer.status, answer.text]).toEqual([status, text]);
  });

  test('the index names every profile; `/` names none', async () => {
    const page = (await read('/debug/pprof/')).toString();
    for (const name of ['allocs', 'block', 'cmdline', 'goroutine', 'heap', 'mutex', 'profile', 'symbol', 'threadcreate', 'trace'])
      expect(page).toContain(`'${name}?debug=1'`);
    expect((await read('/')).toString()).not.toContain('/debug/');
  });

  test('only who may get the path sees it', async () => {
    for (const path of ['/debug/pprof/heap', '/debug/flags/v', '/debug/v8/heapsnapshot'])
      expect((await server.client('alice').send({ path })).status).toBe(403);
  });
});

test('--profiling=false serves none of it', async () => {
  const other = (await startServer({ flags: ['--profiling=false'] })).client();
  for (const path of ['/debug/pprof/', '/debug/pprof/heap', '/debug/flags/v', '/debug/v8/heapsnapshot']) expect((await other.send({ path })).status).toBe(404);
});

test('the verbosity can be read and set while the server runs', async () => {
  const put = (body: string): Promise<{ status: number; text: string }> => admin.send({ method: 'PUT', path: '/debug/flags/v', body });
  expect(await put('3')).toMatchObject({ status: 200, text: 'successfully set klog.logging.verbosity to 3\n' });
  await admin.get('/api/v1/namespaces/default');
  await server.line(/httplog\] HTTP verb="get" target="\/api\/v1\/namespaces\/default"/);
  expect(await put('x')).toMatchObject({ status: 400, text: 'strconv.ParseUint: parsing "x": invalid syntax\n' });
  expect(await put('4294967296')).toMatchObject({ status: 400, text: 'strconv.ParseUint: parsing "4294967296": value out of range\n' });
  expect(await admin.send({ method: 'POST', path: '/debug/flags/v', body: '1' })).toMatchObject({ status: 406, text: 'unsupported http method\n' });
  expect((await read('/debug/flags/v')).toString()).toBe('3\n');
  expect(await put('0')).toMatchObject({ status: 200 });
});

test('the debug socket serves the same, without a token, to this user', async () => {
  expect(await fromSocket('/debug/flags/v', 'PUT', '1')).toEqual({ status: 200, text: 'successfully set klog.logging.verbosity to 1\n' });
  expect((await read('/debug/flags/v')).toString()).toBe('1\n');
  expect((await fromSocket('/debug/pprof/goroutine?debug=1')).text).toMatch(/^goroutine profile: total \d+\n/);
  expect((await fromSocket('/debug/pprof/cmdline')).text).toContain(`\0--debug-socket-path=${socketPath}`);
  expect(await fromSocket('/api/v1/namespaces')).toEqual({ status: 404, text: '404 page not found\n' });
});
