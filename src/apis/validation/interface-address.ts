import { readCidr } from '../../net/cidr.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { formatIp } from '../../net/ip-address.ts';

/** An address together with the length of its network's prefix, in its one form (apimachinery/pkg/util/validation IsValidInterfaceAddress). */
export function validateInterfaceAddress(value: string, errors: FieldErrors): void {
  const cidr = readCidr(value);
  if (!cidr) return errors.invalid(value, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)');
  const canonical = `${formatIp(cidr.bytes)}/${cidr.prefixLength}`;
  if (canonical !== value) errors.invalid(value, `must be in canonical form (${quote(canonical)})`);
}
