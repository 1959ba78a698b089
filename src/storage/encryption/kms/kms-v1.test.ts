import { createCipheriv, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MetricRegistry } from '../../../metrics/registry.ts';
import { registerEncryptionMetrics } from '../../../server/metrics/encryption-metrics.ts';
import { FakeClock } from '../../fake-clock.ts';
import { type EncryptionObserver, type Providers, openProviders } from '../providers.ts';
import { silentObserver } from '../silent-observer.ts';
import type { Transformer, ValueContext } from '../transformer.ts';
import { KmsV1Plugin } from './test-plugin-v1.ts';
import { V1EnvelopeTransformer } from './v1-envelope.ts';

const CONTEXT: ValueContext = { key: '/registry/secrets/default/token', resource: 'secrets' };
const VALUE = Buffer.from('a stored object');
const PREFIX = 'k8s:enc:kms:v1:test:';

let folder: string;
let socket: string;
let plugin: KmsV1Plugin;
let clock: FakeClock;
const opened: Providers[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-kms-'));
  socket = join(folder, 'kms.sock');
  clock = new FakeClock();
  plugin = await new KmsV1Plugin().listen(socket);
});

afterEach(async () => {
  for (const providers of opened.splice(0)) providers.close();
  await plugin.close();
  rmSync(folder, { recursive: true });
});

async function open({ timeoutMs = 1000, cachesize = 1000, observer = silentObserver as EncryptionObserver } = {}): Promise<Providers> {
  const kms = { apiVersion: 'v1', name: 'test', endpoint: `unix://${socket}`, timeoutMs, cachesize };
  const providers = await openProviders({ resources: [{ resources: ['secrets'], providers: [{ kms }] }] }, { observer, clock, allowsKmsV1: true });
  opened.push(providers);
  return providers;
}

const secretsOf = (providers: Providers): Transformer => providers.transformerFor({ group: '', resource: 'secrets' });
const checked = (providers: Providers): Promise<string> =>
  providers.probes[0]!.check().then(
    () => 'ok',
    (error: Error) => error.message,
  );

describe('values', () => {
  test('hold a key of their own, encrypted by the plug-in, with its length in two bytes', async () => {
    const transformer = secretsOf(await open());
    const stored = await transformer.toStorage(VALUE, CONTEXT);
    expect(stored.subarray(0, PREFIX.length).toString()).toBe(PREFIX);
    expect(stored.readUInt16BE(PREFIX.length)).toBe(32);
    expect(await transformer.fromStorage(stored, CONTEXT)).toEqual({ value: VALUE, isStale: false });
    const other = await transformer.toStorage(VALUE, CONTEXT);
    expect(other.subarray(PREFIX.length, PREFIX.length + 34)).not.toEqual(stored.subarray(PREFIX.length, PREFIX.length + 34));
    // The version is asked for once, and what was written is read with the key that is remembered.
    expect(plugin.calls).toEqual({ Version: 1, Encrypt: 2, Decrypt: 0 });
  });

  test('are bound to their key in the store', async () => {
    const transformer = secretsOf(await open());
    const stored = await transformer.toStorage(VALUE, CONTEXT);
    expect(() => transformer.fromStorage(stored, { ...CONTEXT, key: '/registry/secrets/default/other' })).toThrow(/./);
  });

  test('of v1.24 and before, which are AES-CBC, are read as stale', async () => {
    const transformer = secretsOf(await open());
    const [key, iv] = [randomBytes(32), randomBytes(16)];
    const cipher = createCipheriv('aes-256-cbc', key, iv);
    const encryptedKey = Buffer.from(key.map((byte) => byte ^ 0xff));
    const stored = Buffer.concat([Buffer.from(PREFIX), Buffer.from([0, 32]), encryptedKey, iv, cipher.update(VALUE), cipher.final()]);
    expect(await transformer.fromStorage(stored, CONTEXT)).toEqual({ value: VALUE, isStale: true });
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['half a length', Buffer.from([0])],
    ['a key that is cut', Buffer.from([0, 32, 1, 2])],
  ])('that are %s are refused', async (_what, rest) => {
    const transformer = secretsOf(await open());
    expect(() => transformer.fromStorage(Buffer.concat([Buffer.from(PREFIX), rest]), CONTEXT)).toThrow(
      'invalid data encountered by envelope transformer: failed to read uint16 length prefixed data',
    );
  });
});

