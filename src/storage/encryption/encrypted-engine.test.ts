import { describe, expect, test } from 'vitest';
import { jsonCodec } from '../codec.ts';
import { type Engine, type StoredEvent } from '../engine.ts';
import { engineContract } from '../engines/contract.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import { encryptedEngine } from './encrypted-engine.ts';
import { openProviders } from './providers.ts';
import { silentObserver } from './silent-observer.ts';
import { type Opened, type Transformer, identityTransformer } from './transformer.ts';

const resourceOf = () => ({ group: '', resource: 'secrets' });
const encrypting = (engine: Engine, transformer: Transformer): Engine => encryptedEngine(engine, { transformerFor: () => transformer }, resourceOf);

async function aesgcm(name: string): Promise<Transformer> {
  const keys = [{ name, secret: Buffer.alloc(32, name).toString('base64') }];
  const providers = await openProviders({ resources: [{ resources: ['secrets'], providers: [{ aesgcm: { keys } }] }] }, { observer: silentObserver });
  return providers.transformerFor(resourceOf());
}

engineContract('memory engine, encrypted', async (options) => encrypting(openMemoryEngine(options), await aesgcm('one')));

const KEY = '/registry/secrets/default/token';
const OBJECT = '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"token","uid":"1"}}';
const put = (engine: Engine, key: string, value: string, expected = 0): Promise<number> =>
  engine.commit({ type: 'put', key, value: Buffer.from(value), expected });

test('values are encrypted in the engine and plain before it', async () => {
  const plain = openMemoryEngine();
  const engine = encrypting(plain, await aesgcm('one'));
  await put(engine, KEY, OBJECT);
  expect((await plain.get(KEY))!.value.toString('latin1')).toMatch(/^k8s:enc:aesgcm:v1:one:/);
  expect((await engine.get(KEY))!.value.toString()).toBe(OBJECT);
});

test('what was stored otherwise is read, and stale', async () => {
  const plain = openMemoryEngine();
  await put(plain, KEY, OBJECT);
  const staleReader: Transformer = { ...identityTransformer, fromStorage: (value) => ({ value, isStale: true }) };
  expect(await encrypting(plain, staleReader).get(KEY)).toMatchObject({ isStale: true });
  expect(await encrypting(plain, identityTransformer).get(KEY)).not.toHaveProperty('isStale');
});

test('a commit fails where nothing can be encrypted', async () => {
  const failing: Transformer = {
    ...identityTransformer,
    toStorage() {
      throw new Error('the seed has expired');
    },
  };
  await expect(put(encrypting(openMemoryEngine(), failing), KEY, OBJECT)).rejects.toMatchObject({
    code: 500,
    message: 'Internal error occurred: the seed has expired',
  });
});

describe('a value that can not be decrypted', () => {
  test('is one object of many, and whoever reads it is told', async () => {
    const plain = openMemoryEngine();
    await put(encrypting(plain, await aesgcm('lost')), KEY, OBJECT);
    const engine = encrypting(plain, await aesgcm('one'));
    await put(engine, '/registry/secrets/default/other', OBJECT);
    const { items } = await engine.range('/registry/secrets/');
    expect(jsonCodec.toClientBytes(items[0]!.value, 7).toString()).toContain('"resourceVersion":"7"');
    expect(() => jsonCodec.toClientBytes(items[1]!.value, 7)).toThrow('Internal error occurred: no matching key was found for the provided AES transformer');
  });

  test('is tried again, for the next reader', async () => {
    const plain = openMemoryEngine();
    await put(encrypting(plain, await aesgcm('lost')), KEY, OBJECT);
    let transformer = await aesgcm('one');
    const engine = encryptedEngine(plain, { transformerFor: () => transformer }, resourceOf);
    const { value } = (await engine.get(KEY))!;
    transformer = await aesgcm('lost');
    expect(() => jsonCodec.toClientBytes(value, 7)).toThrow('no matching key was found');
    await expect.poll(() => jsonCodec.toClientBytes(value, 7).toString()).toContain('"resourceVersion":"7"');
  });
});

test('a watch keeps its order while a value waits for its key', async () => {
  const plain = openMemoryEngine();
  let release!: () => void;
  const held = new Promise<void>((resolve) => (release = resolve));
  const slow: Transformer = {
    ...identityTransformer,
    fromStorage: (value): Opened | Promise<Opened> => (value.toString() === 'slow' ? held.then(() => ({ value, isStale: false })) : { value, isStale: false }),
  };
  const engine = encrypting(plain, slow);
  const seen: string[] = [];
  const note = (events: StoredEvent[]): void => void seen.push(...events.map(({ value }) => String(value)));
  const subscription = engine.watch('/', (await engine.currentRevision()) + 1, note);
  await put(engine, '/a', 'fast');
  expect(seen).toEqual(['fast']);
  await put(engine, '/b', 'slow');
  await put(engine, '/c', 'behind');
  expect(seen).toEqual(['fast']);
  release();
  await expect.poll(() => seen).toEqual(['fast', 'slow', 'behind']);
  await put(engine, '/d', 'again');
  expect(seen.at(-1)).toBe('again');
  subscription.close();
});
