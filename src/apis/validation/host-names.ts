import type { FieldErrors } from '../../api/field-errors.ts';
import { parseIp } from '../../net/ip-address.ts';
import { DNS1123_SUBDOMAIN, dns1123SubdomainErrors, maxCharactersError, patternError } from '../../api/names.ts';

const WILDCARD = '*.';
const MAX_BYTES = 253;
const wildcardError = patternError(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  `\\*\\.${DNS1123_SUBDOMAIN}`,
  '*.example.com',
);

/** A host, or with a star for its first label all hosts of a domain. */
export function validateHostPattern(host: string, errors: FieldErrors): void {
  for (const error of host.includes('*') ? wildcardErrors(host) : dns1123SubdomainErrors(host)) errors.invalid(host, error);
}

function wildcardErrors(host: string): string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(host) > MAX_BYTES) errors.push(maxCharactersError(MAX_BYTES));
  const isWildcard = host.startsWith(WILDCARD) && dns1123SubdomainErrors(host.slice(WILDCARD.length)).every((error) => error === maxCharactersError(MAX_BYTES));
  if (!isWildcard) errors.push(wildcardError);
  return errors;
}

export function validateNoIp(host: string, errors: FieldErrors): void {
  if (parseIp(host)) errors.invalid(host, 'must be a DNS name, not an IP address');
}
