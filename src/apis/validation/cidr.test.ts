import { DEFAULT_SETTINGS } from '../features.ts';
import { expect, test } from 'vitest';
import { FieldErrors } from '../../api/field-errors.ts';
import { legacyCidrWarnings, validateCanonicalCidr, validateLegacyCidr } from './cidr.ts';
import { validateEndpointIp } from './endpoint-ip.ts';

const problemsOf = (check: (errors: FieldErrors) => void): string[] => {
  const errors = new FieldErrors('x');
  check(errors);
  return errors.list.map(({ body }) => body.replace(/^Invalid value: "[^"]*": /, ''));
};

test.each([
  ['10.0.0.0/8', []],
  ['2001:DB8::/32', []],
  ['10.0.0.0', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  ['10.0.0.0/33', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  ['10.0.0.0/08', ['must not have leading 0s in IP or prefix length']],
  ['::ffff:10.0.0.0/104', ['must not have an IPv4-mapped IPv6 address']],
  ['10.1.0.0/8', ['must not have bits set beyond the prefix length']],
])('%s', (cidr, problems) => {
  expect(problemsOf((errors) => validateLegacyCidr(cidr, errors, DEFAULT_SETTINGS))).toEqual(problems);
  expect(problemsOf((errors) => validateLegacyCidr(cidr, errors, DEFAULT_SETTINGS, new Set([cidr])))).toEqual([]);
});

test('newer fields have one form a range', () => {
  expect(problemsOf((errors) => validateCanonicalCidr('2001:DB8::/32', errors))).toEqual(['must be in canonical form ("2001:db8::/32")']);
});

test('warnings', () => {
  expect(legacyCidrWarnings('10.1.0.0/8', 'p')).toEqual(['p: CIDR value "10.1.0.0/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.1.0.0/32"?)']);
  expect(legacyCidrWarnings('::ffff:10.0.0.0/104', 'p')).toEqual(['p: non-standard CIDR value "::ffff:10.0.0.0/104" is invalid: use "10.0.0.0/8"']);
  expect(legacyCidrWarnings('2001:DB8::/32', 'p')).toEqual(['p: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")']);
});

test.each([
  ['10.0.0.1', []],
  ['0.0.0.0', ['may not be unspecified (0.0.0.0)']],
  ['::1', ['may not be in the loopback range (127.0.0.0/8, ::1/128)']],
  ['169.254.1.1', ['may not be in the link-local range (169.254.0.0/16, fe80::/10)']],
  ['ff02::1', ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)']],
])('%s as an endpoint', (ip, problems) => {
  expect(problemsOf((errors) => validateEndpointIp(ip, errors))).toEqual(problems);
});
