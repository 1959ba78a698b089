import { type KeyObject, constants, createPublicKey, verify } from 'node:crypto';
import { DerReader, Tag, contextTag, readOid, readSigned } from '../../encoding/der.ts';
import type { AlgorithmIdentifier, CertificateFields } from './certificate.ts';
import { Oid } from './oids.ts';
import type { KeyType, PublicKeyFields } from './public-key.ts';

interface SignatureAlgorithm {
  /** Go's, as errors say it. */
  name: string;
  keyType: KeyType;
  /** Undefined: the key's algorithm has its own. */
  digest: string | undefined;
  isPss?: boolean;
}

const ALGORITHMS: ReadonlyMap<string, SignatureAlgorithm> = new Map([
  [Oid.md5WithRsa, { name: 'MD5-RSA', keyType: 'rsa', digest: 'md5' }],
  [Oid.sha1WithRsa, { name: 'SHA1-RSA', keyType: 'rsa', digest: 'sha1' }],
  [Oid.isoSha1WithRsa, { name: 'SHA1-RSA', keyType: 'rsa', digest: 'sha1' }],
  [Oid.rsaWithSha256, { name: 'SHA256-RSA', keyType: 'rsa', digest: 'sha256' }],
  [Oid.rsaWithSha384, { name: 'SHA384-RSA', keyType: 'rsa', digest: 'sha384' }],
  [Oid.rsaWithSha512, { name: 'SHA512-RSA', keyType: 'rsa', digest: 'sha512' }],
  [Oid.dsaWithSha1, { name: 'DSA-SHA1', keyType: 'dsa', digest: 'sha1' }],
  [Oid.dsaWithSha256, { name: 'DSA-SHA256', keyType: 'dsa', digest: 'sha256' }],
  [Oid.ecdsaWithSha1, { name: 'ECDSA-SHA1', keyType: 'ecdsa', digest: 'sha1' }],
  [Oid.ecdsaWithSha256, { name: 'ECDSA-SHA256', keyType: 'ecdsa', digest: 'sha256' }],
  [Oid.ecdsaWithSha384, { name: 'ECDSA-SHA384', keyType: 'ecdsa', digest: 'sha384' }],
  [Oid.ecdsaWithSha512, { name: 'ECDSA-SHA512', keyType: 'ecdsa', digest: 'sha512' }],
]);
const ED25519: SignatureAlgorithm = { name: 'Ed25519', keyType: 'ed25519', digest: undefined };
const INSECURE_DIGESTS: ReadonlySet<string | undefined> = new Set(['md5', 'sha1']);

const KEY_NAMES: Readonly<Record<KeyType, string>> = { rsa: 'RSA', ecdsa: 'ECDSA', ed25519: 'Ed25519', dsa: 'DSA' };
const GO_TYPES: Readonly<Record<KeyType, string>> = {
  rsa: '*rsa.PublicKey',
  ecdsa: '*ecdsa.PublicKey',
  ed25519: 'ed25519.PublicKey',
  dsa: '*dsa.PublicKey',
};

/** What Go's `%T` shows of a key. */
export const goTypeOf = ({ type }: PublicKeyFields): string => (type ? GO_TYPES[type] : '<nil>');

const UNSUPPORTED = 'x509: cannot verify signature: algorithm unimplemented';
const KEY_USAGE_CERT_SIGN_BIT = 1 << 5;

/** Why a certificate is not signed by this key's owner, in Go's words; undefined where it is (crypto/x509, CheckSignatureFrom). */
export function signatureProblem(certificate: CertificateFields, parent: CertificateFields): string | undefined {
  const isNoCa = parent.hasBasicConstraints ? !parent.isCa : parent.version === 3;
  const mayNotSign = parent.keyUsage !== 0 && (parent.keyUsage & KEY_USAGE_CERT_SIGN_BIT) === 0;
  if (isNoCa || mayNotSign) return 'x509: invalid signature: parent certificate cannot sign this kind of certificate';
  const algorithm = algorithmOf(certificate.signatureAlgorithm);
  if (!algorithm || !parent.publicKey.type) return UNSUPPORTED;
  if (INSECURE_DIGESTS.has(algorithm.digest)) return `x509: cannot verify signature: insecure algorithm ${algorithm.name}`;
  return keyProblem(algorithm, parent.publicKey) ?? (isSigned(certificate, algorithm, parent.publicKey) ? undefined : FAILURES[algorithm.keyType]);
}

