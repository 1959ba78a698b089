import { DerError, DerReader, type DerValue, Tag, contextTag, isMinimalInteger, readOid, readSigned } from '../../encoding/der.ts';
import { quote } from '../../util/go-quote.ts';
import { parseGoUrl } from '../../net/go-url.ts';
import type { CertificateFields } from './certificate.ts';
import { isAscii, oidOr } from './distinguished-name.ts';
import { isDomain } from './mailbox.ts';
import { readNameConstraints } from './name-constraints.ts';
import { Oid } from './oids.ts';
import { bitStringOf } from './public-key.ts';

/** Reads the extensions into the fields. Throws DerError in the words of crypto/x509's parser. */
export function readExtensions(extensions: DerReader, fields: CertificateFields): void {
  const found = new Map<string, { isCritical: boolean; content: Buffer }>();
  while (!extensions.isEmpty) {
    const extension = extensions.enter(Tag.sequence, 'x509: malformed extension');
    const badId = 'x509: malformed extension OID field';
    const oid = oidOr(badId, extension.read(Tag.oid, badId));
    const critical = extension.readOptional(Tag.boolean, 'x509: malformed extension critical field');
    const isCritical = critical !== undefined && readBoolean(critical.content, 'x509: malformed extension critical field');
    const { content } = extension.read(Tag.octetString, 'x509: malformed extension value field');
    if (found.has(oid)) throw new DerError(`x509: certificate contains duplicate extension with OID ${quote(oid)}`);
    found.set(oid, { isCritical, content });
  }
  for (const [oid, { isCritical, content }] of found) {
    const read = Object.hasOwn(READERS, oid) ? READERS[oid] : undefined;
    const isHandled = read ? read(content, fields, isCritical) !== 'unhandled' : false;
    if (isCritical && !isHandled) fields.unhandledCritical.push(oid);
  }
}

function readBoolean(content: Buffer, problem: string): boolean {
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw new DerError(problem);
  return content[0] === 0xff;
}

/** Of the shortest form and 64 bits at most. */
function readInt64(content: Buffer, problem: string): number {
  if (!isMinimalInteger(content) || content.length > 8) throw new DerError(problem);
  return Number(readSigned(content));
}

type ExtensionReader = (content: Buffer, fields: CertificateFields, isCritical: boolean) => 'unhandled' | void;

const READERS: Readonly<Record<string, ExtensionReader>> = {
  [Oid.keyUsage](content, fields) {
    const bits = bitStringOf(new DerReader(content).read(Tag.bitString, 'x509: invalid key usage'), 'x509: invalid key usage');
    let usage = 0;
    for (let bit = 0; bit < Math.min(9, bits.length * 8); bit++) if (bits[bit >> 3]! & (0x80 >> (bit & 7))) usage |= 1 << bit;
    fields.keyUsage = usage;
  },
  [Oid.basicConstraints](content, fields) {
    const problem = 'x509: invalid basic constraints';
    const reader = new DerReader(content).enter(Tag.sequence, problem);
    const isCa = reader.readOptional(Tag.boolean, problem);
    fields.hasBasicConstraints = true;
    fields.isCa = isCa !== undefined && readBoolean(isCa.content, problem);
    const length = reader.readOptional(Tag.integer, problem);
    if (length) fields.maxPathLength = readInt64(length.content, problem);
    if (fields.maxPathLength !== undefined && fields.maxPathLength < 0) throw new DerError(problem);
  },
  [Oid.subjectAltName]: readSubjectAltName,
  [Oid.nameConstraints](content, fields) {
    const { constraints, isUnhandled } = readNameConstraints(content);
    fields.nameConstraints = constraints;
    return isUnhandled ? 'unhandled' : undefined;
  },
  [Oid.crlDistributionPoints](content) {
    const points = new DerReader(content).enter(Tag.sequence, 'x509: invalid CRL distribution points');
    while (!points.isEmpty) checkDistributionPoint(points.enter(Tag.sequence, 'x509: invalid CRL distribution point'));
  },
  [Oid.authorityKeyId](content, fields, isCritical) {
    if (isCritical) throw new DerError('x509: authority key identifier incorrectly marked critical');
    const reader = new DerReader(content).enter(Tag.sequence, 'x509: invalid authority key identifier');
    fields.authorityKeyId = reader.readOptional(contextTag(0, true), 'x509: invalid authority key identifier')?.content ?? Buffer.alloc(0);
  },
  [Oid.subjectKeyId](content, fields, isCritical) {
    if (isCritical) throw new DerError('x509: subject key identifier incorrectly marked critical');
    fields.subjectKeyId = new DerReader(content).read(Tag.octetString, 'x509: invalid subject key identifier').content;
  },
  [Oid.extendedKeyUsage](content, fields) {
    const problem = 'x509: invalid extended key usages';
    fields.extendedKeyUsage = [];
    const reader = new DerReader(content).enter(Tag.sequence, problem);
    while (!reader.isEmpty) fields.extendedKeyUsage.push(oidOr(problem, reader.read(Tag.oid, problem)));
  },
  [Oid.certificatePolicies](content, fields) {
    const problem = 'x509: invalid certificate policies';
    const policies = new Set<string>();
    const reader = new DerReader(content).enter(Tag.sequence, problem);
    while (!reader.isEmpty) {
      const policy = oidOr(problem, reader.enter(Tag.sequence, problem).read(Tag.oid, problem));
      if (policies.has(policy)) throw new DerError(problem);
      policies.add(policy);
    }
    fields.policies.identifiers = [...policies];
  },
  [Oid.policyMappings](content, fields) {
    const problem = 'x509: invalid policy mappings extension';
    const reader = new DerReader(content).enter(Tag.sequence, problem);
    while (!reader.isEmpty) {
      const pair = reader.enter(Tag.sequence, problem);
      const issuer = policyOf(pair.read(Tag.oid, problem));
      fields.policies.mappings.push({ issuer, subject: policyOf(pair.read(Tag.oid, problem)) });
    }
  },
  [Oid.policyConstraints](content, fields) {
    const problem = 'x509: invalid policy constraints extension';
    const reader = new DerReader(content).enter(Tag.sequence, problem);
    const explicit = reader.readOptional(contextTag(0, true), problem);
    if (explicit) fields.policies.requireExplicit = readInt64(explicit.content, problem);
    const mapping = reader.readOptional(contextTag(1, true), problem);
    if (mapping) fields.policies.inhibitMapping = readInt64(mapping.content, problem);
  },
  [Oid.inhibitAnyPolicy](content, fields) {
    const problem = 'x509: invalid inhibit any policy extension';
    fields.policies.inhibitAny = readInt64(new DerReader(content).read(Tag.integer, problem).content, problem);
  },
  [Oid.authorityInfoAccess](content, _fields, isCritical) {
    if (isCritical) throw new DerError('x509: authority info access incorrectly marked critical');
    const problem = 'x509: invalid authority info access';
    const reader = new DerReader(content).enter(Tag.sequence, problem);
    while (!reader.isEmpty) {
      const description = reader.enter(Tag.sequence, problem);
      oidOr(problem, description.read(Tag.oid, problem));
      description.readOptional(contextTag(6, true), problem);
    }
  },
};

