import { afterEach, describe, expect, test } from 'vitest';
import { Random } from '../../util/test-random.ts';
import type { ProviderConfiguration } from './configuration.ts';
import { EnvelopeTransformer, type WriteState } from './kms/envelope.ts';
import { DEK_SOURCE_SEED, encodeEncryptedObject } from './kms/messages.ts';
import type { KmsService } from './kms/service.ts';
import { extendedNonceTransformer } from './aes.ts';
import { type Providers, openProviders } from './providers.ts';
import { silentObserver } from './silent-observer.ts';
import type { ImmediateTransformer, Opened, Transformer, ValueContext } from './transformer.ts';

/* Stored values that somebody has changed: an authenticated provider gives the value back or an Error, and never another value. */

const CONTEXT: ValueContext = { key: '/registry/secrets/default/token', resource: 'secrets' };
const VALUE = Buffer.from('k8s\0 a stored object');
const keys = (...names: string[]) => ({ keys: names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') })) });

const opened: Providers[] = [];
afterEach(() => {
  for (const providers of opened.splice(0)) providers.close();
});

async function secretsWith(...providers: ProviderConfiguration[]): Promise<ImmediateTransformer> {
  const all = await openProviders({ resources: [{ resources: ['secrets'], providers }] }, { observer: silentObserver });
  opened.push(all);
  return all.transformerFor({ group: '', resource: 'secrets' }) as ImmediateTransformer;
}

/** The value; undefined where it is refused. What is thrown is an Error. */
async function read(transformer: Transformer, stored: Buffer, context = CONTEXT): Promise<Buffer | undefined> {
  try {
    return ((await transformer.fromStorage(stored, context)) as Opened).value;
  } catch (error) {
    if (!(error instanceof Error)) throw new TypeError('not an Error', { cause: error });
    return undefined;
  }
}

function changed(random: Random, stored: Buffer): Buffer {
  const bytes = Buffer.from(stored);
  const way = random.below(4);
  if (way === 0) return bytes.subarray(0, random.below(bytes.length));
  if (way === 1) return Buffer.concat([bytes, Buffer.alloc(1 + random.below(40), random.below(256))]);
  for (let count = 1 + random.below(3); count > 0; count--) bytes[random.below(bytes.length)]! ^= 1 + random.below(255);
  return bytes;
}

describe.each(['aesgcm', 'secretbox'] as const)('%s', (provider) => {
  test('5,000 values that were changed, cut or lengthened are refused', async () => {
    const random = new Random(1);
    const transformer = await secretsWith({ [provider]: keys('one', 'two') });
    const stored = transformer.toStorage(VALUE, CONTEXT);
    for (let round = 0; round < 5000; round++) {
      const bytes = changed(random, stored);
      if (bytes.equals(stored)) continue;
      if ((await read(transformer, bytes)) !== undefined) throw new Error(`round ${round}: ${bytes.toString('hex')}`);
    }
    expect(await read(transformer, stored)).toEqual(VALUE);
  });

  test('the name of another key, another provider’s prefix and none are refused', async () => {
    const transformer = await secretsWith({ [provider]: keys('one', 'two') }, { [provider === 'aesgcm' ? 'secretbox' : 'aesgcm']: keys('one', 'two') });
    const stored = transformer.toStorage(VALUE, CONTEXT).toString('latin1');
    const other = provider === 'aesgcm' ? 'secretbox' : 'aesgcm';
    for (const text of [
      stored.replace(':one:', ':two:'),
      stored.replace(':one:', ':three:'),
      stored.replace(':one:', '::'),
      stored.replace(provider, other),
      stored.replace(':v1:', ':v2:'),
      stored.replace(/^k8s:enc:\w+:v1:one:/, ''),
      'k8s:enc:',
      'k8s:enc:kms:v2:',
      '',
    ]) {
      expect(await read(transformer, Buffer.from(text, 'latin1'))).toBeUndefined();
    }
  });
});

test('a value of aesgcm is of no use under another name; those of aescbc and secretbox do not say, as upstream’s', async () => {
  const elsewhere = { ...CONTEXT, key: '/registry/secrets/other/token' };
  const transformer = await secretsWith({ aesgcm: keys('one') });
  expect(await read(transformer, transformer.toStorage(VALUE, CONTEXT), elsewhere)).toBeUndefined();
});

test('aescbc, which nothing authenticates, refuses or gives back bytes, and no more', async () => {
  const random = new Random(2);
  const transformer = await secretsWith({ aescbc: keys('one') });
  const stored = transformer.toStorage(VALUE, CONTEXT);
  for (let round = 0; round < 5000; round++) {
    const value = await read(transformer, changed(random, stored));
    if (value && value.length > stored.length + 64) throw new Error(`round ${round}`);
  }
});

describe('KMS', () => {
  const seed = Buffer.alloc(32, 7);
  const annotations = new Map([['a.example.com', Buffer.from('1')]]);
  const object = { encryptedData: Buffer.alloc(0), keyId: 'key-1', encryptedDekSource: Buffer.from('sealed'), annotations, dekSourceType: DEK_SOURCE_SEED };
  const state: WriteState = { object, transformer: extendedNonceTransformer(seed), expiresAtMs: Infinity };
  /** Decrypts what it is given to what the test says. */
  const envelope = (decrypt: (ciphertext: Buffer, keyId: string) => Promise<Buffer>): EnvelopeTransformer => {
    const service = { decrypt: ({ ciphertext, keyId }: { ciphertext: Buffer; keyId: string }) => decrypt(ciphertext, keyId) } as unknown as KmsService;
    return new EnvelopeTransformer({ provider: 'test', service, observer: silentObserver, state: () => state, now: () => 0 });
  };
  const good = (): EnvelopeTransformer =>
    envelope((ciphertext, keyId) => (ciphertext.toString() === 'sealed' && keyId === 'key-1' ? Promise.resolve(seed) : Promise.reject(new Error('no'))));
  const stored = encodeEncryptedObject({ ...object, encryptedData: state.transformer.toStorage(VALUE, CONTEXT) });

  test('a good value is read', async () => expect(await read(good(), stored)).toEqual(VALUE));

  test('10,000 envelopes that were changed give the value, or nothing', async () => {
    const random = new Random(3);
    for (let round = 0; round < 10_000; round++) {
      const value = await read(good(), changed(random, stored));
      // What authenticates nothing, an annotation say, may have changed.
      if (value !== undefined && !value.equals(VALUE)) throw new Error(`round ${round}`);
    }
  });

  test.each<[string, Buffer]>([
    ['no key', Buffer.alloc(0)],
    ['a short one', Buffer.alloc(31, 7)],
    ['another one', Buffer.alloc(32, 8)],
    ['one of four megabytes', Buffer.alloc(4 * 1024 * 1024, 7)],
  ])('a plug-in that decrypts to %s gives no value', async (_, answer) => {
    const answers = [answer, seed];
    const transformer = envelope(() => Promise.resolve(answers.shift()!));
    expect(await read(transformer, stored)).toBeUndefined();
    // And is asked again: what was wrong is not remembered, and what was right is.
    expect(await read(transformer, stored)).toEqual(VALUE);
    expect(await read(transformer, stored)).toEqual(VALUE);
  });

  test('a value is of no use under another name', async () => {
    expect(await read(good(), stored, { ...CONTEXT, key: '/registry/secrets/other/token' })).toBeUndefined();
  });
});
