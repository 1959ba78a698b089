import { describe, expect, test } from 'vitest';
import type { AuditRecorder } from './request.ts';
import { configMap, configMaps, serve } from './test-support.ts';

const PATH = '/api/v1/namespaces/ns/configmaps';
const AUDIT: AuditRecorder = { requestObject() {}, requestPatch() {}, responseStatus() {}, responseObject() {} };
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const PARTS = ['transform-response-object', 'serialize-response-object'];

/** Fifty objects of `valueBytes`. */
function target(valueBytes = 10): ReturnType<typeof configMaps> {
  const made = configMaps();
  for (let i = 0; i < 50; i++) made.store.put(configMap(`c${i}`, { a: 'x'.repeat(valueBytes) }));
  return made;
}
const LARGE = 40_000;

describe('the time that an answer takes is noted', () => {
  test.each<[what: string, method: string, path: string, headers?: Record<string, string>]>([
    ['an object', 'GET', '/c1'],
    ['a Table', 'GET', '/c1', TABLE],
    ['protobuf', 'GET', '/c1', { accept: 'application/vnd.kubernetes.protobuf' }],
    ['YAML', 'GET', '/c1', { accept: 'application/yaml' }],
    ['a list', 'GET', ''],
    ['a Status', 'DELETE', '/c1'],
  ])('of %s', async (_what, method, path, headers = {}) => {
    const { exchange, timed } = await serve(target(), method, PATH + path, { headers, audit: AUDIT });
    expect([exchange.status, timed]).toEqual([200, PARTS]);
  });

  test.each<[what: string, headers: Record<string, string>]>([
    ['a list', {}],
    ['a compressed list', { 'accept-encoding': 'gzip' }],
  ])('of %s that is written as the client reads, when it has ended', async (_what, headers) => {
    const { exchange, timed } = await serve(target(LARGE), 'GET', PATH, { headers, audit: AUDIT });
    expect([exchange.isEnded, timed]).toEqual([true, PARTS]);
  });

  test('not of a whole one that nobody records', async () => {
    expect((await serve(target(), 'GET', `${PATH}/c1`)).timed).toEqual([]);
  });
});
