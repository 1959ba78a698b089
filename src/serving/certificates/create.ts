import { type KeyObject, X509Certificate, createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { parseCertificate } from './certificate.ts';
import { Oid } from './oids.ts';
import { parseIp } from '../../net/ip-address.ts';
import { bitString, contextTag, der, integer, octetString, oid, sequence, set, time, trueValue, utf8String } from '../../encoding/der.ts';
import { type KeyPair, encodePem } from './pem.ts';

/*
 * X.509 v3 certificates (RFC 5280) with fresh EC P-256 keys: enough to serve with and to sign clients of one's own cluster. Written here because
 * loading a library for it costs more than the whole start-up budget (DEPENDENCIES.md §10).
 */

/** Signs certificates. Made new by `createAuthority`, or from a pair on disk by `loadAuthority`. */
export interface Authority extends KeyPair {
  readonly key: KeyObject;
  /** DER of its name. */
  readonly subject: Buffer;
  readonly keyId: Buffer;
}

export interface CertificateRequest {
  commonName: string;
  /** Groups of a client, in order. */
  organizations?: readonly string[];
  /** The Kubernetes UID attribute of a client. */
  uid?: string;
  usages: readonly ('client' | 'server')[];
  /** DNS names that a server answers to. */
  hosts?: readonly string[];
  ips?: readonly string[];
  notBefore?: Date;
  notAfter?: Date;
}

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const KEY_USAGE_CERT_SIGN = 0x06; // keyCertSign and cRLSign, bits 5 and 6 of the first byte
const KEY_USAGE_DIGITAL_SIGNATURE = 0x80;

export interface AuthorityRequest {
  commonName: string;
  /** Another authority above it; without one, it is a root. */
  issuer?: Authority;
  /** The private key of an authority that is to be renewed; without one, a new key. */
  key?: KeyObject;
  notBefore?: Date;
  notAfter?: Date;
}

/** Valid from an hour ago for ten years, unless told otherwise. */
export function createAuthority({ commonName, issuer, key, notBefore, notAfter }: AuthorityRequest): Authority {
  const privateKey = key ?? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const publicKey = createPublicKey(privateKey);
  const keyId = keyIdOf(publicKey);
  const subject = encodeName([[Oid.commonName, commonName]]);
  const certificate = signed(issuer?.key ?? privateKey, {
    issuer: issuer?.subject ?? subject,
    subject,
    publicKey,
    validity: encodeValidity(notBefore, notAfter, 10 * YEAR_MS),
    extensions: [
      keyUsage(KEY_USAGE_CERT_SIGN | KEY_USAGE_DIGITAL_SIGNATURE),
      basicConstraints(true),
      subjectKeyId(keyId),
      ...(issuer ? [authorityKeyId(issuer.keyId)] : []),
    ],
  });
  return { certPem: encodePem('CERTIFICATE', certificate), keyPem: exportKey(privateKey), key: privateKey, subject, keyId };
}

/** An authority from its PEM pair; throws when the certificate may not sign. */
export function loadAuthority({ certPem, keyPem }: KeyPair): Authority {
  const certificate = new X509Certificate(certPem);
  const fields = parseCertificate(certificate.raw);
  if (!fields.isCa) throw new Error('certificate is no certificate authority');
  const keyId = fields.subjectKeyId.length > 0 ? fields.subjectKeyId : keyIdOf(certificate.publicKey);
  return { certPem, keyPem, key: createPrivateKey(keyPem), subject: fields.subject, keyId };
}

/** A new key and its certificate from this authority. Valid from an hour ago (clocks differ) for a year, unless told otherwise. */
export function signCertificate(authority: Authority, request: CertificateRequest): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const attributes: [string, string][] = [
    ...(request.organizations ?? []).map((organization): [string, string] => [Oid.organization, organization]),
    [Oid.commonName, request.commonName],
  ];
  if (request.uid !== undefined) attributes.push([Oid.kubernetesUid, request.uid]);
  const certificate = signed(authority.key, {
    issuer: authority.subject,
    subject: encodeName(attributes),
    publicKey,
    validity: encodeValidity(request.notBefore, request.notAfter, YEAR_MS),
    extensions: [
      keyUsage(KEY_USAGE_DIGITAL_SIGNATURE),
      extendedKeyUsage(request.usages),
      basicConstraints(false),
      subjectKeyId(keyIdOf(publicKey)),
      authorityKeyId(authority.keyId),
      ...subjectAltNames(request.hosts ?? [], request.ips ?? []),
    ],
  });
  return { certPem: encodePem('CERTIFICATE', certificate), keyPem: exportKey(privateKey) };
}

/**
 * A serving certificate by an authority that is thrown away, the authority's certificate behind it, so that a client can be given the file as
 * its CA bundle: what upstream makes when it is given none (client-go/util/cert).
 */
