import { DerError, DerReader, Tag, contextTag, isMinimalInteger, readSigned, readTime } from '../../encoding/der.ts';
import { type NameAttribute, oidOr, readName } from './distinguished-name.ts';
import { readExtensions } from './extensions.ts';
import type { NameConstraints } from './name-constraints.ts';
import { Oid } from './oids.ts';
import { type PublicKeyFields, readPublicKey, rightAligned } from './public-key.ts';

/** What we need of a certificate, read from its DER. Printed forms (X509Certificate.subject) escape and reorder, so they are never parsed. */
export interface CertificateFields {
  raw: Buffer;
  /** What is signed. */
  tbs: Buffer;
  /** Counted from 1. */
  version: number;
  /** Two's complement, big-endian, as sent. */
  serialNumber: Buffer;
  signatureAlgorithm: AlgorithmIdentifier;
  signature: Buffer;
  /** DER of the names, for comparison. */
  issuer: Buffer;
  subject: Buffer;
  subjectAttributes: NameAttribute[];
  notBefore: Date;
  notAfter: Date;
  publicKey: PublicKeyFields;
  hasBasicConstraints: boolean;
  isCa: boolean;
  /** undefined: any depth. */
  maxPathLength: number | undefined;
  /** Bit 0 is the first of KeyUsage's named bits; 0 without the extension. */
  keyUsage: number;
  /** Object identifiers; empty, or without the extension, it allows every use. */
  extendedKeyUsage: string[];
  /** The content of the extension; undefined without it. */
  subjectAltName: Buffer | undefined;
  dnsNames: string[];
  emails: string[];
  /** 4 or 16 bytes each. */
  ips: Buffer[];
  uris: { text: string; host: string }[];
  nameConstraints: NameConstraints | undefined;
  policies: CertificatePolicies;
  subjectKeyId: Buffer;
  authorityKeyId: Buffer;
  /** Critical extensions that nothing here understands. */
  unhandledCritical: string[];
}

export interface AlgorithmIdentifier {
  oid: string;
  /** DER; undefined where there are none. */
  parameters: Buffer | undefined;
}

/** What a certificate says of policies (RFC 5280 §4.2.1.4, 5, 11 and 14). The numbers are of certificates behind which a rule begins. */
export interface CertificatePolicies {
  identifiers: string[];
  mappings: { issuer: string; subject: string }[];
  requireExplicit: number | undefined;
  inhibitMapping: number | undefined;
  inhibitAny: number | undefined;
}

/** Reads what crypto/x509's ParseCertificate reads, and throws DerError in its words for what that refuses. */
export function parseCertificate(raw: Buffer): CertificateFields {
  const input = new DerReader(raw);
  const outer = input.enter(Tag.sequence, 'x509: malformed certificate');
  const tbs = outer.read(Tag.sequence, 'x509: malformed tbs certificate');
  const reader = new DerReader(tbs.content);
  const version = readVersion(reader);
  const serialNumber = readSerialNumber(reader);
  const signatureAlgorithm = readSignatureAlgorithm(reader, outer);
  const issuer = reader.read(Tag.sequence, 'x509: malformed issuer');
  readName(issuer);
  const [notBefore, notAfter] = readValidity(reader.enter(Tag.sequence, 'x509: malformed validity'));
  const subject = reader.read(Tag.sequence, 'x509: malformed issuer');
  const fields: CertificateFields = {
    raw,
    tbs: tbs.raw,
    version,
    serialNumber,
    signatureAlgorithm,
    signature: Buffer.alloc(0),
    issuer: issuer.raw,
    subject: subject.raw,
    subjectAttributes: readName(subject),
    notBefore,
    notAfter,
    publicKey: readPublicKey(reader.read(Tag.sequence, 'x509: malformed spki')),
    hasBasicConstraints: false,
    isCa: false,
    maxPathLength: undefined,
    keyUsage: 0,
    extendedKeyUsage: [],
    subjectAltName: undefined,
    dnsNames: [],
    emails: [],
    ips: [],
    uris: [],
    nameConstraints: undefined,
    policies: { identifiers: [], mappings: [], requireExplicit: undefined, inhibitMapping: undefined, inhibitAny: undefined },
    subjectKeyId: Buffer.alloc(0),
    authorityKeyId: Buffer.alloc(0),
    unhandledCritical: [],
  };
  readOptionalParts(reader, fields);
  fields.signature = rightAligned(outer.read(Tag.bitString, 'x509: malformed signature'), 'x509: malformed signature');
  if (!input.isEmpty) throw new DerError('x509: trailing data');
  return fields;
}

