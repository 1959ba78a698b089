import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodeEnvelope } from '../../../schema/protobuf.ts';
import { FakeClock } from '../../fake-clock.ts';
import { type EncryptionObserver, type Providers, openProviders } from '../providers.ts';
import { silentObserver } from '../silent-observer.ts';
import type { ImmediateTransformer, Opened, ValueContext } from '../transformer.ts';
import { EnvelopeTransformer, type WriteState } from './envelope.ts';
import { DEK_SOURCE_SEED, decodeEncryptedObject } from './messages.ts';
import { MetricRegistry } from '../../../metrics/registry.ts';
import { registerEncryptionMetrics } from '../../../server/metrics/encryption-metrics.ts';
import { KmsProbe } from './probe.ts';
import type { KmsService } from './service.ts';
import { KmsPlugin } from './test-plugin.ts';

const CONTEXT: ValueContext = { key: '/registry/secrets/default/token', resource: 'secrets' };
const VALUE = Buffer.from('a stored object');
const PREFIX = 'k8s:enc:kms:v2:test:';

let folder: string;
let plugin: KmsPlugin;
let clock: FakeClock;
const opened: Providers[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-kms-'));
  clock = new FakeClock();
  plugin = await new KmsPlugin().listen(join(folder, 'kms.sock'));
});

afterEach(async () => {
  for (const providers of opened.splice(0)) providers.close();
  await plugin.close();
  rmSync(folder, { recursive: true });
});

async function open({ timeoutMs = 1000, observer = silentObserver as EncryptionObserver } = {}): Promise<Providers> {
  const kms = { apiVersion: 'v2', name: 'test', endpoint: `unix://${join(folder, 'kms.sock')}`, timeoutMs };
  const providers = await openProviders({ resources: [{ resources: ['secrets'], providers: [{ kms }] }] }, { observer, clock });
  opened.push(providers);
  return providers;
}

const secretsOf = (providers: Providers): ImmediateTransformer => providers.transformerFor({ group: '', resource: 'secrets' }) as ImmediateTransformer;
const objectIn = (stored: Buffer) => decodeEncryptedObject(stored.subarray(PREFIX.length));
const checked = (providers: Providers): Promise<string> =>
  providers.probes[0]!.check().then(
    () => 'ok',
    (error: Error) => error.message,
  );

describe('values', () => {
  test("hold the seed, encrypted by the plug-in, its key's id and its annotations", async () => {
    const transformer = secretsOf(await open());
    const stored = transformer.toStorage(VALUE, CONTEXT);
    expect(stored.toString('latin1')).toMatch(new RegExp(`^${PREFIX}`));
    expect(objectIn(stored)).toMatchObject({
      keyId: 'key-1',
      dekSourceType: DEK_SOURCE_SEED,
      annotations: new Map([['version.plugin.example.com', Buffer.from('1')]]),
    });
    expect(transformer.fromStorage(stored, CONTEXT)).toEqual({ value: VALUE, isStale: false });
    expect(plugin.calls).toEqual({ Status: 1, Encrypt: 1, Decrypt: 0 });
  });

  test('are bound to their key', async () => {
    const transformer = secretsOf(await open());
    const stored = transformer.toStorage(VALUE, CONTEXT);
    expect(() => transformer.fromStorage(stored, { ...CONTEXT, key: '/registry/secrets/default/other' })).toThrow('cipher: message authentication failed');
  });

  test('of another server are read by asking the plug-in, once for all that wait for the same seed', async () => {
    const other = secretsOf(await open());
    const values = Array.from({ length: 20 }, (_, i) => Buffer.from(`value ${i}`));
    const stored = values.map((value) => other.toStorage(value, CONTEXT));
    const transformer = secretsOf(await open());
    const read = await Promise.all(stored.map((value) => transformer.fromStorage(value, CONTEXT)));
    expect(read.map(({ value }) => value)).toEqual(values);
    expect(plugin.calls.Decrypt).toBe(1);
    expect(transformer.fromStorage(stored[0]!, CONTEXT)).toEqual({ value: values[0], isStale: false });
  });

  test('that the plug-in can not decrypt are an error in its words', async () => {
    const stored = secretsOf(await open()).toStorage(VALUE, CONTEXT);
    const transformer = secretsOf(await open());
    plugin.failure = 'the vault is sealed';
    await expect(transformer.fromStorage(stored, CONTEXT)).rejects.toThrow(
      'failed to decrypt DEK, error: rpc error: code = Unknown desc = the vault is sealed',
    );
  });
});

