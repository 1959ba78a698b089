import { type BindingObject, RBAC_GROUP, type RoleObject, type Subject } from '../../authorization/rbac-objects.ts';
import { uncoveredRules } from '../../authorization/rule-coverage.ts';
import type { Client, ResourceClient } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import clusterRoleBindings from './data/cluster-role-bindings.json' with { type: 'json' };
import clusterRoles from './data/cluster-roles.json' with { type: 'json' };
import roleBindings from './data/role-bindings.json' with { type: 'json' };
import roles from './data/roles.json' with { type: 'json' };
import { gatedBindings, gatedRoles } from './gated-policy.ts';
import { type BootstrapControllerOptions, ensureNamespaces, ignoringAlreadyExists, syncedResource, typed, untilDone } from './keeping.ts';

const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';
const API_VERSION = `${RBAC_GROUP}/v1`;

/**
 * The default roles and bindings. Those that exist get what they lack and keep what was added to them; who sets their
 * autoupdate annotation to "false" keeps them as they are (component-helpers/auth/rbac/reconciliation).
 */
export function ensureRbacPolicy(client: Client, options: RbacPolicyOptions): Promise<void> {
  return untilDone(() => allDone([reconcileCluster(client, options), reconcileNamespaces(client)]), options);
}

export interface RbacPolicyOptions extends BootstrapControllerOptions {
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
}

async function reconcileCluster(client: Client, { isEnabled }: RbacPolicyOptions): Promise<void> {
  const roleClient = await syncedResource<RoleObject>(client, RBAC_GROUP, 'clusterroles');
  const bindingClient = await syncedResource<BindingObject>(client, RBAC_GROUP, 'clusterrolebindings');
  const gated = gatedRoles(typed<RoleObject>('ClusterRole', API_VERSION, clusterRoles), isEnabled);
  const bindings = gatedBindings(typed<BindingObject>('ClusterRoleBinding', API_VERSION, clusterRoleBindings), gated);
  await allDone([...gated.map((role) => reconcileRole(roleClient, role)), ...bindings.map((binding) => reconcileBinding(bindingClient, binding))]);
}

async function reconcileNamespaces(client: Client): Promise<void> {
  const roleClient = await syncedResource<RoleObject>(client, RBAC_GROUP, 'roles');
  const bindingClient = await syncedResource<BindingObject>(client, RBAC_GROUP, 'rolebindings');
  await ensureNamespaces(client, new Set([...roles, ...roleBindings].map(({ metadata }) => metadata.namespace)));
  await allDone([
    ...typed<RoleObject>('Role', API_VERSION, roles).map((role) => reconcileRole(roleClient, role)),
    ...typed<BindingObject>('RoleBinding', API_VERSION, roleBindings).map((binding) => reconcileBinding(bindingClient, binding)),
  ]);
}

/** As many as can be done are done, before the first failure is thrown. */
async function allDone(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function reconcileRole(resource: ResourceClient<RoleObject>, expected: RoleObject): Promise<void> {
  const { namespace = '', name = '' } = expected.metadata;
  const existing = resource.informer.get(namespace, name);
  if (existing === undefined) await ignoringAlreadyExists(resource.create(namespace, expected));
  else if (!isProtected(existing) && reconciledRole(existing, expected) !== undefined) {
    await resource.update(namespace, name, (object) => assignIfAny(object, reconciledRole(object, expected)));
  }
}

async function reconcileBinding(resource: ResourceClient<BindingObject>, expected: BindingObject): Promise<void> {
  const { namespace = '', name = '' } = expected.metadata;
  const existing = resource.informer.get(namespace, name);
  if (existing !== undefined && isProtected(existing)) return;
  const isOfOtherRole = existing !== undefined && !equalJson(existing.roleRef, expected.roleRef);
  // A binding's role cannot be changed, so that nobody's rights change under an old name: it is made anew.
  if (isOfOtherRole) await resource.delete(namespace, name);
  if (existing === undefined || isOfOtherRole) await ignoringAlreadyExists(resource.create(namespace, expected));
  else if (reconciledBinding(existing, expected) !== undefined) {
    await resource.update(namespace, name, (object) => assignIfAny(object, reconciledBinding(object, expected)));
  }
}

const isProtected = ({ metadata }: ApiObject): boolean => metadata.annotations?.[AUTO_UPDATE] === 'false';

/** Tells `update` to leave the object alone where there is nothing to change. */
function assignIfAny<T extends ApiObject>(object: T, change: Change<T> | undefined): boolean {
  if (change === undefined) return false;
  Object.assign(object, structuredClone(change));
  return true;
}

/** Fields to be set; those that are undefined are taken away. */
type Change<T> = { [K in keyof T]?: T[K] | undefined };

/** The fields to be set for the role to have all that is expected; undefined where it has. */
function reconciledRole(existing: RoleObject, expected: RoleObject): Change<RoleObject> | undefined {
  const change: Change<RoleObject> = reconciledMetadata(existing, expected);
  const missingRules = equalJson(existing.rules, expected.rules) ? [] : uncoveredRules(existing.rules ?? [], expected.rules ?? []);
  if (missingRules.length > 0) change.rules = [...(existing.rules ?? []), ...missingRules];
  const selectors = existing.aggregationRule?.clusterRoleSelectors ?? [];
  const missingSelectors = (expected.aggregationRule?.clusterRoleSelectors ?? []).filter((selector) => !selectors.some((other) => equalJson(other, selector)));
  if (existing.aggregationRule !== undefined && expected.aggregationRule === undefined) change.aggregationRule = undefined;
  else if (missingSelectors.length > 0) change.aggregationRule = { ...existing.aggregationRule, clusterRoleSelectors: [...selectors, ...missingSelectors] };
  return Object.keys(change).length > 0 ? change : undefined;
}

function reconciledBinding(existing: BindingObject, expected: BindingObject): Partial<BindingObject> | undefined {
  const change: Partial<BindingObject> = reconciledMetadata(existing, expected);
  const missing = (expected.subjects ?? []).filter((subject) => !(existing.subjects ?? []).some((other) => isSameSubject(other, subject)));
  if (missing.length > 0) change.subjects = [...(existing.subjects ?? []), ...missing];
  return Object.keys(change).length > 0 ? change : undefined;
}

/** Expected labels and annotations are added; those that have another value keep it. */
function reconciledMetadata(existing: ApiObject, expected: ApiObject): Partial<ApiObject> {
  const labels = { ...expected.metadata.labels, ...existing.metadata.labels };
  const annotations = { ...expected.metadata.annotations, ...existing.metadata.annotations };
  const isComplete = equalJson(labels, existing.metadata.labels ?? {}) && equalJson(annotations, existing.metadata.annotations ?? {});
  return isComplete ? {} : { metadata: { ...existing.metadata, labels, annotations } };
}

const isSameSubject = (a: Subject, b: Subject): boolean =>
  a.kind === b.kind && a.name === b.name && (a.apiGroup ?? '') === (b.apiGroup ?? '') && (a.namespace ?? '') === (b.namespace ?? '');