describe('the cache', () => {
  test('keeps the keys that were used last, and tells how full it is', async () => {
    const registry = new MetricRegistry();
    const transformer = secretsOf(await open({ cachesize: 2, observer: registerEncryptionMetrics(registry, '', Date.now) }));
    const first = await transformer.toStorage(VALUE, CONTEXT);
    expect(registry.print()).toContain('apiserver_envelope_encryption_dek_cache_fill_percent 0.5\n');
    const second = await transformer.toStorage(VALUE, CONTEXT);
    await transformer.fromStorage(first, CONTEXT);
    await transformer.toStorage(VALUE, CONTEXT);
    await transformer.fromStorage(first, CONTEXT);
    expect(plugin.calls.Decrypt).toBe(0);
    clock.pass(90_000);
    await transformer.fromStorage(second, CONTEXT);
    expect(plugin.calls.Decrypt).toBe(1);
    const printed = registry.print();
    expect(printed).toContain('apiserver_envelope_encryption_dek_cache_fill_percent 1\n');
    expect(printed).toContain('apiserver_storage_envelope_transformation_cache_misses_total 1\n');
    expect(printed).toContain('apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds_bucket{transformation_type="from_storage",le="60"} 2\n');
    expect(printed).toContain('apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds_count{transformation_type="from_storage"} 3\n');
    // Calls to plug-ins of version 1 are not timed, as upstream.
    expect(printed).not.toContain('kms_operations_latency_seconds_count{');
  });

  test('of a negative size keeps nothing', async () => {
    const transformer = secretsOf(await open({ cachesize: -1 }));
    const stored = await transformer.toStorage(VALUE, CONTEXT);
    await transformer.fromStorage(stored, CONTEXT);
    await transformer.fromStorage(stored, CONTEXT);
    expect(plugin.calls.Decrypt).toBe(2);
  });
});

test('a store of many values asks the plug-in for so many keys at once, and no more', async () => {
  const writer = secretsOf(await open());
  const stored = await Promise.all(Array.from({ length: 200 }, () => writer.toStorage(VALUE, CONTEXT)));
  const reader = secretsOf(await open());
  const read = await Promise.all(stored.map((value) => reader.fromStorage(value, CONTEXT)));
  expect(read.every(({ value }) => value.equals(VALUE))).toBe(true);
  expect(plugin.calls.Decrypt).toBe(200);
  expect(plugin.mostDecrypts).toBeLessThanOrEqual(32);
});

