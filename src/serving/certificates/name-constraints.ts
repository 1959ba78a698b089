import { DerError, DerReader, Tag, contextTag } from '../../encoding/der.ts';
import { quote } from '../../util/go-quote.ts';
import { formatIp, isMapped, parseIp } from '../../net/ip-address.ts';
import type { CertificateFields } from './certificate.ts';
import { isAscii } from './distinguished-name.ts';
import { type Mailbox, isDomain, parseMailbox } from './mailbox.ts';

/** The names that an authority may sign for (RFC 5280 §4.2.1.10). Names of directories are not compared: crypto/x509 does not know them. */
export interface NameConstraints {
  permitted: Subtrees;
  excluded: Subtrees;
}

interface Subtrees {
  dns: string[];
  ips: IpRange[];
  emails: string[];
  uris: string[];
  /** Bytes of each list: what it costs to compare a name with all of it. */
  sizes: Record<NameList, number>;
}

type NameList = 'dns' | 'ips' | 'emails' | 'uris';

interface IpRange {
  address: Buffer;
  mask: Buffer;
}

const BAD_CONSTRAINTS = 'x509: invalid NameConstraints extension';

/** `isUnhandled`: some constrain names of a type that nobody compares; a critical extension then refuses the certificate. Errors are Go's. */
export function readNameConstraints(content: Buffer): { constraints: NameConstraints; isUnhandled: boolean } {
  const outer = new DerReader(content);
  const trees = outer.enter(Tag.sequence, BAD_CONSTRAINTS);
  const permitted = trees.readOptional(contextTag(0), BAD_CONSTRAINTS)?.content ?? Buffer.alloc(0);
  const excluded = trees.readOptional(contextTag(1), BAD_CONSTRAINTS)?.content ?? Buffer.alloc(0);
  if (!outer.isEmpty || !trees.isEmpty) throw new DerError(BAD_CONSTRAINTS);
  if (permitted.length === 0 && excluded.length === 0) throw new DerError('x509: empty name constraints extension');
  const [allowed, refused] = [readSubtrees(permitted), readSubtrees(excluded)];
  return { constraints: { permitted: allowed.subtrees, excluded: refused.subtrees }, isUnhandled: allowed.isUnhandled || refused.isUnhandled };
}

/** By the tags of GeneralName. */
const LISTS: ReadonlyMap<number, NameList> = new Map([
  [contextTag(1, true), 'emails'],
  [contextTag(2, true), 'dns'],
  [contextTag(6, true), 'uris'],
  [contextTag(7, true), 'ips'],
]);

function readSubtrees(content: Buffer): { subtrees: Subtrees; isUnhandled: boolean } {
  const subtrees: Subtrees = { dns: [], ips: [], emails: [], uris: [], sizes: { dns: 0, ips: 0, emails: 0, uris: 0 } };
  let isUnhandled = false;
  const reader = new DerReader(content);
  while (!reader.isEmpty) {
    const base = reader.enter(Tag.sequence, BAD_CONSTRAINTS).readAny(BAD_CONSTRAINTS);
    const list = LISTS.get(base.tag);
    if (list === 'dns') subtrees.dns.push(readDomain(base.content, 'dnsName'));
    else if (list === 'emails') subtrees.emails.push(readEmail(base.content));
    else if (list === 'uris') subtrees.uris.push(readUriDomain(base.content));
    else if (list === 'ips') subtrees.ips.push(readRange(base.content));
    if (list) subtrees.sizes[list] += base.raw.length;
    else isUnhandled = true;
  }
  return { subtrees, isUnhandled };
}

function readAscii(content: Buffer): string {
  if (!isAscii(content)) throw new DerError(`x509: invalid constraint value: x509: ${quoteBytes(content)} cannot be encoded as an IA5String`);
  return content.toString('latin1');
}

/** Go's `%q` of bytes that may be no UTF-8: what is none is written as the byte that it is. */
function quoteBytes(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return quote(text);
  const escaped = [...bytes].map((byte) => (byte < 0x80 ? quote(String.fromCharCode(byte)).slice(1, -1) : `\\x${byte.toString(16)}`));
  return `"${escaped.join('')}"`;
}

