import type { FieldErrors } from '../../api/field-errors.ts';
import { pathSegmentErrors } from '../../api/names.ts';
import { checkEach } from '../../api/validation-run.ts';
import type { NamedRuleWithOperations, Rule, RuleWithOperations } from '../facts/types/admissionregistration-v1.ts';
import { validateOptionalChoice } from '../validation/choice.ts';
import { repeats } from '../validation/repeats.ts';

/** Which requests a webhook or policy is for (pkg/apis/admissionregistration/validation). */
const ALL = '*';
const SCOPES = ['*', 'Cluster', 'Namespaced'];
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const MUTABLE_OPERATIONS = OPERATIONS.filter((operation) => operation !== 'DELETE');

export function defaultWebhookRules(rules: readonly Rule[] | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= ALL;
}

export function validateRules(rules: readonly RuleWithOperations[] | undefined, errors: FieldErrors): void {
  for (const [index, rule] of (rules ?? []).entries()) validateRule(rule, errors.index(index));
}

/** The same for rules that may name objects too. */
export function validateNamedRules(rules: readonly NamedRuleWithOperations[] | undefined, errors: FieldErrors): void {
  for (const [index, rule] of (rules ?? []).entries()) {
    validateResourceNames(rule.resourceNames ?? [], errors.index(index).at('resourceNames'));
    validateRule(rule, errors.index(index));
  }
}

/** What is being deleted can not be mutated. `errors` stands at the rules; upstream tells no index. */
export function validateMutableOperations(rules: readonly RuleWithOperations[] | undefined, errors: FieldErrors): void {
  const all = (rules ?? []).flatMap(({ operations = [] }) => operations);
  checkEach(errors, 'mutable operations', all, (operation) => {
    if (!MUTABLE_OPERATIONS.includes(operation)) errors.at('operations').notSupported(operation, MUTABLE_OPERATIONS);
  });
}

function validateResourceNames(names: readonly string[], errors: FieldErrors): void {
  const check = (name: string, index: number, isRepeated: (name: string) => boolean): void => {
    for (const error of pathSegmentErrors(name)) errors.index(index).invalid(name, error);
    if (isRepeated(name)) errors.index(index).duplicate(name);
  };
  checkEach(errors, 'names', names, check, repeats<string>);
}

function validateRule({ operations = [], apiGroups = [], apiVersions = [], resources = [], scope }: RuleWithOperations, errors: FieldErrors): void {
  validateAllOrSome(operations, 'operations', errors.at('operations'));
  checkEach(errors, 'operations', operations, (operation, index) => {
    if (!OPERATIONS.includes(operation)) errors.at('operations').index(index).notSupported(operation, OPERATIONS);
  });
  validateAllOrSome(apiGroups, 'API groups', errors.at('apiGroups'));
  validateAllOrSome(apiVersions, 'API versions', errors.at('apiVersions'));
  for (const [index, version] of apiVersions.entries()) if (version === '') errors.at('apiVersions').index(index).required();
  validateResources(resources, errors.at('resources'));
  validateOptionalChoice(scope, SCOPES, errors.at('scope'));
}

/** At least one, and nothing beside `*`. */
function validateAllOrSome(values: readonly string[], named: string, errors: FieldErrors): void {
  if (values.length === 0) errors.required();
  if (values.length > 1 && values.includes(ALL)) errors.invalid(values, `if '*' is present, must not specify other ${named}`);
}

/** `pods`, `pods/status`, `pods/*`, every `scale`, `*`, both at once: no wildcard beside what it covers already. */
function validateResources(resources: readonly string[], errors: FieldErrors): void {
  if (resources.length === 0) errors.required();
  const wholeResources = new Set<string>();
  const everywhere = new Set<string>();
  // Upstream looks at the last resource without a subresource only.
  let hasPlainResource = false;
  for (const [index, text] of resources.entries()) {
    const at = errors.index(index);
    const slash = text.indexOf('/');
    if (text === '') at.required();
    else if (slash === -1) hasPlainResource = text !== ALL;
    else {
      const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
      if (wholeResources.has(resource)) at.invalid(text, `if '${resource}/*' is present, must not specify ${text}`);
      if (everywhere.has(subresource)) at.invalid(text, `if '*/${subresource}' is present, must not specify ${text}`);
      if (subresource === ALL) wholeResources.add(resource);
      if (resource === ALL) everywhere.add(subresource);
    }
  }
  if (resources.length > 1 && resources.includes('*/*')) errors.invalid(resources, "if '*/*' is present, must not specify other resources");
  if (hasPlainResource && resources.includes(ALL)) errors.invalid(resources, "if '*' is present, must not specify other resources without subresources");
}