function readVersion(reader: DerReader): number {
  const problem = 'x509: malformed version';
  const explicit = reader.readOptional(contextTag(0), problem);
  if (!explicit) return 1;
  const inner = new DerReader(explicit.content);
  const { content } = inner.read(Tag.integer, problem);
  if (!inner.isEmpty || !isMinimalInteger(content) || content.length > 8 || content[0]! >= 0x80) throw new DerError(problem);
  const version = Number(readSigned(content)) + 1;
  if (version > 3) throw new DerError('x509: invalid version');
  return version;
}

function readSerialNumber(reader: DerReader): Buffer {
  const { content } = reader.read(Tag.integer, 'x509: malformed serial number');
  if (!isMinimalInteger(content)) throw new DerError('x509: malformed serial number');
  if (content[0]! >= 0x80) throw new DerError('x509: negative serial number');
  return content;
}

/** It is written twice: within what is signed, and beside the signature. */
function readSignatureAlgorithm(reader: DerReader, outer: DerReader): AlgorithmIdentifier {
  const inside = reader.read(Tag.sequence, 'x509: malformed signature algorithm identifier');
  const beside = outer.read(Tag.sequence, 'x509: malformed algorithm identifier');
  if (!inside.content.equals(beside.content)) throw new DerError("x509: inner and outer signature algorithm identifiers don't match");
  const algorithm = new DerReader(inside.content);
  const oid = oidOr('x509: malformed OID', algorithm.read(Tag.oid, 'x509: malformed OID'));
  return { oid, parameters: algorithm.isEmpty ? undefined : algorithm.readAny('x509: malformed parameters').raw };
}

function readValidity(reader: DerReader): [Date, Date] {
  return [readMoment(reader), readMoment(reader)];
}

function readMoment(reader: DerReader): Date {
  const problem = reader.nextIs(Tag.utcTime)
    ? 'x509: malformed UTCTime'
    : reader.nextIs(Tag.generalizedTime)
      ? 'x509: malformed GeneralizedTime'
      : 'x509: unsupported time format';
  const value = reader.readAny(problem);
  try {
    return readTime(value);
  } catch {
    throw new DerError(problem);
  }
}

/** What versions 2 and 3 have behind the key. */
function readOptionalParts(reader: DerReader, fields: CertificateFields): void {
  if (fields.version === 1) return;
  reader.readOptional(contextTag(1, true), 'x509: malformed issuerUniqueID');
  reader.readOptional(contextTag(2, true), 'x509: malformed subjectUniqueID');
  if (fields.version < 3) return;
  const extensions = reader.readOptional(contextTag(3), 'x509: malformed extensions');
  if (extensions) readExtensions(new DerReader(extensions.content).enter(Tag.sequence, 'x509: malformed extensions'), fields);
}

export interface CertificateSubject {
  /** The last of several, as Go reads it; empty when there is none. */
  commonName: string;
  organizations: string[];
  /** Values of the Kubernetes UID attribute. */
  uids: string[];
}

export function subjectOf({ subjectAttributes }: CertificateFields): CertificateSubject {
  const valuesOf = (oid: string): string[] => subjectAttributes.filter((attribute) => attribute.oid === oid).map(({ value }) => value);
  return { commonName: valuesOf(Oid.commonName).at(-1) ?? '', organizations: valuesOf(Oid.organization), uids: valuesOf(Oid.kubernetesUid) };
}

const hexWithColons = (bytes: Buffer): string =>
  bytes
    .toString('hex')
    .toUpperCase()
    .replace(/..(?=.)/g, '$&:');

/** How upstream names a certificate in its errors (authentication/request/x509). */
export function describeCertificate({ serialNumber, subjectKeyId, authorityKeyId }: CertificateFields): string {
  return `SN=${readSigned(serialNumber)}, SKID=${hexWithColons(subjectKeyId)}, AKID=${hexWithColons(authorityKeyId)}`;
}
