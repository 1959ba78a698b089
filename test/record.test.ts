import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../src/encoding/json-types.ts';
import { Recording, run, writeKubeconfig } from './support/recording.ts';
import { startServer, temporaryFolder } from './support/server.ts';

/* `binnacle record`, `log` and `diff` as processes, on a real server. */

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ships.sea.example.com' },
  spec: {
    group: 'sea.example.com',
    scope: 'Namespaced',
    names: { plural: 'ships', kind: 'Ship' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
  },
};
const configMap = (name: string, value: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } });
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

test('what is recorded is what the server lists, and log and diff show who changed what', async () => {
  const folder = temporaryFolder();
  const server = await startServer();
  const client = server.client();
  await client.create(CONFIG_MAPS, configMap('settings', 'one'));
  await client.create('/api/v1/namespaces/default/secrets', { metadata: { name: 'password' }, stringData: { a: 'b' } });
  const recording = await new Recording(writeKubeconfig(server, folder), folder).started();
  await client.update(`${CONFIG_MAPS}/settings?fieldManager=jane`, configMap('settings', 'two'));
  await client.create(`${CONFIG_MAPS}?fieldManager=jane`, configMap('new', 'x'));
  await client.delete(`${CONFIG_MAPS}/new`);
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  await recording.shows((state) => (state.get('customresourcedefinitions ships.sea.example.com')?.['status'] as JsonObject)?.['acceptedNames'] !== undefined);
  await client.create('/apis/sea.example.com/v1/namespaces/default/ships', { apiVersion: 'sea.example.com/v1', kind: 'Ship', metadata: { name: 'argo' } });
  const state = await recording.shows((seen) => seen.has('ships default/argo') && !seen.has('configmaps default/new'));
  for (const [plural, path] of [
    ['configmaps', '/api/v1/configmaps'],
    ['ships', '/apis/sea.example.com/v1/ships'],
    ['clusterroles', '/apis/rbac.authorization.k8s.io/v1/clusterroles'],
  ] as const) {
    const { items } = await client.get<{ items: JsonObject[] }>(path);
    const recorded = [...state].filter(([key]) => key.startsWith(`${plural} `)).map(([, object]) => withoutKind(object));
    expect(recorded).toHaveLength(items.length);
    expect(recorded).toEqual(expect.arrayContaining(items.map(withoutKind)));
  }
  expect([...state.keys()].filter((key) => key.startsWith('secrets '))).toEqual([]);
  await client.delete('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ships.sea.example.com');
  await recording.shows((seen) => !seen.has('ships default/argo'));
  await recording.stop();

  const { stdout } = await run('log', '--file', recording.file, 'cm/settings', '-n', 'default');
  expect(withoutTimes(stdout)).toEqual(['unknown  first seen', 'jane  data.value: "one" → "two"']);
  const all = await run('log', '--file', recording.file, '-o', 'json', 'configmaps', '--namespace=default');
  const lines = all.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { key: string; type: string; managers: string[] });
  expect(lines.filter(({ key }) => key === 'default/new').map(({ type, managers }) => [type, managers])).toEqual([
    ['created', ['jane']],
    ['deleted', []],
  ]);
  const changed = await run('diff', '--file', recording.file, '--from=-10m', '-n', 'default', 'cm');
  expect(changed).toEqual({ code: 0, stderr: '', stdout: 'default\n└── ~ configmap/settings\n    └── data.value: "one" → "two"\n' });
});

const withoutKind = ({ apiVersion: _version, kind: _kind, ...object }: JsonObject): JsonObject => object;
const withoutTimes = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.slice('2026-01-31 10:05:30  '.length));

test('a recording goes on when the server was killed and is back, and is whole up to a moment before the recorder is killed', async () => {
  const folder = temporaryFolder();
  const dataDir = temporaryFolder();
  const server = await startServer({ storage: 'embedded', dataDir });
  await server.client().create(CONFIG_MAPS, configMap('first', 'one'));
  const recording = await new Recording(writeKubeconfig(server, folder), folder).started();
  await server.kill();
  const next = await startServer({ storage: 'embedded', dataDir, flags: [`--secure-port=${server.port}`] });
  await next.client().delete(`${CONFIG_MAPS}/first`);
  await next.client().create(CONFIG_MAPS, configMap('second', 'two'));
  await recording.shows((state) => state.has('configmaps default/second') && !state.has('configmaps default/first'));
  await recording.stop('SIGKILL');
  expect((await recording.state()).has('configmaps default/second')).toBe(true);
});

test('a credential plug-in is run as kubectl runs it', async () => {
  const folder = temporaryFolder();
  const server = await startServer();
  const plugin = join(folder, 'plugin.sh');
  const credential = JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: 'admin-token' } });
  writeFileSync(plugin, `#!/bin/sh\nprintf '%s' "$KUBERNETES_EXEC_INFO" > ${folder}/info\necho '${credential}'\n`);
  chmodSync(plugin, 0o755);
  const exec = { command: plugin, apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never' };
  const recording = await new Recording(writeKubeconfig(server, folder, { exec }), folder).started();
  expect((await recording.state()).has('namespaces default')).toBe(true);
  expect(JSON.parse(readFileSync(join(folder, 'info'), 'utf8'))).toMatchObject({ kind: 'ExecCredential' });
});

test('what goes wrong is one line', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'flight.bin');
  const config = join(folder, 'kubeconfig');
  expect(await run('record')).toMatchObject({ code: 1, stderr: 'error: name the file to write: binnacle record -o flight.bin\n' });
  expect(await run('record', '-o', file, '--kubeconfig', config)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: cannot use the kubeconfig: ENOENT.*\n$/) as string,
  });
  writeFileSync(
    config,
    JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: 'http://127.0.0.1:9' } }],
    }),
  );
  expect(await run('record', '-o', file, '--kubeconfig', config)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: cannot reach the cluster: http:\/\/127\.0\.0\.1:9: .*refused\n$/) as string,
  });
  expect(existsSync(file)).toBe(false);
  expect(await run('log', '--file', file)).toMatchObject({ code: 1, stderr: `error: there is no file ${file}\n` });
  expect(await run('log', '--kubeconfig', config)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: http:\/\/127\.0\.0\.1:9: .*refused\n$/) as string,
  });
  expect(await run('diff', '--file', config, '--from', '10:00')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not a recording of `binnacle record`') as string,
  });
});
