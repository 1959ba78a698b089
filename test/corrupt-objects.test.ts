import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, ApiClient } from './support/api-client.ts';
import { openEngine } from '../src/storage/open.ts';
import { hasEtcd, startEtcd } from './support/etcd.ts';
import { startServerOnEtcd } from './support/etcd-server.ts';
import { type ServerProcess, startServer, temporaryFolder } from './support/server.ts';

/* AllowUnsafeMalformedObjectDeletion: objects that can not be read, as kube-apiserver v1.36.4 tells of them and deletes them. */

const GATE = '--feature-gates=AllowUnsafeMalformedObjectDeletion=true';
const MAPS = '/api/v1/namespaces/default/configmaps';
const OPTION = 'ignoreStoreReadErrorWithClusterBreakingPotential';
const UNSAFE = `${OPTION}=true`;

const refusal = async (answer: Promise<Answer>): Promise<{ message: string; reason?: string }> =>
  (await answer).json() as unknown as { message: string; reason?: string };

describe.runIf(hasEtcd())('values that are broken in etcd', () => {
  let server: ServerProcess;
  let admin: ApiClient;

  beforeAll(async () => {
    const { endpoints } = await startEtcd();
    server = await startServerOnEtcd(endpoints, { flags: [GATE] });
    admin = server.client();
    for (const name of ['a', 'b', 'good']) await admin.create(MAPS, { metadata: { name }, data: { x: 'y' } });
    const engine = await openEngine({ backend: 'etcd3', endpoints: [...endpoints] });
    for (const [name, value] of [
      ['a', 'garbage'],
      ['b', 'k8s:enc:aesgcm:v1:one:garbage'],
    ] as const) {
      const key = `/registry/configmaps/default/${name}`;
      const { revision } = (await engine.get(key))!;
      await engine.commit({ type: 'put', key, value: Buffer.from(value), expected: revision });
    }
    await engine.close();
  });

  afterAll(async () => {
    await server.stop();
  });

  test('are told of by their keys', async () => {
    const undecodable = await refusal(admin.expect(500, { path: `${MAPS}/a` }));
    expect(undecodable).toMatchObject({ reason: 'InternalError', code: 500 });
    expect(undecodable.message).toMatch(
      /^Internal error occurred: StorageError: corrupt object, Code: 7, Key: \/configmaps\/default\/a, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=\d+: /,
    );
    expect((await admin.expect(500, { path: `${MAPS}/b` })).json()).toMatchObject({
      message:
        'Internal error occurred: StorageError: corrupt object, Code: 7, Key: /configmaps/default/b, ResourceVersion: 0, AdditionalErrorMsg: data from the storage is not transformable revision=0: identity transformer tried to read encrypted data',
    });
    await admin.expect(200, { path: `${MAPS}/good` });
  });

  test.each(['', '?limit=500', '?labelSelector=a%3Db', '?fieldSelector=metadata.name%21%3Dx'])('fail lists (%s), which name all of them', async (query) => {
    const answer = (await admin.expect(500, { path: MAPS + query })).json();
    expect(answer).toMatchObject({
      message: 'failed to read one or more configmaps from the storage',
      reason: 'StorageReadError',
      details: {
        name: 'list',
        kind: 'configmaps',
        causes: [
          { reason: 'UnexpectedServerResponse', field: '/registry/configmaps/default/a' },
          { reason: 'UnexpectedServerResponse', field: '/registry/configmaps/default/b' },
        ],
      },
      code: 500,
    });
  });

  test('are neither written over nor deleted by whoever does not say so', async () => {
    const put = await refusal(admin.expect(500, { method: 'PUT', path: `${MAPS}/a`, body: { metadata: { name: 'a' } } }));
    expect(put.message).toMatch(/^object not decodable revision=\d+: /);
    expect(put.reason).toBeUndefined();
    const deleted = await refusal(admin.expect(500, { method: 'DELETE', path: `${MAPS}/a` }));
    expect(deleted.message).toMatch(/^Internal error occurred: StorageError: corrupt object, Code: 7, Key: \/configmaps\/default\/a, /);
    await admin.expect(409, { method: 'POST', path: MAPS, body: { metadata: { name: 'a' } } });
  });

  test('alone may be deleted so', async () => {
    for (const name of ['good', 'none'])
      expect((await admin.expect(422, { method: 'DELETE', path: `${MAPS}/${name}?${UNSAFE}` })).json()).toMatchObject({
        message: `configmaps "${name}" is invalid: ${OPTION}: Invalid value: true: is exclusively used to delete corrupt object(s), try again by removing this option`,
        details: { name, kind: 'configmaps' },
      });
    expect((await admin.expect(422, { method: 'DELETE', path: `${MAPS}?${UNSAFE}` })).json()).toMatchObject({
      message: `DeleteOptions.meta.k8s.io "" is invalid: ${OPTION}: Invalid value: true: is not allowed with DELETECOLLECTION, try again after removing the option`,
    });
  });

  test('are deleted with no other option', async () => {
    const query = `${UNSAFE}&dryRun=All&propagationPolicy=Background&gracePeriodSeconds=0`;
    const refused = await refusal(admin.expect(422, { method: 'DELETE', path: `${MAPS}/a?${query}` }));
    expect(refused.message).toBe(
      `DeleteOptions.meta.k8s.io "" is invalid: [${['dryRun', 'propagationPolicy', 'gracePeriodSeconds'].map((field) => `${OPTION}: Invalid value: true: cannot be set together with .${field}`).join(', ')}]`,
    );
    const body = { [OPTION]: true, orphanDependents: false, preconditions: { uid: 'x' } };
    expect((await refusal(admin.expect(422, { method: 'DELETE', path: `${MAPS}/a`, body }))).message).toContain('cannot be set together with .preconditions');
  });

  test('are deleted by whoever may, and can be made again', async () => {
    await admin.create('/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', {
      metadata: { name: 'deleter' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['delete', 'get'] }],
    });
    await admin.create('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
      metadata: { name: 'deleter' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'deleter' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
    });
    const bob = server.client('bob');
    expect((await bob.expect(403, { method: 'DELETE', path: `${MAPS}/a?${UNSAFE}` })).json()).toMatchObject({
      message: 'configmaps "a" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: ',
    });
    const deleted = (await admin.expect(200, { method: 'DELETE', path: `${MAPS}/a?${UNSAFE}` })).json();
    expect(deleted).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name: 'a', kind: 'ConfigMap' }, code: 200 });
    await admin.expect(200, { method: 'DELETE', path: `${MAPS}/b`, body: { [OPTION]: true } });
    await admin.expect(404, { path: `${MAPS}/a` });
    const list = (await admin.expect(200, { path: MAPS })).json() as unknown as { items: { metadata: { name: string } }[] };
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['good']);
    await admin.create(MAPS, { metadata: { name: 'a' } });
    await admin.expect(200, { method: 'DELETE', path: `${MAPS}/a` });
  });
});

