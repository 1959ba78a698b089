import { formatIp, isMapped, parseIp } from '../../net/ip-address.ts';
import { type CertificateFields, subjectOf } from './certificate.ts';

const MAX_NAMES_SHOWN = 100;

/** Why a certificate is not one for this host (a name or an address), in Go's words; undefined where it is (crypto/x509, VerifyHostname). */
export function hostNameProblem(certificate: CertificateFields, host: string): string | undefined {
  const address = addressOf(host.length > 2 && host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host);
  if (address) return certificate.ips.some((ip) => isSameIp(ip, address.bytes)) ? undefined : mismatch(certificate, address.text);
  return certificate.dnsNames.some((pattern) => isNameFor(pattern, lowerAscii(host))) ? undefined : mismatch(certificate, host);
}

function addressOf(text: string): { text: string; bytes: number[] } | undefined {
  const ip = parseIp(text);
  return ip && !ip.hasLeadingZeros ? { text, bytes: ip.bytes } : undefined;
}

const plainIp = (bytes: readonly number[]): readonly number[] => (isMapped(bytes) ? bytes.slice(12) : bytes);

function isSameIp(ip: Buffer, bytes: readonly number[]): boolean {
  const [first, second] = [plainIp([...ip]), plainIp(bytes)];
  return first.length === second.length && first.every((byte, index) => byte === second[index]);
}

const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
const withoutLastDot = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host);

/** Wildcards and final dots mean something in names of hosts only; anything else must be the same, letter for letter. */
function isNameFor(pattern: string, host: string): boolean {
  if (isHostName(withoutLastDot(host), false) && isHostName(pattern, true)) return matches(pattern, host);
  return host !== '' && host !== '.' && pattern !== '.' && lowerAscii(pattern) === host;
}

const LABEL = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;

const isHostName = (host: string, isPattern: boolean): boolean =>
  host !== '*' && host.split('.').every((label, index) => LABEL.test(label) || (isPattern && index === 0 && label === '*'));

/** A wildcard stands for exactly the first label. */
function matches(pattern: string, host: string): boolean {
  const labels = lowerAscii(pattern).split('.');
  const wanted = lowerAscii(withoutLastDot(host)).split('.');
  return pattern !== '' && labels.length === wanted.length && labels.every((label, index) => label === wanted[index] || (index === 0 && label === '*'));
}

function mismatch(certificate: CertificateFields, host: string): string {
  if (!certificate.subjectAltName && matches(subjectOf(certificate).commonName, host))
    return 'x509: certificate relies on legacy Common Name field, use SANs instead';
  const { dnsNames, ips } = certificate;
  const isAddress = addressOf(host) !== undefined;
  if (isAddress && ips.length === 0) return `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  const [count, kind] = isAddress ? [ips.length, 'IP SANs'] : [dnsNames.length, 'names'];
  if (count >= MAX_NAMES_SHOWN) return `x509: certificate is valid for ${count} ${kind}, but none matched ${host}`;
  const names = (isAddress ? ips.map((ip) => formatIp([...ip])) : dnsNames).join(', ');
  return names === '' ? `x509: certificate is not valid for any names, but wanted to match ${host}` : `x509: certificate is valid for ${names}, not ${host}`;
}
