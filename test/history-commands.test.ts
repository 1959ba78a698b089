import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../src/encoding/json-types.ts';
import { KUBECTL } from './support/paths.ts';
import { Recording, type Result, program, run, runWith, writeKubeconfig } from './support/recording.ts';
import { type ServerProcess, startServer, temporaryFolder } from './support/server.ts';

/* The commands that read the past, as processes, on a recording and on a server that keeps its history. */

const SHOP = '/api/v1/namespaces/shop';
const APPS = '/apis/apps/v1/namespaces/shop';
const template = (image: string): object => ({ metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } });
const ofWeb = { selector: { matchLabels: { app: 'web' } } };
const ownedBy = (kind: string, name: string, uid: string): object => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
});

const patch = (server: ServerProcess, path: string, body: object): Promise<unknown> =>
  server.client().expect(200, { method: 'PATCH', path, body, headers: { 'content-type': 'application/strategic-merge-patch+json' } });

/** What becomes of `kubectl set image`, each step written by whoever writes it in a cluster. */
async function incident(server: ServerProcess): Promise<void> {
  const client = server.client();
  const deployment = await client.get(`${APPS}/deployments/web`);
  await patch(server, `${APPS}/deployments/web?fieldManager=kubectl-set`, { spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } } } });
  const set = await client.create(`${APPS}/replicasets?fieldManager=kube-controller-manager`, {
    metadata: { name: 'web-2', ...ownedBy('Deployment', 'web', deployment.metadata.uid) },
    spec: { replicas: 1, ...ofWeb, template: template('web:2') },
  });
  const pod = await client.create(`${SHOP}/pods?fieldManager=kube-controller-manager`, {
    metadata: { name: 'web-2-a', labels: { app: 'web' }, ...ownedBy('ReplicaSet', 'web-2', set.metadata.uid) },
    spec: { containers: [{ name: 'web', image: 'web:2' }] },
  });
  await client.create(`${SHOP}/events?fieldManager=kubelet`, {
    metadata: { name: 'web-2-a.1' },
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-2-a', uid: pod.metadata.uid, apiVersion: 'v1' },
    reason: 'BackOff',
    message: 'Back-off restarting failed container web',
    type: 'Warning',
    reportingComponent: 'kubelet',
    reportingInstance: 'node-1',
    source: { component: 'kubelet' },
  });
}

async function prepare(server: ServerProcess): Promise<void> {
  const client = server.client();
  await client.create('/api/v1/namespaces', { metadata: { name: 'shop' } });
  await client.create(`${SHOP}/serviceaccounts`, { metadata: { name: 'default' } });
  await client.create(`${APPS}/deployments?fieldManager=kubectl-create`, { metadata: { name: 'web' }, spec: { ...ofWeb, template: template('web:1') } });
}

/** Times and uids are other ones every time. */
const plain = ({ stdout }: Result): string[] =>
  stdout
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
    .replaceAll(/c-\d{12}/g, 'CHANGE')
    .trimEnd()
    .split('\n');

async function recorded(): Promise<{ file: string; fromMs: number }> {
  const folder = temporaryFolder();
  const server = await startServer();
  await prepare(server);
  const recording = await new Recording(writeKubeconfig(server, folder), folder).started();
  const fromMs = Date.now();
  await incident(server);
  await recording.shows((state) => [...state.keys()].some((key) => key.startsWith('events ')) && state.has('pods shop/web-2-a'));
  await recording.stop();
  return { file: recording.file, fromMs };
}

