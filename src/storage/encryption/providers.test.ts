import { afterEach, describe, expect, test } from 'vitest';
import { decodeEnvelope } from '../../schema/protobuf.ts';
import type { GroupResource } from '../../api/api-object.ts';
import type { ProviderConfiguration } from './configuration.ts';
import { type Providers, openProviders } from './providers.ts';
import { silentObserver } from './silent-observer.ts';
import type { ImmediateTransformer, Opened, Transformer, ValueContext } from './transformer.ts';

const SECRETS: GroupResource = { group: '', resource: 'secrets' };
const CONTEXT: ValueContext = { key: '/registry/secrets/default/token', resource: 'secrets' };
const VALUE = Buffer.from('k8s\0 a stored object');

const keys = (...names: string[]) => ({ keys: names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') })) });

const opened: Providers[] = [];
afterEach(() => {
  for (const providers of opened.splice(0)) providers.close();
});

async function open(...rules: [resources: string[], providers: ProviderConfiguration[]][]): Promise<Providers> {
  const providers = await openProviders({ resources: rules.map(([resources, list]) => ({ resources, providers: list })) }, { observer: silentObserver });
  opened.push(providers);
  return providers;
}

const immediate = (providers: Providers, resource = SECRETS): ImmediateTransformer => providers.transformerFor(resource) as ImmediateTransformer;
const secretsWith = async (...providers: ProviderConfiguration[]): Promise<ImmediateTransformer> => immediate(await open([['secrets'], providers]));
const read = (transformer: Transformer, value: Buffer, context = CONTEXT): Opened => transformer.fromStorage(value, context) as Opened;

describe.each(['aesgcm', 'aescbc', 'secretbox'] as const)('%s', (provider) => {
  test('writes its prefix and the name of its key, and reads what it wrote', async () => {
    const transformer = await secretsWith({ [provider]: keys('one') });
    const stored = transformer.toStorage(VALUE, CONTEXT);
    expect(stored.toString('latin1')).toMatch(new RegExp(`^k8s:enc:${provider}:v1:one:`));
    expect(stored.includes(VALUE)).toBe(false);
    expect(read(transformer, stored)).toEqual({ value: VALUE, isStale: false });
    expect(transformer.toStorage(VALUE, CONTEXT).equals(stored)).toBe(false);
  });

  test('reads with a key that is no longer the first, and says that it is stale', async () => {
    const stored = (await secretsWith({ [provider]: keys('old') })).toStorage(VALUE, CONTEXT);
    const rotated = await secretsWith({ [provider]: keys('new', 'old') });
    expect(read(rotated, stored)).toEqual({ value: VALUE, isStale: true });
    expect(rotated.toStorage(VALUE, CONTEXT).toString('latin1')).toMatch(/^k8s:enc:\w+:v1:new:/);
    expect(read(await secretsWith({ identity: {} }, { [provider]: keys('old') }), stored)).toEqual({ value: VALUE, isStale: true });
  });

  test('tells that no key fits', async () => {
    const stored = (await secretsWith({ [provider]: keys('old') })).toStorage(VALUE, CONTEXT);
    const other = await secretsWith({ [provider]: keys('new') });
    expect(() => read(other, stored)).toThrow(/^no matching key was found for the provided (AES|Secretbox) transformer$/);
  });

  test('refuses what was cut short', async () => {
    const transformer = await secretsWith({ [provider]: keys('one') });
    const prefix = Buffer.from(`k8s:enc:${provider}:v1:one:`);
    expect(() => read(transformer, Buffer.concat([prefix, Buffer.alloc(5)]))).toThrow('the stored data was shorter than the required size');
  });
});

test('two providers of one kind share a prefix: a key of the second is found', async () => {
  const stored = (await secretsWith({ aescbc: keys('old') })).toStorage(VALUE, CONTEXT);
  expect(read(await secretsWith({ aescbc: keys('new') }, { aescbc: keys('old') }), stored)).toEqual({ value: VALUE, isStale: true });
});

test('aesgcm binds a value to its key', async () => {
  const transformer = await secretsWith({ aesgcm: keys('one') });
  const stored = transformer.toStorage(VALUE, CONTEXT);
  expect(() => read(transformer, stored, { ...CONTEXT, key: '/registry/secrets/default/other' })).toThrow('cipher: message authentication failed');
});

test.each([
  ['the stored data is not a multiple of the block size', 33],
  ['invalid PKCS7 data (empty or not padded)', 16],
])('aescbc refuses: %s', async (message, length) => {
  const transformer = await secretsWith({ aescbc: keys('one') });
  expect(() => read(transformer, Buffer.concat([Buffer.from('k8s:enc:aescbc:v1:one:'), Buffer.alloc(length)]))).toThrow(message);
});

describe('identity', () => {
  test('stores plainly, and reads plain values beside encrypted ones', async () => {
    const transformer = await secretsWith({ identity: {} });
    expect(transformer.toStorage(VALUE, CONTEXT)).toEqual(VALUE);
    expect(read(transformer, VALUE)).toEqual({ value: VALUE, isStale: false });
    expect(read(await secretsWith({ aesgcm: keys('one') }, { identity: {} }), VALUE)).toEqual({ value: VALUE, isStale: true });
  });

  test('never serves ciphertext', async () => {
    const stored = (await secretsWith({ aesgcm: keys('one') })).toStorage(VALUE, CONTEXT);
    const unconfigured = immediate(await open([['configmaps'], [{ aesgcm: keys('one') }]]));
    expect(() => read(unconfigured, stored)).toThrow('identity transformer tried to read encrypted data');
    expect(() => read(unconfigured, Buffer.from('k8s:enc:new:v1:'))).toThrow('identity transformer tried to read encrypted data');
  });

  test('plain values are an error where it is not among the providers', async () => {
    const transformer = await secretsWith({ aesgcm: keys('one') });
    expect(() => read(transformer, VALUE)).toThrow('no matching prefix found');
  });
});

describe('rules', () => {
  const keyOf = (providers: Providers, resource: string, group = ''): string => {
    const stored = immediate(providers, { group, resource }).toStorage(VALUE, CONTEXT).toString('latin1');
    return /^k8s:enc:aesgcm:v1:(\w+):/.exec(stored)?.[1] ?? 'plain';
  };

  test('the one that names the resource counts, then that of its group, then that of all', async () => {
    const providers = await open(
      [['secrets', 'widgets.example.com'], [{ aesgcm: keys('named') }]],
      [['*.apps', '*.'], [{ aesgcm: keys('group') }]],
      [['*.*'], [{ aesgcm: keys('all') }]],
    );
    expect(keyOf(providers, 'secrets')).toBe('named');
    expect(keyOf(providers, 'widgets', 'example.com')).toBe('named');
    expect(keyOf(providers, 'deployments', 'apps')).toBe('group');
    expect(keyOf(providers, 'configmaps')).toBe('group');
    expect(keyOf(providers, 'jobs', 'batch')).toBe('all');
  });

  test('what no rule names is stored plainly', async () => {
    const providers = await open([['*.apps'], [{ aesgcm: keys('group') }]]);
    expect(keyOf(providers, 'secrets')).toBe('plain');
  });

  test('a resource in two rules has the providers of both', async () => {
    const providers = await open([['secrets'], [{ aesgcm: keys('first') }]], [['secrets'], [{ aesgcm: keys('second') }]]);
    const stored = (await secretsWith({ aesgcm: keys('second') })).toStorage(VALUE, CONTEXT);
    expect(read(providers.transformerFor(SECRETS), stored)).toEqual({ value: VALUE, isStale: true });
  });

  test.each([
    [['*.'], 'secrets', 'resource "secrets" is masked by earlier rule "*."'],
    [['*.apps'], 'deployments.apps', 'resource "deployments.apps" is masked by earlier rule "*.apps"'],
    [['*.*'], '*.', 'resource "*." is masked by earlier rule "*.*"'],
  ])('one that comes after a wider one is refused: %s, %s', async (wide, narrow, message) => {
    await expect(open([wide, [{ identity: {} }]], [[narrow], [{ identity: {} }]])).rejects.toThrow(message);
  });
});

test('KMS v1 is refused', async () => {
  const kms = { apiVersion: 'v1', name: 'old', endpoint: 'unix:///tmp/nowhere', timeoutMs: 3000 };
  await expect(secretsWith({ kms })).rejects.toThrow(/^KMSv1 is deprecated and will only receive security updates going forward\. Use KMSv2 instead\./);
});

/** Values of a kube-apiserver v1.36.4, whose key was the text `0123456789abcdef` twice. */
test.each([
  [
    'aesgcm',
    'g1',
    '/registry/secrets/e-a/eak0000004b-3',
    'azhzOmVuYzphZXNnY206djE6ZzE6U1SQZ9CsKx/hqhhGUTfxEHli5iaASxUPKCoE1oCatkAu9rTYzjlou/crBcQUUGos5qiOnDlaInJHBUZYJ8HqcOr29302ov0f2YJWaiEEXvhO7/84bmnAMmxVSeeHChMWWVI0vVQX4cgDfi4yelbohs5+i4rNVqKxxDlNX8hamhqh/XPMXRY7kuw0F5MG4j0UAP8+tj6xtYr/X5AW7SQ74Jm5xa/ezLcMriqz+/9IPc7urLFru9FLRkF7lTC8ae4zEP6Qaxn+8QYBEjewACiVYF3ZaibiVxD8/3TMaTtmBLjGtyE3U8SZpzYSgg==',
  ],
  [
    'aescbc',
    'c1',
    '/registry/serviceaccounts/e-a/default',
    'azhzOmVuYzphZXNjYmM6djE6YzE6UUK/XOE8oJfbjITsQqw6DVv684QR+UJg5hK3l0tYL7pb5dKdkp+4kDisFtR59tmVgZFLD80VJ/VQrxrb+LmGXywfUYNDZO04UGghCXTsd6sU/C7JB4FjBfPS/hegchQGE4DtrzIfhf+FX7VXKgU5ucczItm+tc4T8oeebtChro8=',
  ],
  [
    'secretbox',
    's1',
    '/registry/configmaps/e-a/eak00000002-1',
    'azhzOmVuYzpzZWNyZXRib3g6djE6czE6+iaOTXIGdVfdJJZNQ6komm+TJNdtDwAgYo9ZC1ByMYUhI1vqTu0sIrDCt5tD/Xrwp041WEk1L8mXLziGfytWdKKxAolWP+Br2//xqaezy4hF4MN5ItGRGebdTnS578kQh+ZJiW7evTsxvECM108asCdQ8M3sybGEqYR+qRs/Nn+YidoLu6cWfEUbV5SyMRdg9w==',
  ],
] as const)('reads what kube-apiserver wrote: %s', async (provider, name, key, stored) => {
  const secret = Buffer.from('0123456789abcdef'.repeat(2)).toString('base64');
  const transformer = await secretsWith({ [provider]: { keys: [{ name, secret }] } });
  const { value } = read(transformer, Buffer.from(stored, 'base64'), { key, resource: 'any' });
  expect(decodeEnvelope(value)).toMatchObject({ apiVersion: 'v1' });
  expect(value.includes(key.slice(key.lastIndexOf('/') + 1))).toBe(true);
});
