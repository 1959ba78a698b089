import { parseIp } from '../../net/ip-address.ts';
import { parseCertificate, subjectOf } from './certificate.ts';
import { type KeyPair, decodePem } from './pem.ts';

/** One certificate that is served to clients that ask for certain names. */
export interface NamedValue<T> {
  value: T;
  /** Names given by hand. They go before names that certificates bring along. */
  explicitNames: readonly string[];
  certificateNames: readonly string[];
}

/** Which value serves a name. Earlier entries go first, explicit names before the certificates' own, exact names before wildcards. */
export function buildNameTable<T>(entries: readonly NamedValue<T>[]): Map<string, T> {
  const table = new Map<string, T>();
  const add = (name: string, value: T): void => {
    if (!table.has(name)) table.set(name, value);
  };
  for (const { value, explicitNames } of entries) for (const name of explicitNames) add(name, value);
  for (const { value, explicitNames, certificateNames } of entries) {
    if (explicitNames.length === 0) for (const name of certificateNames) add(name, value);
  }
  return table;
}

/** A wildcard stands for exactly the first label (crypto/tls). */
export function findByName<T>(table: ReadonlyMap<string, T>, serverName: string): T | undefined {
  const name = serverName.toLowerCase();
  const exact = table.get(name);
  if (exact !== undefined) return exact;
  const dot = name.indexOf('.');
  return table.get(dot === -1 ? '*' : `*${name.slice(dot)}`);
}

const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The names that a certificate brings along: its common name if that is one, and its DNS names; never addresses, which SNI cannot carry (RFC 6066 §3). */
export function namesOfCertificate({ certPem }: KeyPair): string[] {
  const [leaf] = decodePem('CERTIFICATE', certPem);
  if (!leaf) return [];
  const fields = parseCertificate(leaf);
  const { commonName } = subjectOf(fields);
  const isName = parseIp(commonName) === undefined && (commonName === '*' || (commonName.length <= 255 && DNS_SUBDOMAIN.test(commonName.replace(/^\*\./, ''))));
  return isName ? [commonName, ...fields.dnsNames] : fields.dnsNames;
}
