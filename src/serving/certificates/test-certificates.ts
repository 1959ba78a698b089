import { type KeyObject, constants, createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { bitString, contextTag, der, integer, octetString, oid, sequence, set, Tag, time, trueValue, utf8String } from '../../encoding/der.ts';
import { parseIp } from '../../net/ip-address.ts';
import { Oid } from './oids.ts';

/* Certificates of any kind, odd ones above all, for tests: what create.ts must never write. */

export type KeyKind =
  | 'p224'
  | 'p256'
  | 'p384'
  | 'p521'
  | 'ed25519'
  | 'x25519'
  | 'rsa512'
  | 'rsa1024'
  | 'rsa2048'
  | 'rsa8192'
  | 'rsa9000'
  | 'rsa16384'
  | 'dsa'
  | 'unknown';
export type Signing = 'sha1' | 'md5' | 'sha256' | 'sha384' | 'sha512' | 'pss256' | 'pss512' | 'pss-odd' | 'unknown' | 'dsa-sha1' | 'dsa-sha256' | 'broken';

export interface CertificateRecipe {
  /** The certificate whose key signs it, by its name in the chain's recipe; absent: its own. */
  by?: string | undefined;
  /** Attributes by OID, or the common name alone. */
  subject?: string | readonly (readonly [string, string])[];
  /** Where it is not the signer's subject. */
  issuer?: string;
  /** A kind of key, `=name` for the key of another certificate, or the private key itself. */
  key?: KeyKind | `=${string}` | KeyObject;
  signing?: Signing;
  /** Seconds before and after now. */
  from?: number;
  until?: number;
  version?: 1 | 2 | 3;
  /** Big-endian, as it is written. */
  serial?: readonly number[];
  ca?: boolean;
  /** Basic constraints as they are asked for by `ca`, or left out. */
  hasBasicConstraints?: boolean;
  pathLength?: number;
  /** The first byte of the bit string, or none. */
  keyUsage?: number | undefined;
  usages?: readonly string[] | undefined;
  names?: readonly Name[] | undefined;
  namesCritical?: boolean;
  permitted?: readonly Name[];
  excluded?: readonly Name[];
  constraintsCritical?: boolean;
  /** `true`: of the key; `false`: none; or other bytes. */
  subjectKeyId?: boolean | number;
  authorityKeyId?: boolean | number;
  policies?: readonly string[];
  mappings?: readonly (readonly [string, string])[];
  requireExplicit?: number;
  inhibitMapping?: number;
  inhibitAny?: number;
  /** Further ones, written as they are. */
  extensions?: readonly (readonly [string, boolean, string])[];
  /** Written behind all. */
  trailing?: string;
}

/** `dns:a.example`, `ip:10.0.0.1` (`ip:10.0.0.0/8` in a constraint), `email:a@b`, `uri:https://a`, `dir:CN`, or `raw:<tag>:<hex>`. */
export type Name = `${'dns' | 'ip' | 'email' | 'uri' | 'dir' | 'raw'}:${string}`;

export interface MadeCertificate {
  der: Buffer;
  key: KeyObject | undefined;
  spki: Buffer;
  subject: Buffer;
  keyId: Buffer;
}

const CURVES = { p224: 'secp224r1', p256: 'P-256', p384: 'P-384', p521: 'P-521' } as const;
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Makes all certificates of a recipe; signers must stand before those that they sign, or among those that were made before. */
export function makeCertificates(
  recipes: Readonly<Record<string, CertificateRecipe>>,
  now: Date,
  before: ReadonlyMap<string, MadeCertificate> = new Map(),
): Map<string, MadeCertificate> {
  const made = new Map<string, MadeCertificate>(before);
  for (const [name, recipe] of Object.entries(recipes)) made.set(name, makeCertificate(name, recipe, made, now));
  return made;
}

function makeCertificate(name: string, recipe: CertificateRecipe, made: ReadonlyMap<string, MadeCertificate>, now: Date): MadeCertificate {
  const { key, spki } = keyOf(recipe.key, made);
  const subject = encodeName(recipe.subject ?? name);
  const keyId = createHash('sha1').update(spki).digest();
  const signer = recipe.by === undefined ? { key, subject, keyId } : made.get(recipe.by)!;
  const at = (seconds: number): Buffer => time(new Date(now.getTime() + seconds * 1000));
  const algorithm = algorithmOf(recipe.signing, signer.key);
  const version = recipe.version ?? 3;
  const tbs = sequence(
    ...(version > 1 ? [der(contextTag(0), integer(Buffer.from([version - 1])))] : []),
    der(Tag.integer, Buffer.from(recipe.serial ?? [7])),
    algorithm.identifier,
    recipe.issuer === undefined ? signer.subject : encodeName(recipe.issuer),
    sequence(at(-(recipe.from ?? HOUR_SECONDS)), at(recipe.until ?? DAY_SECONDS)),
    subject,
    spki,
    ...(version === 3 ? [der(contextTag(3), sequence(...extensionsOf(recipe, keyId, signer.keyId)))] : []),
  );
  const certificate = sequence(tbs, algorithm.identifier, bitString(algorithm.sign(tbs)));
  return { der: Buffer.concat([certificate, Buffer.from(recipe.trailing ?? '', 'hex')]), key, spki, subject, keyId };
}

function keyOf(key: CertificateRecipe['key'] = 'p256', made: ReadonlyMap<string, MadeCertificate>): { key: KeyObject | undefined; spki: Buffer } {
  if (typeof key !== 'string') return exported(key);
  return key.startsWith('=') ? made.get(key.slice(1))! : makeKey(key as KeyKind);
}

const encodeName = (subject: string | readonly (readonly [string, string])[]): Buffer =>
  sequence(
    ...(typeof subject === 'string' ? [[Oid.commonName, subject] as const] : subject).map(([type, value]) => set(sequence(oid(type), utf8String(value)))),
  );

/** Keys of one kind are made once a process, in turn: RSA's take long. */
const rsaKeys = new Map<string, { key: KeyObject; spki: Buffer }[]>();

function makeKey(kind: KeyKind): { key: KeyObject | undefined; spki: Buffer } {
  if (kind in CURVES) return exported(generateKeyPairSync('ec', { namedCurve: CURVES[kind as keyof typeof CURVES] }).privateKey);
  if (kind === 'ed25519') return exported(generateKeyPairSync('ed25519').privateKey);
  if (kind === 'x25519') return exported(generateKeyPairSync('x25519').privateKey);
  if (kind === 'unknown') return { key: undefined, spki: sequence(sequence(oid('1.2.3.4')), bitString(Buffer.from([1]))) };
  if (kind === 'dsa') return { key: undefined, spki: dsaKey() };
  const bits = Number(kind.slice(3));
  if (bits > 4096) return { key: undefined, spki: largeRsaKey(bits) };
  const kept = rsaKeys.get(kind) ?? [];
  rsaKeys.set(kind, kept);
  if (kept.length < 2) kept.push(exported(generateKeyPairSync('rsa', { modulusLength: bits }).privateKey));
  else kept.push(kept.shift()!);
  return kept.at(-1)!;
}

const exported = (key: KeyObject): { key: KeyObject; spki: Buffer } => ({ key, spki: createPublicKey(key).export({ type: 'spki', format: 'der' }) });
const NULL = Buffer.from([0x05, 0x00]);

/** A number of the right size is enough for what nobody will ever use. */
const largeRsaKey = (bits: number): Buffer =>
  sequence(sequence(oid(Oid.rsaKey), NULL), bitString(sequence(integer(Buffer.alloc(bits / 8, 0xa5)), integer(Buffer.from([1, 0, 1])))));

const dsaKey = (): Buffer =>
  sequence(
    sequence(oid(Oid.dsaKey), sequence(...[128, 20, 127].map((size) => integer(Buffer.alloc(size, 0x55))))),
    bitString(integer(Buffer.alloc(128, 0x33))),
  );

const RSA_OIDS: Readonly<Record<string, string>> = {
  md5: Oid.md5WithRsa,
  sha1: Oid.sha1WithRsa,
  sha256: Oid.rsaWithSha256,
  sha384: Oid.rsaWithSha384,
  sha512: Oid.rsaWithSha512,
};
const EC_OIDS: Readonly<Record<string, string>> = {
  sha1: Oid.ecdsaWithSha1,
  sha256: Oid.ecdsaWithSha256,
  sha384: Oid.ecdsaWithSha384,
  sha512: Oid.ecdsaWithSha512,
};

function algorithmOf(signing: Signing = 'sha256', key: KeyObject | undefined): { identifier: Buffer; sign(tbs: Buffer): Buffer } {
  const unsigned = (id: string): { identifier: Buffer; sign(): Buffer } => ({ identifier: sequence(oid(id)), sign: () => Buffer.from([1, 2, 3]) });
  if (signing === 'unknown') return unsigned('1.2.3.5');
  if (signing === 'dsa-sha1') return unsigned(Oid.dsaWithSha1);
  if (signing === 'dsa-sha256' || key?.asymmetricKeyType === 'x25519') return unsigned(Oid.dsaWithSha256);
  if (!key) return unsigned(Oid.rsaWithSha256);
  if (key.asymmetricKeyType === 'ed25519') return { identifier: sequence(oid(Oid.ed25519)), sign: (tbs) => sign(null, tbs, key) };
  if (key.asymmetricKeyType === 'rsa' && signing.startsWith('pss')) return pss(signing, key);
  const digest = signing === 'broken' ? 'sha256' : signing;
  const [id, parameters] = key.asymmetricKeyType === 'rsa' ? [RSA_OIDS[digest]!, [NULL]] : [EC_OIDS[digest]!, []];
  return { identifier: sequence(oid(id), ...parameters), sign: (tbs) => sign(digest, signing === 'broken' ? Buffer.concat([tbs, tbs]) : tbs, key) };
}

function pss(signing: Signing, key: KeyObject): { identifier: Buffer; sign(tbs: Buffer): Buffer } {
  const [digest, hash, length] = signing === 'pss512' ? (['sha512', Oid.sha512, 64] as const) : (['sha256', Oid.sha256, 32] as const);
  const saltLength = signing === 'pss-odd' ? length - 1 : length;
  const hashAlgorithm = sequence(oid(hash), NULL);
  const parameters = sequence(
    der(contextTag(0), hashAlgorithm),
    der(contextTag(1), sequence(oid(Oid.mgf1), hashAlgorithm)),
    der(contextTag(2), integer(Buffer.from([saltLength]))),
  );
  return {
    identifier: sequence(oid(Oid.rsaPss), parameters),
    sign: (tbs) => sign(digest, tbs, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }),
  };
}

