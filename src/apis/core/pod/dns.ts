import type { KindSettings } from '../../../registry/write.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import { maxCharactersError, patternError } from '../../../api/names.ts';
import type { PodDNSConfig } from '../../facts/types/core-v1.ts';
import { validateLegacyIp } from '../../validation/ip-address.ts';
import { checkEach } from '../../../api/validation-run.ts';

/** What resolvers in containers can take (pkg/apis/core/validation validatePodDNSConfig). */
const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_BYTES = 2048;
const MAX_DOMAIN_BYTES = 253;
const LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const labelExpression = /^_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;
const DOMAIN_WRONG = patternError(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  `${LABEL}(\\.${LABEL})*`,
  'example.com',
);

export function validateDnsConfig(config: PodDNSConfig | undefined, policy: string | undefined, errors: FieldErrors, settings: KindSettings): void {
  if (policy === 'None' && !config) return errors.required('must provide `dnsConfig` when `dnsPolicy` is None');
  if (policy === 'None' && !config!.nameservers) return errors.at('nameservers').required('must provide at least one DNS nameserver when `dnsPolicy` is None');
  if (!config) return;
  const { nameservers = [], searches = [], options = [] } = config;
  if (nameservers.length > MAX_NAMESERVERS) errors.at('nameservers').invalid(nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`);
  checkEach(errors, 'nameservers', nameservers, (server, index) => validateLegacyIp(server, errors.at('nameservers').index(index), settings));
  validateSearches(searches, errors.at('searches'));
  checkEach(errors, 'options', options, ({ name }, index) => {
    if (!name) errors.at('options').index(index).required('must not be empty');
  });
}

function validateSearches(searches: readonly string[], errors: FieldErrors): void {
  if (searches.length > MAX_SEARCHES) errors.invalid(searches, `must not have more than ${MAX_SEARCHES} search paths`);
  if (Buffer.byteLength(searches.join(' ')) > MAX_SEARCH_BYTES)
    errors.invalid(searches, `must not have more than ${MAX_SEARCH_BYTES} characters (including spaces) in the search list`);
  checkEach(errors, 'searches', searches, (search, index) => {
    if (search === '.') return;
    const domain = search.endsWith('.') ? search.slice(0, -1) : search;
    for (const error of domainErrors(domain)) errors.index(index).invalid(domain, error);
  });
}

function domainErrors(domain: string): string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(domain) > MAX_DOMAIN_BYTES) errors.push(maxCharactersError(MAX_DOMAIN_BYTES));
  if (!domain.split('.').every((label) => labelExpression.test(label))) errors.push(DOMAIN_WRONG);
  return errors;
}
