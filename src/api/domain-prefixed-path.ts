import type { FieldErrors } from './field-errors.ts';
import { dns1123SubdomainErrors, patternError } from './names.ts';

const PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const pathExpression = new RegExp(`^${PATH}$`);

/** `acme.io/foo`. */
export function validateDomainPrefixedPath(text: string, errors: FieldErrors): void {
  if (text === '') return errors.required();
  const slash = text.indexOf('/');
  const [host, path] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  if (host === '' || path === '') return errors.invalid(text, 'must be a domain-prefixed path (such as "acme.io/foo")');
  for (const error of dns1123SubdomainErrors(host)) errors.invalid(host, error);
  if (!pathExpression.test(path)) errors.invalid(path, patternError('Invalid path', PATH));
}
