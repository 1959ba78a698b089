import type { FieldErrors } from '../../api/field-errors.ts';
import { pathSegmentErrors } from '../../api/names.ts';
import type { PolicyRule } from '../facts/types/rbac-v1.ts';

/** Names of roles and bindings: whatever a path can hold. */
export const rbacNameErrors = (name: string): string[] => pathSegmentErrors(name);

export function validatePolicyRules(rules: readonly PolicyRule[] | null, isNamespaced: boolean, errors: FieldErrors): void {
  for (const [index, rule] of (rules ?? []).entries()) validatePolicyRule(rule, isNamespaced, errors.index(index));
}

const hasSome = (list: readonly string[] | null | undefined): boolean => (list ?? []).length > 0;

function validatePolicyRule(rule: PolicyRule, isNamespaced: boolean, errors: FieldErrors): void {
  if (!hasSome(rule.verbs)) errors.at('verbs').required('verbs must contain at least one value');
  if (hasSome(rule.nonResourceURLs)) {
    const at = errors.at('nonResourceURLs');
    if (isNamespaced) at.invalid(rule.nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs');
    if (hasSome(rule.apiGroups) || hasSome(rule.resources) || hasSome(rule.resourceNames))
      at.invalid(rule.nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs');
    return;
  }
  if (!hasSome(rule.apiGroups)) errors.at('apiGroups').required('resource rules must supply at least one api group');
  if (!hasSome(rule.resources)) errors.at('resources').required('resource rules must supply at least one resource');
}
