import { generateKeyPairSync } from 'node:crypto';
import { SIGNING_ALGORITHMS, keyId, parseJwt, signJwt } from '../../src/authentication/jwt.ts';
import { type FuzzTarget, WrongAnswer } from '../target.ts';

const KEYS = [generateKeyPairSync('ec', { namedCurve: 'P-256' }), generateKeyPairSync('rsa', { modulusLength: 2048 })];
const TOKENS = await Promise.all(
  KEYS.map(({ privateKey, publicKey }) =>
    signJwt(privateKey, keyId(publicKey), { iss: 'https://a', sub: 'system:serviceaccount:ns:a', aud: ['b'], exp: 4_000_000_000 }),
  ),
);
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The spare bits of base64url's last character are no other signature. */
const isIssued = (text: string): boolean =>
  TOKENS.some((token) => {
    const dot = token.lastIndexOf('.');
    return text.startsWith(token.slice(0, dot + 1)) && Buffer.from(text.slice(dot + 1), 'base64url').equals(Buffer.from(token.slice(dot + 1), 'base64url'));
  });

/** A token whose signature is right is one that was issued. */
export const jwt: FuzzTarget = {
  name: 'jwt',
  seeds: () => [
    ...TOKENS,
    `${encoded({ alg: 'none' })}.${encoded({ sub: 'root' })}.`,
    ...TOKENS.map((token) => `${encoded({ alg: 'HS256' })}${token.slice(token.indexOf('.'))}`),
  ],
  tokens: ['.', '..', '=', '-', '_', 'e30', 'e30.e30.e30', encoded({ alg: 'none' }), encoded({ alg: 'ES256', crit: ['x'] }), encoded({ alg: 'RS256' }), 'AAAA'],
  refusals: [],
  run(input) {
    const text = input.toString();
    const parsed = parseJwt(text);
    if (!parsed) return;
    for (const { publicKey } of KEYS) {
      if (!parsed.isSignedBy(publicKey) && !parsed.isSignedBy(publicKey, SIGNING_ALGORITHMS)) continue;
      if (!isIssued(text)) throw new WrongAnswer('a token that nobody signed is taken');
    }
  },
};
