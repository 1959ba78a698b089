import { describe, expect, test } from 'vitest';
import { defineResource } from '../../apis/define.ts';
import { knownGroupVersions, openApiTypes } from '../../apis/openapi-facts.ts';
import type { ApiVersion } from '../../registry/api-version.ts';
import type { ResourceStore } from '../../registry/store.ts';
import { IncomingRequest } from '../server-request.ts';
import { FakeExchange } from '../testing/fake-exchange.ts';
import { describedBy } from './descriptions.ts';
import { withOpenApi } from './handler.ts';

const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

function apiVersion(group: string, version: string, plural: string): ApiVersion {
  const definition = defineResource(group === '' ? `${version}/${plural}` : `${group}/${version}/${plural}`);
  const resource = { definition, served: definition.served[0]!, store: {} as ResourceStore, subresources: {}, storageVersionHash: '', isCustom: false };
  return { group, version, groupPriorityMinimum: 1, versionPriority: 1, resources: new Map([[plural, resource]]) };
}

/** A handler over two versions, which counts how many documents it has made. */
function setUp() {
  const state = { installed: [apiVersion('', 'v1', 'configmaps'), apiVersion('apps', 'v1', 'deployments')], made: 0 };
  const descriptions = describedBy({ texts: ['holds configuration', 'by key'], types: { 'io.k8s.api.core.v1.ConfigMap': { '': 0, data: 1 } } });
  const handler = withOpenApi(
    {
      installed: () => state.installed,
      remote: { openApiV2: () => [], openApiV3: () => new Map() },
      types: openApiTypes,
      descriptions: () => (state.made++, descriptions),
      release: '1.36',
      knownGroupVersions,
    },
    ({ exchange }) => exchange.respond(404, {}, 'next'),
  );
  const get = async (target: string, headers: Record<string, string> = {}): Promise<FakeExchange> => {
    const exchange = new FakeExchange(target, { headers });
    const request = new IncomingRequest(exchange);
    request.info = { ...request.info, path: target.split('?')[0]! };
    await handler(request);
    return exchange;
  };
  const urls = async (): Promise<Record<string, string>> => {
    const { paths } = (await get('/openapi/v3')).json as { paths: Record<string, { serverRelativeURL: string }> };
    return Object.fromEntries(Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL]));
  };
  return { state, get, urls };
}

describe('/openapi/v3', () => {
  test('lists the documents with their hashes', async () => {
    const { urls } = setUp();
    const all = await urls();
    expect(Object.keys(all)).toEqual(['.well-known/openid-configuration', 'api', 'api/v1', 'apis', 'apis/apps', 'apis/apps/v1', 'openid/v1/jwks', 'version']);
    expect(all['api/v1']).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]{128}$/);
  });

  test('a document at its hash never changes; at another hash it has moved', async () => {
    const { get, urls } = setUp();
    const url = (await urls())['apis/apps/v1']!;
    const found = await get(url);
    expect(found.status).toBe(200);
    expect(found.responseHeaders).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'public, immutable', etag: `"${url.split('=')[1]}"` });
    const expiresInDays = (Date.parse(String(found.responseHeaders['expires'])) - Date.now()) / 86_400_000;
    expect(expiresInDays).toBeGreaterThan(364);
    const moved = await get('/openapi/v3/apis/apps/v1?hash=00');
    expect([moved.status, moved.responseHeaders['location'], moved.body]).toEqual([301, url, '']);
    expect((await get('/openapi/v3/apis/apps/v1')).responseHeaders['cache-control']).toBeUndefined();
  });

  test('is not sent again to who has it', async () => {
    const { get } = setUp();
    const { responseHeaders } = await get('/openapi/v3/api/v1');
    const again = await get('/openapi/v3/api/v1', { 'if-none-match': String(responseHeaders['etag']) });
    expect([again.status, again.body, again.responseHeaders['content-type']]).toEqual([304, '', undefined]);
    expect((await get('/openapi/v3/api/v1', { 'if-modified-since': String(responseHeaders['last-modified']) })).status).toBe(304);
    expect((await get('/openapi/v3/api/v1', { 'if-none-match': '"other"', 'if-modified-since': String(responseHeaders['last-modified']) })).status).toBe(200);
  });

  test('compressed where the client takes it', async () => {
    const { get } = setUp();
    const compressed = await get('/openapi/v3/api/v1', { 'accept-encoding': 'br, gzip' });
    expect(compressed.responseHeaders['content-encoding']).toBe('gzip');
    const plain = await get('/openapi/v3/api/v1', { 'accept-encoding': 'gzip;q=0' });
    expect(plain.responseHeaders['content-encoding']).toBeUndefined();
    expect(plain.json).toMatchObject({ openapi: '3.0.0' });
  });

  test('what is not there, and what cannot be given', async () => {
    const { get } = setUp();
    expect((await get('/openapi/v3/apis/none/v1')).status).toBe(404);
    expect((await get('/openapi/v3/__proto__')).status).toBe(404);
    expect((await get('/openapi/v3/api/v1', { accept: 'text/html' })).status).toBe(406);
    expect((await get('/openapi/v4')).body).toBe('next');
  });

  test('only what has changed is made again', async () => {
    const { state, urls } = setUp();
    const before = await urls();
    const made = state.made;
    await urls();
    expect(state.made).toBe(made);
    state.installed = [state.installed[0]!, apiVersion('apps', 'v1', 'daemonsets')];
    const after = await urls();
    expect(state.made).toBe(made + 1);
    expect(after['api/v1']).toBe(before['api/v1']);
    expect(after['apis/apps/v1']).not.toBe(before['apis/apps/v1']);
  });
});

describe('/openapi/v2', () => {
  test('is JSON, or protobuf of the same tag under its proper name', async () => {
    const { get } = setUp();
    const json = await get('/openapi/v2');
    expect(json.json).toMatchObject({
      swagger: '2.0',
      definitions: { 'io.k8s.api.core.v1.ConfigMap': { description: 'holds configuration', properties: { data: { description: 'by key' } } } },
    });
    const protobuf = await get('/openapi/v2', { accept: V2_PROTOBUF });
    expect(protobuf.responseHeaders['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    expect(protobuf.responseHeaders['etag']).toBe(json.responseHeaders['etag']);
    expect((await get('/openapi/v2', { accept: 'text/html' })).status).toBe(406);
  });
});
