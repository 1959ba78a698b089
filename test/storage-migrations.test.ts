import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ApiClient } from './support/api-client.ts';
import { startServer, temporaryFolder } from './support/server.ts';

/* StorageVersionMigrations where no controller manager runs: all objects of a resource are stored anew. */

const MIGRATIONS = '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations';
const FLAGS = [
  '--feature-gates=StorageVersionMigrator=true',
  '--runtime-config=storagemigration.k8s.io/v1beta1=true',
  '--controllers=storage-version-migrator-controller',
];
const SECRETS = '/api/v1/namespaces/default/secrets';

interface Status {
  status?: { resourceVersion?: string; conditions?: { type: string; reason: string; message: string }[] };
}
const migration = (name: string, group: string, resource: string) => ({ metadata: { name }, spec: { resource: { group, resource } } });
const conditionsOf = async (client: ApiClient, name: string): Promise<string[]> =>
  ((await client.get<Status>(`${MIGRATIONS}/${name}`)).status?.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`);

test('secrets are encrypted with the key of today', async () => {
  const dataDir = temporaryFolder();
  const configure = (...names: string[]): string => {
    const path = join(temporaryFolder(), 'encryption.json');
    const keys = names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') }));
    const resources = [{ resources: ['secrets'], providers: [{ aesgcm: { keys } }] }];
    writeFileSync(path, JSON.stringify({ kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1', resources }));
    return `--encryption-provider-config=${path}`;
  };
  let server = await startServer({ storage: 'embedded', dataDir, flags: [configure('former')] });
  for (let i = 0; i < 20; i++) await server.client().create(SECRETS, { metadata: { name: `secret-${i}` }, data: { a: 'YQ==' } });
  await server.stop();

  server = await startServer({ storage: 'embedded', dataDir, flags: [configure('today', 'former'), ...FLAGS] });
  const client = server.client();
  const before = await client.get<{ items: { metadata: { resourceVersion: string } }[] }>(SECRETS);
  await client.create(MIGRATIONS, migration('keys', '', 'secrets'));
  await expect
    .poll(() => conditionsOf(client, 'keys'), { timeout: 30_000 })
    .toEqual(['Running MigrationRunning', 'Succeeded StorageVersionMigrationSucceeded']);
  const after = await client.get<{ items: { metadata: { resourceVersion: string } }[] }>(SECRETS);
  expect(after.items.every(({ metadata }, i) => metadata.resourceVersion !== before.items[i]!.metadata.resourceVersion)).toBe(true);
  // A second one finds nothing to do.
  await client.create(MIGRATIONS, migration('again', '', 'secrets'));
  await expect.poll(() => conditionsOf(client, 'again'), { timeout: 30_000 }).toContain('Succeeded StorageVersionMigrationSucceeded');
  expect(await client.get(SECRETS)).toMatchObject({ items: after.items.map(({ metadata }) => ({ metadata: { resourceVersion: metadata.resourceVersion } })) });
  await server.stop();

  server = await startServer({ storage: 'embedded', dataDir, flags: [configure('today')] });
  expect((await server.client().get<{ items: unknown[] }>(SECRETS)).items).toHaveLength(20);
  await server.stop();
  expect(readdirSync(dataDir).length).toBeGreaterThan(0);
  expect(readFileSync(join(dataDir, 'store', 'data.mdb')).length).toBeGreaterThan(0);
}, 90_000);

test('a migration goes on where the server was stopped, and one that can not be done says why', async () => {
  const dataDir = temporaryFolder();
  let server = await startServer({ storage: 'embedded', dataDir, flags: [...FLAGS.slice(0, 2), '--controllers='] });
  await server.client().create(MIGRATIONS, migration('later', '', 'configmaps'));
  await server.client().create(MIGRATIONS, migration('reviews', 'authorization.k8s.io', 'subjectaccessreviews'));
  expect(await conditionsOf(server.client(), 'later')).toEqual([]);
  await server.stop();
  server = await startServer({ storage: 'embedded', dataDir, flags: FLAGS });
  const client = server.client();
  await expect.poll(() => conditionsOf(client, 'later'), { timeout: 30_000 }).toContain('Succeeded StorageVersionMigrationSucceeded');
  await client.create(MIGRATIONS, migration('unknown', 'none.example', 'things'));
  expect(await conditionsOf(client, 'unknown')).toEqual([]);
  await server.stop();
}, 60_000);

test('custom resources are stored in the version of today', async () => {
  const client = (await startServer({ flags: FLAGS })).client();
  const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema: { openAPIV3Schema: { type: 'object' } } });
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const spec = { group: 'example.com', scope: 'Cluster', names: { kind: 'Boat', plural: 'boats' }, versions: [version('v1', true), version('v2', false)] };
  await client.create(definitions, { metadata: { name: 'boats.example.com' }, spec });
  const stored = await client.create('/apis/example.com/v1/boats', { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'first' } });
  const changed = { spec: { versions: [version('v1', false), version('v2', true)] } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  await client.expect(200, { method: 'PATCH', path: `${definitions}/boats.example.com`, headers, body: changed });
  await client.create(MIGRATIONS, migration('boats', 'example.com', 'boats'));
  await expect
    .poll(() => conditionsOf(client, 'boats'), { timeout: 30_000 })
    .toEqual(['Running MigrationRunning', 'Succeeded StorageVersionMigrationSucceeded']);
  expect((await client.get('/apis/example.com/v1/boats/first')).metadata['resourceVersion']).not.toBe(stored.metadata['resourceVersion']);
}, 60_000);
