import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { EtcdClient } from '../src/storage/engines/etcd/client.ts';
import { RANGE, decodeRange, encodeRange } from '../src/storage/engines/etcd/messages.ts';
import { KmsPlugin } from '../src/storage/encryption/kms/test-plugin.ts';
import { KmsV1Plugin } from '../src/storage/encryption/kms/test-plugin-v1.ts';
import { hasEtcd, startEtcd } from './support/etcd.ts';
import { startServerOnEtcd } from './support/etcd-server.ts';
import { CommandProcess, type ServerProcess, startServer, temporaryFolder } from './support/server.ts';

/* Encryption at rest: what stands in the store, what becomes of it when keys change, and when they are gone. */

const SECRETS = '/api/v1/namespaces/default/secrets';
const TEXT = 'a text that no disk is to see';
const DATA = { password: Buffer.from(TEXT).toString('base64') };

const plugins: KmsPlugin[] = [];
const oldPlugins: KmsV1Plugin[] = [];
afterEach(async () => {
  for (const plugin of [...plugins.splice(0), ...oldPlugins.splice(0)]) await plugin.close();
});

const key = (name: string) => ({ name, secret: Buffer.alloc(32, name).toString('base64') });
const aesgcm = (...names: string[]) => ({ aesgcm: { keys: names.map(key) } });