/** Those of mappings need not be well-formed; such a one is the same as no other. */
function policyOf(value: DerValue): string {
  try {
    return readOid(value);
  } catch {
    return `malformed ${value.content.toString('hex')}`;
  }
}

/** Only its form: nobody asks for revocation lists. */
function checkDistributionPoint(point: DerReader): void {
  const problem = 'x509: invalid CRL distribution point';
  const name = point.readOptional(contextTag(0), problem);
  if (!name) return;
  const names = new DerReader(name.content).enter(contextTag(0), problem);
  while (names.nextIs(contextTag(6, true))) names.readAny(problem);
}

const EMAIL = contextTag(1, true);
const DNS = contextTag(2, true);
const URI = contextTag(6, true);
const IP = contextTag(7, true);

function readSubjectAltName(content: Buffer, fields: CertificateFields): 'unhandled' | undefined {
  fields.subjectAltName = content;
  const names = new DerReader(content).enter(Tag.sequence, 'x509: invalid subject alternative names');
  while (!names.isEmpty) {
    const { tag, content: name } = names.readAny('x509: invalid subject alternative name');
    if (tag === EMAIL) fields.emails.push(readIa5(name, 'rfc822Name'));
    else if (tag === DNS) fields.dnsNames.push(readIa5(name, 'dNSName'));
    else if (tag === URI) fields.uris.push(readUri(readIa5(name, 'uniformResourceIdentifier')));
    else if (tag === IP) {
      if (name.length !== 4 && name.length !== 16) throw new DerError(`x509: cannot parse IP address of length ${name.length}`);
      fields.ips.push(name);
    }
  }
  const count = fields.emails.length + fields.dnsNames.length + fields.uris.length + fields.ips.length;
  return count === 0 ? 'unhandled' : undefined;
}

function readIa5(name: Buffer, type: string): string {
  if (!isAscii(name)) throw new DerError(`x509: SAN ${type} is malformed`);
  return name.toString('latin1');
}

function readUri(text: string): { text: string; host: string } {
  const url = parseGoUrl(text);
  if ('error' in url) throw new DerError(`x509: cannot parse URI ${quote(text)}: ${url.error}`);
  if (url.host !== '' && !isDomain(url.host, false)) throw new DerError(`x509: cannot parse URI ${quote(text)}: invalid domain`);
  return { text, host: url.host };
}
