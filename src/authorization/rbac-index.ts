import { type ApiError, notFound, unknownError } from '../api/errors.ts';
import { quote } from '../util/go-quote.ts';
import type { Decision } from '../api/authorization.ts';
import type { User } from '../api/user.ts';
import { type BindingObject, RBAC_GROUP, type RoleObject, type RoleRef, type Subject } from './rbac-objects.ts';
import { type RuleSet, compileRuleSet } from './rule-set.ts';

/** One subject of one binding, with the role it is bound to. */
export interface Grant {
  binding: BindingObject;
  /** '' for a ClusterRoleBinding. */
  namespace: string;
  subjectIndex: number;
  role: RoleSlot;
  /** What a request that this grant allows is told. */
  allowed: Decision;
}

/** The place of a role, whether it exists or not: bindings hold on to it, so that a change of the role touches nothing else. */
export interface RoleSlot {
  kind: string;
  name: string;
  /** Undefined while there is no such role. */
  rules: RuleSet | undefined;
  /** How many grants point here. */
  references: number;
}

/** Grants of one namespace, or of the cluster (''). Sets, because a group may be in thousands of bindings, and each of them may go. */
interface GrantsBySubject {
  users: GrantMap;
  groups: GrantMap;
}

type GrantMap = Map<string, Set<Grant>>;

/**
 * Who is bound to what, looked up by subject: the cost of a question depends only on the bindings that concern the user.
 * Fed object by object; `set…` with undefined removes. Synchronous, so that an answer never lags behind the informers.
 */
export class RbacIndex {
  readonly #roles = new Map<string, RoleSlot>();
  readonly #bindings = new Map<string, Grant[]>();
  readonly #grants = new Map<string, GrantsBySubject>();

  /** Namespace '' is a ClusterRole. */
  setRole(namespace: string, name: string, role: RoleObject | undefined): void {
    const kind = namespace === '' ? 'ClusterRole' : 'Role';
    const slot = this.#slot(kind, namespace, name);
    slot.rules = role === undefined ? undefined : compileRuleSet(role.rules ?? []);
    this.#dropIfUnused(slot, namespace);
  }

  /** Namespace '' is a ClusterRoleBinding. */
  setBinding(namespace: string, name: string, binding: BindingObject | undefined): void {
    const key = `${namespace}/${name}`;
    for (const grant of this.#bindings.get(key) ?? []) this.#removeGrant(grant);
    if (binding === undefined) this.#bindings.delete(key);
    else this.#bindings.set(key, this.#addGrants(namespace, binding));
  }

  /** The rules that the role reference of a binding in `namespace` leads to; throws the 404 of a role that is missing, named by `naming`. */
  rulesOf({ kind, name }: RoleRef, namespace: string, naming: RoleNaming): RuleSet {
    if (kind !== 'Role' && kind !== 'ClusterRole') throw unknownError(unsupportedKind(kind));
    const rules = this.#roles.get(slotKey(kind, namespace, name))?.rules;
    if (rules === undefined) throw notFoundRole(kind, name, naming);
    return rules;
  }

  /** The first of the user's grants in this scope ('' for the cluster's) that passes `test`. */
  find(user: User, namespace: string, test: (grant: Grant) => boolean): Grant | undefined {
    const scope = this.#grants.get(namespace);
    if (scope === undefined) return undefined;
    const found = firstThat(scope.users.get(user.name), test);
    if (found !== undefined) return found;
    for (const group of user.groups) {
      const inGroup = firstThat(scope.groups.get(group), test);
      if (inGroup !== undefined) return inGroup;
    }
    return undefined;
  }

  /** All of the user's grants in this scope, one a binding, by the binding's name. */
  list(user: User, namespace: string): Grant[] {
    const byBinding = new Map<BindingObject, Grant>();
    this.find(user, namespace, (grant) => {
      if (!byBinding.has(grant.binding)) byBinding.set(grant.binding, grant);
      return false;
    });
    return [...byBinding.values()].toSorted((a, b) => compareNames(a.binding, b.binding));
  }

  #addGrants(namespace: string, binding: BindingObject): Grant[] {
    const { kind, name } = binding.roleRef;
    const grants: Grant[] = [];
    // A subject may be named thousands of times: the first time is the one that reasons name, and the others would only be tested in vain.
    const known = new Set<Set<Grant>>();
    for (const [subjectIndex, subject] of (binding.subjects ?? []).entries()) {
      const target = this.#grantsOfSubject(namespace, subject);
      if (target === undefined || known.has(target)) continue;
      known.add(target);
      const role = this.#slot(kind, kind === 'Role' ? namespace : '', name);
      role.references++;
      const grant: Grant = {
        binding,
        namespace,
        subjectIndex,
        role,
        allowed: { decision: 'allow', reason: `RBAC: allowed by ${describe(binding, namespace, subject)}` },
      };
      target.add(grant);
      grants.push(grant);
    }
    return grants;
  }