describe('a new key of the plug-in', () => {
  test('is written with after the next status, and old values are stale', async () => {
    const providers = await open();
    const transformer = secretsOf(providers);
    const stored = transformer.toStorage(VALUE, CONTEXT);
    plugin.keyId = 'key-2';
    clock.pass(60_000);
    expect(await checked(providers)).toBe('ok');
    expect(objectIn(transformer.toStorage(VALUE, CONTEXT)).keyId).toBe('key-2');
    expect(transformer.fromStorage(stored, CONTEXT)).toEqual({ value: VALUE, isStale: true });
    expect(plugin.calls.Encrypt).toBe(2);
  });

  test('counts only if Encrypt uses the one that Status tells', async () => {
    const providers = await open();
    plugin.statusKeyId = 'key-2';
    clock.pass(20_000);
    expect(await checked(providers)).toMatch(
      /^kmsv2 Provider test is not healthy, error: failed to rotate DEK uid="[0-9a-f-]{36}", useSeed=true, errState=<nil>, errGen=<nil>, /,
    );
    expect(objectIn(secretsOf(providers).toStorage(VALUE, CONTEXT)).keyId).toBe('key-1');
  });
});

describe('a plug-in that is not well', () => {
  test.each<[string, (broken: KmsPlugin) => void, RegExp]>([
    ['says so', (broken) => (broken.healthz = 'tired'), /got unexpected healthz status: tired$/],
    ['speaks another version', (broken) => (broken.version = 'v1'), /expected KMSv2 API version v2, got v1$/],
    [
      'changes its version',
      (broken) => (broken.version = 'v2beta1'),
      /KMSv2 API version should not change after the initial status response version v2, got v2beta1$/,
    ],
    ['has no key', (broken) => (broken.statusKeyId = ''), /got invalid KMSv2 KeyID hash "": keyID is empty$/],
    ['has a key id that is too long', (broken) => (broken.statusKeyId = 'x'.repeat(1025)), /keyID is 1025 bytes, which exceeds the max size of 1024$/],
    [
      'does not answer',
      (broken) => (broken.failure = 'no'),
      /^failed to perform status section of the healthz check for KMS Provider test, error: rpc error: code = Unknown desc = no$/,
    ],
  ])('%s', async (_how, breaks, message) => {
    const providers = await open();
    breaks(plugin);
    clock.pass(20_000);
    expect(await checked(providers)).toMatch(message);
  });

  test.each<[string, (hostile: KmsPlugin) => void]>([
    ['a healthz of a megabyte', (hostile) => (hostile.healthz = 'x'.repeat(1_000_000))],
    ['a version of a megabyte', (hostile) => (hostile.version = 'x'.repeat(1_000_000))],
    ['a key id of a megabyte', (hostile) => (hostile.statusKeyId = 'x'.repeat(1_000_000))],
    ['bytes that are no UTF-8', (hostile) => (hostile.healthz = Buffer.alloc(100, 0xff))],
  ])('and is hostile with %s is told of shortly', async (_how, turnHostile) => {
    const providers = await open();
    turnHostile(plugin);
    clock.pass(20_000);
    const told = await checked(providers);
    expect(told).toMatch(/^failed to perform status section|unexpected|invalid|expected/);
    expect(told.length).toBeLessThan(10_000);
  });

  test('is written with for three minutes, and read with for ever', async () => {
    const providers = await open();
    const transformer = secretsOf(providers);
    const stored = transformer.toStorage(VALUE, CONTEXT);
    plugin.failure = 'no';
    clock.pass(179_000);
    expect(() => transformer.toStorage(VALUE, CONTEXT)).not.toThrow();
    clock.pass(2_000);
    expect(() => transformer.toStorage(VALUE, CONTEXT)).toThrow(
      /^encryptedDEKSource with keyID hash "sha256:[0-9a-f]{64}" expired at \S+Z \(current time is \S+Z\)$/,
    );
    expect((transformer.fromStorage(stored, CONTEXT) as Opened).value).toEqual(VALUE);
    plugin.failure = undefined;
    await expect.poll(() => checked(providers)).toBe('ok');
    expect(() => transformer.toStorage(VALUE, CONTEXT)).not.toThrow();
  });

  test('may start after the server', async () => {
    plugin.failure = 'starting';
    const providers = await open();
    expect(() => secretsOf(providers).toStorage(VALUE, CONTEXT)).toThrow('got unexpected nil transformer');
    plugin.failure = undefined;
    clock.pass(10_000);
    await expect.poll(() => plugin.calls.Encrypt).toBe(1);
    await expect.poll(() => checked(providers)).toBe('ok');
    expect(() => secretsOf(providers).toStorage(VALUE, CONTEXT)).not.toThrow();
  });

  test('may not be there at all: its time runs out', async () => {
    await plugin.close();
    const providers = await open({ timeoutMs: 150 });
    expect(await checked(providers)).toMatch(/rpc error: code = DeadlineExceeded desc = latest balancer error: connection error/);
  });

  test('answers an annotation that no domain names', async () => {
    plugin.annotation = ['plain', Buffer.from('1')];
    expect(await checked(await open())).toContain(
      'errGen=failed to validate annotations: annotations: Invalid value: "plain": should be a domain with at least two segments separated by dots',
    );
  });
});

