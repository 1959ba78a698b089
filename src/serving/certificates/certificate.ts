import { DerError, type DerValue, Tag, contextTag, readChildren, readOid, readText, readTime, readValue } from '../../util/der.ts';

/** What we need of a certificate, read from its DER. Printed forms (X509Certificate.subject) escape and reorder, so they are never parsed. */
export interface CertificateFields {
  raw: Buffer;
  /** Two's complement, big-endian, as sent. */
  serialNumber: Buffer;
  /** DER of the names, for comparison. */
  issuer: Buffer;
  subject: Buffer;
  subjectAttributes: NameAttribute[];
  notBefore: Date;
  notAfter: Date;
  isCa: boolean;
  /** undefined: any depth. */
  maxPathLength: number | undefined;
  /** Bit 0 is the first of KeyUsage's named bits; undefined without the extension. */
  keyUsage: number | undefined;
  /** Object identifiers; undefined without the extension, which allows every use. */
  extendedKeyUsage: string[] | undefined;
  dnsNames: string[];
  subjectKeyId: Buffer;
  authorityKeyId: Buffer;
  /** Critical extensions that nothing here understands. */
  unhandledCritical: string[];
}

/** One attribute of a distinguished name; the value is undefined when it is no string. */
interface NameAttribute {
  oid: string;
  value: string | undefined;
}

export const Oid = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  /** k8s.io/apimachinery/pkg/apis/asn1: a user's UID within a subject. */
  kubernetesUid: '1.3.6.1.4.1.57683.2',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  anyExtendedKeyUsage: '2.5.29.37.0',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  rsaWithSha256: '1.2.840.113549.1.1.11',
} as const;

/** Throws DerError when the bytes are no X.509 certificate. */
export function parseCertificate(raw: Buffer): CertificateFields {
  const [tbs] = readChildren(readValue(raw).content);
  if (tbs?.tag !== Tag.sequence) throw new DerError('not a certificate');
  const parts = readChildren(tbs.content);
  if (parts[0]?.tag === contextTag(0)) parts.shift();
  const [serial, , issuer, validity, subject, , ...rest] = parts;
  if (!serial || !issuer || !validity || !subject) throw new DerError('not a certificate');
  const [notBefore, notAfter] = readChildren(validity.content);
  if (!notBefore || !notAfter) throw new DerError('not a certificate');
  const fields: CertificateFields = {
    raw,
    serialNumber: serial.content,
    issuer: issuer.raw,
    subject: subject.raw,
    subjectAttributes: readName(subject),
    notBefore: readTime(notBefore),
    notAfter: readTime(notAfter),
    isCa: false,
    maxPathLength: undefined,
    keyUsage: undefined,
    extendedKeyUsage: undefined,
    dnsNames: [],
    subjectKeyId: Buffer.alloc(0),
    authorityKeyId: Buffer.alloc(0),
    unhandledCritical: [],
  };
  const extensions = rest.find(({ tag }) => tag === contextTag(3));
  if (extensions) readExtensions(readChildren(readValue(extensions.content).content), fields);
  return fields;
}

/** All attributes in order, those of multi-valued RDNs included. */
function readName(name: DerValue): NameAttribute[] {
  return readChildren(name.content)
    .flatMap((rdn) => readChildren(rdn.content))
    .map((attribute) => {
      const [type, value] = readChildren(attribute.content);
      if (!type || !value) throw new DerError('bad name');
      return { oid: readOid(type), value: readText(value) };
    });
}

function readExtensions(extensions: readonly DerValue[], fields: CertificateFields): void {
  const seen = new Set<string>();
  for (const extension of extensions) {
    const [id, ...rest] = readChildren(extension.content);
    const value = rest.at(-1);
    if (!id || value?.tag !== Tag.octetString) throw new DerError('bad extension');
    const oid = readOid(id);
    if (seen.has(oid)) throw new DerError(`extension ${oid} is there twice`);
    seen.add(oid);
    const read = extensionReaders[oid];
    if (read) read(value.content, fields);
    else if (rest[0]?.tag === Tag.boolean && rest[0].content[0] !== 0) fields.unhandledCritical.push(oid);
  }
}

const extensionReaders: Record<string, (content: Buffer, fields: CertificateFields) => void> = {
  [Oid.basicConstraints](content, fields) {
    const parts = readChildren(readValue(content).content);
    fields.isCa = parts[0]?.tag === Tag.boolean && parts[0].content[0] !== 0;
    const length = parts.find(({ tag }) => tag === Tag.integer)?.content;
    if (length) fields.maxPathLength = length.length === 1 ? length[0]! : 255;
  },
  [Oid.keyUsage](content, fields) {
    const bits = readValue(content).content.subarray(1);
    fields.keyUsage = 0;
    for (let bit = 0; bit < bits.length * 8; bit++) if (bits[bit >> 3]! & (0x80 >> (bit & 7))) fields.keyUsage |= 1 << bit;
  },
  [Oid.extendedKeyUsage](content, fields) {
    fields.extendedKeyUsage = readChildren(readValue(content).content).map(readOid);
  },
  [Oid.subjectAltName](content, fields) {
    const dnsName = contextTag(2, true);
    fields.dnsNames = readChildren(readValue(content).content)
      .filter(({ tag }) => tag === dnsName)
      .map((name) => name.content.toString('latin1'));
  },
  [Oid.subjectKeyId](content, fields) {
    fields.subjectKeyId = readValue(content).content;
  },
  [Oid.authorityKeyId](content, fields) {
    const keyId = contextTag(0, true);
    fields.authorityKeyId = readChildren(readValue(content).content).find(({ tag }) => tag === keyId)?.content ?? Buffer.alloc(0);
  },
};

/** Who a certificate names. */
export interface CertificateSubject {
  /** The last of several, as Go reads it; empty when there is none. */
  commonName: string;
  organizations: string[];
  /** Values of the Kubernetes UID attribute; undefined stands for one that is no string. */
  uids: (string | undefined)[];
}

const isText = (value: string | undefined): value is string => value !== undefined;

export function subjectOf({ subjectAttributes }: CertificateFields): CertificateSubject {
  const valuesOf = (oid: string): (string | undefined)[] => subjectAttributes.filter((attribute) => attribute.oid === oid).map(({ value }) => value);
  return {
    commonName: valuesOf(Oid.commonName).findLast(isText) ?? '',
    organizations: valuesOf(Oid.organization).filter(isText),
    uids: valuesOf(Oid.kubernetesUid),
  };
}

const hexWithColons = (bytes: Buffer): string =>
  bytes
    .toString('hex')
    .toUpperCase()
    .replace(/..(?=.)/g, '$&:');

/** How upstream names a certificate in its errors (authentication/request/x509). */
export function describeCertificate({ serialNumber, subjectKeyId, authorityKeyId }: CertificateFields): string {
  const serial = BigInt.asIntN(serialNumber.length * 8, BigInt(`0x${serialNumber.toString('hex') || '0'}`));
  return `SN=${serial}, SKID=${hexWithColons(subjectKeyId)}, AKID=${hexWithColons(authorityKeyId)}`;
}
