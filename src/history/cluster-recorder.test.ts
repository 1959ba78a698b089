import { mkdtempSync, rmSync } from 'node:fs';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClusterClient } from './cluster-client.ts';
import { ClusterRecorder } from './cluster-recorder.ts';
import { FlightReader, type RecordedChange } from './flight-reader.ts';
import { FlightWriter } from './flight-writer.ts';

/* A server that says what the test lets it say. */

type Answer = (response: ServerResponse) => void;

const json =
  (value: unknown): Answer =>
  (response) =>
    void response.end(JSON.stringify(value));
const versionOf = (group: string, version: string) => ({ groupVersion: `${group}/${version}`, version });
const verbs = ['list', 'watch'];
const object = (name: string, resourceVersion: string, more: object = {}) => ({ metadata: { name, namespace: 'a', resourceVersion }, ...more });
const listOf = (resourceVersion: string, ...items: object[]): Answer => json({ metadata: { resourceVersion }, items });
/** A watch that tells these events, and then stays open. */
const events =
  (...told: { type: string; object: object }[]): Answer =>
  (response) =>
    void response.write(told.map((event) => `${JSON.stringify(event)}\n`).join(''));

let folder: string;
let server: Server;
let asked: string[];
let answers: Map<string, Answer[]>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-recorder-'));
  asked = [];
  answers = new Map();
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x');
    const what = searchParams.has('watch') ? `watch ${pathname}?${searchParams.get('resourceVersion')}` : pathname;
    asked.push(what);
    const next = answers.get(what);
    // The last answer is given again and again.
    const answer = next && (next.length > 1 ? next.shift()! : next[0]!);
    if (answer) answer(response);
    else if (searchParams.has('watch')) response.write('\n');
    else response.writeHead(404).end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const clientOf = (maxBytesPerSecond?: number): ClusterClient =>
  new ClusterClient({ url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) }, 'test', maxBytesPerSecond);

/** Records until the file shows this. */
async function recordUntil(isEnough: (changes: RecordedChange[]) => boolean): Promise<{ changes: RecordedChange[]; reader: FlightReader }> {
  const path = join(folder, 'flight.bin');
  const client = clientOf();
  const writer = await FlightWriter.create(path, { server: client.url, gitVersion: '' }, Date.now(), { memoryBytes: 1024 * 1024 });
  const stop = new AbortController();
  const recorder = new ClusterRecorder({ client, writer, isWanted: () => true, now: Date.now, onProblem: () => undefined });
  const recording = recorder.run(stop.signal, () => undefined);
  for (;;) {
    const reader = await FlightReader.open(path);
    const changes: RecordedChange[] = [];
    for await (const change of reader.changes()) changes.push(change);
    await reader.close();
    if (isEnough(changes)) {
      stop.abort();
      await recording;
      client.close();
      return { changes, reader };
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const shown = (changes: readonly RecordedChange[]): string[] =>
  changes.map(
    ({ resource, key, after, resourceVersion, isInitial, gapSinceMs }) =>
      `${resource.version} ${key} ${resourceVersion}${after ? '' : ' gone'}${isInitial ? ' first' : ''}${gapSinceMs === undefined ? '' : ' gap'}`,
  );

test('after a watch that has expired, all is listed again, and what may be several changes is told to be', async () => {
  answers.set('/apis', [json({ groups: [] })]);
  answers.set('/api/v1', [json({ resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs }] })]);
  answers.set('/api/v1/configmaps', [listOf('10', object('x', '5'), object('y', '6')), listOf('30', object('x', '25'), object('z', '26'))]);
  const expired = { type: 'ERROR', object: { code: 410, message: 'too old resource version' } };
  answers.set('watch /api/v1/configmaps?10', [events({ type: 'MODIFIED', object: object('x', '12') }, expired)]);
  answers.set('watch /api/v1/configmaps?30', [events({ type: 'DELETED', object: object('z', '31') })]);
  const { changes, reader } = await recordUntil((seen) => seen.length >= 7);
  expect(shown(changes)).toEqual(['v1 a/x 5 first', 'v1 a/y 6 first', 'v1 a/x 12', 'v1 a/x 25 gap', 'v1 a/z 26 gap', 'v1 a/y  gone gap', 'v1 a/z 31 gone']);
  expect([...reader.lists.values()].map(({ resourceVersion }) => resourceVersion)).toEqual(['10']);
  expect(reader.beganMs).toBeDefined();
});

test('a resource that is preferred in another version goes on under that one, and nothing of it was deleted', async () => {
  const group = { name: 'sea', versions: [versionOf('sea', 'v1')], preferredVersion: versionOf('sea', 'v1') };
  const crds = { name: 'apiextensions.k8s.io', versions: [versionOf('apiextensions.k8s.io', 'v1')], preferredVersion: versionOf('apiextensions.k8s.io', 'v1') };
  answers.set('/apis', [json({ groups: [crds, group] }), json({ groups: [crds, { ...group, preferredVersion: versionOf('sea', 'v2') }] })]);
  answers.set('/apis/apiextensions.k8s.io/v1', [
    json({ resources: [{ name: 'customresourcedefinitions', kind: 'CustomResourceDefinition', namespaced: false, verbs }] }),
  ]);
  const ships = { name: 'ships', kind: 'Ship', namespaced: true, verbs };
  for (const version of ['v1', 'v2']) answers.set(`/apis/sea/${version}`, [json({ resources: [ships] })]);
  answers.set('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', [listOf('9')]);
  answers.set('watch /apis/apiextensions.k8s.io/v1/customresourcedefinitions?9', [events({ type: 'ADDED', object: object('ships.sea', '10') })]);
  answers.set('/apis/sea/v1/ships', [listOf('9', object('argo', '5'))]);
  answers.set('/apis/sea/v2/ships', [listOf('11', object('argo', '5', { masts: 2 }))]);
  const { changes } = await recordUntil((seen) => seen.some(({ resource }) => resource.version === 'v2'));
  expect(shown(changes.filter(({ resource }) => resource.plural === 'ships'))).toEqual(['v1 a/argo 5 first', 'v2 a/argo 5 first']);
});

test('both groups of events have the same objects, which are recorded once', async () => {
  answers.set('/apis', [json({ groups: [{ name: 'events.k8s.io', versions: [versionOf('events.k8s.io', 'v1')] }] })]);
  for (const path of ['/api/v1', '/apis/events.k8s.io/v1'])
    answers.set(path, [json({ resources: [{ name: 'events', kind: 'Event', namespaced: true, verbs }] })]);
  answers.set('/api/v1/events', [listOf('10', object('e', '5'))]);
  await recordUntil((seen) => seen.length === 1);
  expect(asked).not.toContain('/apis/events.k8s.io/v1/events');
});

test('what comes faster than it may is waited for', async () => {
  answers.set('/big', [json({ text: 'x'.repeat(300_000) })]);
  const client = clientOf(1_000_000);
  const startMs = performance.now();
  await client.get('/big');
  expect(performance.now() - startMs).toBeGreaterThan(100);
  expect(client.receivedBytes).toBeGreaterThan(300_000);
  client.close();
});
