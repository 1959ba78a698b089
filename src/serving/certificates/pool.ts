import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { pemBlocks } from '../../encoding/pem.ts';
import { type CertificateFields, parseCertificate } from './certificate.ts';

/** Certificates by their subject: those that are trusted, whatever they are (roots, intermediates, leaves), or those that a peer has sent along. */
export class CertificatePool {
  readonly #bySubject = new Map<string, CertificateFields[]>();
  readonly #fingerprints = new Set<string>();

  /** One that is in the pool already is left out. */
  add(certificate: CertificateFields): void {
    const fingerprint = fingerprintOf(certificate);
    if (this.#fingerprints.has(fingerprint)) return;
    this.#fingerprints.add(fingerprint);
    const subject = certificate.subject.toString('latin1');
    const others = this.#bySubject.get(subject);
    if (others) others.push(certificate);
    else this.#bySubject.set(subject, [certificate]);
  }

  has(certificate: CertificateFields): boolean {
    return this.#fingerprints.has(fingerprintOf(certificate));
  }

  /** Who may have signed a certificate. Key identifiers are hints: they say who is tried first, and refuse nobody (crypto/x509, findPotentialParents). */
  candidatesFor({ issuer, authorityKeyId }: CertificateFields): CertificateFields[] {
    const named = this.#bySubject.get(issuer.toString('latin1')) ?? [];
    if (named.length < 2) return named;
    const rank = ({ subjectKeyId }: CertificateFields): number => {
      if (subjectKeyId.equals(authorityKeyId)) return 0;
      return subjectKeyId.length === 0 || authorityKeyId.length === 0 ? 1 : 2;
    };
    return named.toSorted((first, second) => rank(first) - rank(second));
  }
}

const fingerprintOf = ({ raw }: CertificateFields): string => createHash('sha256').update(raw).digest('base64');

export function poolOf(certificates: Iterable<CertificateFields>): CertificatePool {
  const pool = new CertificatePool();
  for (const certificate of certificates) pool.add(certificate);
  return pool;
}

/** The certificates of bundles in PEM. What cannot be read is passed over, as Go's AppendCertsFromPEM does. */
export function poolOfPem(bundles: readonly string[]): CertificatePool {
  const pool = new CertificatePool();
  for (const bundle of bundles) {
    for (const { type, hasHeaders, bytes } of pemBlocks(bundle)) {
      const certificate = type === 'CERTIFICATE' && !hasHeaders ? parsed(bytes) : undefined;
      if (certificate) pool.add(certificate);
    }
  }
  return pool;
}

function parsed(bytes: Buffer): CertificateFields | undefined {
  try {
    return parseCertificate(bytes);
  } catch {
    return undefined;
  }
}

let systemRoots: CertificatePool | undefined;

/** The authorities that Node trusts where it is told of none; read once, when they are first needed. */
export function systemPool(): CertificatePool {
  systemRoots ??= poolOfPem(defaultAuthorities());
  return systemRoots;
}

function defaultAuthorities(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };
  if (getCACertificates) return getCACertificates('default');
  // Older versions of Node trust the file as well, but do not show what is in it.
  const extraFile = process.env.NODE_EXTRA_CA_CERTS;
  return extraFile ? [...tls.rootCertificates, readIfThere(extraFile)] : tls.rootCertificates;
}

/** Node warns of a file that it cannot read, and goes on without it. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
