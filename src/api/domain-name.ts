import type { FieldErrors } from './field-errors.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors } from './names.ts';

/** apimachinery's IsFullyQualifiedDomainName. */
export function validateDomainName(address: string, errors: FieldErrors): void {
  if (address === '') return errors.required();
  const name = address.replace(/\.$/, '');
  const problems = dns1123SubdomainErrors(name);
  if (problems.length > 0) return errors.invalid(name, problems.join(','));
  const labels = name.split('.');
  if (labels.length < 2) return errors.invalid(name, 'should be a domain with at least two segments separated by dots');
  const wrong = labels.find((label) => dns1123LabelErrors(label).length > 0);
  if (wrong !== undefined) errors.invalid(wrong, dns1123LabelErrors(wrong).join(','));
}
