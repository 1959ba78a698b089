import { X509Certificate, createPrivateKey } from 'node:crypto';

/** What is wrong with a certificate and its key, in the words of Go's tls.X509KeyPair; one problem at most. */
export function keyPairProblems(certificatePem: Buffer, keyPem: Buffer): string[] {
  const problem = certificateProblem(certificatePem) ?? keyProblem(keyPem) ?? pairProblem(certificatePem, keyPem);
  return problem === undefined ? [] : [problem];
}

/** The types of a text's PEM blocks (RFC 7468). */
const blockTypes = (pem: Buffer): string[] => [...pem.toString('latin1').matchAll(/^-----BEGIN ([^\n]{1,100})-----\s*$/gm)].map(([, type]) => type!);

const isKey = (type: string): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');

function certificateProblem(pem: Buffer): string | undefined {
  const types = blockTypes(pem);
  if (types.includes('CERTIFICATE')) return undefined;
  if (types.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (types.length === 1 && types[0]!.endsWith('PRIVATE KEY'))
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}

function keyProblem(pem: Buffer): string | undefined {
  const types = blockTypes(pem);
  if (types.some(isKey)) return undefined;
  if (types.length === 0) return 'tls: failed to find any PEM data in key input';
  if (types.length === 1 && types[0] === 'CERTIFICATE') return 'tls: found a certificate rather than a key in the PEM for the private key';
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}

function pairProblem(certificatePem: Buffer, keyPem: Buffer): string | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(certificatePem);
  } catch {
    return 'x509: malformed certificate';
  }
  try {
    const key = createPrivateKey(keyPem);
    if (key.asymmetricKeyType !== certificate.publicKey.asymmetricKeyType) return 'tls: private key type does not match public key type';
    return certificate.checkPrivateKey(key) ? undefined : 'tls: private key does not match public key';
  } catch {
    return 'tls: failed to parse private key';
  }
}