test('a recording: who changed what, what it led to, and the cluster of any moment', { timeout: 120_000 }, async () => {
  const { file, fromMs } = await recorded();
  const before = new Date(fromMs).toISOString();
  const ofFile = ['--file', file];

  const images = ['get', 'deploy,rs,pods', '-n', 'shop', '-o', 'custom-columns=KIND:.kind,NAME:.metadata.name,IMAGE:..image', '--no-headers'];
  const atEnd = (...command: string[]): Promise<Result> => run('at', '-0s', ...ofFile, '--', ...command);
  const [logged, changed, blamed, caused, causedJson] = await Promise.all([
    run('log', 'deploy/web', ...ofFile),
    run('diff', '--from', before, '-n', 'shop', ...ofFile),
    run('blame', 'deploy/web', '-n', 'shop', ...ofFile),
    run('why', 'pod/web-2-a', '-n', 'shop', ...ofFile),
    run('why', 'pod/web-2-a', '-o', 'json', ...ofFile),
  ]);
  expect(plain(logged)).toEqual(['TIME  kubectl-create  first seen', 'TIME  kubectl-set  spec.template.spec.containers[0].image: "web:1" → "web:2"']);
  expect(plain(changed)).toEqual([
    'shop',
    '├── ~ deployment/web',
    '│   └── spec.template.spec.containers[0].image: "web:1" → "web:2"',
    '├── + replicaset/web-2',
    '├── + pod/web-2-a',
    '└── + event/web-2-a.1',
  ]);
  expect(plain(blamed)).toContain('TIME  kubectl-set     spec.template.spec.containers[name=web].image: "web:2"  (before: "web:1")');
  expect(plain(blamed)).toContain('TIME  kubectl-create  spec.template.spec.containers[name=web].name: "web"');
  expect(plain(caused)).toEqual([
    'TIME  deployment/web -n shop  kubectl-set  spec.template.spec.containers[0].image: "web:1" → "web:2"',
    '└─ TIME  replicaset/web-2  kube-controller-manager  created',
    '   └─ TIME  pod/web-2-a  kube-controller-manager  created',
    '      └─ TIME  kubelet  BackOff: Back-off restarting failed container web',
  ]);
  const cause = JSON.parse(causedJson.stdout) as { chain: { resource: string }[]; events: { reason: string }[] };
  expect(cause.chain.map(({ resource }) => resource)).toEqual(['deployments', 'replicasets', 'pods']);
  expect(cause.events.map(({ reason }) => reason)).toEqual(['BackOff']);

  const [then, now, refused, asked, ended] = await Promise.all([
    run('at', before, ...ofFile, '--', KUBECTL, ...images),
    atEnd(KUBECTL, ...images),
    atEnd(KUBECTL, 'delete', 'deploy', 'web', '-n', 'shop'),
    atEnd(KUBECTL, 'auth', 'can-i', 'delete', 'pods', '--as=bob'),
    atEnd('sh', '-c', 'exit 7'),
  ]);
  expect(plain(then)).toEqual(['Deployment   web   web:1']);
  expect(plain(now).map((line) => line.split(/ +/))).toEqual([
    ['Deployment', 'web', 'web:2'],
    ['ReplicaSet', 'web-2', 'web:2'],
    ['Pod', 'web-2-a', 'web:2'],
  ]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /^Error from server \(MethodNotAllowed\): this is https:\/\/127\.0\.0\.1:\d+ as it was at [\d-]+T[\d:.]+Z: a recording can be read, and nothing else\n$/,
  );
  expect(asked.stdout).toBe('no\n');
  expect(ended.code).toBe(7);
});

test('replay: time passes for whoever watches, until it is stopped', { timeout: 120_000 }, async () => {
  const { file, fromMs } = await recorded();
  const child = spawn(process.execPath, [program(), 'replay', file, '--at', new Date(fromMs).toISOString(), '--play', '1x'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let kubeconfig = '';
  for await (const line of createInterface({ input: child.stdout })) {
    kubeconfig ||= /export KUBECONFIG=(.*)/.exec(line)?.[1] ?? '';
    if (line === 'Stop with Ctrl-C.') break;
  }
  const watch = spawn(KUBECTL, ['get', 'pods', '-n', 'shop', '--watch', '--output=name'], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void watch.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: watch.stdout }), 'line')) as [string];
  expect(line).toBe('pod/web-2-a');
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
});

