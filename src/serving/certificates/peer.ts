import type { TLSSocket } from 'node:tls';
import { type CertificateFields, parseCertificate } from './certificate.ts';
import { goTypeOf } from './signature.ts';

/** OpenSSL takes 100 KB of certificates from a peer, room for hundreds of small ones; no real chain has more than ten. */
const MAX_PEER_CERTIFICATES = 100;

/** The certificates that a peer has sent, leaf first, in its order. Read once per socket: Node takes them out of the connection's own list. */
export function peerCertificatesOf(socket: TLSSocket): Buffer[] {
  const chain: Buffer[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate && chain.length < MAX_PEER_CERTIFICATES) {
    chain.push(certificate.raw);
    certificate = certificate.issuerCertificate;
  }
  return chain;
}

/** crypto/tls, defaultMaxRSAKeySize: larger keys cost a verifier more than they are worth. */
const MAX_RSA_BITS = 8192;

/** Parses a chain, and refuses what crypto/tls refuses in a handshake before it verifies anything. Errors are in its words. */
export function parsePeerCertificates(chainDer: readonly Buffer[], side: 'client' | 'server'): [CertificateFields, ...CertificateFields[]] {
  const [leaf, ...others] = chainDer.map((der) => parsed(der, side));
  if (!leaf) throw new Error(side === 'client' ? "tls: client didn't provide a certificate" : 'tls: received empty certificates message');
  return [leaf, ...others];
}

/** Keys that crypto/tls makes no handshake with. A client looks at this when it has verified the server; a server that only asks for certificates, at once. */
export function checkKeyType({ publicKey }: CertificateFields, side: 'client' | 'server'): void {
  const { type } = publicKey;
  if (type === 'rsa' || type === 'ecdsa' || type === 'ed25519') return;
  throw new Error(
    side === 'client'
      ? `tls: client certificate contains an unsupported public key of type ${goTypeOf(publicKey)}`
      : `tls: server's certificate contains an unsupported type of public key: ${goTypeOf(publicKey)}`,
  );
}

function parsed(der: Buffer, side: 'client' | 'server'): CertificateFields {
  let certificate: CertificateFields;
  try {
    certificate = parseCertificate(der);
  } catch (error) {
    throw new Error(`tls: failed to parse ${side === 'client' ? 'client certificate' : 'certificate from server'}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const { type, bits } = certificate.publicKey;
  if (type === 'rsa' && bits > MAX_RSA_BITS) throw new Error(`tls: ${side} sent certificate containing RSA key larger than ${MAX_RSA_BITS} bits`);
  return certificate;
}
