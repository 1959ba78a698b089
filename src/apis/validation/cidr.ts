import type { KindSettings } from '../../registry/write.ts';
import { type GivenCidr, readCidr } from '../../net/cidr.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { formatIp } from '../../net/ip-address.ts';
import { isFeatureOn } from '../features.ts';

const NOT_A_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

const NONE: ReadonlySet<string> = new Set();

/** For fields that once took ranges in any form; `former` are the old object's, which may stay (apimachinery/pkg/util/validation/ip.go). */
export function validateLegacyCidr(value: string, errors: FieldErrors, settings: KindSettings, former: ReadonlySet<string> = NONE): void {
  if (former.has(value)) return;
  const cidr = readCidr(value);
  const problem = isFeatureOn(settings, 'StrictIPCIDRValidation') || !cidr ? cidrProblem(cidr) : undefined;
  if (problem !== undefined) errors.invalid(value, problem);
}

/** For newer fields: one form per range. */
export function validateCanonicalCidr(value: string, errors: FieldErrors): void {
  const cidr = readCidr(value);
  const problem = cidrProblem(cidr);
  if (problem !== undefined) return errors.invalid(value, problem);
  const canonical = networkText(cidr!);
  if (canonical !== value) errors.invalid(value, `must be in canonical form (${quote(canonical)})`);
}

function cidrProblem(cidr: GivenCidr | undefined): string | undefined {
  if (!cidr) return NOT_A_CIDR;
  if (cidr.hasLeadingZeros) return 'must not have leading 0s in IP or prefix length';
  if (cidr.isMapped) return 'must not have an IPv4-mapped IPv6 address';
  if (hasHostBits(cidr)) return 'must not have bits set beyond the prefix length';
  return undefined;
}

/** What to tell a client whose range was let in but has a better form. */
export function legacyCidrWarnings(value: string, path: string): string[] {
  const cidr = readCidr(value);
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

/** 4 or 6; undefined of what is no range. A mapped one counts as version 4, as Go's net.IP has it. */
export function cidrFamilyOf(text: string): 4 | 6 | undefined {
  const cidr = readCidr(text);
  if (!cidr) return undefined;
  return cidr.bytes.length === 4 || cidr.isMapped ? 4 : 6;
}

/** Whether a range is a part of another, and not all of it. */
export function isStrictlyWithin(part: GivenCidr, whole: GivenCidr): boolean {
  if (part.bytes.length !== whole.bytes.length || part.prefixLength <= whole.prefixLength) return false;
  const network = masked(whole);
  return masked({ ...part, prefixLength: whole.prefixLength }).every((byte, index) => byte === network[index]);
}

const masked = ({ bytes, prefixLength }: GivenCidr): number[] =>
  bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, prefixLength - index * 8))) & 0xff);

const hasHostBits = (cidr: GivenCidr): boolean => masked(cidr).some((byte, index) => byte !== cidr.bytes[index]);

/** A mapped range is written as the range of version 4 that it holds. */
const networkText = (cidr: GivenCidr): string =>
  `${formatIp(masked(cidr))}/${cidr.isMapped && cidr.prefixLength >= 96 ? cidr.prefixLength - 96 : cidr.prefixLength}`;
