import { expect, test } from 'vitest';
import { addressAt, hostBits, isLoopback, isUnspecified, parseCidr } from './cidr.ts';

test.each([
  ['10.0.0.0/24', '10.0.0.0/24', '10.0.0.1', 8],
  ['10.96.3.7/12', '10.96.0.0/12', '10.96.0.1', 20],
  ['fd00::1234/108', 'fd00::/108', 'fd00::1', 20],
])('%s', (text, normal, second, bits) => {
  const cidr = parseCidr(text)!;
  expect([cidr.text, addressAt(cidr, 1), hostBits(cidr)]).toEqual([normal, second, bits]);
});

test.each(['', '10.0.0.0', '10.0.0.0/33', '10.0.0/8', 'fd00::/129', 'x/8', '10.0.0.0/-1', '::ffff:1.2.3.4/120', 'fe80::1%eth0/64', '010.0.0.0/8'])(
  '%j is no CIDR',
  (text) => {
    expect(parseCidr(text)).toBeUndefined();
  },
);

test('addresses that name no host', () => {
  expect(['', '0.0.0.0', '::', '0:0:0:0:0:0:0:0', '10.0.0.1'].map(isUnspecified)).toEqual([true, true, true, true, false]);
  expect(['127.0.0.1', '127.9.9.9', '::1', '10.0.0.1'].map(isLoopback)).toEqual([true, true, true, false]);
});