export function createSelfSigned(options: { commonName: string; hosts?: readonly string[]; ips?: readonly string[]; notAfter?: Date; now?: Date }): KeyPair {
  const now = options.now ?? new Date();
  const lifetime = { notBefore: new Date(now.getTime() - HOUR_MS), notAfter: options.notAfter ?? new Date(now.getTime() + YEAR_MS) };
  const stamp = Math.floor(now.getTime() / 1000);
  const authority = createAuthority({ commonName: `${options.commonName}-ca@${stamp}`, ...lifetime });
  const isAddress = parseIp(options.commonName) !== undefined;
  const leaf = signCertificate(authority, {
    commonName: `${options.commonName}@${stamp}`,
    usages: ['server'],
    hosts: isAddress ? (options.hosts ?? []) : [options.commonName, ...(options.hosts ?? [])],
    ips: isAddress ? [options.commonName, ...(options.ips ?? [])] : (options.ips ?? []),
    ...lifetime,
  });
  return { certPem: leaf.certPem + authority.certPem, keyPem: leaf.keyPem };
}

interface Body {
  issuer: Buffer;
  subject: Buffer;
  validity: Buffer;
  publicKey: KeyObject;
  extensions: readonly Buffer[];
}

function signed(key: KeyObject, { issuer, subject, validity, publicKey, extensions }: Body): Buffer {
  const algorithm = signatureAlgorithm(key);
  const version3 = der(contextTag(0), integer(Buffer.from([2])));
  const serialNumber = randomBytes(16);
  serialNumber[0]! &= 0x7f;
  const tbs = sequence(
    version3,
    integer(serialNumber),
    algorithm,
    issuer,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(contextTag(3), sequence(...extensions)),
  );
  return sequence(tbs, algorithm, bitString(sign('sha256', tbs, key)));
}

function signatureAlgorithm(key: KeyObject): Buffer {
  switch (key.asymmetricKeyType) {
    case 'ec':
      return sequence(oid(Oid.ecdsaWithSha256));
    case 'rsa':
      return sequence(oid(Oid.rsaWithSha256), Buffer.from([0x05, 0x00]));
    default:
      throw new Error(`cannot sign with a key of type ${key.asymmetricKeyType}`);
  }
}

const exportKey = (key: KeyObject): string => key.export({ type: key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'sec1', format: 'pem' }).toString();

/** SHA-1 of the public key: an identifier that anyone may choose (RFC 5280 §4.2.1.2), not a protection. */
function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

const encodeName = (attributes: readonly (readonly [string, string])[]): Buffer =>
  sequence(...attributes.map(([type, value]) => set(sequence(oid(type), utf8String(value)))));

function encodeValidity(notBefore: Date | undefined, notAfter: Date | undefined, lifetimeMs: number): Buffer {
  const from = notBefore ?? new Date(Date.now() - HOUR_MS);
  return sequence(time(from), time(notAfter ?? new Date(from.getTime() + HOUR_MS + lifetimeMs)));
}

const extension = (id: string, isCritical: boolean, content: Buffer): Buffer =>
  isCritical ? sequence(oid(id), trueValue, octetString(content)) : sequence(oid(id), octetString(content));

/** Named bits drop their trailing zeros (X.690 §11.2.2): the lowest bit that is set says how many are unused. */
const keyUsage = (bits: number): Buffer => extension(Oid.keyUsage, true, bitString(Buffer.from([bits]), 31 - Math.clz32(bits & -bits)));
const basicConstraints = (isCa: boolean): Buffer => extension(Oid.basicConstraints, true, isCa ? sequence(trueValue) : sequence());
const subjectKeyId = (keyId: Buffer): Buffer => extension(Oid.subjectKeyId, false, octetString(keyId));
const authorityKeyId = (keyId: Buffer): Buffer => extension(Oid.authorityKeyId, false, sequence(der(contextTag(0, true), keyId)));
const extendedKeyUsage = (usages: CertificateRequest['usages']): Buffer =>
  extension(Oid.extendedKeyUsage, false, sequence(...usages.map((usage) => oid(usage === 'client' ? Oid.clientAuth : Oid.serverAuth))));

function subjectAltNames(hosts: readonly string[], ips: readonly string[]): Buffer[] {
  const names = [...hosts.map((host) => der(contextTag(2, true), Buffer.from(host, 'latin1'))), ...ips.map((ip) => der(contextTag(7, true), addressBytes(ip)))];
  return names.length === 0 ? [] : [extension(Oid.subjectAltName, false, sequence(...names))];
}

/** 4 or 16 bytes in network order. */
function addressBytes(ip: string): Buffer {
  const address = parseIp(ip.replace(/%.*$/, ''));
  if (!address || address.hasLeadingZeros) throw new Error(`${JSON.stringify(ip)} is no IP address`);
  return Buffer.from(address.bytes);
}
