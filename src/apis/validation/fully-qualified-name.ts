import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123SubdomainErrors } from '../../api/names.ts';

/** A name under a domain of someone's: three segments at least (apimachinery/pkg/util/validation IsFullyQualifiedName). */
export function validateFullyQualifiedName(name: string, errors: FieldErrors): void {
  if (name === '') return errors.required();
  const problems = dns1123SubdomainErrors(name);
  if (problems.length > 0) errors.invalid(name, problems.join(','));
  else if (name.split('.').length < 3) errors.invalid(name, 'should be a domain with at least three segments separated by dots');
}
