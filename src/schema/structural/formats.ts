import { readCidr } from '../../net/cidr.ts';
import { parseNanoseconds } from '../../util/duration.ts';
import { parseIp } from '../../net/ip-address.ts';
import { compileRegexp } from '../../re2/regexp.ts';

/** Formats by which strings are compiled, by their names without dashes (kube-openapi/pkg/validation/strfmt). Others are not looked at. */
const STRING_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: matches('^[0-9a-fA-F]{24}$'),
  uri: isRequestUri,
  email: matches(String.raw`^[^\s@<>"(),:;\[\]\\]+(\.[^\s@<>"(),:;\[\]\\]+)*@[^\s@<>"(),:;\[\]\\]+$`),
  hostname: (text) => Buffer.byteLength(text) <= 255 && isHostname(text) && text.split('.').every((label) => Buffer.byteLength(label) <= 63),
  ipv4: (text) => text.includes('.') && parseIp(text) !== undefined,
  ipv6: (text) => text.includes(':') && parseIp(text) !== undefined,
  cidr: (text) => readCidr(text) !== undefined,
  mac: matches(
    '^([0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5,7}|[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){19}|[0-9a-fA-F]{4}(\\.[0-9a-fA-F]{4}){2,3}|[0-9a-fA-F]{4}(\\.[0-9a-fA-F]{4}){9})$',
  ),
  uuid: matches('(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$'),
  uuid3: matches('(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$'),
  uuid4: matches('(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$'),
  uuid5: matches('(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$'),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: matches(String.raw`^\d{3}[- ]?\d{2}[- ]?\d{4}$`),
  hexcolor: matches('^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$'),
  rgbcolor: matches(
    String.raw`^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$`,
  ),
  byte: isBase64,
  password: () => true,
  date: isDate,
  datetime: isDateTime,
  duration: isDuration,
  k8sshortname: (text) => text.length <= 63 && isLongName(text) && !text.includes('.'),
  k8slongname: (text) => text.length <= 253 && isLongName(text),
};
const NUMBER_FORMATS: Readonly<Record<string, readonly string[]>> = { integer: ['int32', 'int64'], number: ['float', 'double'] };

/** The format, unless it is none that values of this type are compiled by; undefined then. */
export function effectiveFormat(type: string | undefined, format: string | undefined): string | undefined {
  if (!format) return undefined;
  const isKnown =
    type === undefined || type === '' || type === 'string'
      ? Object.hasOwn(STRING_FORMATS, format.replaceAll('-', ''))
      : Object.hasOwn(NUMBER_FORMATS, type) && NUMBER_FORMATS[type]!.includes(format);
  return isKnown ? format : undefined;
}

/** Whether a text has a format that `effectiveFormat` let through. */
export const hasFormat = (format: string, text: string): boolean => STRING_FORMATS[format.replaceAll('-', '')]?.(text) ?? true;

/** Patterns of our own go through the same matcher as clients': their time is bounded whatever the text. */
function matches(pattern: string): (text: string) => boolean {
  return (text) => {
    const regexp = compileRegexp(pattern);
    return !('error' in regexp) && regexp.test(text);
  };
}

const isHostname = matches(
  String.raw`^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$`,
);
const isLongName = matches(String.raw`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`);
const isClock = matches('^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$');
const hasDatePattern = matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}$');
const hasUnit = matches(String.raw`(?i)\d+\s*(ns|nano|us|µs|micro|ms|milli|s|m|h|d|w)`);
const hasScheme = matches('^[a-zA-Z][a-zA-Z0-9+.-]*:.');

function isDate(text: string): boolean {
  if (!hasDatePattern(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const [date = '', clock] = text.toLowerCase().split('t');
  return clock !== undefined && isDate(date) && isClock(clock);
}

function isDuration(text: string): boolean {
  try {
    parseNanoseconds(text);
    return true;
  } catch {
    return hasUnit(text);
  }
}

/** Go's url.ParseRequestURI: absolute, or a path from the root. */
function isRequestUri(text: string): boolean {
  if (text.startsWith('/')) return !/[\s\p{Cc}]/u.test(text);
  return hasScheme(text) && URL.canParse(text);
}

/** Nothing is no base64 (kube-openapi's govalidator); what may be long is not matched by groups that repeat. */
function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

const digitsOf = (text: string): string => text.replaceAll(/[\s-]/g, '');

function isIsbn10(text: string): boolean {
  const digits = digitsOf(text);
  if (digits.length !== 10) return false;
  let sum = 0;
  for (let index = 0; index < 10; index++) {
    const digit = index === 9 && digits[index] === 'X' ? 10 : Number(digits[index]);
    if (Number.isNaN(digit)) return false;
    sum += (10 - index) * digit;
  }
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = digitsOf(text);
  if (digits.length !== 13) return false;
  let sum = 0;
  for (let index = 0; index < 13; index++) sum += Number(digits[index]) * (index % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

/** By Luhn's sum. */
function isCreditCard(text: string): boolean {
  const digits = digitsOf(text);
  if (digits.length < 13 || digits.length > 19) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    if (Number.isNaN(digit)) return false;
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