test('a value whose key is lost is deleted, and watches of its kind are told', async () => {
  const dataDir = temporaryFolder();
  const path = join(dataDir, 'encryption.json');
  const secret = Buffer.alloc(32, 'k').toString('base64');
  const resources = [{ resources: ['configmaps'], providers: [{ aesgcm: { keys: [{ name: 'one', secret }] } }] }];
  writeFileSync(path, JSON.stringify({ kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1', resources }));
  let server = await startServer({ storage: 'embedded', dataDir, flags: [`--encryption-provider-config=${path}`] });
  await server.client().create(MAPS, { metadata: { name: 'lost' } });
  await server.stop();

  server = await startServer({ storage: 'embedded', dataDir, flags: [GATE] });
  const client = server.client();
  const made = await client.create(MAPS, { metadata: { name: 'other' } });
  const watch = await client.watch(`${MAPS}?watch=1&resourceVersion=${made.metadata.resourceVersion}`);
  await client.expect(200, { method: 'DELETE', path: `${MAPS}/lost?${UNSAFE}` });
  expect(await watch.next()).toMatchObject({
    type: 'ERROR',
    object: {
      reason: 'StorageReadError',
      code: 500,
      message: expect.stringMatching(/^saw a DELETED event, but object data is corrupt - data from the storage is not transformable/),
    },
  });
  await client.expect(200, { path: MAPS });
  await server.stop();
});

test('without its gate the option is dropped', async () => {
  const server = await startServer();
  await server.client().create(MAPS, { metadata: { name: 'a' } });
  await server.client().expect(200, { method: 'DELETE', path: `${MAPS}/a?${UNSAFE}` });
  await server.stop();
});