function extensionsOf(recipe: CertificateRecipe, ownKeyId: Buffer, signerKeyId: Buffer): Buffer[] {
  const { ca = false, hasBasicConstraints = true, pathLength, keyUsage, usages, names, permitted, excluded, policies, mappings } = recipe;
  const number = (value: number): Buffer => Buffer.from([value]);
  const keyId = (which: boolean | number | undefined, own: Buffer): Buffer | undefined =>
    which === false ? undefined : typeof which === 'number' ? number(which) : own;
  const own = keyId(recipe.subjectKeyId, ownKeyId);
  const signers = keyId(recipe.authorityKeyId, signerKeyId);
  const list: (Buffer | undefined)[] = [
    hasBasicConstraints
      ? extension(Oid.basicConstraints, true, sequence(...(ca ? [trueValue] : []), ...(pathLength === undefined ? [] : [integer(number(pathLength))])))
      : undefined,
    keyUsage === undefined ? undefined : extension(Oid.keyUsage, true, bitString(number(keyUsage))),
    usages && extension(Oid.extendedKeyUsage, false, sequence(...usages.map((usage) => oid(USAGES[usage] ?? usage)))),
    names && extension(Oid.subjectAltName, recipe.namesCritical ?? false, sequence(...names.map((name) => encodeGeneralName(name, false)))),
    permitted || excluded ? extension(Oid.nameConstraints, recipe.constraintsCritical ?? true, constraintsOf(permitted, excluded)) : undefined,
    own && extension(Oid.subjectKeyId, false, octetString(own)),
    signers && extension(Oid.authorityKeyId, false, sequence(der(contextTag(0, true), signers))),
    policies && extension(Oid.certificatePolicies, false, sequence(...policies.map((policy) => sequence(oid(policy))))),
    mappings && extension(Oid.policyMappings, true, sequence(...mappings.map((pair) => sequence(...pair.map(oid))))),
    policyConstraintsOf(recipe),
    recipe.inhibitAny === undefined ? undefined : extension(Oid.inhibitAnyPolicy, true, integer(number(recipe.inhibitAny))),
    ...(recipe.extensions ?? []).map(([id, isCritical, hex]) => extension(id, isCritical, Buffer.from(hex, 'hex'))),
  ];
  return list.filter((item) => item !== undefined);
}

