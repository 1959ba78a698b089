import { createPrivateKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { subjectOf } from './certificate.ts';
import { type Authority, createAuthority, signCertificate } from './create.ts';
import { decodePem } from './pem.ts';
import { verifyClientChain } from './verify.ts';

const derOf = (pem: string): Buffer => decodePem('CERTIFICATE', pem)[0]!;
const client = (authority: Authority, more: Partial<Parameters<typeof signCertificate>[1]> = {}): Buffer =>
  derOf(signCertificate(authority, { commonName: 'jane', usages: ['client'], ...more }).certPem);

const at = (time: string): Date => new Date(time);

describe('verifyClientChain', () => {
  const root = createAuthority({ commonName: 'root' });
  const bundle = [root.certPem];

  test('a client of the authority, directly or through intermediates in any order', () => {
    const first = createAuthority({ commonName: 'first', issuer: root });
    const second = createAuthority({ commonName: 'second', issuer: first });
    expect(verifyClientChain([client(root)], bundle)).toHaveLength(2);
    const chain = verifyClientChain([client(second), derOf(first.certPem), derOf(second.certPem)], bundle);
    expect(chain.map((link) => subjectOf(link).commonName)).toEqual(['jane', 'second', 'first', 'root']);
    expect(() => verifyClientChain([client(second), derOf(second.certPem)], bundle)).toThrow('x509: certificate signed by unknown authority');
  });

  test('an authority of the same name is not the authority', () => {
    expect(() => verifyClientChain([client(createAuthority({ commonName: 'root' }))], bundle)).toThrow('x509: certificate signed by unknown authority');
  });

  test('one of several authorities is enough; none is not', () => {
    expect(verifyClientChain([client(root)], [createAuthority({ commonName: 'other' }).certPem, root.certPem])).toHaveLength(2);
    expect(() => verifyClientChain([client(root)], [])).toThrow('signed by unknown authority');
  });

  test('dates are those of the clock that is given, for every link', () => {
    const leaf = client(root, { notBefore: new Date('2026-01-01T00:00:00Z'), notAfter: new Date('2026-02-01T00:00:00Z') });
    const old = createAuthority({ commonName: 'old', notBefore: new Date('2025-01-01T00:00:00Z'), notAfter: new Date('2026-01-10T00:00:00Z') });
    expect(() => verifyClientChain([leaf], bundle, at('2026-03-01T00:00:00Z'))).toThrow(
      'x509: certificate has expired or is not yet valid: current time 2026-03-01T00:00:00Z is after 2026-02-01T00:00:00Z',
    );
    expect(() => verifyClientChain([leaf], bundle, at('2025-12-01T00:00:00Z'))).toThrow('2025-12-01T00:00:00Z is before 2026-01-01T00:00:00Z');
    const underOld = client(old, { notBefore: at('2026-01-01T00:00:00Z') });
    expect(verifyClientChain([underOld], [old.certPem], at('2026-01-05T00:00:00Z'))).toHaveLength(2);
    expect(() => verifyClientChain([underOld], [old.certPem], at('2026-01-20T00:00:00Z'))).toThrow('has expired');
  });

  test('a serving certificate is no client', () => {
    expect(() => verifyClientChain([client(root, { usages: ['server'] })], bundle)).toThrow('x509: certificate specifies an incompatible key usage');
    expect(verifyClientChain([client(root, { usages: ['server', 'client'] })], bundle)).toHaveLength(2);
  });

  test('a client cannot sign further clients', () => {
    const middle = signCertificate(root, { commonName: 'middle', usages: ['client'] });
    const pretended: Authority = { ...createAuthority({ commonName: 'middle' }), key: createPrivateKey(middle.keyPem) };
    expect(() => verifyClientChain([client(pretended), derOf(middle.certPem)], bundle)).toThrow(
      'x509: certificate signed by unknown authority (possibly because of "x509: invalid signature: parent certificate cannot sign this kind of certificate" while trying to verify candidate authority certificate "middle")',
    );
  });

  test('intermediates that issue each other do not keep the server busy', () => {
    const ring = Array.from({ length: 9 }, () => createAuthority({ commonName: 'ring' }));
    const ways = ring.flatMap(({ key }) => ring.map((issuer) => derOf(createAuthority({ commonName: 'ring', key, issuer }).certPem)));
    expect(() => verifyClientChain([client(ring[0]!), ...ways], bundle)).toThrow('x509: signature check attempts limit reached while verifying certificate chain');
  });
});
