import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { algorithmOf, keyId, parseJwt, signJwt } from './jwt.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const KEYS = [
  ['RS256', rsa],
  ['ES256', curve('P-256')],
  ['ES384', curve('P-384')],
  ['ES512', curve('P-521')],
] as const;
const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

describe.each(KEYS)('%s', (algorithm, { privateKey, publicKey }) => {
  test('what is signed can be verified, and nothing else', async () => {
    const token = await signJwt(privateKey, keyId(publicKey), { iss: 'me', n: 1 });
    const jwt = parseJwt(token)!;
    expect(algorithmOf(publicKey)).toBe(algorithm);
    expect([jwt.header, jwt.claims]).toEqual([
      { alg: algorithm, kid: keyId(publicKey) },
      { iss: 'me', n: 1 },
    ]);
    expect(jwt.isSignedBy(publicKey)).toBe(true);
    const [header, , signature] = token.split('.');
    const altered = `${header}.${Buffer.from('{"iss":"me","n":2}').toString('base64url')}.${signature}`;
    expect(parseJwt(altered)!.isSignedBy(publicKey)).toBe(false);
    expect(jwt.isSignedBy(curve('P-256').publicKey)).toBe(false);
  });
});

test("a token's own choice of algorithm is not followed", () => {
  for (const alg of ['none', 'HS256', 'RS512']) expect(parseJwt(`${encode({ alg })}.${encode({ iss: 'me' })}.AAAA`)!.isSignedBy(rsa.publicKey)).toBe(false);
});

test.each(['', 'a.b', 'a.b.c', 'e30.e30.', 'e30.W10.AAAA', `${'e30'}.${'@@'}.AAAA`, '{"payload":"x"}'])('%j is no token', (text) => {
  expect(parseJwt(text)).toBeUndefined();
});

test('a key is named by its public part', () => {
  expect(keyId(createPublicKey(rsa.privateKey))).toBe(keyId(rsa.publicKey));
});
