import { DerError, DerReader, type DerValue, Tag, isMinimalInteger, readSigned } from '../../encoding/der.ts';
import { pointProblem } from './curves.ts';
import { oidOr } from './distinguished-name.ts';
import { Oid } from './oids.ts';

/** What SubjectPublicKeyInfo says, as far as decisions depend on it. */
export interface PublicKeyFields {
  /** DER of SubjectPublicKeyInfo. */
  raw: Buffer;
  /** Undefined for algorithms that Go does not know; such a certificate can be read, but nothing can be verified with it. */
  type: KeyType | undefined;
  /** Of an RSA modulus, or of the field of a curve; 0 where it does not matter. */
  bits: number;
  /** What makes the key unfit for verifying, in Go's words. */
  problem: string | undefined;
}

export type KeyType = 'rsa' | 'ecdsa' | 'ed25519' | 'dsa';

const KEY_TYPES: Readonly<Record<string, KeyType>> = {
  [Oid.rsaKey]: 'rsa',
  [Oid.ecKey]: 'ecdsa',
  [Oid.ed25519]: 'ed25519',
  [Oid.dsaKey]: 'dsa',
};
const CURVE_BITS: Readonly<Record<string, number>> = { '1.3.132.0.33': 224, '1.2.840.10045.3.1.7': 256, '1.3.132.0.34': 384, '1.3.132.0.35': 521 };
const ED25519_KEY_BYTES = 32;
const NULL = Buffer.from([0x05, 0x00]);

/** Throws DerError, in the words of crypto/x509's parser. */
export function readPublicKey(spki: DerValue): PublicKeyFields {
  const reader = new DerReader(spki.content);
  const algorithm = reader.enter(Tag.sequence, 'x509: malformed public key algorithm identifier');
  const oid = oidOr('x509: malformed OID', algorithm.read(Tag.oid, 'x509: malformed OID'));
  const parameters = algorithm.isEmpty ? undefined : algorithm.readAny('x509: malformed parameters');
  const key = rightAligned(reader.read(Tag.bitString, 'x509: malformed subjectPublicKey'), 'x509: malformed subjectPublicKey');
  const type = Object.hasOwn(KEY_TYPES, oid) ? KEY_TYPES[oid] : undefined;
  const unspecific: PublicKeyFields = { raw: spki.raw, type, bits: 0, problem: undefined };
  switch (type) {
    case 'rsa':
      return { ...unspecific, ...readRsaKey(key, parameters) };
    case 'ecdsa':
      return { ...unspecific, bits: readEcKey(key, parameters) };
    case 'ed25519':
      if (parameters) throw new DerError('x509: Ed25519 key encoded with illegal parameters');
      if (key.length !== ED25519_KEY_BYTES) throw new DerError('x509: wrong Ed25519 public key size');
      return unspecific;
    case 'dsa':
      checkDsaKey(key, parameters);
      return unspecific;
    default:
      return unspecific;
  }
}

/** The bytes of a BIT STRING whose unused bits are zero. */
export function bitStringOf({ content }: DerValue, problem: string): Buffer {
  const unusedBits = content[0] ?? 8;
  const bytes = content.subarray(1);
  const isUnusedSet = bytes.length > 0 && (bytes.at(-1)! & ((1 << unusedBits) - 1)) !== 0;
  if (unusedBits > 7 || (bytes.length === 0 && unusedBits !== 0) || isUnusedSet) throw new DerError(problem);
  return bytes;
}

/** The same, moved so that the unused bits come first: how Go reads keys and signatures, in which there are none. */
export function rightAligned(value: DerValue, problem: string): Buffer {
  const bytes = bitStringOf(value, problem);
  const unusedBits = value.content[0]!;
  if (unusedBits === 0) return bytes;
  return Buffer.from(bytes.map((byte, index) => (byte >> unusedBits) | ((index === 0 ? 0 : bytes[index - 1]!) << (8 - unusedBits))));
}

function readInteger(reader: DerReader, problem: string): Buffer {
  const { content } = reader.read(Tag.integer, problem);
  if (!isMinimalInteger(content)) throw new DerError(problem);
  return content;
}

const isPositive = (content: Buffer): boolean => content[0]! < 0x80 && !(content.length === 1 && content[0] === 0);

function readRsaKey(key: Buffer, parameters: DerValue | undefined): Pick<PublicKeyFields, 'bits' | 'problem'> {
  if (!parameters?.raw.equals(NULL)) throw new DerError('x509: RSA key missing NULL parameters');
  const reader = new DerReader(key).enter(Tag.sequence, 'x509: invalid RSA public key');
  const modulus = readInteger(reader, 'x509: invalid RSA modulus');
  const exponentBytes = readInteger(reader, 'x509: invalid RSA public exponent');
  if (exponentBytes.length > 8) throw new DerError('x509: invalid RSA public exponent');
  if (!isPositive(modulus)) throw new DerError('x509: RSA modulus is not a positive number');
  if (!isPositive(exponentBytes)) throw new DerError('x509: RSA public exponent is not a positive number');
  const magnitude = modulus[0] === 0 ? modulus.subarray(1) : modulus;
  const bits = magnitude.length * 8 - (Math.clz32(magnitude[0]!) - 24);
  return { bits, problem: rsaProblem(bits, (magnitude.at(-1)! & 1) === 1, readSigned(exponentBytes)) };
}

const MIN_RSA_BITS = 1024;
const MAX_RSA_EXPONENT = 2n ** 31n - 1n;

/** crypto/rsa, checkKeySize and checkPublicKey. The bound on the exponent also bounds what verifying costs. */
function rsaProblem(bits: number, isOdd: boolean, exponent: bigint): string | undefined {
  if (bits < MIN_RSA_BITS) return `crypto/rsa: ${bits}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`;
  if (!isOdd) return 'crypto/rsa: public modulus is even';
  if (exponent < 2n) return 'crypto/rsa: public exponent too small or negative';
  if (exponent % 2n === 0n) return 'crypto/rsa: public exponent is even';
  return exponent > MAX_RSA_EXPONENT ? 'crypto/rsa: public exponent too large' : undefined;
}

function readEcKey(point: Buffer, parameters: DerValue | undefined): number {
  if (parameters?.tag !== Tag.oid) throw new DerError('x509: invalid ECDSA parameters');
  const bits = CURVE_BITS[oidOr('x509: invalid ECDSA parameters', parameters)];
  if (bits === undefined) throw new DerError('x509: unsupported elliptic curve');
  if (point[0] !== 4) throw new DerError('ecdsa: invalid uncompressed public key');
  const problem = pointProblem(bits, point.subarray(1));
  if (problem !== undefined) throw new DerError(problem);
  return bits;
}

/** Nothing is ever verified with one; it is only read. */
function checkDsaKey(key: Buffer, parameters: DerValue | undefined): void {
  const y = readInteger(new DerReader(key), 'x509: invalid DSA public key');
  const bad = 'x509: invalid DSA parameters';
  if (parameters?.tag !== Tag.sequence) throw new DerError(bad);
  const reader = new DerReader(parameters.content);
  const numbers = [y, readInteger(reader, bad), readInteger(reader, bad), readInteger(reader, bad)];
  if (!numbers.every(isPositive)) throw new DerError('x509: zero or negative DSA parameter');
}
