import type { KindSettings } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { type IpAddress, formatIp, isMapped, parseIp } from '../../net/ip-address.ts';
import { isFeatureOn } from '../features.ts';

const NOT_AN_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

const NONE: ReadonlySet<string> = new Set();

/** For fields that once took addresses in any form; `former` are the old object's, which may stay (apimachinery/pkg/util/validation/ip.go). */
export function validateLegacyIp(value: string, errors: FieldErrors, settings: KindSettings, former: ReadonlySet<string> = NONE): void {
  if (former.has(value)) return;
  const address = parseIp(value);
  const problem = address ? isFeatureOn(settings, 'StrictIPCIDRValidation') && formProblem(address) : NOT_AN_IP;
  if (problem) errors.invalid(value, problem);
}

/** For newer fields: one form per address. */
export function validateCanonicalIp(value: string, errors: FieldErrors): void {
  const problem = canonicalIpProblem(value);
  if (problem !== undefined) errors.invalid(value, problem);
}

/** What keeps a text from being an address in the one form it has. */
export function canonicalIpProblem(value: string): string | undefined {
  const address = parseIp(value);
  if (!address) return NOT_AN_IP;
  const canonical = formatIp(address.bytes);
  return formProblem(address) ?? (canonical === value ? undefined : `must be in canonical form (${quote(canonical)})`);
}

function formProblem({ bytes, hasLeadingZeros }: IpAddress): string | undefined {
  if (hasLeadingZeros) return 'must not have leading 0s';
  return isMapped(bytes) ? 'must not be an IPv4-mapped IPv6 address' : undefined;
}

/** A client is shown 4 KiB of warnings at most, which is less than so many. */
export const MAX_WARNINGS = 1_000;

/** What to tell a client whose addresses were let in but have a better form. A list may be long: nothing is made for those of which there is nothing to tell. */
export function legacyIpWarnings<T>(
  items: readonly T[] | null | undefined,
  addressOf: (item: T) => string | undefined,
  pathOf: (index: number) => string,
): string[] {
  const warnings: string[] = [];
  for (let index = 0; index < (items?.length ?? 0) && warnings.length < MAX_WARNINGS; index++) {
    const problem = legacyFormOf(addressOf(items![index]!) ?? '');
    if (problem !== undefined) warnings.push(`${pathOf(index)}: ${problem}`);
  }
  return warnings;
}

/** Of an address of version 4, leading zeros are the only other form. */
const mayHaveOtherForm = (value: string): boolean => value.includes(':') || /(?:^|\.)0\d/.test(value);

function legacyFormOf(value: string): string | undefined {
  const address = mayHaveOtherForm(value) ? parseIp(value) : undefined;
  if (address === undefined) return undefined;
  const canonical = formatIp(address.bytes);
  if (address.hasLeadingZeros || isMapped(address.bytes)) return `non-standard IP address ${quote(value)} is invalid: use ${quote(canonical)}`;
  if (address.bytes.length === 4 || canonical === value) return undefined;
  return `IPv6 address ${quote(value)} should be in RFC 5952 canonical format (${quote(canonical)})`;
}

/** 4 or 6; undefined of what is no address. A mapped address counts as version 4, as Go's net.IP has it. */
export function ipFamilyOf(value: string): 4 | 6 | undefined {
  const address = parseIp(value);
  if (!address) return undefined;
  return address.bytes.length === 4 || isMapped(address.bytes) ? 4 : 6;
}
