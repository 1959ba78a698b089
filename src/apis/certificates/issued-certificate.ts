import { quote } from '../../util/go-quote.ts';
import { pemBlocks } from '../../encoding/pem.ts';
import { isCertificate } from '../validation/ca-bundle.ts';

const CERTIFICATE = 'CERTIFICATE';

/** What keeps a text from being a chain of certificates in PEM, in upstream's words; nothing at all is no fault. */
export function certificateProblem(pem: string): string | undefined {
  if (pem === '') return undefined;
  let count = 0;
  for (const { type, hasHeaders, bytes } of pemBlocks(pem)) {
    if (type !== CERTIFICATE) return `only CERTIFICATE PEM blocks are allowed, found ${quote(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
    count++;
  }
  return count === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}
