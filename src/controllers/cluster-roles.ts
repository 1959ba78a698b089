import type { ClusterRole, PolicyRule } from '../apis/facts/types/rbac-v1.ts';
import { parsedSelector } from '../apis/validation/label-selector.ts';
import type { ResourceClient } from '../client/client.ts';
import { equalJson } from '../encoding/json-equal.ts';
import { type Controller, stopOnAbort } from './controller.ts';
import { WorkQueue } from './work-queue.ts';

const FIELD_MANAGER = 'clusterrole-aggregation-controller';
const API_VERSION = 'rbac.authorization.k8s.io/v1';
const EVERY_ROLE = 'all';

/** Fills ClusterRoles that have an aggregation rule (admin, edit, view) with the rules of the roles that they select (pkg/controller/clusterroleaggregation). */
export const keepAggregatedRoles: Controller = async (client, options) => {
  const roles = client.resource<ClusterRole>('rbac.authorization.k8s.io', 'clusterroles', FIELD_MANAGER);
  await roles.informer.synced;
  if (options.signal.aborted) return;
  // Any role may be part of any other, and of parts of it: a pass looks at all of them, and what it changes causes the next one.
  const queue = new WorkQueue(() => aggregateAll(roles), { ...options, name: 'ClusterRoleAggregator' });
  stopOnAbort(options.signal, [roles.informer.onChange(() => queue.add(EVERY_ROLE))]);
  queue.add(EVERY_ROLE);
  await queue.idle();
};

async function aggregateAll(roles: ResourceClient<ClusterRole>): Promise<void> {
  const all = roles.informer.list('').toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  const aggregated = all.filter((role) => role.aggregationRule !== undefined && !role.metadata.deletionTimestamp);
  await Promise.all(aggregated.map((role) => fill(roles, role, aggregatedRules(role, all))));
}

async function fill(roles: ResourceClient<ClusterRole>, { metadata, rules }: ClusterRole, wanted: PolicyRule[]): Promise<void> {
  if (equalJson(rules ?? [], wanted)) return;
  const config: ClusterRole = { kind: 'ClusterRole', apiVersion: API_VERSION, metadata: { name: metadata.name! }, rules: structuredClone(wanted) };
  await roles.apply('', metadata.name!, config);
}

/** By selector, then by name; equal rules once. A selector that breaks a rule selects nothing. */
function aggregatedRules(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const fields of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = parsedSelector(fields);
    const selected = all.filter((other) => other.metadata.name !== role.metadata.name && selector?.matches(other.metadata.labels));
    for (const rule of selected.flatMap((other) => other.rules ?? [])) {
      const key = JSON.stringify([rule.verbs, rule.apiGroups ?? [], rule.resources ?? [], rule.resourceNames ?? [], rule.nonResourceURLs ?? []]);
      if (!rules.has(key)) rules.set(key, rule);
    }
  }
  return [...rules.values()];
}