function readDomain(content: Buffer, type: string): string {
  const domain = readAscii(content);
  if (!isDomain(domain, true)) throw new DerError(`x509: failed to parse ${type} constraint ${quote(domain)}`);
  return domain;
}

function readEmail(content: Buffer): string {
  const text = readAscii(content);
  if (!text.includes('@')) return readDomain(content, 'rfc822Name');
  if (!parseMailbox(text)) throw new DerError(`x509: failed to parse rfc822Name constraint ${quote(text)}`);
  return text;
}

function readUriDomain(content: Buffer): string {
  const domain = readAscii(content);
  if (isAddress(domain)) throw new DerError(`x509: failed to parse URI constraint ${quote(domain)}: cannot be IP address`);
  return readDomain(content, 'URI');
}

const isAddress = (text: string): boolean => parseIp(text)?.hasLeadingZeros === false;

function readRange(content: Buffer): IpRange {
  if (content.length !== 8 && content.length !== 32) throw new DerError(`x509: IP constraint contained value of length ${content.length}`);
  const half = content.length / 2;
  const mask = content.subarray(half);
  if (prefixLength(mask) === undefined) throw new DerError(`x509: IP constraint contained invalid mask ${mask.toString('hex')}`);
  return { address: content.subarray(0, half), mask };
}

/** Undefined where ones follow a zero. */
function prefixLength(mask: Buffer): number | undefined {
  const bits = [...mask].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined;
}

/** What may still be compared, in bytes. One verification has one, however many chains it finds. */
export interface ComparisonBudget {
  leftBytes: number;
}

/**
 * Go sorts constraints and bounds nothing; here a verification that needs to compare more is refused. An authority of the real world has some tens of
 * constraints, and a certificate at most some hundreds of names.
 */
export const comparisonBudget = (): ComparisonBudget => ({ leftBytes: 2_000_000 });

/** Why a chain (leaf first) has a name that an authority in it may not sign for; undefined where there is none (crypto/x509, checkChainConstraints). */
export function constraintProblem(chain: readonly CertificateFields[], budget: ComparisonBudget): string | undefined {
  if (!chain.some(({ nameConstraints }) => nameConstraints)) return undefined;
  for (const [index, certificate] of chain.entries()) {
    const constraints = chain.slice(index + 1).flatMap(({ nameConstraints }) => nameConstraints ?? []);
    if (!certificate.subjectAltName || constraints.length === 0) continue;
    const names = comparableNames(certificate);
    if (typeof names === 'string') return names;
    for (const constraint of constraints) {
      for (const name of names) {
        const problem = nameProblem(name, constraint, budget);
        if (problem !== undefined) return problem;
      }
    }
  }
  return undefined;
}

/** A name of a certificate, and how it is held against a constraint of its type. */
interface ComparableName {
  /** As errors say it. */
  type: string;
  shown: string;
  list: NameList;
  /** Why it cannot be compared with anything. */
  problem?: string | undefined;
  /** The constraint that the name falls under, as errors say it. */
  match(subtrees: Subtrees, isExcluded: boolean): string | undefined;
  characters: number;
}

/** In the order in which Go looks at them. Or what is wrong with one of them. */
function comparableNames({ ips, dnsNames, uris, emails }: CertificateFields): ComparableName[] | string {
  const hosts: ComparableName[] = [];
  for (const { text, host } of uris) {
    const domain = uriDomain(text, host);
    if (typeof domain !== 'string') return domain.problem;
    hosts.push(nameOfDomain('URI', text, 'uris', domain, isDomain(domain, false) ? undefined : `x509: internal error: URI SAN ${quote(text)} failed to parse`));
  }
  const mailboxes: ComparableName[] = [];
  for (const email of emails) {
    const mailbox = parseMailbox(email);
    if (!mailbox) return `cannot parse rfc822Name ${quote(email)}`;
    mailboxes.push(nameOfMailbox({ ...mailbox, domain: mailbox.domain.toLowerCase() }));
  }
  return [
    ...ips.map(nameOfIp),
    ...dnsNames.map((name) => nameOfDomain('DNS name', name, 'dns', name, isDomain(name, false) ? undefined : `x509: cannot parse dnsName ${quote(name)}`)),
    ...hosts,
    ...mailboxes,
  ];
}

