import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseCertificate, subjectOf } from './certificate.ts';
import { createAuthority, createSelfSigned, loadAuthority, signCertificate } from './create.ts';
import { checkKeyPair, decodePem, parseCertificates } from './pem.ts';

const folder = mkdtempSync(join(tmpdir(), 'binnacle-certificates-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const save = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

describe('certificates that we make', () => {
  const authority = createAuthority({ commonName: 'kubernetes-ca' });

  test('a client certificate carries its user and groups, in order', () => {
    const pair = signCertificate(authority, { commonName: 'jane', organizations: ['system:masters', 'dev, ops'], uid: 'u-1', usages: ['client'] });
    checkKeyPair(pair);
    const certificate = new X509Certificate(pair.certPem);
    expect(certificate.checkIssued(new X509Certificate(authority.certPem))).toBe(true);
    expect(certificate.verify(new X509Certificate(authority.certPem).publicKey)).toBe(true);
    expect(subjectOf(parseCertificate(certificate.raw))).toEqual({ commonName: 'jane', organizations: ['system:masters', 'dev, ops'], uids: ['u-1'] });
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  test('a self-signed one serves its name and addresses, and brings its authority along', () => {
    const pair = createSelfSigned({
      commonName: '10.0.0.1',
      hosts: ['kubernetes.default.svc', 'localhost'],
      ips: ['::1', 'fd00::ffff:10.1.2.3'],
      now: new Date('2026-11-16T00:00:00Z'),
    });
    checkKeyPair(pair);
    const [leaf, ca] = parseCertificates(pair.certPem);
    expect(leaf!.checkIssued(ca!)).toBe(true);
    expect(leaf!.subject).toBe('CN=10.0.0.1@1794787200');
    expect(leaf!.checkHost('kubernetes.default.svc')).toBe('kubernetes.default.svc');
    for (const ip of ['10.0.0.1', '::1', 'fd00::ffff:a01:203']) expect(leaf!.checkIP(ip)).toBeDefined();
    expect(leaf!.validTo).toBe('Nov 16 00:00:00 2027 GMT');
  });

  test('dates past 2049 are written in the long form', () => {
    const { certPem } = createAuthority({ commonName: 'forever', notAfter: new Date('9999-12-31T23:59:59Z') });
    expect(new X509Certificate(certPem).validTo).toBe('Dec 31 23:59:59 9999 GMT');
    expect(parseCertificate(decodePem('CERTIFICATE', certPem)[0]!).notAfter.toISOString()).toBe('9999-12-31T23:59:59.000Z');
  });

  test('an authority that was saved signs on', () => {
    const loaded = loadAuthority({ certPem: authority.certPem, keyPem: authority.keyPem });
    const { certPem } = signCertificate(loaded, { commonName: 'later', usages: ['client'] });
    expect(new X509Certificate(certPem).verify(new X509Certificate(authority.certPem).publicKey)).toBe(true);
    expect(() => loadAuthority(signCertificate(authority, { commonName: 'leaf', usages: ['client'] }))).toThrow('no certificate authority');
  });

  test('a key of another certificate is refused', () => {
    const other = createSelfSigned({ commonName: 'a' });
    expect(() => checkKeyPair({ certPem: createSelfSigned({ commonName: 'b' }).certPem, keyPem: other.keyPem })).toThrow(
      'tls: private key does not match public key',
    );
    expect(() => checkKeyPair({ certPem: '', keyPem: other.keyPem })).toThrow('tls: failed to find any PEM data in certificate input');
  });

  test.skipIf(!hasOpenssl)('openssl verifies them strictly, for their purposes', () => {
    const ca = save('ca.pem', authority.certPem);
    const intermediate = createAuthority({ commonName: 'intermediate', issuer: authority });
    const chain = save('intermediate.pem', intermediate.certPem);
    const client = save('client.pem', signCertificate(intermediate, { commonName: 'c', usages: ['client'] }).certPem);
    const server = save('server.pem', signCertificate(authority, { commonName: 's', usages: ['server'], hosts: ['*.example.com'] }).certPem);
    const verify = (...more: string[]): string => execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', ca, ...more]).toString();
    expect(verify('-purpose', 'sslclient', '-untrusted', chain, client)).toContain('OK');
    expect(verify('-purpose', 'sslserver', '-verify_hostname', 'a.example.com', server)).toContain('OK');
    expect(spawnSync('openssl', ['verify', '-CAfile', ca, '-purpose', 'sslserver', '-untrusted', chain, client]).status).not.toBe(0);
  });
});