const FAILURES: Readonly<Record<string, string>> = {
  rsa: 'crypto/rsa: verification error',
  ecdsa: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
};

function keyProblem(algorithm: SignatureAlgorithm, key: PublicKeyFields): string | undefined {
  const isUsable = key.type === 'rsa' || key.type === 'ecdsa' || key.type === 'ed25519';
  if (!isUsable) return UNSUPPORTED;
  if (key.type !== algorithm.keyType)
    return `x509: signature algorithm specifies an ${KEY_NAMES[algorithm.keyType]} public key, but have public key of type ${goTypeOf(key)}`;
  return key.problem;
}

/** OpenSSL's objects for keys that were used. */
const keyObjects = new WeakMap<PublicKeyFields, KeyObject>();

function isSigned({ tbs, signature }: CertificateFields, { digest, isPss }: SignatureAlgorithm, publicKey: PublicKeyFields): boolean {
  try {
    let key = keyObjects.get(publicKey);
    if (!key) keyObjects.set(publicKey, (key = createPublicKey({ key: publicKey.raw, format: 'der', type: 'spki' })));
    return verify(digest, tbs, isPss ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : key, signature);
  } catch {
    // A point that is not on its curve, a signature that is no DER.
    return false;
  }
}

function algorithmOf({ oid, parameters }: AlgorithmIdentifier): SignatureAlgorithm | undefined {
  if (oid === Oid.ed25519) return parameters ? undefined : ED25519;
  if (oid !== Oid.rsaPss) return ALGORITHMS.get(oid);
  const digest = parameters && pssDigest(parameters);
  return digest === undefined ? undefined : { name: `${digest.toUpperCase()}-RSAPSS`, keyType: 'rsa', digest, isPss: true };
}

const PSS_DIGESTS: Readonly<Record<string, { digest: string; saltLength: bigint }>> = {
  [Oid.sha256]: { digest: 'sha256', saltLength: 32n },
  [Oid.sha384]: { digest: 'sha384', saltLength: 48n },
  [Oid.sha512]: { digest: 'sha512', saltLength: 64n },
};

/** RSASSA-PSS-params (RFC 4055 §3.1) in one of the three forms that Go takes: one hash for all, and a salt of its length. Undefined for every other. */
function pssDigest(parameters: Buffer): string | undefined {
  try {
    const reader = new DerReader(parameters).enter(Tag.sequence, '');
    const hash = hashOf(reader.enter(contextTag(0), '').enter(Tag.sequence, ''));
    const mask = reader.enter(contextTag(1), '').enter(Tag.sequence, '');
    const isMgf1 = readOid(mask.read(Tag.oid, '')) === Oid.mgf1;
    const maskHash = hashOf(mask.enter(Tag.sequence, ''));
    const saltLength = readSigned(reader.enter(contextTag(2), '').read(Tag.integer, '').content);
    const trailer = reader.readOptional(contextTag(3), '');
    const isPlain = isMgf1 && maskHash === hash && (!trailer || readSigned(new DerReader(trailer.content).read(Tag.integer, '').content) === 1n);
    const found = PSS_DIGESTS[hash];
    return isPlain && found?.saltLength === saltLength ? found.digest : undefined;
  } catch {
    return undefined;
  }
}

function hashOf(algorithm: DerReader): string {
  const oid = readOid(algorithm.read(Tag.oid, ''));
  if (!algorithm.isEmpty && algorithm.read(0x05, '').content.length > 0) return '';
  return oid;
}

const HEAVY_RSA_BITS = 2048;

/** How much a check with this key costs, in checks with a key of the usual size: RSA's cost grows with the square of its bits. */
export const checkCost = ({ type, bits }: PublicKeyFields): number => (type === 'rsa' ? Math.max(1, (bits / HEAVY_RSA_BITS) ** 2) : bits > 256 ? 4 : 1);
