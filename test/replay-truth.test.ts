import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../src/encoding/json-types.ts';
import { FlightReader } from '../src/history/flight-reader.ts';
import { readTimeline } from '../src/history/flight-timeline.ts';
import { Random } from '../src/util/test-random.ts';
import { ApiClient, type TestList } from './support/api-client.ts';
import { freePorts } from './support/free-ports.ts';
import { KUBECTL, PROJECT_DIR } from './support/paths.ts';
import { Recording, run, runWith, writeKubeconfig } from './support/recording.ts';
import { startServer, temporaryFolder } from './support/server.ts';

/*
 * What a recording shows is what the server answered: lists that were taken during random writes, each with its version, are compared with the recording at
 * that version, and `kubectl get` on a replay with `kubectl get` on the server itself.
 */

interface RecordedServer {
  url: string;
  ca: string;
  client: ApiClient;
}

const NAMESPACES = ['north', 'south'];
const GROUP = 'sea.example.com';
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `ships.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'ships', kind: 'Ship' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
};

interface Kind {
  /** Without its namespace. */
  root: string;
  plural: string;
  make(random: Random): object;
}

const container = { name: 'c', image: 'i' };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } };
const KINDS: readonly Kind[] = [
  { root: '/api/v1', plural: 'configmaps', make: (random) => ({ data: { value: String(random.below(9)), text: 'ü\n"'.repeat(random.below(20)) } }) },
  { root: '/api/v1', plural: 'services', make: (random) => ({ spec: { selector: { a: String(random.below(3)) }, ports: [{ port: 80, name: 'web' }] } }) },
  { root: '/api/v1', plural: 'pods', make: (random) => ({ metadata: { labels: { n: String(random.below(9)) } }, spec: { containers: [container] } }) },
  {
    root: '/apis/apps/v1',
    plural: 'deployments',
    make: (random) => ({ spec: { replicas: random.below(5), selector: { matchLabels: { a: 'b' } }, template } }),
  },
  {
    root: '/apis/autoscaling/v2',
    plural: 'horizontalpodautoscalers',
    make: (random) => ({ spec: { maxReplicas: 1 + random.below(5), scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' } } }),
  },
  {
    root: '/apis/rbac.authorization.k8s.io/v1',
    plural: 'roles',
    make: (random) => ({ rules: [{ apiGroups: [''], resources: [`r${random.below(4)}`], verbs: ['get'] }] }),
  },
  {
    root: '/apis/networking.k8s.io/v1',
    plural: 'networkpolicies',
    make: (random) => ({ spec: { podSelector: { matchLabels: { a: String(random.below(4)) } } } }),
  },
  {
    root: `/apis/${GROUP}/v1`,
    plural: 'ships',
    make: (random) => ({ apiVersion: `${GROUP}/v1`, kind: 'Ship', spec: { mast: random.below(4), sails: [{ size: random.below(4) }] } }),
  },
];

/** One random write; what the server refuses is none. */
async function write(client: ApiClient, random: Random): Promise<void> {
  const { root, plural, make } = random.pick(KINDS);
  const name = `o-${random.below(4)}`;
  const path = `${root}/namespaces/${random.pick(NAMESPACES)}/${plural}`;
  const body = make(random) as { metadata?: object };
  const object = { ...body, metadata: { ...body.metadata, name } };
  const kind = random.below(5);
  const json = { 'content-type': 'application/merge-patch+json' };
  if (kind < 2) await client.send({ method: 'POST', path, body: object });
  else if (kind < 4) await client.send({ method: 'PATCH', path: `${path}/${name}?fieldManager=m-${random.below(3)}`, body: object, headers: json });
  else await client.send({ method: 'DELETE', path: `${path}/${name}`, body: { gracePeriodSeconds: 0 } });
}

interface TakenList {
  kind: Kind;
  list: TestList;
}

async function writeAndList(client: ApiClient, random: Random, writes: number): Promise<TakenList[]> {
  const lists: TakenList[] = [];
  for (let count = 0; count < writes; count++) {
    // Two at once, so that watches race.
    await Promise.all([write(client, random), write(client, random)]);
    if (!random.chance(0.2)) continue;
    const kind = random.pick(KINDS);
    lists.push({ kind, list: await client.get<TestList>(`${kind.root}/${kind.plural}`) });
  }
  return lists;
}

async function proveTruth({ url, ca, client }: RecordedServer, seed: number, writes: number): Promise<void> {
  const folder = temporaryFolder();
  const kubeconfig = writeKubeconfig({ url, ca }, folder);
  const random = new Random(seed);
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  for (const name of ['default', ...NAMESPACES]) {
    await client.send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
    // Pods are refused before it is there, and nobody makes it beside a server alone.
    await client.send({ method: 'POST', path: `/api/v1/namespaces/${name}/serviceaccounts`, body: { metadata: { name: 'default' } } });
  }
  const recording = await new Recording(kubeconfig, folder, '--exclude=leases.coordination.k8s.io,events').started();
  const lists = await writeAndList(client, random, writes);
  const middle = await settled(client, recording, 'middle');
  const listedThen = await kubectlList(kubeconfig);
  lists.push(...(await writeAndList(client, random, writes)));
  const end = await settled(client, recording, 'end');
  const listedAtEnd = await kubectlList(kubeconfig);
  await recording.stop();

  expect(lists.filter(({ list }) => list.items.length > 0).length).toBeGreaterThan(10);
  for (const { kind, list } of lists) expect(await recordedList(recording.file, kind, list)).toEqual(list.items.map(withoutKind));
  expect(await replayedList(recording.file, middle)).toEqual(listedThen);
  expect(await replayedList(recording.file, end)).toEqual(listedAtEnd);
  const raw = await run('at', end, '--file', recording.file, '--', KUBECTL, 'get', '--raw', '/api/v1/configmaps');
  expect((JSON.parse(raw.stdout) as TestList).metadata.resourceVersion).toBe(end);
}

/** Writes nothing more, and waits until the recording has all of it; answers the version of then. */
async function settled(client: ApiClient, recording: Recording, name: string): Promise<string> {
  // Everything that was stored before is in the file once a later write of its own resource is.
  for (const { root, plural, make } of KINDS) await client.create(`${root}/namespaces/default/${plural}`, { ...make(new Random(1)), metadata: { name } });
  await recording.shows((state) => KINDS.every(({ plural }) => state.has(`${plural} default/${name}`)));
  return (await client.get<TestList>('/api/v1/configmaps')).metadata.resourceVersion;
}

const TYPES = [
  ...KINDS.map(({ plural, root }) => (root === '/api/v1' ? plural : `${plural}.${root.split('/')[2]!}`)),
  'namespaces',
  'clusterroles',
  'crd',
  'flowschemas',
  'apiservices',
  'priorityclasses',
];
const GET_ALL = ['get', TYPES.join(','), '--all-namespaces', '--output=json', '--show-managed-fields'];

async function kubectlList(kubeconfig: string): Promise<unknown> {
  const child = spawn(KUBECTL, GET_ALL, { env: { ...process.env, KUBECONFIG: kubeconfig }, stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse((await child.stdout.toArray()).join('')) as unknown;
}

async function replayedList(file: string, at: string): Promise<unknown> {
  const { stdout, stderr } = await runWith({}, 'at', at, '--file', file, '--', KUBECTL, ...GET_ALL);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as unknown;
}

/** In the order of lists. */
async function recordedList(file: string, { plural }: Kind, { metadata }: TestList): Promise<JsonObject[]> {
  const { objects, close } = await readTimeline(await FlightReader.open(file), { resourceVersion: Number(metadata.resourceVersion) });
  await close();
  const own = objects.filter(({ resource }) => resource.plural === plural);
  return own.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ object }) => withoutKind(object));
}

/** Another version that is served (custom resources have two) differs in nothing else. */
const withoutKind = ({ apiVersion: _version, kind: _kind, ...object }: JsonObject | (object & { apiVersion?: unknown; kind?: unknown })): JsonObject =>
  object as JsonObject;

test('a replay of Binnacle answers what Binnacle did', { timeout: 120_000 }, async () => {
  const server = await startServer();
  await proveTruth({ url: server.url, ca: server.ca, client: server.client() }, 1, 60);
});

const APISERVER = process.env['BINNACLE_REFERENCE'];
const ETCD = process.env['BINNACLE_ETCD'];
const isThere = APISERVER !== undefined && ETCD !== undefined && existsSync(APISERVER);

test.skipIf(!isThere)(
  `a replay of kube-apiserver answers what kube-apiserver did${isThere ? '' : ' (skipped: BINNACLE_REFERENCE and BINNACLE_ETCD name no kube-apiserver and etcd)'}`,
  { timeout: 300_000 },
  async () => {
    const folder = temporaryFolder();
    const port = process.env['BINNACLE_REFERENCE_PORT'] ? Number(process.env['BINNACLE_REFERENCE_PORT']) : (await freePorts(1))[0]!;
    const reference = spawn(join(PROJECT_DIR, 'compare/reference.sh'), [APISERVER!, ETCD!, join(folder, 'reference'), String(port)], { stdio: 'ignore' });
    onTestFinished(() => void reference.kill('SIGTERM'));
    await proveTruth(await referenceReady(reference, join(folder, 'reference'), port), 2, 300);
  },
);

async function referenceReady(child: ChildProcess, folder: string, port: number): Promise<RecordedServer> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the reference ended: ${readFileSync(join(folder, 'apiserver.log'), 'utf8').slice(-2_000)}`);
    try {
      const ca = readFileSync(join(folder, 'certs/apiserver.crt'), 'utf8');
      const client = new ApiClient({ port, ca, token: 'admin-token' });
      const { status } = await client.send({ path: '/readyz' });
      if (status === 200) return { url: `https://127.0.0.1:${port}`, ca, client };
    } catch {
      // It is not there yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
