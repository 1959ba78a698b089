import { X509Certificate, createPrivateKey } from 'node:crypto';

/** A certificate (with its intermediates behind it) and its private key, as PEM. */
export interface KeyPair {
  certPem: string;
  keyPem: string;
}

export const encodePem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;

/** The contents of all blocks with this label, in order; text around them is skipped. */
export function decodePem(label: string, pem: string): Buffer[] {
  const begin = `-----BEGIN ${label}-----`;
  const end = `-----END ${label}-----`;
  const blocks: Buffer[] = [];
  for (let from = pem.indexOf(begin); from !== -1; from = pem.indexOf(begin, from)) {
    const to = pem.indexOf(end, from);
    if (to === -1) break;
    blocks.push(Buffer.from(pem.slice(from + begin.length, to), 'base64'));
    from = to;
  }
  return blocks;
}

/** Bundles that were parsed last: a start asks eight times for two of them, and the servers of one process have them in common. */
const recentBundles = new Map<string, readonly X509Certificate[]>();
const RECENT_BUNDLES = 8;
const RECENT_BUNDLE_CHARACTERS = 16 * 1024;

/** The certificates of a bundle. Throws when there is none or one is broken, with the message of client-go/util/cert. */
export function parseCertificates(pem: string): readonly X509Certificate[] {
  const known = recentBundles.get(pem);
  if (known !== undefined) return known;
  const blocks = decodePem('CERTIFICATE', pem);
  if (blocks.length === 0) throw new Error('data does not contain any valid RSA or ECDSA certificates');
  const certificates = blocks.map((block) => new X509Certificate(block));
  if (pem.length > RECENT_BUNDLE_CHARACTERS) return certificates;
  if (recentBundles.size >= RECENT_BUNDLES) recentBundles.delete(recentBundles.keys().next().value!);
  recentBundles.set(pem, certificates);
  return certificates;
}

/** Throws when the pair cannot serve: unreadable, empty, or a key that belongs to another certificate. */
export function checkKeyPair({ certPem, keyPem }: KeyPair): void {
  if (decodePem('CERTIFICATE', certPem).length === 0) throw new Error('tls: failed to find any PEM data in certificate input');
  if (!keyPem.includes('-----BEGIN')) throw new Error('tls: failed to find any PEM data in key input');
  const [leaf] = parseCertificates(certPem);
  if (!leaf!.checkPrivateKey(createPrivateKey(keyPem))) throw new Error('tls: private key does not match public key');
}
