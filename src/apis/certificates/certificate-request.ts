import { type KeyObject, constants, createPublicKey, verify } from 'node:crypto';
import { DerError, Tag, type DerValue, readChildren, readOid, readValue } from '../../encoding/der.ts';
import { pemBlocks } from '../../encoding/pem.ts';

/** How a request may be signed: by the algorithm's identifier, the kind of key and the digest. PSS names its digest in its parameters. */
interface Algorithm {
  keyType: 'rsa' | 'ec' | 'ed25519';
  /** Undefined where the algorithm has its own. */
  digest: string | undefined;
  isPss?: boolean;
}

const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  ['1.2.840.113549.1.1.5', { keyType: 'rsa', digest: 'sha1' }],
  ['1.2.840.113549.1.1.11', { keyType: 'rsa', digest: 'sha256' }],
  ['1.2.840.113549.1.1.12', { keyType: 'rsa', digest: 'sha384' }],
  ['1.2.840.113549.1.1.13', { keyType: 'rsa', digest: 'sha512' }],
  ['1.2.840.113549.1.1.10', { keyType: 'rsa', digest: undefined, isPss: true }],
  ['1.2.840.10045.4.1', { keyType: 'ec', digest: 'sha1' }],
  ['1.2.840.10045.4.3.2', { keyType: 'ec', digest: 'sha256' }],
  ['1.2.840.10045.4.3.3', { keyType: 'ec', digest: 'sha384' }],
  ['1.2.840.10045.4.3.4', { keyType: 'ec', digest: 'sha512' }],
  ['1.3.101.112', { keyType: 'ed25519', digest: undefined }],
]);
const PSS_DIGESTS: ReadonlyMap<string, string> = new Map([
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);
const MD5_WITH_RSA = '1.2.840.113549.1.1.4';
const FAILURES = { rsa: 'crypto/rsa: verification error', ec: 'x509: ECDSA verification failure', ed25519: 'x509: Ed25519 verification failure' } as const;
const KEY_NAMES = { rsa: 'RSA', ec: 'ECDSA', ed25519: 'Ed25519' } as const;
const GO_KEY_TYPES: Record<string, string> = { rsa: '*rsa.PublicKey', ec: '*ecdsa.PublicKey', ed25519: 'ed25519.PublicKey' };

const TRUNCATED = 'asn1: syntax error: data truncated';

/** What is wrong with a request for a certificate (PKCS#10 in PEM), in Go's words; undefined where it is whole and signed by the key that it is for. */
export function certificateRequestProblem(pem: string): string | undefined {
  const block = pemBlocks(pem).next().value;
  if (!block || block.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  try {
    return signatureProblem(readRequest(block.bytes));
  } catch (error) {
    if (error instanceof DerError) return TRUNCATED;
    throw error;
  }
}

/** A request in DER: whose key it is for, and whether that key has signed it. Undefined where it is none. */
export function readCertificateRequest(der: Buffer): { publicKey: KeyObject; isSigned: boolean } | undefined {
  try {
    const request = readRequest(der);
    const publicKey = typeof request === 'string' ? undefined : readPublicKey(request.publicKey);
    return publicKey && { publicKey, isSigned: signatureProblem(request) === undefined };
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

interface SignedRequest {
  /** What is signed. */
  content: Buffer;
  publicKey: Buffer;
  algorithm: DerValue[];
  signature: Buffer;
}

function readRequest(bytes: Buffer): SignedRequest | string {
  if (bytes.length === 0) return 'asn1: syntax error: sequence truncated';
  const whole = readValue(bytes);
  if (whole.tag !== Tag.sequence) return structureError('certificateRequest');
  if (whole.raw.length < bytes.length) return 'asn1: syntax error: trailing data';
  const [content, algorithm, signature] = readChildren(whole.content);
  if (!content || !algorithm || !signature) return 'asn1: syntax error: sequence truncated';
  if (content.tag !== Tag.sequence || algorithm.tag !== Tag.sequence || signature.tag !== Tag.bitString) return structureError('certificateRequest');
  const [version, subject, publicKey] = readChildren(content.content);
  if (!version || !subject || !publicKey) return 'asn1: syntax error: sequence truncated';
  if (version.tag !== Tag.integer || subject.tag !== Tag.sequence || publicKey.tag !== Tag.sequence) return structureError('tbsCertificateRequest');
  return { content: content.raw, publicKey: publicKey.raw, algorithm: readChildren(algorithm.content), signature: signature.content.subarray(1) };
}

const structureError = (type: string): string => `asn1: structure error: tags don't match in ${type}`;

function signatureProblem(request: SignedRequest | string): string | undefined {
  if (typeof request === 'string') return request;
  const [identifier, parameters] = request.algorithm;
  if (!identifier) return 'asn1: syntax error: sequence truncated';
  const oid = readOid(identifier);
  if (oid === MD5_WITH_RSA) return 'x509: cannot verify signature: insecure algorithm MD5-RSA';
  const algorithm = ALGORITHMS.get(oid);
  const digest = algorithm?.isPss ? pssDigest(parameters) : algorithm?.digest;
  const key = readPublicKey(request.publicKey);
  if (!key) return 'x509: malformed public key';
  if (!algorithm || (algorithm.isPss && digest === undefined)) return 'x509: cannot verify signature: algorithm unimplemented';
  const have = key.asymmetricKeyType ?? '';
  if (have !== algorithm.keyType)
    return `x509: signature algorithm specifies an ${KEY_NAMES[algorithm.keyType]} public key, but have public key of type ${GO_KEY_TYPES[have] ?? 'interface {}'}`;
  return isSigned(request, key, algorithm, digest) ? undefined : FAILURES[algorithm.keyType];
}

function isSigned({ content, signature }: SignedRequest, key: KeyObject, { isPss }: Algorithm, digest: string | undefined): boolean {
  try {
    const options = isPss ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : key;
    return verify(digest, content, options, signature);
  } catch {
    return false;
  }
}

/** A key in SubjectPublicKeyInfo; undefined where it is none, or of a kind that nobody knows. */
export function readPublicKey(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** RSASSA-PSS-params ::= SEQUENCE { [0] hashAlgorithm, … } (RFC 4055 §3.1); the default, SHA-1, is not taken. */
function pssDigest(parameters: DerValue | undefined): string | undefined {
  const [hash] = parameters ? readChildren(parameters.content) : [];
  if (hash?.tag !== 0xa0) return undefined;
  const [oid] = readChildren(readValue(hash.content).content);
  return oid && PSS_DIGESTS.get(readOid(oid));
}
