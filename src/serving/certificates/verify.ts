import { X509Certificate } from 'node:crypto';
import { type CertificateFields, Oid, parseCertificate } from './certificate.ts';
import { parseCertificates } from './pem.ts';

/** A certificate both ways: our fields for what it says, OpenSSL's object for whether a signature is true. */
interface VerifiableCertificate {
  fields: CertificateFields;
  x509: X509Certificate;
}

/** As many links as a chain may have; a client sends these, so they are few. */
const MAX_CHAIN_LENGTH = 10;
/** A client's intermediates can be made to issue each other: without a limit the ways through them would be countless. The number is Go's. */
const MAX_SIGNATURE_CHECKS = 100;
const KEY_USAGE_CERT_SIGN_BIT = 1 << 5;

/** Bundles that were parsed before, so that a handshake does not parse the CA again. Keyed by the array: pass the same one while it is unchanged. */
const parsedBundles = new WeakMap<readonly string[], VerifiableCertificate[]>();

/**
 * Follows a client's chain (DER, leaf first, intermediates in any order) to one of the authorities, as Go's x509.Verify with ExtKeyUsageClientAuth:
 * signatures, validity of every link at `now`, right to sign, path length, and extended key usage. Returns the chain that was found, leaf first,
 * the authority last. Throws an Error that says, in Go's words, why there is none.
 */
export function verifyClientChain(chainDer: readonly Buffer[], caPem: readonly string[], now: Date = new Date()): CertificateFields[] {
  const authorities = authoritiesOf(caPem);
  const [leaf, ...intermediates] = chainDer.slice(0, MAX_CHAIN_LENGTH).map(parse);
  if (!leaf) throw new Error('x509: no certificate');
  checkLink(leaf.fields, now);
  const failures: Error[] = [];
  const chain = authorities.some(({ fields }) => fields.raw.equals(leaf.fields.raw))
    ? [leaf.fields]
    : findChain([leaf], { intermediates, authorities, now, failures, signatureChecks: 0 });
  if (!chain) throw failures[0] ?? new Error('x509: certificate signed by unknown authority');
  if (!chain.every(allowsClientAuth)) throw new Error('x509: certificate specifies an incompatible key usage');
  return chain;
}

const parse = (der: Buffer): VerifiableCertificate => ({ fields: parseCertificate(der), x509: new X509Certificate(der) });

function authoritiesOf(caPem: readonly string[]): VerifiableCertificate[] {
  let parsed = parsedBundles.get(caPem);
  if (!parsed) {
    parsed = caPem.flatMap(parseCertificates).map((x509) => ({ x509, fields: parseCertificate(x509.raw) }));
    parsedBundles.set(caPem, parsed);
  }
  return parsed;
}

interface Search {
  intermediates: readonly VerifiableCertificate[];
  authorities: readonly VerifiableCertificate[];
  now: Date;
  /** Why issuers that were found could not be used. */
  failures: Error[];
  signatureChecks: number;
}

function findChain(path: readonly VerifiableCertificate[], search: Search): CertificateFields[] | undefined {
  const last = path.at(-1)!;
  for (const authority of search.authorities) {
    if (hasIssued(authority, last, search) && mayIssue(authority.fields, path, search)) return [...path, authority].map(({ fields }) => fields);
  }
  for (const intermediate of search.intermediates) {
    if (path.includes(intermediate) || !hasIssued(intermediate, last, search) || !mayIssue(intermediate.fields, path, search)) continue;
    const chain = findChain([...path, intermediate], search);
    if (chain) return chain;
  }
  return undefined;
}

function hasIssued(issuer: VerifiableCertificate, certificate: VerifiableCertificate, search: Search): boolean {
  if (!issuer.fields.subject.equals(certificate.fields.issuer)) return false;
  if (++search.signatureChecks > MAX_SIGNATURE_CHECKS) throw new Error('x509: signature check attempts limit reached while verifying certificate chain');
  return certificate.x509.verify(issuer.x509.publicKey);
}

/** Whether a certificate may stand behind this path. What stands against it is kept, to be told if nothing else is found. */
function mayIssue(issuer: CertificateFields, path: readonly VerifiableCertificate[], { now, failures }: Search): boolean {
  try {
    checkLink(issuer, now);
    const maySign = issuer.isCa && (issuer.keyUsage === undefined || (issuer.keyUsage & KEY_USAGE_CERT_SIGN_BIT) !== 0);
    if (!maySign) throw new Error('x509: certificate is not authorized to sign other certificates');
    if (issuer.maxPathLength !== undefined && path.length - 1 > issuer.maxPathLength)
      throw new Error('x509: too many intermediates for path length constraint');
    return true;
  } catch (error) {
    failures.push(error as Error);
    return false;
  }
}

function checkLink({ notBefore, notAfter, unhandledCritical }: CertificateFields, now: Date): void {
  if (unhandledCritical.length > 0) throw new Error('x509: unhandled critical extension');
  const outOfDate = 'x509: certificate has expired or is not yet valid: current time';
  if (now < notBefore) throw new Error(`${outOfDate} ${rfc3339(now)} is before ${rfc3339(notBefore)}`);
  if (now > notAfter) throw new Error(`${outOfDate} ${rfc3339(now)} is after ${rfc3339(notAfter)}`);
}

const rfc3339 = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z');

const allowsClientAuth = ({ extendedKeyUsage }: CertificateFields): boolean =>
  extendedKeyUsage === undefined || extendedKeyUsage.includes(Oid.clientAuth) || extendedKeyUsage.includes(Oid.anyExtendedKeyUsage);
