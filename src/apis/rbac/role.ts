import { defineResource } from '../define.ts';
import type { Role } from '../facts/types/rbac-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { rbacNameErrors, validatePolicyRules } from './policy-rule.ts';

/** What may be done in a namespace. Who may write one is the escalation check's to say, an admission step. */
export const roles = defineResource<Role>('rbac.authorization.k8s.io/v1/roles', {
  naming: { errors: rbacNameErrors },
  createsOnUpdate: true,

  validatesWhole: 'before',
  validate({ object: { metadata, rules } }, errors) {
    validateFinalizerNames(metadata, errors);
    validatePolicyRules(rules, true, errors.at('rules'));
  },
  validateUpdate: ({ object: { metadata } }, errors) => validateFinalizerNames(metadata, errors),
});
