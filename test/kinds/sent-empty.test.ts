import { beforeAll, expect, test } from 'vitest';
import type { ApiClient, TestObject } from '../support/api-client.ts';
import { startServer } from '../support/server.ts';

/* What is sent empty is stored as nothing, but upstream's rules see it; and what a user may not set is reported beside all else that is wrong. */

const PODS = '/api/v1/namespaces/default/pods';
const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
const CONTAINERS = [{ name: 'c', image: 'i' }];

interface Status {
  message: string;
  details: { causes: { field: string }[] };
}

let client: ApiClient;
beforeAll(async () => {
  client = (await startServer()).client();
  await client.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  await client.create('/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'plain' }, handler: 'h' });
  await client.create('/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'empty' }, handler: 'h', overhead: {} });
  await client.create(PODS, { metadata: { name: 'debugged' }, spec: { containers: CONTAINERS } });
});

test.each([
  [{ overhead: {} }, 403],
  [{ overhead: {}, runtimeClassName: 'plain' }, 403],
  [{ overhead: {}, runtimeClassName: 'empty' }, 201],
  [{ runtimeClassName: 'plain' }, 201],
])('a pod with %j is answered %i', async (spec, status) => {
  const answer = await client.send({
    method: 'POST',
    path: `${PODS}?dryRun=All`,
    body: { metadata: { name: 'p' }, spec: { containers: CONTAINERS, ...spec } },
  });
  expect(answer.status).toBe(status);
  if (status === 403) expect(answer.json<Status>().message).toContain('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
});

const addEphemeral = (container: object) =>
  client.send({
    method: 'PATCH',
    path: `${PODS}/debugged/ephemeralcontainers`,
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: { spec: { ephemeralContainers: [container] } },
  });

test.each([
  [{ ports: [] }, ['ports']],
  [{ resizePolicy: [], restartPolicyRules: [] }, ['resizePolicy', 'restartPolicyRules']],
  [{ resources: { limits: {} } }, ['resources']],
  [{ env: [], args: [], resources: {} }, []],
])('an ephemeral container with %j', async (fields, forbidden) => {
  const answer = await addEphemeral({ name: `e${forbidden.length}${Object.keys(fields)[0]!.toLowerCase()}`, image: 'i', ...fields });
  expect(answer.status).toBe(forbidden.length > 0 ? 422 : 200);
  const causes = forbidden.length > 0 ? answer.json<Status>().details.causes.map(({ field }) => field) : [];
  expect(causes).toEqual(forbidden.map((field) => `spec.ephemeralContainers[0].${field}`));
});

test('an ephemeral container that is sent again with empty lists is unchanged', async () => {
  await addEphemeral({ name: 'again', image: 'i' });
  const before = (await client.get(`${PODS}/debugged`)) as TestObject;
  const answer = await addEphemeral({ name: 'again', env: [], args: [] });
  expect(answer.status).toBe(200);
  expect(answer.json().metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

test.each([
  ['resourceclaims', (devices: object) => ({ devices }), 'spec'],
  ['resourceclaimtemplates', (devices: object) => ({ spec: { devices } }), 'spec.spec'],
])('%s: admin access is refused beside what else is wrong, and before it', async (plural, spec, at) => {
  const requests = [{ name: 'r', exactly: { deviceClassName: '', adminAccess: true } }];
  const path = CLAIMS.replace('resourceclaims', plural);
  const answer = await client.send({ method: 'POST', path, body: { metadata: { name: 'N_' }, spec: spec({ requests }) } });
  expect(answer.status).toBe(422);
  expect(answer.json<Status>().details.causes.map(({ field }) => field)).toEqual([
    'spec.devices.requests[0].adminAccess',
    'metadata.name',
    `${at}.devices.requests[0].exactly.deviceClassName`,
  ]);
});
