import type { Authentication, Authenticator } from '../server/authenticator.ts';
import { subjectOf } from '../serving/certificates/certificate.ts';
import { verifyClientChain } from '../serving/certificates/verify.ts';
import type { ConnectionInfo, Exchange } from '../serving/exchange.ts';

export interface RequestHeaderOptions {
  /** PEM of `--requestheader-client-ca-file`; the same array as long as it is the same. */
  authorities(): readonly string[];
  /** Empty: any certificate that the authorities have signed. */
  allowedNames: readonly string[];
  usernameHeaders: readonly string[];
  uidHeaders: readonly string[];
  groupHeaders: readonly string[];
  extraHeaderPrefixes: readonly string[];
  nowMs?(): number;
}

/** What was made of a connection's certificate: good for as long as the authorities stay and every link of its chain is valid. */
interface Finding {
  authorities: readonly string[];
  validUntilMs: number;
  refusal: Error | undefined;
}

/**
 * A front proxy that has proved itself by its certificate names the user in headers (apiserver/pkg/authentication/request/headerrequest). Without such a
 * certificate the headers count for nothing.
 */
export function requestHeader(options: RequestHeaderOptions): Authenticator {
  const { authorities, nowMs = Date.now } = options;
  const headers = headerNames(options);
  const findings = new WeakMap<ConnectionInfo, Finding>();
  const findingFor = (connection: ConnectionInfo): Finding => {
    const kept = findings.get(connection);
    if (kept?.authorities === authorities() && nowMs() <= kept.validUntilMs) return kept;
    const finding = examine(connection.peerCertificates, options, nowMs());
    findings.set(connection, finding);
    return finding;
  };
  return {
    authenticate({ exchange }) {
      if (exchange.connection.peerCertificates.length === 0) return undefined;
      const { refusal } = findingFor(exchange.connection);
      if (refusal) throw refusal;
      return userIn(exchange, headers);
    },
  };
}

function examine(chainDer: readonly Buffer[], { authorities, allowedNames }: RequestHeaderOptions, nowMs: number): Finding {
  try {
    const chain = verifyClientChain(chainDer, authorities(), new Date(nowMs));
    const { commonName } = subjectOf(chain[0]!);
    if (allowedNames.length > 0 && !allowedNames.includes(commonName)) throw new Error(`x509: subject with cn=${commonName} is not in the allowed list`);
    return { authorities: authorities(), validUntilMs: Math.min(...chain.map(({ notAfter }) => notAfter.getTime())), refusal: undefined };
  } catch (error) {
    return { authorities: authorities(), validUntilMs: Infinity, refusal: error as Error };
  }
}

type CarriedHeaders = Pick<Exchange, 'headers' | 'headerValues'>;
type HeaderNames = Pick<RequestHeaderOptions, 'usernameHeaders' | 'uidHeaders' | 'groupHeaders' | 'extraHeaderPrefixes'>;

/** As headers are kept: in lower case. */
export const headerNames = (options: HeaderNames): HeaderNames => ({
  usernameHeaders: lowered(options.usernameHeaders),
  uidHeaders: lowered(options.uidHeaders),
  groupHeaders: lowered(options.groupHeaders),
  extraHeaderPrefixes: lowered(options.extraHeaderPrefixes),
});

const lowered = (names: readonly string[]): string[] => names.map((name) => name.trim().toLowerCase());

function userIn(exchange: CarriedHeaders, { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes }: HeaderNames): Authentication | undefined {
  const name = firstValue(exchange, usernameHeaders);
  if (name === '') return undefined;
  const uid = firstValue(exchange, uidHeaders);
  const groups = groupHeaders.flatMap((header) => exchange.headerValues(header)).filter((group) => group !== '');
  const extra = extraIn(exchange, extraHeaderPrefixes);
  return { user: { name, ...(uid !== '' && { uid }), groups, ...(extra && { extra }) } };
}

/** Of the first header that has a value, its first line. */
function firstValue(exchange: CarriedHeaders, headers: readonly string[]): string {
  for (const header of headers) {
    const value = exchange.headerValues(header)[0] ?? '';
    if (value !== '') return value;
  }
  return '';
}

function extraIn(exchange: CarriedHeaders, prefixes: readonly string[]): Record<string, string[]> | undefined {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes) {
    for (const header of Object.keys(exchange.headers)) {
      if (!header.startsWith(prefix)) continue;
      const key = unescaped(header.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), ...exchange.headerValues(header)]);
    }
  }
  return extra.size > 0 ? Object.fromEntries(extra) : undefined;
}

/** Keys are percent-encoded, since headers hold few characters. One that is not stays as it is. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
