import { type FieldErrors, quote } from '../../util/field-errors.ts';
import { isFeatureOn } from '../features.ts';
import { formatIp, isMapped, parseIp } from './ip-address.ts';

/** A range of addresses as text gave it. */
interface Cidr {
  bytes: readonly number[];
  prefixLength: number;
  /** Read here, but not by stricter readers: `010.0.0.0/8`, `10.0.0.0/08`. */
  hasLeadingZeros: boolean;
  /** `::ffff:10.0.0.0/104` */
  isMapped: boolean;
}

const NOT_A_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** For fields that once took ranges in any form; `former` are the old object's, which may stay (apimachinery/pkg/util/validation/ip.go). */
export function validateLegacyCidr(value: string, errors: FieldErrors, former: readonly string[] = []): void {
  if (former.includes(value)) return;
  const problem = isFeatureOn('StrictIPCIDRValidation') || !parseCidr(value) ? cidrProblem(value) : undefined;
  if (problem !== undefined) errors.invalid(value, problem);
}

/** For newer fields: one form per range. */
export function validateCanonicalCidr(value: string, errors: FieldErrors): void {
  const problem = cidrProblem(value);
  if (problem !== undefined) return errors.invalid(value, problem);
  const canonical = networkText(parseCidr(value)!);
  if (canonical !== value) errors.invalid(value, `must be in canonical form (${quote(canonical)})`);
}

function cidrProblem(value: string): string | undefined {
  const cidr = parseCidr(value);
  if (!cidr) return NOT_A_CIDR;
  if (cidr.hasLeadingZeros) return 'must not have leading 0s in IP or prefix length';
  if (cidr.isMapped) return 'must not have an IPv4-mapped IPv6 address';
  if (hasHostBits(cidr)) return 'must not have bits set beyond the prefix length';
  return undefined;
}

/** What to tell a client whose range was let in but has a better form. */
export function legacyCidrWarnings(value: string, path: string): string[] {
  const cidr = parseCidr(value);
  if (!cidr) return [];
  const warnings: string[] = [];
  const network = networkText(cidr);
  if (hasHostBits(cidr)) {
    const single = `${formatIp(cidr.bytes)}/${cidr.bytes.length * 8}`;
    warnings.push(`${path}: CIDR value ${quote(value)} is ambiguous in this context (should be ${quote(network)} or ${quote(single)}?)`);
  }
  if (cidr.hasLeadingZeros || cidr.isMapped) warnings.push(`${path}: non-standard CIDR value ${quote(value)} is invalid: use ${quote(network)}`);
  if (warnings.length === 0 && cidr.bytes.length === 16 && network !== value)
    warnings.push(`${path}: IPv6 CIDR value ${quote(value)} should be in RFC 5952 canonical format (${quote(network)})`);
  return warnings;
}

/** As k8s.io/utils/net ParseCIDRSloppy takes it. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const address = slash < 0 ? undefined : parseIp(text.slice(0, slash));
  const lengthText = text.slice(slash + 1);
  if (!address || !/^[0-9]{1,16}$/.test(lengthText)) return undefined;
  const prefixLength = Number(lengthText);
  if (prefixLength > address.bytes.length * 8) return undefined;
  return {
    bytes: address.bytes,
    prefixLength,
    hasLeadingZeros: address.hasLeadingZeros || (lengthText.length > 1 && lengthText.startsWith('0')),
    isMapped: isMapped(address.bytes),
  };
}

/** 4 or 6; undefined of what is no range. A mapped one counts as version 4, as Go's net.IP has it. */
export function cidrFamilyOf(text: string): 4 | 6 | undefined {
  const cidr = parseCidr(text);
  if (!cidr) return undefined;
  return cidr.bytes.length === 4 || cidr.isMapped ? 4 : 6;
}

/** Whether a range is a part of another, and not all of it. */
export function isStrictlyWithin(part: Cidr, whole: Cidr): boolean {
  if (part.bytes.length !== whole.bytes.length || part.prefixLength <= whole.prefixLength) return false;
  const network = masked(whole);
  return masked({ ...part, prefixLength: whole.prefixLength }).every((byte, index) => byte === network[index]);
}

const masked = ({ bytes, prefixLength }: Cidr): number[] =>
  bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, prefixLength - index * 8))) & 0xff);

const hasHostBits = (cidr: Cidr): boolean => masked(cidr).some((byte, index) => byte !== cidr.bytes[index]);

/** A mapped range is written as the range of version 4 that it holds. */
const networkText = (cidr: Cidr): string =>
  `${formatIp(masked(cidr))}/${cidr.isMapped && cidr.prefixLength >= 96 ? cidr.prefixLength - 96 : cidr.prefixLength}`;