test('health is remembered for twenty seconds', async () => {
  const providers = await open();
  await checked(providers);
  expect(plugin.calls.Status).toBe(1);
  clock.pass(20_000);
  await checked(providers);
  expect(plugin.calls.Status).toBe(2);
});

test('what happens is told to the observer', async () => {
  const told: string[] = [];
  const tell =
    (name: string) =>
    (...values: unknown[]): void =>
      void told.push([name, ...values.filter((value) => typeof value === 'string' && value !== '')].join(' '));
  const observer: EncryptionObserver = {
    ...silentObserver,
    called: tell('called'),
    keyUsed: tell('used'),
    keyIdTold: tell('told'),
    dekSourcesCached: tell('cached'),
  };
  secretsOf(await open({ observer })).toStorage(VALUE, CONTEXT);
  expect(told).toEqual([
    'called test /v2.KeyManagementService/Status',
    'told test key-1',
    'called test /v2.KeyManagementService/Encrypt',
    'cached test',
    'used to_storage test key-1',
  ]);
});

test('a machine without randomness makes no keys, which is counted', async () => {
  const registry = new MetricRegistry();
  const observer = registerEncryptionMetrics(registry, '', Date.now);
  const service = { status: async () => ({ version: 'v2', healthz: 'ok', keyId: 'key-1' }) } as unknown as KmsService;
  const random = (): Buffer => {
    throw new Error('no entropy');
  };
  const probe = new KmsProbe({ provider: 'test', service, observer, clock, random });
  await expect(probe.check()).rejects.toThrow('errGen=no entropy');
  expect(registry.print()).toContain('apiserver_storage_data_key_generation_failures_total 1\n');
  expect(registry.print()).toContain('apiserver_storage_data_key_generation_duration_seconds_count 0\n');
});

/** What a kube-apiserver v1.36.4 stored, with a plug-in that gave seeds back as they were. */
test('reads what kube-apiserver wrote', async () => {
  const stored = Buffer.from(
    'azhzOmVuYzprbXM6djI6dmF1bHQ6CpACeAobEkXHEZCe66eoZVkTrvIFb3NDjwANNtI0y3BRtqDKx280WHG6eEm7lT5VAgnygGMOrCQEgh8Pj6tjW0PqZmCXwuj+ETzC8bYBGAy8ZKk9/QHspskK9rStWgMJ1KWeb8Gy1sTjI402rYhlWEr/z0hcN6/3nan1aj3AMGmxc9J5XDiJ1F6wMvNpoCqXzs7fI4f6Udif7GsPt2VKt7oMtBzVkrrwjRScMoznjSowo67a+zERNcQZF+qGdJLk+IUw68WE5ZDt6PrBdz2jkszRPfRRBV3obUlnZi5iaeJQFViJAp5DjFRA9l0lcxfjuMCzK35rZD0qoDdjaNijdD5JPamt+YEige0kp7u0+YqyYP0SBWtleS0xGiBNdLp0mQgOs7sMDYqf7wjBBbbpDgvB/6rgW5fr2yQl0yIfChp2ZXJzaW9uLnBsdWdpbi5leGFtcGxlLmNvbRIBMSgB',
    'base64',
  );
  const key = '/registry/controllerrevisions/default/golden';
  const service = { decrypt: async ({ ciphertext }: { ciphertext: Buffer }) => ciphertext } as unknown as KmsService;
  const state = (): WriteState => ({ object: { keyId: 'key-1', dekSourceType: DEK_SOURCE_SEED } }) as unknown as WriteState;
  const transformer = new EnvelopeTransformer({ provider: 'vault', service, observer: silentObserver, state, now: Date.now });
  const { value, isStale } = await transformer.fromStorage(stored.subarray('k8s:enc:kms:v2:vault:'.length), { key, resource: 'controllerrevisions.apps' });
  expect(isStale).toBe(false);
  expect(decodeEnvelope(value)).toMatchObject({ apiVersion: 'apps/v1', kind: 'ControllerRevision' });
});
