import { X509Certificate } from 'node:crypto';
import type { FieldErrors } from '../../api/field-errors.ts';
import { pemBlocks } from '../../encoding/pem.ts';

/** Certificates that a server behind an address is trusted by: base64 of PEM, of which one at least must be good (client-go/transport rootCertPool). */
export function validateCaBundle(bundle: string, errors: FieldErrors): void {
  const problem = caBundleProblem(bundle);
  if (problem !== undefined) errors.invalid(bundle, `unable to load root certificates: ${problem}`);
}

/** Nothing at all is no fault. */
export function caBundleProblem(bundle: string): string | undefined {
  if (bundle === '') return undefined;
  const blocks = [...pemBlocks(Buffer.from(bundle, 'base64').toString())];
  if (blocks.length === 0) return 'unable to parse bytes as PEM block';
  const certificates = blocks.filter(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders);
  if (certificates.length === 0) return 'no valid certificate authority data seen';
  return certificates.some(({ bytes }) => isCertificate(bytes)) ? undefined : 'failed to parse certificate: x509: malformed certificate';
}

export function isCertificate(bytes: Buffer): boolean {
  try {
    return new X509Certificate(bytes).raw.length === bytes.length;
  } catch {
    return false;
  }
}
