import { beforeAll, expect, test } from 'vitest';
import type { ApiClient } from './support/api-client.ts';
import { startServer } from './support/server.ts';

/* What the reference (v1.36.4) answers where `npm run compare` found the two to differ: one row a rule. */

const NAMESPACE = '/api/v1/namespaces/compared';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const APPLY = 'application/apply-patch+yaml';

let client: ApiClient;

beforeAll(async () => {
  client = (await startServer()).client();
  await client.create('/api/v1/namespaces', { metadata: { name: 'compared' } });
});

test.each([
  ['POST', `${NAMESPACE}/configmaps`, 'application/json', {}],
  [
    'PUT',
    '/apis/coordination.k8s.io/v1/namespaces/compared/leases/put',
    'application/json',
    { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 },
  ],
  ['PATCH', `${NAMESPACE}/configmaps/applied?fieldManager=m`, APPLY, { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 }],
])('a %s that creates: what is left of a deletionTimestamp', async (method, path, type, left) => {
  const isLease = path.includes('leases');
  const name = /(put|applied)/.exec(path)?.[0] ?? 'posted';
  const metadata = { name, deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 };
  const body = { apiVersion: isLease ? 'coordination.k8s.io/v1' : 'v1', kind: isLease ? 'Lease' : 'ConfigMap', metadata };
  const answer = await client.expect(201, { method, path, body, headers: { 'content-type': type } });
  const { deletionTimestamp, deletionGracePeriodSeconds } = answer.json<{ metadata: Record<string, unknown> }>().metadata;
  expect({
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  }).toEqual(left);
});

test.each([
  ['/api', 'APIVersions', ''],
  ['/api/v1', 'APIResourceList', ''],
  ['/apis', 'APIGroupList', 'v1'],
  ['/apis/apps/v1', 'APIResourceList', 'v1'],
])('%s in protobuf names a version where its JSON does', async (path, kind, apiVersion) => {
  const { body } = await client.expect(200, { path, headers: { accept: PROTOBUF } });
  const typeMeta = `\n${String.fromCharCode(apiVersion.length)}${apiVersion}\x12${String.fromCharCode(kind.length)}${kind}`;
  expect(body.subarray(0, 6 + typeMeta.length).toString('latin1')).toBe(`k8s\0\n${String.fromCharCode(typeMeta.length)}${typeMeta}`);
});
