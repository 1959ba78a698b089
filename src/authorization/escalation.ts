import type { AdmissionController, AdmissionAttributes } from '../registry/admission.ts';
import type { Authorizer } from '../registry/authorizer.ts';
import type { ApiObject } from '../api/api-object.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import { resourceAttributes } from '../api/authorization.ts';
import { forbidden, invalid } from '../api/errors.ts';
import { FieldErrors } from '../api/field-errors.ts';
import { quote } from '../util/go-quote.ts';
import { equalJson } from '../encoding/json-equal.ts';
import { demandObjectPath } from '../api/object-path.ts';
import { BudgetExceeded } from '../util/step-budget.ts';
import { SYSTEM_PRIVILEGED_GROUP, type User } from '../api/user.ts';
import { type BindingObject, type PolicyRule, RBAC_GROUP, type RoleObject, type RoleRef } from './rbac-objects.ts';
import type { RbacAuthorizer } from './rbac.ts';
import { describeRights, quoteList, uncoveredRights } from './rule-coverage.ts';
import type { RuleSet } from './rule-set.ts';

/** What the check needs of RBAC: who holds which rules, and what a role reference leads to. */
export type RuleResolver = Pick<RbacAuthorizer, 'ruleSetsFor' | 'index'>;

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/**
 * Nobody grants rights that he does not hold: writes of roles and bindings, checked as pkg/registry/rbac/…/policybased does, in every authorization mode.
 * Upstream's place for it is after all mutating admission and before validation, so this is to be the last of the mutating steps; it changes nothing.
 */
export function escalationCheck(rules: RuleResolver, authorizer: Authorizer): AdmissionController {
  return {
    async mutate(attributes) {
      if (!isPolicyWrite(attributes) || attributes.user.groups.includes(SYSTEM_PRIVILEGED_GROUP)) return;
      if (changesOnlyGarbageCollectorFields(attributes.object, attributes.oldObject)) return;
      if (attributes.resource.endsWith('bindings')) await checkBinding(rules, authorizer, attributes);
      else await checkRole(rules, authorizer, attributes);
    },
    validate() {},
  };
}

const POLICY_RESOURCES: ReadonlySet<string> = new Set(['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']);

/** All that the check looks at, as admission's chain names it. */
export const POLICY_TARGETS: readonly string[] = [...POLICY_RESOURCES].map((resource) => `${resource}.${RBAC_GROUP}`);

const isPolicyWrite = ({ group, resource, subresource, operation }: AdmissionAttributes): boolean =>
  group === RBAC_GROUP && POLICY_RESOURCES.has(resource) && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');

async function checkRole(resolver: RuleResolver, authorizer: Authorizer, attributes: AdmissionAttributes): Promise<void> {
  const { user, namespace, group, resource } = attributes;
  // A POST names no object, so that a right to escalate certain names does not reach it.
  const name = attributes.operation === 'CREATE' ? '' : attributes.name;
  if (await isAllowed(authorizer, user, 'escalate', resource, namespace, name)) return;
  const role = attributes.object as RoleObject;
  const refuse = (why: string): Error => forbidden({ group, resource }, role.metadata.name ?? '', why);
  const escalation = escalationMessage(resolver, attributes, role.rules ?? []);
  if (escalation !== undefined) throw refuse(escalation);
  const isAggregated = hasAggregationRule(role) || hasAggregationRule(attributes.oldObject as RoleObject | undefined);
  if (isAggregated && escalationMessage(resolver, attributes, FULL_AUTHORITY) !== undefined)
    throw refuse('must have cluster-admin privileges to use the aggregationRule');
}

async function checkBinding(resolver: RuleResolver, authorizer: Authorizer, attributes: AdmissionAttributes): Promise<void> {
  const { user, namespace, group, resource } = attributes;
  const binding = attributes.object as BindingObject;
  demandRoleKind(attributes, binding);
  if (await mayBind(authorizer, user, binding.roleRef, namespace)) return;
  demandPath(binding.roleRef, namespace);
  const { rules } = resolver.index.rulesOf(binding.roleRef, namespace, { requestResource: resource });
  const escalation = escalationMessage(resolver, attributes, rules);
  if (escalation !== undefined) throw forbidden({ group, resource }, binding.metadata.name ?? '', escalation);
}

/** Upstream answers 500 where its resolver meets a kind that is none of a role; what is wrong is the client's, and validation would say it in these words. */
function demandRoleKind({ kind, resource }: AdmissionAttributes, { metadata, roleRef }: BindingObject): void {
  if (isRoleKind(roleRef.kind)) return;
  const errors = new FieldErrors();
  errors.at('roleRef', 'kind').notSupportedString(roleRef.kind, resource === 'rolebindings' ? ['Role', 'ClusterRole'] : ['ClusterRole']);
  throw invalid(kind, metadata.name ?? '', errors.list);
}

const isRoleKind = (kind: string): boolean => kind === 'Role' || kind === 'ClusterRole';

/** Upstream reads the role from its store, which refuses what has no path there before it looks. */
function demandPath({ kind, name }: RoleRef, namespace: string): void {
  demandObjectPath(kind === 'Role' ? namespace : undefined, name);
}

/** The verb `bind` on the role, in the namespace of the binding. */
function mayBind(authorizer: Authorizer, user: User, roleRef: RoleRef, namespace: string): Promise<boolean> {
  return isAllowed(authorizer, user, 'bind', roleRef.kind === 'Role' ? 'roles' : 'clusterroles', namespace, roleRef.name);
}

async function isAllowed(authorizer: Authorizer, user: User, verb: string, resource: string, namespace: string, name: string): Promise<boolean> {
  const { decision } = await authorizer.authorize(resourceAttributes({ user, verb, apiGroup: RBAC_GROUP, resource, namespace, name }));
  return decision === 'allow';
}

/** What the user would grant beyond what he holds; undefined where it is nothing. */
function escalationMessage(
  { ruleSetsFor }: Pick<RuleResolver, 'ruleSetsFor'>,
  { user, namespace, resource }: Pick<AdmissionAttributes, 'user' | 'namespace' | 'resource'>,
  rules: readonly PolicyRule[],
): string | undefined {
  const held = ruleSetsFor(user, namespace, { requestResource: resource });
  const missing = uncoveredOrTooMany(held.sets, rules);
  if (missing === undefined) return `the rules are too many to be compared with those that user ${quote(user.name)} holds; grant them in several roles`;
  if (missing.length === 0) return undefined;
  const message = `user ${quote(user.name)} (groups=${quoteList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeRights(missing).join('\n')}`;
  return held.errors.length === 0 ? message : `${message}; resolution errors: [${aggregateMessage(held.errors)}]`;
}

/** Undefined where the comparison takes more steps than it may. */
function uncoveredOrTooMany(held: readonly RuleSet[], rules: readonly PolicyRule[]): ReturnType<typeof uncoveredRights> | undefined {
  try {
    return uncoveredRights(held, rules);
  } catch (error) {
    if (error instanceof BudgetExceeded) return undefined;
    throw error;
  }
}

const hasAggregationRule = (role: RoleObject | undefined): boolean => (role?.aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;

/** The garbage collector touches owners and finalizers without holding the rights of the roles it deletes (registry/rbac: IsOnlyMutatingGCFields). */
function changesOnlyGarbageCollectorFields(object: ApiObject | undefined, old: ApiObject | undefined): boolean {
  return object !== undefined && old !== undefined && equalJson(withoutCollectorFields(object), withoutCollectorFields(old));
}

function withoutCollectorFields(object: ApiObject): object {
  const { ownerReferences: _owners, finalizers: _finalizers, selfLink: _selfLink, managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
