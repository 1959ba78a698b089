import { expect, test } from 'vitest';
import { legacyIpWarnings } from './ip-address.ts';

const warningsOf = (addresses: readonly string[]): string[] =>
  legacyIpWarnings(
    addresses,
    (address) => address,
    (index) => `ips[${index}]`,
  );

test('addresses that have a better form are warned of, at their place', () => {
  expect(warningsOf(['10.0.0.1', '2001:db8::1', '0.0.0.0', '', 'no address', 'no:address'])).toEqual([]);
  expect(warningsOf(['10.0.0.1', '010.0.0.1', '10.0.0.01', '::ffff:10.0.0.1', '2001:DB8::0'])).toEqual([
    'ips[1]: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"',
    'ips[2]: non-standard IP address "10.0.0.01" is invalid: use "10.0.0.1"',
    'ips[3]: non-standard IP address "::ffff:10.0.0.1" is invalid: use "10.0.0.1"',
    'ips[4]: IPv6 address "2001:DB8::0" should be in RFC 5952 canonical format ("2001:db8::")',
  ]);
});

test('a list of any length has a thousand warnings at most', () => {
  const warnings: string[] = [];
  warnings.push(...warningsOf(Array.from({ length: 300_000 }, () => '2001:DB8::1')));
  expect(warnings).toHaveLength(1_000);
});
