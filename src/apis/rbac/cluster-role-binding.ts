import { defineResource } from '../define.ts';
import type { ClusterRoleBinding } from '../facts/types/rbac-v1.ts';
import { bindingStrategy } from './binding.ts';

/** Gives a role to some, everywhere. */
export const clusterRoleBindings = defineResource<ClusterRoleBinding>(
  'rbac.authorization.k8s.io/v1/clusterrolebindings',
  bindingStrategy<ClusterRoleBinding>(['ClusterRole'], false),
);
