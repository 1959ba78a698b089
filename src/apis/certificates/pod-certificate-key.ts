import { type KeyObject, constants, verify } from 'node:crypto';
import type { FieldErrors } from '../../api/field-errors.ts';
import type { PodCertificateRequestSpec } from '../facts/types/certificates-v1beta1.ts';
import { readCertificateRequest, readPublicKey } from './certificate-request.ts';

const MAX_BYTES = 10 * 1024;
const CURVES = new Map([
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
  ['secp224r1', 'P-224'],
]);
const GOOD_CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const GOOD_MODULUS_BITS = new Set([3072, 4096]);
const KEY_TYPES = new Set(['ed25519', 'ec', 'rsa']);
const UNKNOWN_TYPE = 'unknown public key type; supported types are Ed25519, ECDSA, and RSA';

const bytesOf = (base64: string | null): Buffer => Buffer.from(base64 ?? '', 'base64');

/** The key of a pod, in one of two ways: with a proof that the pod has it, or as a request that the key has signed. `errors` stands at the spec. */
export function validatePodKey({ stubPKCS10Request, pkixPublicKey, proofOfPossession, podUID }: PodCertificateRequestSpec, errors: FieldErrors): void {
  const [hasRequest, hasKey, hasProof] = [stubPKCS10Request, pkixPublicKey, proofOfPossession].map(Boolean);
  if (hasRequest && !hasKey && !hasProof) validateStubRequest(bytesOf(stubPKCS10Request), errors.at('stubPKCS10Request'));
  else if (!hasRequest && hasKey && hasProof) validateProvenKey(pkixPublicKey!, bytesOf(proofOfPossession), podUID, errors);
  else errors.invalidUnshown('exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set');
}

/** The key that a certificate must be for; undefined where the spec has none that can be read. */
export const podKeyOf = ({ stubPKCS10Request, pkixPublicKey }: PodCertificateRequestSpec): KeyObject | undefined =>
  stubPKCS10Request ? readCertificateRequest(bytesOf(stubPKCS10Request))?.publicKey : readPublicKey(bytesOf(pkixPublicKey));

function validateStubRequest(der: Buffer, errors: FieldErrors): void {
  if (der.length > MAX_BYTES) return errors.tooLong(MAX_BYTES);
  const request = readCertificateRequest(der);
  if (!request) return errors.invalidUnshown('must be a valid PKCS#10 CSR');
  const { publicKey, isSigned } = request;
  if (!KEY_TYPES.has(publicKey.asymmetricKeyType ?? '')) errors.invalidUnshown(UNKNOWN_TYPE);
  else if (validateKeyStrength(publicKey, 'P256, P384, or P521', errors) && !isSigned) errors.invalidUnshown('invalid signature');
}

function validateProvenKey(base64: string, proof: Buffer, podUid: string, errors: FieldErrors): void {
  const der = bytesOf(base64);
  const at = errors.at('pkixPublicKey');
  if (der.length > MAX_BYTES) return at.tooLong(MAX_BYTES);
  if (proof.length > MAX_BYTES) return errors.at('proofOfPossession').tooLong(MAX_BYTES);
  const key = readPublicKey(der);
  if (!key) return at.invalid(base64, 'must be a valid PKIX-serialized public key');
  if (!KEY_TYPES.has(key.asymmetricKeyType ?? '')) at.invalid(base64, UNKNOWN_TYPE);
  else if (validateKeyStrength(key, 'P256 or P384', at) && !isProven(key, proof, podUid))
    errors.at('proofOfPossession').invalidUnshown('could not verify proof-of-possession signature');
}

/** Whether it is strong enough. `curves`: those that the message names. */
function validateKeyStrength({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject, curves: string, errors: FieldErrors): boolean {
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails;
  if (asymmetricKeyType === 'ec' && !GOOD_CURVES.has(namedCurve)) {
    errors.invalid(`curve ${CURVES.get(namedCurve) ?? namedCurve}`, `elliptic public keys must use curve ${curves}`);
    return false;
  }
  if (asymmetricKeyType === 'rsa' && !GOOD_MODULUS_BITS.has(modulusLength)) {
    errors.invalid(`${modulusLength}-bit modulus`, 'RSA keys must have modulus size 3072 or 4096');
    return false;
  }
  return true;
}

/** The pod's uid, signed. */
function isProven(key: KeyObject, proof: Buffer, podUid: string): boolean {
  const isRsa = key.asymmetricKeyType === 'rsa';
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  try {
    const options = isRsa ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO } : key;
    return verify(digest, Buffer.from(podUid), options, proof);
  } catch {
    return false;
  }
}
