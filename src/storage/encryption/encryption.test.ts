import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../fake-clock.ts';
import { type Encryption, openEncryption } from './encryption.ts';
import { KmsPlugin } from './kms/test-plugin.ts';
import { silentObserver } from './silent-observer.ts';

const SECRETS = { group: '', resource: 'secrets' };
const CONTEXT = { key: '/registry/secrets/default/token', resource: 'secrets' };
const VALUE = Buffer.from('a stored object');

let folder: string;
let path: string;
let clock: FakeClock;
let encryption: Encryption | undefined;
let errors: string[];
let events: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-encryption-'));
  path = join(folder, 'encryption.json');
  clock = new FakeClock();
  errors = [];
  events = [];
});

afterEach(() => {
  encryption?.close();
  encryption = undefined;
  rmSync(folder, { recursive: true });
});

const aesgcm = (...names: string[]) => ({ aesgcm: { keys: names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') })) } });
const kms = (name: string) => ({ kms: { apiVersion: 'v2', name, endpoint: `unix://${join(folder, `${name}.sock`)}`, timeout: '1s' } });

const write = (...providers: object[]): void =>
  writeFileSync(
    path,
    JSON.stringify({ kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1', resources: [{ resources: ['secrets'], providers }] }),
  );

async function open(reloads: boolean): Promise<Encryption> {
  encryption = await openEncryption(path, {
    reloads,
    clock,
    observer: {
      ...silentObserver,
      loaded: (hash) => events.push(`loaded ${hash.slice(0, 7)}`),
      reloaded: (succeeded) => events.push(succeeded ? 'success' : 'failure'),
    },
    report: (error) => errors.push(error.message),
  });
  return encryption;
}

const prefixOf = (current: Encryption): string =>
  /^k8s:enc:[a-z]+:v\d:\w+/.exec(current.transformerFor(SECRETS).toStorage(VALUE, CONTEXT).toString('latin1'))?.[0] ?? 'plain';

describe('a file that can not be used is refused', () => {
  test.each([
    [
      'is not there',
      () => undefined,
      /^error while parsing file: error while loading file: error reading encryption provider configuration file ".*encryption\.json": ENOENT/,
    ],
    ['is empty', () => writeFileSync(path, ''), /^error while parsing file: error while loading file: encryption provider configuration file ".*" is empty$/],
    [
      'is no configuration',
      () => writeFileSync(path, '{}'),
      /^error while parsing file: error decoding encryption provider configuration file ".*": Object 'Kind' is missing in '\{\}'$/,
    ],
    ['is not valid', () => write(), /^error while parsing file: resources\[0\]\.providers: Required value: at least one/],
    ['names KMS v1', () => write({ kms: { name: 'a', endpoint: 'unix:///tmp/x' } }), /^error while building transformers: KMSv1 is deprecated/],
  ])('it %s', async (_what, make, message) => {
    make();
    await expect(open(false)).rejects.toThrow(message);
  });
});

describe('a file that changes', () => {
  test('is read again within a minute', async () => {
    write(aesgcm('one'));
    const current = await open(true);
    const stored = await current.transformerFor(SECRETS).toStorage(VALUE, CONTEXT);
    write(aesgcm('two', 'one'));
    clock.pass(60_000);
    await expect.poll(() => prefixOf(current)).toBe('k8s:enc:aesgcm:v1:two');
    expect(current.transformerFor(SECRETS).fromStorage(stored, CONTEXT)).toEqual({ value: VALUE, isStale: true });
    expect(events).toEqual(['loaded sha256:', 'loaded sha256:', 'success']);
  });

  test('stays as it was where it is not to be followed', async () => {
    write(aesgcm('one'));
    const current = await open(false);
    write(aesgcm('two'));
    clock.pass(600_000);
    expect(prefixOf(current)).toBe('k8s:enc:aesgcm:v1:one');
    expect(events).toEqual(['loaded sha256:']);
  });

  test('to what can not be used leaves the old one, is told, and tried again', async () => {
    write(aesgcm('one'));
    const current = await open(true);
    writeFileSync(path, 'nonsense');
    clock.pass(60_000);
    await expect.poll(() => errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^error processing encryption config file .*encryption\.json: error while parsing file: /);
    expect(prefixOf(current)).toBe('k8s:enc:aesgcm:v1:one');
    write(aesgcm('two'));
    await expect
      .poll(() => {
        clock.pass(1_000);
        return prefixOf(current);
      })
      .toBe('k8s:enc:aesgcm:v1:two');
    expect(events).toEqual(['loaded sha256:', 'failure', 'loaded sha256:', 'success']);
  });

  test('to a plug-in is used once that is well', async () => {
    const plugin = new KmsPlugin();
    plugin.healthz = 'starting';
    await plugin.listen(join(folder, 'first.sock'));
    write(aesgcm('one'));
    const current = await open(true);
    expect(await current.healthChecks[0]!.check()).toBeUndefined();
    write(kms('first'), aesgcm('one'));
    clock.pass(60_000);
    await expect.poll(() => plugin.calls.Status).toBeGreaterThan(0);
    expect(prefixOf(current)).toBe('k8s:enc:aesgcm:v1:one');
    plugin.healthz = 'ok';
    await expect
      .poll(() => {
        clock.pass(1_000);
        return prefixOf(current);
      })
      .toBe('k8s:enc:kms:v2:first');
    plugin.healthz = 'tired';
    clock.pass(20_000);
    await expect(current.healthChecks[0]!.check()).rejects.toThrow(
      'kms-provider-0: kmsv2 Provider first is not healthy, error: got unexpected healthz status: tired',
    );
    await plugin.close();
  });
});

test('there is a health check where there may be a plug-in', async () => {
  write(aesgcm('one'));
  expect((await open(false)).healthChecks).toEqual([]);
  encryption!.close();
  expect((await open(true)).healthChecks.map(({ name }) => name)).toEqual(['kms-providers']);
});
