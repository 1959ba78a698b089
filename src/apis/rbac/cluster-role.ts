import type { FieldErrors } from '../../api/field-errors.ts';
import { defineResource } from '../define.ts';
import type { ClusterRole } from '../facts/types/rbac-v1.ts';
import { isValidLabelSelector, parsedSelector, validateLabelSelector } from '../validation/label-selector.ts';
import { rbacNameErrors, validatePolicyRules } from './policy-rule.ts';
import { checkEach } from '../../api/validation-run.ts';

/** What may be done in every namespace and outside of them. With an aggregation rule, its rules are filled in from the roles that it selects. */
export const clusterRoles = defineResource<ClusterRole>('rbac.authorization.k8s.io/v1/clusterroles', {
  validatesFinalizerNames: true,
  naming: { errors: rbacNameErrors },
  createsOnUpdate: true,

  validatesWhole: 'before',
  validate({ object: clusterRole, old }, errors) {
    validatePolicyRules(clusterRole.rules, false, errors.at('rules'));
    validateAggregationRule(clusterRole, errors.at('aggregationRule', 'clusterRoleSelectors'), old !== undefined && hasInvalidSelector(old));
  },
});

const hasInvalidSelector = ({ aggregationRule }: ClusterRole): boolean =>
  (aggregationRule?.clusterRoleSelectors ?? []).some((selector) => !isValidLabelSelector(selector));

function validateAggregationRule({ aggregationRule }: ClusterRole, errors: FieldErrors, allowInvalidValues: boolean): void {
  if (!aggregationRule) return;
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) errors.required('at least one clusterRoleSelector required if aggregationRule is non-nil');
  checkEach(errors, 'selectors', selectors, (selector, index) => {
    const at = errors.index(index);
    validateLabelSelector(selector, at, { allowInvalidValues });
    if (!parsedSelector(selector)) at.invalid(null, 'invalid label selector.');
  });
}
