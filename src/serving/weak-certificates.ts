import type { MetricRegistry } from '../metrics/registry.ts';
import type { CertificateFields } from './certificates/certificate.ts';
import { Oid } from './certificates/oids.ts';

/* Certificates of other servers that were good once, and are refused now (apiserver/pkg/util/x509metrics/server_cert_deprecations.go). */

const REASONS = {
  'missing-san': 'relies on a legacy Common Name field instead of the SAN extension for subject validation',
  'insecure-sha1': 'uses an insecure SHA-1 signature',
};

type CertificateWeakness = keyof typeof REASONS;

/** Called with the weak certificate of a server that was dialled. */
export type WeakCertificateListener = (weakness: CertificateWeakness, host: string) => void;

/** Of a certificate that was refused, by the words of the refusal. */
export function weaknessesRefused(message: string): CertificateWeakness[] {
  const weaknesses: CertificateWeakness[] = [];
  if (message.includes('x509: certificate relies on legacy Common Name field')) weaknesses.push('missing-san');
  if (/x509: cannot verify signature: insecure algorithm .*SHA1/.test(message)) weaknesses.push('insecure-sha1');
  return weaknesses;
}

/** Of certificates that were let in: nobody verifies them, or one of them is trusted as it is. A root's own signature says nothing. */
export function weaknessesOf(chain: readonly [CertificateFields, ...CertificateFields[]]): CertificateWeakness[] {
  const weaknesses: CertificateWeakness[] = [];
  if (chain[0].subjectAltName === undefined) weaknesses.push('missing-san');
  if (chain.some((certificate) => SHA1_SIGNATURES.has(certificate.signatureAlgorithm.oid) && !certificate.issuer.equals(certificate.subject)))
    weaknesses.push('insecure-sha1');
  return weaknesses;
}

const SHA1_SIGNATURES: ReadonlySet<string> = new Set([Oid.sha1WithRsa, Oid.isoSha1WithRsa, Oid.ecdsaWithSha1]);

/** Counts them, and logs which server has which. */
export function countWeakCertificates(
  registry: MetricRegistry,
  servers: 'webhooks' | 'kube_aggregator',
  log: (message: string) => void,
): WeakCertificateListener {
  const counters = {
    'missing-san': registry.family(`apiserver_${servers}_x509_missing_san_total`),
    'insecure-sha1': registry.family(`apiserver_${servers}_x509_insecure_sha1_total`),
  };
  return (weakness, host) => {
    counters[weakness].with().inc();
    log(`${weakness}.invalid-cert.kubernetes.io: invalid certificate detected connecting to ${JSON.stringify(host)}: ${REASONS[weakness]}`);
  };
}
