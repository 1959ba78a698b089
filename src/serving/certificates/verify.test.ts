import { describe, expect, test } from 'vitest';
import { subjectOf } from './certificate.ts';
import { type Authority, createAuthority, signCertificate } from './create.ts';
import { decodePem, encodePem } from './pem.ts';
import { type CertificateRecipe, type Name, makeCertificates } from './test-certificates.ts';
import { verifyClientChain } from './verify.ts';

/* What is decided about which chain is in chains.test.ts. Here: which chain is found, and what it may cost. */

const derOf = (pem: string): Buffer => decodePem('CERTIFICATE', pem)[0]!;
const client = (authority: Authority): Buffer => derOf(signCertificate(authority, { commonName: 'jane', usages: ['client'] }).certPem);

/** The recipes' certificates; the first is trusted, the last is the leaf, all else is sent along. */
function made(recipes: Record<string, CertificateRecipe>): { chain: Buffer[]; trusted: string[] } {
  const [root, ...others] = [...makeCertificates(recipes, new Date()).values()].map(({ der }) => der);
  return { chain: others.toReversed(), trusted: [encodePem('CERTIFICATE', root!)] };
}

/** In CPU time: the machine may have other things to do. */
function cpuMsOf(action: () => void): number {
  const before = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('verifyClientChain', () => {
  test('the chain that was found, leaf first', () => {
    const root = createAuthority({ commonName: 'root' });
    const first = createAuthority({ commonName: 'first', issuer: root });
    const second = createAuthority({ commonName: 'second', issuer: first });
    const chain = verifyClientChain([client(second), derOf(first.certPem), derOf(second.certPem)], [root.certPem]);
    expect(chain.map((link) => subjectOf(link).commonName)).toEqual(['jane', 'second', 'first', 'root']);
  });

  test('a bundle may hold what cannot be read', () => {
    const root = createAuthority({ commonName: 'root' });
    expect(verifyClientChain([client(root)], [`${encodePem('CERTIFICATE', Buffer.from('x'))}${root.certPem}`])).toHaveLength(2);
  });

  test('intermediates that issue each other do not keep the server busy', () => {
    const root = createAuthority({ commonName: 'root' });
    const ring = Array.from({ length: 9 }, () => createAuthority({ commonName: 'ring' }));
    const ways = ring.flatMap(({ key }) => ring.map((issuer) => derOf(createAuthority({ commonName: 'ring', key, issuer }).certPem)));
    expect(() => verifyClientChain([client(ring[0]!), ...ways], [root.certPem])).toThrow(
      'x509: signature check attempts limit reached while verifying certificate chain',
    );
  });

  test('keys larger than any that is used are refused before anything is verified', () => {
    const huge: CertificateRecipe = { ca: true, subject: 'ring', key: 'rsa16384' };
    const { chain, trusted } = made({
      root: { ca: true },
      ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`huge${index}`, huge])),
      leaf: { by: 'huge0' },
    });
    const refusal = (): void =>
      expect(() => verifyClientChain(chain, trusted)).toThrow('tls: client sent certificate containing RSA key larger than 8192 bits');
    refusal();
    // One signature check of RSA-16384 takes 7 ms.
    expect(cpuMsOf(() => Array.from({ length: 10 }, refusal))).toBeLessThan(70);
  });

  test('large keys count for more than one check', () => {
    const large = (index: number): CertificateRecipe => ({ ca: true, subject: 'ring', key: 'rsa8192', subjectKeyId: index });
    const ring = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`large${index}`, large(index)]));
    const { chain, trusted } = made({ root: { ca: true }, ...ring, leaf: { by: 'large0' } });
    expect(() => verifyClientChain(chain, trusted)).toThrow('x509: signature check attempts limit reached while verifying certificate chain');
  });

  test('many names below many constraints are refused rather than compared', () => {
    const many = (prefix: string): Name[] => Array.from({ length: 2000 }, (_, index): Name => `dns:${prefix}${index}.example`);
    const { chain, trusted } = made({
      root: { ca: true, excluded: many('x') },
      leaf: { by: 'root', names: many('y') },
    });
    const cpuMs = cpuMsOf(() =>
      expect(() => verifyClientChain(chain, trusted)).toThrow(
        'x509: a root or intermediate certificate is not authorized to sign for this name: too many names and constraints to compare',
      ),
    );
    expect(cpuMs).toBeLessThan(500);
  });
});