async function withHistory(): Promise<{ server: ServerProcess; commands: (...args: string[]) => Promise<Result> }> {
  const server = await startServer({ flags: ['--history=24h'] });
  const kubeconfig = writeKubeconfig(server, temporaryFolder());
  await prepare(server);
  return { server, commands: (...args) => runWith({ KUBECONFIG: kubeconfig }, ...args) };
}

/** The name of the newest change that matches. */
async function changeOf(commands: (...args: string[]) => Promise<Result>, type: string, isIt: (change: JsonObject) => boolean): Promise<string> {
  const { stdout } = await commands('log', type, '-n', 'shop', '-o', 'json');
  const changes = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  return String(changes.findLast(isIt)!['change']);
}

test("a server's own history: users, undo and restore", { timeout: 120_000 }, async () => {
  const { server, commands } = await withHistory();
  const before = new Date().toISOString();
  await incident(server);
  expect(plain(await commands('log', 'deploy/web', '-n', 'shop'))).toEqual([
    'TIME  CHANGE  admin via kubectl-create  create',
    'TIME  CHANGE  admin via kubectl-set  patch  spec.template.spec.containers[0].image: "web:1" → "web:2"',
  ]);
  expect(plain(await commands('why', 'pod/web-2-a', '-n', 'shop'))).toEqual([
    'TIME  deployment/web -n shop  admin via kubectl-set  patch  spec.template.spec.containers[0].image: "web:1" → "web:2"  CHANGE',
    '└─ TIME  replicaset/web-2  admin via kube-controller-manager  create  CHANGE',
    '   └─ TIME  pod/web-2-a  admin via kube-controller-manager  create  CHANGE',
  ]);
  expect(plain(await commands('blame', 'deploy/web'))).toContain(
    'TIME  admin via kubectl-set     spec.template.spec.containers[name=web].image: "web:2"  (before: "web:1")',
  );
  expect(plain(await commands('diff', '--from', before, 'deploy')).slice(0, 3)).toEqual([
    'shop',
    '└── ~ deployment/web',
    '    └── spec.template.spec.containers[0].image: "web:1" → "web:2"',
  ]);

  await patch(server, `${APPS}/replicasets/web-2?fieldManager=kube-controller-manager`, { spec: { replicas: 0 } });
  await server.client().expect(200, { method: 'DELETE', path: `${SHOP}/pods/web-2-a`, body: { gracePeriodSeconds: 0 } });
  expect(plain(await commands('why', 'pod/web-2-a', '-n', 'shop')).slice(-3)).toEqual([
    'What came before its deletion:',
    'TIME  replicaset/web-2 -n shop  admin via kube-controller-manager  patch  spec.replicas: 1 → 0  CHANGE',
    '└─ TIME  pod/web-2-a  admin  delete  CHANGE',
  ]);

  const change = await changeOf(commands, 'deploy/web', ({ managers }) => String(managers) === 'kubectl-set');
  const effect = ['CHANGE, by admin via kubectl-set at TIME', '~ deployment/web -n shop', '    spec.template.spec.containers[0].image: "web:2" → "web:1"'];
  expect(await commands('undo', change)).toMatchObject({ code: 1, stderr: 'error: nothing was changed: give --yes to do it\n' });
  expect(plain(await commands('undo', change, '--dry-run'))).toEqual([...effect, 'Nothing was changed: this was a dry run.']);
  expect(plain(await commands('undo', change, '--yes'))).toEqual([...effect, 'deployment/web -n shop: changed']);
  await patch(server, `${APPS}/deployments/web`, { spec: { template: { spec: { containers: [{ name: 'web', image: 'web:9' }] } } } });
  const conflict = await commands('undo', change, '--yes');
  expect(plain(conflict)).toEqual([effect[0], 'Changed since:', '    spec.template.spec.containers[0].image: "web:2" → "web:9"']);
  expect(conflict).toMatchObject({ code: 1, stderr: 'error: nothing was changed: fields of it have been changed since; --force takes them back too\n' });
  expect((await commands('undo', change, '--yes', '--force')).code).toBe(0);
  expect((await server.client().get(`${APPS}/deployments/web`)).spec).toMatchObject({ template: { spec: { containers: [{ image: 'web:1' }] } } });

  await server.client().delete(`${APPS}/deployments/web`);
  expect(plain(await commands('restore', 'deploy/web', '-n', 'shop', '--at', before, '--yes'))).toEqual([
    '+ deployment/web -n shop',
    'deployment/web -n shop: created',
  ]);
  await patch(server, `${APPS}/deployments/web`, { metadata: { annotations: { a: 'b' } } });
  expect(plain(await commands('restore', 'deploy/web', '-n', 'shop', '--at', before, '--yes'))).toEqual([
    '~ deployment/web -n shop',
    '    metadata.annotations: {"a":"b"} → none',
    'deployment/web -n shop: changed',
  ]);
  await server.client().create(`${SHOP}/configmaps`, { metadata: { name: 'extra' }, data: { a: '1' } });
  const made = await changeOf(commands, 'cm/extra', ({ type }) => type === 'created');
  expect((await commands('undo', made, '--dry-run')).code).toBe(0);
  expect((await commands('undo', made, '--yes')).stdout).toMatch(/configmap\/extra -n shop: deleted\n$/);
  const gone = await changeOf(commands, 'cm/extra', ({ type }) => type === 'deleted');
  expect((await commands('undo', gone, '--yes')).stdout).toMatch(/configmap\/extra -n shop: created\n$/);
});

