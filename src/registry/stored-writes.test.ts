import { type NextObject, serverMade } from './write.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { configMaps } from '../apis/core/config-map.ts';
import { CacheFeed } from '../storage/cache/feed.ts';
import { openCache } from '../storage/cache/object-cache.ts';
import { type StoredCodec, jsonCodec } from '../storage/codec.ts';
import type { Engine } from '../storage/engine.ts';
import { openMemoryEngine } from '../storage/engines/memory.ts';
import { encryptedEngine } from '../storage/encryption/encrypted-engine.ts';
import { type Transformer, identityTransformer } from '../storage/encryption/transformer.ts';
import type { ApiObject } from '../api/api-object.ts';
import { tooLargeForStore } from '../api/errors.ts';
import type { ResourceDefinition } from './definition.ts';
import { GenericStore } from './generic-store.ts';
import type { RequestContext } from './request-context.ts';
import type { UpdateOptions } from './store.ts';

/* What reaches the engine, and when. */

const KEY = '/registry/configmaps/default/one';
const context = { user: { name: 'tester', groups: [] }, userAgent: 'test', warn() {} } as unknown as RequestContext;
const OPTIONS = {
  dryRun: false,
  fieldManager: 'test',
  raw: {},
  apiVersion: 'v1',
  subresource: '',
  mayCreate: false,
  isApply: false,
} as unknown as UpdateOptions;

interface ConfigMap extends ApiObject {
  data?: Record<string, string>;
}

let engine: Engine;
let store: GenericStore<ConfigMap>;

async function open(codec: StoredCodec): Promise<void> {
  const cache = openCache(new CacheFeed(engine), '/registry/configmaps/', { codec });
  await cache.ready;
  store = new GenericStore<ConfigMap>({
    definition: configMaps as unknown as ResourceDefinition<ConfigMap>,
    engine,
    cache,
    codec,
    keyPrefix: '/registry/configmaps/',
    admission: { mutate() {}, validate() {} },
    collectsGarbage: true,
    deleteWorkers: 1,
    now: () => new Date(0),
  });
}

const create = (data?: Record<string, string>) =>
  store.create(
    context,
    'default',
    () => serverMade({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'one' }, ...(data && { data }) } as ConfigMap),
    OPTIONS,
  );
const update = (change: (object: ConfigMap) => void) =>
  store.update(
    context,
    'default',
    'one',
    (current) => {
      change(current!);
      return serverMade(current!);
    },
    OPTIONS,
  );
const revision = async (): Promise<number> => (await engine.get(KEY))!.revision;

beforeEach(() => {
  engine = openMemoryEngine();
});

describe('an update that changes nothing', () => {
  test('is not written', async () => {
    await open(jsonCodec);
    await create({ a: '1' });
    const before = await revision();
    expect((await update(() => undefined)).object.metadata.resourceVersion).toBe(String(before));
    expect(await revision()).toBe(before);
  });

  test('is written where the store holds other bytes than would be written now', async () => {
    await open(jsonCodec);
    await create({ a: '1' });
    const before = await revision();
    await open({
      encode: (object) => Buffer.from(`${jsonCodec.encode(object).toString()}\n`),
      toClientBytes: (value, at) => jsonCodec.toClientBytes(Buffer.from(value.toString().trim()), at),
    });
    await update(() => undefined);
    const after = await revision();
    expect(after).toBeGreaterThan(before);
    await update(() => undefined);
    expect(await revision()).toBe(after);
  });

  test('is written where the value is stale', async () => {
    let isStale = true;
    const transformer: Transformer = { ...identityTransformer, fromStorage: (value) => ({ value, isStale }) };
    engine = encryptedEngine(engine, { transformerFor: () => transformer }, () => ({ group: '', resource: 'configmaps' }));
    await open(jsonCodec);
    await create({ a: '1' });
    const before = await revision();
    await update(() => undefined);
    expect(await revision()).toBeGreaterThan(before);
    isStale = false;
    const after = await revision();
    await update(() => undefined);
    expect(await revision()).toBe(after);
  });
});

describe('an object that is too large for the store', () => {
  /** As if the store took no more than the object without who owns what. */
  const withoutOwners: StoredCodec = {
    ...jsonCodec,
    encode(object) {
      if (object.metadata.managedFields) throw tooLargeForStore();
      return jsonCodec.encode(object);
    },
  };

  test('is created without managedFields', async () => {
    await open(withoutOwners);
    const { object } = await create({ a: '1' });
    expect(object.metadata.managedFields).toBeUndefined();
    expect(object.data).toEqual({ a: '1' });
  });

  test('is updated without managedFields', async () => {
    await open(withoutOwners);
    await create({ a: '1' });
    const { object } = await update((current) => (current.data = { a: '2' }));
    expect(object.metadata.managedFields).toBeUndefined();
    expect(object.data).toEqual({ a: '2' });
  });

  test('is refused where that does not help, or where they are the point of the request', async () => {
    await open(jsonCodec);
    await create({ a: '1' });
    await open({
      ...jsonCodec,
      encode() {
        throw tooLargeForStore();
      },
    });
    await expect(update((current) => (current.data = { a: '2' }))).rejects.toMatchObject({ code: 500, message: 'etcdserver: request is too large' });
    await open(withoutOwners);
    const next: NextObject<ConfigMap> = (current) => serverMade({ ...current!, data: { a: '3' } });
    await expect(store.update(context, 'default', 'one', next, { ...OPTIONS, isApply: true })).rejects.toMatchObject({ code: 500 });
  });
});
