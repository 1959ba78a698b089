import { cronScheduleError } from '../../src/apis/batch/cron-schedule.ts';
import { parseCidr, readCidr } from '../../src/net/cidr.ts';
import { DurationError, canonicalDuration, parseDuration } from '../../src/util/duration.ts';
import { formatIp, parseIp } from '../../src/net/ip-address.ts';
import {
  configMapKeyErrors,
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from '../../src/api/names.ts';
import { QuantityError, addQuantities, canonicalQuantity, compareQuantities, parseQuantity } from '../../src/api/quantity.ts';
import { compareSemanticVersions, parseSemanticVersion } from '../../src/util/semantic-version.ts';
import { TimeError, canonicalMicroTime, canonicalTime } from '../../src/util/time.ts';
import { type FuzzTarget, WrongAnswer, mustAgree } from '../target.ts';

/* Texts of one value. A canonical form is its own canonical form. */

const DIGITS = ['0', '1', '9', '.', '-', '+', 'e', 'E', '00', '999999999'];

export const duration: FuzzTarget = {
  name: 'duration',
  seeds: () => ['1h30m', '300ms', '-1.5h', '2h45m10.5s', '0', '1us', '1µs', '9223372036s'],
  tokens: [...DIGITS, 'h', 'm', 's', 'ms', 'us', 'ns', 'µs'],
  refusals: [DurationError],
  run(input) {
    const text = input.toString();
    if (!Number.isFinite(parseDuration(text))) throw new WrongAnswer('a duration without end');
    const canonical = canonicalDuration(text);
    mustAgree('canonical form', canonicalDuration(canonical), canonical);
  },
};

export const quantity: FuzzTarget = {
  name: 'quantity',
  seeds: () => ['100m', '1.5Gi', '1e3', '-0.1', '12345678901234567890', '1E', '5n', '.5', '1Ki'],
  tokens: [...DIGITS, 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'Ei', 'e999999999', 'E-9'],
  refusals: [QuantityError],
  run(input) {
    const text = input.toString();
    const value = parseQuantity(text);
    const canonical = canonicalQuantity(text);
    mustAgree('canonical form', canonicalQuantity(canonical), canonical);
    addQuantities(value, value);
    compareQuantities(value, parseQuantity('1Gi'));
  },
};

/** The two layouts differ in what they refuse. */
function canonicalUnlessRefused(canonicalOf: (text: string) => string | null, text: string): string | null {
  try {
    return canonicalOf(text);
  } catch (error) {
    if (error instanceof TimeError) return null;
    throw error;
  }
}

export const time: FuzzTarget = {
  name: 'time',
  seeds: () => [
    '2024-01-02T03:04:05Z',
    '2024-02-29T23:59:60.123456+01:00',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999-23:59',
    '2024-01-02T03:04:05.000001Z',
  ],
  tokens: [...DIGITS, 'T', 'Z', ':', '+01:00', '-', ','],
  refusals: [],
  run(input) {
    const text = input.toString();
    for (const canonicalOf of [canonicalTime, canonicalMicroTime]) {
      const canonical = canonicalUnlessRefused(canonicalOf, text);
      // An offset may lead to a year of five digits, which Go writes, and does not read.
      // The zero time with a fraction is written as the zero time, which is read as none.
      if (canonical !== null && /^\d{4}-/.test(canonical) && !canonical.startsWith('0001-01-01T00:00:00'))
        mustAgree('canonical form', canonicalOf(canonical)!, canonical);
    }
  },
};

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The native engine is asked too, of short texts. */
export const names: FuzzTarget = {
  name: 'names',
  seeds: () => ['a-b.c', 'kube-system', 'example.org/Name_1', 'A.b-C_d', '-', 'a'.repeat(63), '..'],
  tokens: ['-', '.', '_', '/', 'a', 'A', '0', '%', '\n', 'é', ' '],
  refusals: [],
  run(input) {
    const text = input.toString();
    const isLabel = text.length <= 63 && LABEL.test(text);
    mustAgree(`whether ${JSON.stringify(text)} is a label`, String(dns1123LabelErrors(text).length === 0), String(isLabel));
    const isSubdomain = text.length <= 253 && text.split('.').every((part) => LABEL.test(part));
    mustAgree(`whether ${JSON.stringify(text)} is a subdomain`, String(dns1123SubdomainErrors(text).length === 0), String(isSubdomain));
    for (const errors of [dns1035LabelErrors, qualifiedNameErrors, labelValueErrors, configMapKeyErrors, pathSegmentErrors]) errors(text);
  },
};

export const addresses: FuzzTarget = {
  name: 'addresses',
  seeds: () => ['10.0.0.1', '::1', '::ffff:10.0.0.1', '10.0.0.0/8', 'fd00::/64', '2001:db8:1:2:3:4:5:6', '010.1.2.3', '1.2.3.4/32', 'fe80::1%eth0'],
  tokens: [':', '::', '.', '/', '0', 'ffff', '255', '256', '%', '32', '128', '00'],
  refusals: [],
  run(input) {
    const text = input.toString();
    readCidr(text);
    parseCidr(text);
    const address = parseIp(text);
    if (!address) return;
    const written = formatIp(address.bytes);
    mustAgree('written and read again', formatIp(parseIp(written)!.bytes), written);
  },
};

export const versionsAndSchedules: FuzzTarget = {
  name: 'versions-and-schedules',
  seeds: () => ['1.2.3-alpha.1+build', '0.0.1', '*/5 0-12,15 1 JAN MON-FRI', '@every 1h30m', 'TZ=UTC 0 0 * * *', '@daily'],
  tokens: ['.', '-', '+', '*', '/', ',', '0', '59', ' ', 'MON', '@', '?', 'CRON_TZ='],
  refusals: [],
  run(input) {
    const text = input.toString();
    cronScheduleError(text);
    const version = parseSemanticVersion(text);
    if (version && compareSemanticVersions(version, version) !== 0) throw new WrongAnswer('a version that is not itself');
  },
};