function configure(providers: object[], resources = ['secrets']): string {
  const path = join(temporaryFolder(), 'encryption.json');
  writeFileSync(path, JSON.stringify({ kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1', resources: [{ resources, providers }] }));
  return `--encryption-provider-config=${path}`;
}

/** All that the embedded store has on disk. */
const filesOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('');

const start = (dataDir: string, ...flags: string[]): Promise<ServerProcess> => startServer({ storage: 'embedded', dataDir, flags });

describe('on the embedded store', () => {
  test('no plain value reaches the disk, and keys can be replaced one after the other', async () => {
    const dataDir = temporaryFolder();
    let server = await start(dataDir, configure([aesgcm('one')]));
    await server.client().create(SECRETS, { metadata: { name: 'token' }, data: DATA });
    await server.stop();
    expect(filesOf(dataDir)).toContain('k8s:enc:aesgcm:v1:one:');
    expect(filesOf(dataDir)).not.toContain(DATA.password);

    server = await start(dataDir, configure([aesgcm('two', 'one')]));
    const secret = await server.client().get(`${SECRETS}/token`);
    expect(secret).toMatchObject({ data: DATA });
    const rewritten = await server.client().update(`${SECRETS}/token`, secret);
    expect(rewritten.metadata.resourceVersion).not.toBe(secret.metadata.resourceVersion);
    const again = await server.client().update(`${SECRETS}/token`, rewritten);
    expect(again.metadata.resourceVersion).toBe(rewritten.metadata.resourceVersion);
    await server.stop();

    server = await start(dataDir, configure([aesgcm('two')]));
    expect(await server.client().get(`${SECRETS}/token`)).toMatchObject({ data: DATA });
    await server.stop();
  });

  test('without its key a value is not served, and nothing else suffers', async () => {
    const dataDir = temporaryFolder();
    let server = await start(dataDir, configure([aesgcm('one')]));
    await server.client().create(SECRETS, { metadata: { name: 'token' }, data: DATA });
    await server.stop();

    server = await start(dataDir);
    const client = server.client();
    const answer = await client.expect(500, { path: `${SECRETS}/token` });
    expect(answer.json()).toMatchObject({ reason: 'InternalError', message: 'Internal error occurred: identity transformer tried to read encrypted data' });
    await client.expect(500, { path: SECRETS });
    await client.create(SECRETS, { metadata: { name: 'other' }, data: DATA });
    expect(await client.get(`${SECRETS}/other`)).toMatchObject({ data: DATA });
    expect((await client.get<{ items: unknown[] }>('/api/v1/namespaces')).items.length).toBeGreaterThan(0);
    await server.stop();
  });

  test('custom resources are encrypted by their own names, and by wildcards', async () => {
    const dataDir = temporaryFolder();
    const server = await start(dataDir, configure([{ secretbox: { keys: [key('box')] } }], ['*.example.com']));
    const client = server.client();
    await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'widgets', kind: 'Widget' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
      },
    });
    const widgets = '/apis/example.com/v1/namespaces/default/widgets';
    await expect.poll(async () => (await client.send({ path: widgets })).status).toBe(200);
    await client.create(widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' }, text: TEXT });
    expect(await client.get(`${widgets}/one`)).toMatchObject({ text: TEXT });
    await server.stop();
    expect(filesOf(dataDir)).toContain('k8s:enc:secretbox:v1:box:');
    expect(filesOf(dataDir)).not.toContain(TEXT);
  });
});

test('a plug-in keeps the keys, and the health of the server tells of it', async () => {
  const socket = join(temporaryFolder(), 'kms.sock');
  const plugin = await new KmsPlugin().listen(socket);
  plugins.push(plugin);
  const dataDir = temporaryFolder();
  const kms = configure([{ kms: { apiVersion: 'v2', name: 'vault', endpoint: `unix://${socket}`, timeout: '1s' } }]);
  let server = await start(dataDir, kms);
  await server.client().create(SECRETS, { metadata: { name: 'token' }, data: DATA });
  await server.client().expect(200, { path: '/readyz/kms-providers' });
  expect((await server.client().send({ path: '/metrics' })).body.toString()).toContain('apiserver_envelope_encryption_key_id_hash_total');
  await server.stop();
  expect(filesOf(dataDir)).toContain('k8s:enc:kms:v2:vault:');

  plugin.failure = 'the vault is sealed';
  server = await start(dataDir, kms);
  await server.client().expect(500, { path: '/readyz/kms-providers' });
  const answer = await server.client().expect(500, { path: `${SECRETS}/token` });
  expect(answer.json()).toMatchObject({ reason: 'InternalError' });
  plugin.failure = undefined;
  await expect.poll(async () => (await server.client().send({ path: `${SECRETS}/token` })).status, { timeout: 30_000 }).toBe(200);
  await server.stop();
}, 60_000);

describe('KMS v1', () => {
  test('is refused without its gate', async () => {
    const kms = configure([{ kms: { name: 'old', endpoint: 'unix:///tmp/none.sock' } }]);
    const command = new CommandProcess(['serve', '--storage-backend=memory', `--data-dir=${temporaryFolder()}`, '--secure-port=0', kms]);
    expect(await command.exited).toMatchObject({ code: 1 });
    expect(command.lines.join('\n')).toContain(
      'error while building transformers: KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.',
    );
  });

  test('keeps the keys with its gate; each plug-in has a check of its own', async () => {
    const socket = join(temporaryFolder(), 'kms.sock');
    const plugin = await new KmsV1Plugin().listen(socket);
    oldPlugins.push(plugin);
    const dataDir = temporaryFolder();
    const kms = configure([{ kms: { name: 'old', endpoint: `unix://${socket}`, timeout: '1s' } }]);
    let server = await start(dataDir, kms, '--feature-gates=KMSv1=true');
    await server.client().create(SECRETS, { metadata: { name: 'token' }, data: DATA });
    await server.client().expect(200, { path: '/readyz/kms-provider-0' });
    await server.stop();
    expect(filesOf(dataDir)).toContain('k8s:enc:kms:v1:old:');

    plugin.failure = 'the vault is sealed';
    server = await start(dataDir, kms, '--feature-gates=KMSv1=true');
    await server.client().expect(500, { path: '/readyz/kms-provider-0' });
    const answer = await server.client().expect(500, { path: `${SECRETS}/token` });
    expect(answer.json()).toMatchObject({
      reason: 'InternalError',
      message: 'Internal error occurred: failed get version from remote KMS provider: rpc error: code = Unknown desc = the vault is sealed',
    });
    await server.client().expect(500, { method: 'POST', path: SECRETS, body: { metadata: { name: 'other' }, data: DATA } });
    plugin.failure = undefined;
    await expect.poll(async () => (await server.client().send({ path: `${SECRETS}/token` })).status, { timeout: 30_000 }).toBe(200);
    await server.stop();
  }, 60_000);
});

test('a configuration that can not be used is told in one line', async () => {
  const command = new CommandProcess(['serve', '--storage-backend=memory', `--data-dir=${temporaryFolder()}`, '--secure-port=0', configure([])]);
  expect(await command.exited).toMatchObject({ code: 1 });
  expect(command.lines.join('\n')).toContain(
    'error while parsing file: resources[0].providers: Required value: at least one resources[0].providers is required',
  );
});

describe.runIf(hasEtcd())('on etcd', () => {
  async function valueAt(endpoints: readonly string[], at: string): Promise<Buffer> {
    const client = new EtcdClient({ endpoints });
    const { items } = decodeRange(await client.read(RANGE, encodeRange({ key: at })));
    client.close();
    return Buffer.from(items[0]!.value);
  }

  test('values are what kube-apiserver would have there', async () => {
    const { endpoints } = await startEtcd();
    const server = await startServerOnEtcd(endpoints, { flags: [configure([aesgcm('one')])] });
    await server.client().create(SECRETS, { metadata: { name: 'token' }, data: DATA });
    await server.client().create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'plain' }, data: { text: TEXT } });
    expect((await valueAt(endpoints, '/registry/secrets/default/token')).toString('latin1')).toMatch(/^k8s:enc:aesgcm:v1:one:/);
    const plain = (await valueAt(endpoints, '/registry/configmaps/default/plain')).toString('latin1');
    expect(plain).toMatch(/^k8s\0/);
    expect(plain).toContain(TEXT);
    const services = (await valueAt(endpoints, '/registry/apiregistration.k8s.io/apiservices/v1.apps')).toString();
    expect(services).toMatch(/^\{"kind":"APIService","apiVersion":"apiregistration\.k8s\.io\/v1",.*\}\n$/);
    expect(await server.client().get(`${SECRETS}/token`)).toMatchObject({ data: DATA });
    await server.stop();
  });

  test.each([
    ['application/json', /^\{"kind":"ConfigMap","apiVersion":"v1",.*\}\n$/],
    ['application/yaml', /^apiVersion: v1\n/],
  ])('--storage-media-type=%s', async (mediaType, form) => {
    const { endpoints } = await startEtcd();
    const server = await startServerOnEtcd(endpoints, { flags: [`--storage-media-type=${mediaType}`] });
    await server.client().create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'plain' }, data: { text: TEXT } });
    expect((await valueAt(endpoints, '/registry/configmaps/default/plain')).toString()).toMatch(form);
    await server.stop();
    const other = await startServerOnEtcd(endpoints);
    expect(await other.client().get('/api/v1/namespaces/default/configmaps/plain')).toMatchObject({ data: { text: TEXT } });
    await other.stop();
  });
});