test("a server's own history: the cluster of a moment, what comes, and what is not kept", { timeout: 120_000 }, async () => {
  const { server, commands } = await withHistory();
  await server.client().create(`${SHOP}/secrets`, { metadata: { name: 'password' }, stringData: { a: 'first' } });
  const before = new Date().toISOString();
  await incident(server);
  await patch(server, `${SHOP}/secrets/password`, { stringData: { a: 'second' } });
  const names = ['get', 'deploy,rs,pods', '-n', 'shop', '-o', 'name'];
  expect(plain(await commands('at', before, '--', KUBECTL, ...names))).toEqual(['deployment.apps/web']);
  const played = await commands('at', before, '--play', '100x', '--', KUBECTL, 'wait', '-n', 'shop', '--for=create', 'pod/web-2-a', '--timeout=30s');
  expect(played).toMatchObject({ code: 0, stdout: 'pod/web-2-a condition met\n' });

  const secret = await changeOf(commands, 'secret/password', ({ type }) => type === 'modified');
  const refused = { code: 1, stderr: 'error: the values of secret/password -n shop are not in the history, only when they changed (--history-secrets)\n' };
  expect(await commands('undo', secret, '--yes')).toMatchObject(refused);
  expect(await commands('restore', 'secret/password', '-n', 'shop', '--at', before, '--yes')).toMatchObject(refused);
  expect(plain(await commands('log', 'secret/password'))[1]).toBe('TIME  CHANGE  admin  patch  data.a: (not kept) → (not kept)');

  const kubeconfig = writeKubeconfig(server, temporaryFolder());
  const following = spawn(process.execPath, [program(), 'log', 'cm', '-n', 'shop', '-f', '--kubeconfig', kubeconfig], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void following.kill('SIGKILL'));
  const line = once(createInterface({ input: following.stdout }), 'line') as Promise<[string]>;
  await server.client().create(`${SHOP}/configmaps?fieldManager=late`, { metadata: { name: 'late' } });
  expect((await line)[0]).toMatch(/^\S+ \S+ {2}c-\d{12} {2}admin via late {2}configmap\/late -n shop {2}create$/);
  following.kill('SIGINT');
  expect(await once(following, 'exit')).toEqual([0, null]);
});

test('a server without history says how to switch it on', async () => {
  const server = await startServer();
  const { code, stderr } = await run('log', '--kubeconfig', writeKubeconfig(server, temporaryFolder()));
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `error: the server ${server.url} keeps no history (it has no history.binnacle.dev): start it with --history=24h, or name a recording of \`binnacle record\`: --file flight.bin\n`,
  });
});