  #removeGrant(grant: Grant): void {
    const scope = this.#grants.get(grant.namespace);
    if (scope === undefined) return;
    const subject = grant.binding.subjects![grant.subjectIndex]!;
    const [map, key] = subjectKey(scope, grant.namespace, subject)!;
    const grants = map.get(key);
    grants?.delete(grant);
    if (grants?.size === 0) map.delete(key);
    if (scope.users.size === 0 && scope.groups.size === 0) this.#grants.delete(grant.namespace);
    grant.role.references--;
    this.#dropIfUnused(grant.role, grant.role.kind === 'Role' ? grant.namespace : '');
  }

  #grantsOfSubject(namespace: string, subject: Subject): Set<Grant> | undefined {
    let scope = this.#grants.get(namespace);
    if (scope === undefined) this.#grants.set(namespace, (scope = { users: new Map(), groups: new Map() }));
    const place = subjectKey(scope, namespace, subject);
    if (place === undefined) return undefined;
    const [map, key] = place;
    let grants = map.get(key);
    if (grants === undefined) map.set(key, (grants = new Set()));
    return grants;
  }

  #slot(kind: string, namespace: string, name: string): RoleSlot {
    const key = slotKey(kind, namespace, name);
    let slot = this.#roles.get(key);
    if (slot === undefined) this.#roles.set(key, (slot = { kind, name, rules: undefined, references: 0 }));
    return slot;
  }

  #dropIfUnused(slot: RoleSlot, namespace: string): void {
    if (slot.rules === undefined && slot.references === 0) this.#roles.delete(slotKey(slot.kind, namespace, slot.name));
  }
}

/** Upstream words a missing role in two ways: its listers name the role's kind, its stores the resource of the request that they are read for. */
export type RoleNaming = 'kind' | { requestResource: string };

const notFoundRole = (kind: string, name: string, naming: RoleNaming): ApiError =>
  notFound({ group: RBAC_GROUP, resource: naming === 'kind' ? kind.toLowerCase() : naming.requestResource }, name);

/** Why a grant leads nowhere; undefined where its role exists. */
export function missingRole({ role }: Grant, naming: RoleNaming): string | undefined {
  if (role.rules !== undefined) return undefined;
  if (role.kind !== 'Role' && role.kind !== 'ClusterRole') return unsupportedKind(role.kind);
  return notFoundRole(role.kind, role.name, naming).message;
}

const unsupportedKind = (kind: string): string => `unsupported role reference kind: ${quote(kind)}`;

const slotKey = (kind: string, namespace: string, name: string): string => `${kind}/${kind === 'Role' ? namespace : ''}/${name}`;

/** The map and key under which a subject's grants are found; undefined where the subject can be nobody. */
function subjectKey(scope: GrantsBySubject, namespace: string, subject: Subject): [GrantMap, string] | undefined {
  if (subject.kind === 'User') return [scope.users, subject.name];
  if (subject.kind === 'Group') return [scope.groups, subject.name];
  const user = serviceAccountUser(subject, namespace);
  return user === undefined ? undefined : [scope.users, user];
}

function serviceAccountUser(subject: Subject, bindingNamespace: string): string | undefined {
  const namespace = subject.namespace || bindingNamespace;
  return subject.kind === 'ServiceAccount' && namespace !== '' ? `system:serviceaccount:${namespace}:${subject.name}` : undefined;
}

function describe(binding: BindingObject, namespace: string, subject: Subject): string {
  const name = binding.metadata.name ?? '';
  const source = namespace === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`;
  const subjectName = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name;
  return `${source} of ${binding.roleRef.kind} ${quote(binding.roleRef.name)} to ${subject.kind} ${quote(subjectName)}`;
}

function firstThat(grants: ReadonlySet<Grant> | undefined, test: (grant: Grant) => boolean): Grant | undefined {
  if (grants !== undefined) for (const grant of grants) if (test(grant)) return grant;
  return undefined;
}

const compareNames = (a: BindingObject, b: BindingObject): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
