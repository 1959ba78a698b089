import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors } from '../../api/names.ts';

const DOMAIN_MAX_BYTES = 253;
/** Room in the path for a namespace, a dot and a name. */
const MAX_BYTES = DOMAIN_MAX_BYTES + 1 + 253 + 63 + 1;

/** `example.com/signer-name`: who signs (pkg/apis/core/validation ValidateSignerName). */
export function validateSignerName(name: string, errors: FieldErrors): void {
  if (name === '') return errors.required();
  const [domain = '', path, ...more] = name.split('/');
  if (path === undefined || more.length > 0) return errors.invalid(name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  if (Buffer.byteLength(domain) > DOMAIN_MAX_BYTES) errors.tooLong(DOMAIN_MAX_BYTES);
  const domainLabels = domain.split('.');
  validateFirstWrong(domain, domainLabels, dns1123LabelErrors, errors);
  if (domainLabels.length < 2) errors.invalid(domain, 'should be a domain with at least two segments separated by dots');
  validateFirstWrong(path, path.split('.'), dns1123SubdomainErrors, errors);
  if (Buffer.byteLength(name) > MAX_BYTES) errors.tooLong(MAX_BYTES);
}

/** Whether it is one of Kubernetes' own. */
export function isKubernetesSigner(name: string): boolean {
  const domain = name.split('/', 1)[0]!;
  return domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io');
}

/** One bad label is told of; more would say the same. */
function validateFirstWrong(segment: string, labels: readonly string[], rule: (label: string) => string[], errors: FieldErrors): void {
  for (const label of labels) {
    const problems = rule(label);
    for (const problem of problems) errors.invalid(segment, `validating label ${quote(label)}: ${problem}`);
    if (problems.length > 0) return;
  }
}
