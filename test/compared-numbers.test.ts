import { beforeAll, expect, test } from 'vitest';
import type { ApiClient } from './support/api-client.ts';
import { startServer } from './support/server.ts';

/* Numbers and repeated keys of JSON bodies, as the reference (v1.36.4) reads them: from their text, and each of them. Found by `npm run compare`. */

const NAMESPACE = '/api/v1/namespaces/compared';
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

let client: ApiClient;

beforeAll(async () => {
  client = (await startServer()).client();
  await client.create('/api/v1/namespaces', { metadata: { name: 'compared' } });
});

test('a quantity is kept in the form of the number that was sent', async () => {
  const answer = await client.expect(201, {
    method: 'POST',
    path: `${NAMESPACE}/resourcequotas`,
    body: '{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"quantity"},"spec":{"hard":{"pods":1e3}}}',
    headers: { 'content-type': 'application/json' },
  });
  expect(answer.json<{ spec: object }>().spec).toEqual({ hard: { pods: '1e3' } });
});

test('what is wrong with a value that is written again is wrong all the same', async () => {
  const answer = await client.send({
    method: 'POST',
    path: '/apis/coordination.k8s.io/v1/namespaces/compared/leases',
    body: '{"metadata":{"name":"again"},"spec":{"acquireTime":"2026-01-02T03:04:05.00000","acquireTime":"2026-01-02T03:04:05.000006Z"}}',
    headers: { 'content-type': 'application/json' },
  });
  expect([answer.status, answer.json<{ message: string }>().message]).toEqual([400, expect.stringContaining('parsing time "2026-01-02T03:04:05.00000"')]);
});

test('a number that is written again is the last one, however the first was written', async () => {
  const path = `${NAMESPACE}/resourcequotas`;
  const headers = { 'content-type': 'application/json' };
  const body = '{"metadata":{"name":"again"},"spec":{"hard":{"pods":1e3,"pods":5}}}';
  const created = await client.expect(201, { method: 'POST', path, body, headers });
  expect(created.json<{ spec: object }>().spec).toEqual({ hard: { pods: '5' } });
  const patch = { method: 'PATCH', path: `${path}/again`, body: '{"spec":{"hard":{"pods":1e1,"pods":7}}}', headers: { 'content-type': MERGE } };
  expect((await client.expect(200, patch)).json<{ spec: object }>().spec).toEqual({ hard: { pods: '7' } });
});

test.each([
  [
    'POST',
    'application/json',
    '{"metadata":{"name":"float"},"spec":{"leaseTransitions":1.0}}',
    400,
    'number 1.0 into Go struct field LeaseSpec.spec.leaseTransitions of type int32',
  ],
  [
    'POST',
    'application/json',
    '{"metadata":{"name":"float","generation":1e1}}',
    400,
    'number 1e1 into Go struct field ObjectMeta.metadata.generation of type int64',
  ],
  ['POST', 'application/yaml', '{"metadata":{"name":"yaml"},"spec":{"leaseTransitions":1e1}}', 201, undefined],
  ['PATCH', MERGE, '{"spec":{"leaseTransitions":2.50}}', 422, '\\"leaseTransitions\\":2.50}}": json: cannot unmarshal number 2.50 into'],
  ['PATCH', MERGE, '{"spec":{"unknown":1e1}}', 200, undefined],
  ['PATCH', JSON_PATCH, '[{"op":"add","path":"/spec/leaseTransitions","value":1e1}]', 422, 'number 1e1 into Go struct field LeaseSpec.spec.leaseTransitions'],
  [
    'PATCH',
    JSON_PATCH,
    '[{"op":"test","path":"/spec/leaseDurationSeconds","value":9.0}]',
    422,
    'the server rejected our request due to an error in our request',
  ],
  ['PATCH', 'application/strategic-merge-patch+json', '{"spec":{"leaseTransitions":1e1}}', 200, undefined],
  ['PATCH', APPLY, '{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"leaseTransitions":1e1}}', 200, undefined],
])('whole numbers that are written as floats: %s %s %s', async (method, type, body, status, message) => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/compared/leases';
  const name = `numbers-${type.replaceAll(/[^a-z]/g, '-')}`;
  const isPatch = method === 'PATCH';
  if (isPatch) await client.send({ method: 'POST', path: leases, body: { metadata: { name }, spec: { leaseDurationSeconds: 9 } } });
  const path = isPatch ? `${leases}/${name}?fieldManager=numbers` : leases;
  const answer = await client.send({ method, path, body, headers: { 'content-type': type } });
  expect([answer.status, answer.json<{ message?: string }>().message]).toEqual([status, message === undefined ? undefined : expect.stringContaining(message)]);
});
