import { defineResource } from '../define.ts';
import type { RoleBinding } from '../facts/types/rbac-v1.ts';
import { bindingStrategy } from './binding.ts';

/** Gives a role to some, in one namespace. */
export const roleBindings = defineResource<RoleBinding>(
  'rbac.authorization.k8s.io/v1/rolebindings',
  bindingStrategy<RoleBinding>(['Role', 'ClusterRole'], true),
);
