import type { FieldErrors } from '../../api/field-errors.ts';
import { isMapped, parseIp } from '../../net/ip-address.ts';

/** Kinds of addresses that no traffic of a service can be sent to, by their bytes. */
const UNREACHABLE: readonly { is(v4: number[] | undefined, v6: readonly number[]): boolean; problem(value: string): string }[] = [
  { is: (v4, v6) => (v4 ?? v6).every((byte) => byte === 0), problem: (value) => `may not be unspecified (${value})` },
  {
    is: (v4, v6) => (v4 ? v4[0] === 127 : v6.every((byte, index) => byte === (index === 15 ? 1 : 0))),
    problem: () => 'may not be in the loopback range (127.0.0.0/8, ::1/128)',
  },
  {
    is: (v4, v6) => (v4 ? v4[0] === 169 && v4[1] === 254 : v6[0] === 0xfe && (v6[1]! & 0xc0) === 0x80),
    problem: () => 'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  },
  {
    is: (v4, v6) => (v4 ? v4[0] === 224 && v4[1] === 0 && v4[2] === 0 : v6[0] === 0xff && (v6[1]! & 0x0f) === 0x02),
    problem: () => 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
  },
];

/** Of Endpoints, EndpointSlices and, for historical reasons, a service's external addresses (pkg/apis/core/validation ValidateEndpointIP). */
export function validateEndpointIp(value: string, errors: FieldErrors): void {
  const address = parseIp(value);
  if (!address) return errors.invalid(value, 'must be a valid IP address');
  const { bytes } = address;
  const v4 = bytes.length === 4 ? bytes : isMapped(bytes) ? bytes.slice(12) : undefined;
  for (const { is, problem } of UNREACHABLE) if (is(v4, bytes)) errors.invalid(value, problem(value));
}
