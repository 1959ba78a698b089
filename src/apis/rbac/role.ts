import { defineResource } from '../define.ts';
import type { Role } from '../facts/types/rbac-v1.ts';
import { rbacNameErrors, validatePolicyRules } from './policy-rule.ts';

/** What may be done in a namespace. Who may write one is the escalation check's to say, an admission step. */
export const roles = defineResource<Role>('rbac.authorization.k8s.io/v1/roles', {
  validatesFinalizerNames: true,
  naming: { errors: rbacNameErrors },
  createsOnUpdate: true,

  validatesWhole: 'before',
  validate: ({ object: { rules } }, errors) => validatePolicyRules(rules, true, errors.at('rules')),
});
