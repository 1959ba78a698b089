import { type PolicyRule, RBAC_GROUP, type RoleObject } from '../../authorization/rbac-objects.ts';
import type { Client, ResourceClient } from '../../client/client.ts';
import { isApiError } from '../../util/errors.ts';
import { equalJson } from '../../util/json-equal.ts';
import { type LabelOperator, type LabelRequirement, type LabelSelector, labelSelectorOf } from '../../util/label-selector.ts';
import type { ControllerOptions } from './keeping.ts';

/** meta/v1 LabelSelector, as an aggregation rule has it. */
interface SelectorFields {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/**
 * Fills aggregated ClusterRoles (admin, edit, view) with the rules of the roles that they select. Upstream's is in the controller manager, and a bare
 * kube-apiserver leaves these roles empty: so this runs only where there is no controller manager.
 */
export async function keepAggregatedRoles(client: Client, options: ControllerOptions): Promise<void> {
  const roles = client.resource<RoleObject>(RBAC_GROUP, 'clusterroles');
  await roles.informer.synced;
  if (options.signal.aborted) return;
  let isRunning = false;
  let isDirty = false;
  // Roles may aggregate aggregated roles: a pass that changed something causes the next one, until there is nothing to change.
  const run = async (): Promise<void> => {
    isDirty = true;
    if (isRunning) return;
    isRunning = true;
    try {
      while (isDirty && !options.signal.aborted) {
        isDirty = false;
        await aggregateAll(roles);
      }
    } finally {
      isRunning = false;
    }
  };
  const stop = roles.informer.onChange(() => void run().catch((error: unknown) => options.report(error as Error)));
  options.signal.addEventListener('abort', stop, { once: true });
  await run();
}

async function aggregateAll(roles: ResourceClient<RoleObject>): Promise<void> {
  const all = roles.informer.list('').toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  const aggregated = all.filter((role) => role.aggregationRule !== undefined);
  await Promise.all(aggregated.map((role) => fill(roles, role, aggregatedRules(role, all))));
}

async function fill(roles: ResourceClient<RoleObject>, { metadata, rules }: RoleObject, wanted: PolicyRule[]): Promise<void> {
  if (equalJson(rules ?? [], wanted)) return;
  try {
    await roles.update('', metadata.name!, (role) => void (role.rules = structuredClone(wanted)));
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}

/** By selector, then by name; equal rules once. */
function aggregatedRules(role: RoleObject, all: readonly RoleObject[]): PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const fields of (role.aggregationRule?.clusterRoleSelectors ?? []) as SelectorFields[]) {
    const selector = selectorOf(fields);
    const selected = all.filter((other) => other.metadata.name !== role.metadata.name && selector.matches(other.metadata.labels));
    for (const rule of selected.flatMap((other) => other.rules ?? [])) {
      const key = JSON.stringify([rule.verbs, rule.apiGroups ?? [], rule.resources ?? [], rule.resourceNames ?? [], rule.nonResourceURLs ?? []]);
      if (!rules.has(key)) rules.set(key, rule);
    }
  }
  return [...rules.values()];
}

const OPERATORS: Record<string, LabelOperator> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };

function selectorOf({ matchLabels = {}, matchExpressions = [] }: SelectorFields): LabelSelector {
  const equalities = Object.entries(matchLabels).map(([key, value]): LabelRequirement => ({ key, operator: '=', values: [value] }));
  const expressions = matchExpressions.map(({ key, operator, values = [] }): LabelRequirement => ({ key, operator: OPERATORS[operator]!, values }));
  return labelSelectorOf([...equalities, ...expressions]);
}