const USAGES: Readonly<Record<string, string>> = { server: Oid.serverAuth, client: Oid.clientAuth, any: Oid.anyExtendedKeyUsage };

const extension = (id: string, isCritical: boolean, content: Buffer): Buffer =>
  isCritical ? sequence(oid(id), trueValue, octetString(content)) : sequence(oid(id), octetString(content));

function policyConstraintsOf({ requireExplicit, inhibitMapping }: CertificateRecipe): Buffer | undefined {
  if (requireExplicit === undefined && inhibitMapping === undefined) return undefined;
  const parts = [requireExplicit, inhibitMapping].flatMap((value, index) => (value === undefined ? [] : [der(contextTag(index, true), Buffer.from([value]))]));
  return extension(Oid.policyConstraints, true, sequence(...parts));
}

function constraintsOf(permitted: readonly Name[] | undefined, excluded: readonly Name[] | undefined): Buffer {
  const trees = [permitted, excluded].flatMap((names, index) =>
    names ? [der(contextTag(index), ...names.map((name) => sequence(encodeGeneralName(name, true))), Buffer.alloc(0))] : [],
  );
  return sequence(...trees);
}

const NAME_TAGS: Readonly<Record<string, number>> = { email: 1, dns: 2, uri: 6 };

function encodeGeneralName(name: Name, isConstraint: boolean): Buffer {
  const colon = name.indexOf(':');
  const [type, value] = [name.slice(0, colon), name.slice(colon + 1)];
  if (type === 'dir') return der(contextTag(4), encodeName(value));
  if (type === 'ip') return der(contextTag(7, true), isConstraint ? rangeBytes(value) : addressBytes(value));
  if (type === 'raw') return der(Number(value.split(':')[0]), Buffer.from(value.split(':')[1]!, 'hex'));
  return der(contextTag(NAME_TAGS[type]!, true), Buffer.from(value, 'latin1'));
}

const addressBytes = (ip: string): Buffer => Buffer.from(parseIp(ip)!.bytes);

function rangeBytes(range: string): Buffer {
  const [ip, bits] = range.split('/');
  const address = addressBytes(ip!);
  const mask = address.map((_, index) => 0xff & (0xff00 >> Math.min(8, Math.max(0, Number(bits) - index * 8))));
  return Buffer.concat([address, mask]);
}