function uriDomain(text: string, host: string): string | { problem: string } {
  if (host === '') return { problem: `URI with empty host (${quote(text)}) cannot be matched against constraints` };
  const domain = host.includes(':') && !host.endsWith(']') ? host.slice(0, host.lastIndexOf(':')) : host.toLowerCase();
  const isLiteral = isAddress(domain) || (domain.startsWith('[') && domain.endsWith(']'));
  return isLiteral ? { problem: `URI with IP (${quote(text)}) cannot be matched against constraints` } : domain;
}

const nameOfIp = (ip: Buffer): ComparableName => ({
  type: 'IP address',
  shown: formatIp([...ip]),
  list: 'ips',
  characters: ip.length,
  match(subtrees) {
    const range = subtrees.ips.find((candidate) => isWithin(ip, candidate));
    return range && `${formatIp([...range.address])}/${prefixLength(range.mask)}`;
  },
});

function isWithin(ip: Buffer, { address, mask }: IpRange): boolean {
  if (ip.length !== address.length || (isMapped([...ip]) && !ip.equals(address))) return false;
  return ip.every((byte, index) => (byte & mask[index]!) === (address[index]! & mask[index]!));
}

const nameOfDomain = (type: string, shown: string, list: 'dns' | 'uris', domain: string, problem: string | undefined): ComparableName => ({
  type,
  shown,
  list,
  problem,
  characters: domain.length,
  match: (subtrees, isExcluded) => matchDomain(domain, subtrees[list], isExcluded),
});

function nameOfMailbox(mailbox: Mailbox): ComparableName {
  const shown = `${mailbox.local}@${mailbox.domain}`;
  return {
    type: 'email address',
    shown,
    list: 'emails',
    problem: isDomain(mailbox.domain, false) ? undefined : `x509: cannot parse rfc822Name ${quote(shown)}`,
    characters: shown.length,
    match({ emails }, isExcluded) {
      const isNamed = emails.some((email) => email.includes('@') && isSameMailbox(email, mailbox));
      const domains = emails.filter((email) => !email.includes('@'));
      return isNamed ? shown : matchDomain(mailbox.domain, domains, isExcluded);
    },
  };
}

function isSameMailbox(text: string, { local, domain }: Mailbox): boolean {
  const other = parseMailbox(text);
  return other?.local === local && other.domain.toLowerCase() === domain;
}

/** The widest constraint that a domain falls under. Every subdomain of one that a wildcard stands for must be free of exclusions. */
function matchDomain(domain: string, constraints: readonly string[], isExcluded: boolean): string | undefined {
  const name = domain.toLowerCase();
  let found: string | undefined;
  for (const constraint of constraints) {
    if (isUnder(name, constraint.toLowerCase()) && (found === undefined || constraint.length < found.length)) found = constraint;
  }
  if (found !== undefined || !isExcluded || !name.startsWith('*')) return found;
  const parent = afterFirstLabel(name);
  return parent === '' ? undefined : constraints.map((constraint) => constraint.toLowerCase()).findLast((constraint) => afterFirstLabel(constraint) === parent);
}

function isUnder(name: string, constraint: string): boolean {
  if (constraint === '' || name === constraint) return true;
  return name.endsWith(constraint) && (constraint.startsWith('.') || name[name.length - constraint.length - 1] === '.');
}

const afterFirstLabel = (domain: string): string => (domain.includes('.') ? domain.slice(domain.indexOf('.')) : '');

function nameProblem(name: ComparableName, { permitted, excluded }: NameConstraints, budget: ComparisonBudget): string | undefined {
  if (name.problem !== undefined) return name.problem;
  budget.leftBytes -= permitted.sizes[name.list] + excluded.sizes[name.list] + name.characters;
  if (budget.leftBytes < 0) return 'too many names and constraints to compare';
  if (permitted[name.list].length > 0 && name.match(permitted, false) === undefined)
    return `${name.type} ${quote(name.shown)} is not permitted by any constraint`;
  const exclusion = excluded[name.list].length > 0 ? name.match(excluded, true) : undefined;
  return exclusion === undefined ? undefined : `${name.type} ${quote(name.shown)} is excluded by constraint ${quote(exclusion)}`;
}