describe('a plug-in', () => {
  test('of another version is refused, and asked again', async () => {
    plugin.version = 'v2beta1';
    const transformer = secretsOf(await open());
    await expect(transformer.toStorage(VALUE, CONTEXT)).rejects.toThrow('KMS provider api version v2beta1 is not supported, only v1beta1 is supported now');
    plugin.version = 'v1beta1';
    await expect(transformer.toStorage(VALUE, CONTEXT)).resolves.toBeDefined();
  });

  test('that fails is told of in its words', async () => {
    const providers = await open();
    const transformer = secretsOf(providers);
    const stored = await secretsOf(await open()).toStorage(VALUE, CONTEXT);
    plugin.failure = 'the vault is sealed';
    await expect(transformer.fromStorage(stored, CONTEXT)).rejects.toThrow(
      'failed get version from remote KMS provider: rpc error: code = Unknown desc = the vault is sealed',
    );
    plugin.failure = undefined;
    await transformer.toStorage(VALUE, CONTEXT);
    plugin.failure = 'the vault is sealed';
    await expect(transformer.fromStorage(stored, CONTEXT)).rejects.toThrow('rpc error: code = Unknown desc = the vault is sealed');
    await expect(transformer.toStorage(VALUE, CONTEXT)).rejects.toThrow('rpc error: code = Unknown desc = the vault is sealed');
  });

  test('that answers a key of no size that AES has, or another, opens nothing', async () => {
    const transformer = secretsOf(await open({ cachesize: -1 }));
    const stored = await transformer.toStorage(VALUE, CONTEXT);
    plugin.plain = Buffer.from('short');
    await expect(transformer.fromStorage(stored, CONTEXT)).rejects.toThrow('crypto/aes: invalid key size 5');
    plugin.plain = Buffer.alloc(32);
    await expect(transformer.fromStorage(stored, CONTEXT)).rejects.toThrow('cipher: message authentication failed');
  });

  test('that answers a ciphertext with no room for its length is refused', async () => {
    plugin.padding = 65_536;
    await expect(secretsOf(await open()).toStorage(VALUE, CONTEXT)).rejects.toThrow('exceeds 2-byte length prefix');
  });

  test('that is slow fails in its time', async () => {
    const transformer = secretsOf(await open({ timeoutMs: 150, cachesize: -1 }));
    const stored = await transformer.toStorage(VALUE, CONTEXT);
    plugin.holds = new Promise(() => undefined);
    await expect(transformer.fromStorage(stored, CONTEXT)).rejects.toThrow('rpc error: code = DeadlineExceeded');
  });

  test('that is gone fails in its time, and is used again when it is back', async () => {
    const providers = await open({ timeoutMs: 300 });
    const transformer = secretsOf(providers);
    await transformer.toStorage(VALUE, CONTEXT);
    await plugin.close();
    await expect(transformer.toStorage(VALUE, CONTEXT)).rejects.toThrow(/rpc error: code = (DeadlineExceeded|Unavailable)/);
    plugin = await new KmsV1Plugin().listen(socket);
    await expect
      .poll(() =>
        Promise.resolve(transformer.toStorage(VALUE, CONTEXT)).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });
});

describe('health', () => {
  test('is a word that is encrypted and decrypted, and remembered for twenty seconds', async () => {
    const providers = await open();
    expect(plugin.calls).toEqual({ Version: 0, Encrypt: 0, Decrypt: 0 });
    expect(await checked(providers)).toBe('ok');
    expect(await checked(providers)).toBe('ok');
    expect(plugin.calls).toEqual({ Version: 1, Encrypt: 1, Decrypt: 1 });
    clock.pass(20_000);
    await checked(providers);
    expect(plugin.calls.Encrypt).toBe(2);
  });

  test('that is not well is remembered for three seconds, by the error alone', async () => {
    const providers = await open();
    plugin.failure = 'no';
    const error = 'failed get version from remote KMS provider: rpc error: code = Unknown desc = no';
    expect(await checked(providers)).toBe(`failed to perform encrypt section of the healthz check for KMS Provider test, error: ${error}`);
    expect(await checked(providers)).toBe(error);
    plugin.failure = undefined;
    clock.pass(3_000);
    expect(await checked(providers)).toBe('ok');
  });

  test('is not well where Decrypt fails', async () => {
    const providers = await open({ timeoutMs: 150 });
    plugin.holds = new Promise(() => undefined);
    expect(await checked(providers)).toContain(
      'failed to perform decrypt section of the healthz check for KMS Provider test, error: rpc error: code = DeadlineExceeded',
    );
  });
});

test('a machine without randomness makes no keys, which is counted', async () => {
  const registry = new MetricRegistry();
  const random = (): Buffer => {
    throw new Error('no entropy');
  };
  const service = { encrypt: async (key: Buffer) => key, decrypt: async (key: Buffer) => key, close() {} };
  const observer = registerEncryptionMetrics(registry, '', Date.now);
  const transformer = new V1EnvelopeTransformer({ service, observer, cacheSize: 1, now: Date.now, random });
  await expect(transformer.toStorage(VALUE, CONTEXT)).rejects.toThrow('no entropy');
  expect(registry.print()).toContain('apiserver_storage_data_key_generation_failures_total 1\n');
});
