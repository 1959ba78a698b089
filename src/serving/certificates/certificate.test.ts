import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { describeCertificate, parseCertificate, subjectOf } from './certificate.ts';
import { createAuthority, signCertificate } from './create.ts';
import { DerError } from '../../encoding/der.ts';
import { decodePem } from './pem.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const makeWithOpenssl = (...options: string[]): Buffer =>
  decodePem(
    'CERTIFICATE',
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null', '-days', '2', ...options],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    ).toString(),
  )[0]!;

function failureOf(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('what a certificate says', () => {
  test.skipIf(!hasOpenssl)('a subject with several values in one RDN, escapes and several names', () => {
    const der = makeWithOpenssl('-subj', '/C=US/O=a\\/b+O=c, d/OU=x/O=Käse = "gut"/CN=first/CN=last', '-multivalue-rdn', '-utf8');
    const { commonName, organizations } = subjectOf(parseCertificate(der));
    expect(commonName).toBe('last');
    expect(organizations.toSorted()).toEqual(['Käse = "gut"', 'a/b', 'c, d'].toSorted());
  });

  test.skipIf(!hasOpenssl)('key ids, serial number and names, as openssl wrote them', () => {
    const der = makeWithOpenssl(
      '-subj',
      '/CN=x',
      '-set_serial',
      '255',
      '-addext',
      'subjectAltName=DNS:a.example,DNS:*.b.example,IP:1.2.3.4',
      '-addext',
      'extendedKeyUsage=clientAuth',
    );
    const fields = parseCertificate(der);
    expect(fields.dnsNames).toEqual(['a.example', '*.b.example']);
    expect(fields.extendedKeyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(fields.isCa).toBe(true);
    expect(describeCertificate(fields)).toMatch(/^SN=255, SKID=([0-9A-F]{2}:){19}[0-9A-F]{2}, AKID=([0-9A-F]{2}:){19}[0-9A-F]{2}$/);
  });

  test('the authorities that Node trusts can all be read', () => {
    expect(rootCertificates.length).toBeGreaterThan(100);
    for (const pem of rootCertificates) {
      const { subject, publicKey, isCa, version } = parseCertificate(decodePem('CERTIFICATE', pem)[0]!);
      expect(subject.length > 0 && publicKey.type !== undefined && (isCa || version === 1)).toBe(true);
    }
  });

  test('made-up bytes are a DerError, whatever they are', () => {
    const authority = createAuthority({ commonName: 'ca' });
    const good = decodePem('CERTIFICATE', signCertificate(authority, { commonName: 'x', organizations: ['o'], usages: ['client'], hosts: ['h'] }).certPem)[0]!;
    for (let round = 0; round < 3000; round++) {
      const bytes = round % 2 ? Buffer.from(good) : randomBytes(round % 300);
      if (round % 2) for (let i = 0; i < 3; i++) bytes[Math.floor(Math.random() * bytes.length)] = Math.floor(Math.random() * 256);
      expect(failureOf(() => subjectOf(parseCertificate(bytes))) ?? new DerError()).toBeInstanceOf(DerError);
    }
    for (let length = 0; length < 40; length++) expect(() => parseCertificate(good.subarray(0, length))).toThrow(DerError);
  });
});
