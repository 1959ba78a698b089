import type { Client, Informer } from '../client/client.ts';
import type { Authorizer, ResourceRule, UserRules } from '../registry/authorizer.ts';
import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import type { ApiObject } from '../api/api-object.ts';
import { LIMITS } from '../util/limits.ts';
import type { User } from '../api/user.ts';
import { followChanges } from './follow-changes.ts';
import { type Grant, RbacIndex, type RoleNaming, missingRole } from './rbac-index.ts';
import { type BindingObject, type PolicyRule, RBAC_GROUP, type RoleObject } from './rbac-objects.ts';
import { type RuleQuery, type RuleSet, allowsPath, allowsResource, compileRuleSet } from './rule-set.ts';

/** Role-based access control, as pkg/registry/rbac/validation resolves it. */
export interface RbacAuthorizer extends Authorizer {
  authorize(attributes: AuthorizationAttributes): Decision;
  rulesFor(user: User, namespace: string): UserRules;
  /** What allows it: the rule, and by which binding; undefined where nothing does. */
  grantOf(attributes: AuthorizationAttributes): RuleGrant | undefined;
  /** The rules of the user's roles in a namespace ('' for the cluster's alone), each role once, and what kept others from being found. */
  ruleSetsFor(user: User, namespace: string, naming: RoleNaming): ResolvedRules;
  readonly index: RbacIndex;
  /** Resolves once all roles and bindings that were there are known; until then their users are refused. */
  readonly synced: Promise<void>;
}

/** One rule of a role that somebody has. Namespaces are '' for those of the cluster. */
export interface RuleGrant {
  binding: { kind: string; name: string; namespace: string };
  role: { kind: string; name: string; namespace: string };
  rule: PolicyRule;
}

export interface ResolvedRules {
  sets: readonly RuleSet[];
  errors: string[];
}

const NO_OPINION: Decision = { decision: 'noOpinion', reason: '' };

/** Follows the four RBAC resources from now on. */
export function createRbacAuthorizer(client: Client): RbacAuthorizer {
  const index = new RbacIndex();
  const informerOf = <T extends ApiObject>(plural: string): Informer<T> => client.resource<T>(RBAC_GROUP, plural).informer;
  const synced = Promise.all([
    follow<RoleObject>(informerOf('roles'), (namespace, name, role) => index.setRole(namespace, name, role)),
    follow<RoleObject>(informerOf('clusterroles'), (namespace, name, role) => index.setRole(namespace, name, role)),
    follow<BindingObject>(informerOf('rolebindings'), (namespace, name, binding) => index.setBinding(namespace, name, binding)),
    follow<BindingObject>(informerOf('clusterrolebindings'), (namespace, name, binding) => index.setBinding(namespace, name, binding)),
  ]).then(() => undefined);
  return { ...rbacOver(index), synced };
}

/** The decisions themselves, over an index that someone else keeps. */
export function rbacOver(index: RbacIndex): Omit<RbacAuthorizer, 'synced'> {
  const ruleSetsFor = (user: User, namespace: string, naming: RoleNaming): ResolvedRules => {
    const grants = grantsFor(index, user, namespace);
    const sets = new Set(grants.flatMap(({ role }) => role.rules ?? []));
    return { sets: [...sets], errors: missingRoles(grants, naming) };
  };
  return {
    index,
    ruleSetsFor,
    authorize: (attributes) => decide(index, attributes),
    grantOf: (attributes) => ruleGrant(index, attributes),
    rulesFor: (user, namespace) => toUserRules(grantsFor(index, user, namespace)),
  };
}

function follow<T extends ApiObject>(informer: Informer<T>, set: (namespace: string, name: string, object: T | undefined) => void): Promise<void> {
  return followChanges<T>(informer, (object, old) => {
    const { namespace = '', name = '' } = (object ?? old)!.metadata;
    set(namespace, name, object);
  });
}

function decide(index: RbacIndex, attributes: AuthorizationAttributes): Decision {
  const { user, namespace } = attributes;
  const grant = allowingGrant(index, attributes);
  if (grant !== undefined) return grant.subjectIndex === 0 ? grant.allowed : firstApplicable(index, user, grant).allowed;
  return hasMissingRole(index, user, namespace) ? denialOverMissingRoles(index, user, namespace) : NO_OPINION;
}

function allowingGrant(index: RbacIndex, attributes: AuthorizationAttributes): Grant | undefined {
  const { user, namespace } = attributes;
  const allows = grantTest(attributes);
  return index.find(user, '', allows) ?? (namespace === '' ? undefined : index.find(user, namespace, allows));
}

function ruleGrant(index: RbacIndex, attributes: AuthorizationAttributes): RuleGrant | undefined {
  const grant = allowingGrant(index, attributes);
  if (grant?.role.rules === undefined) return undefined;
  const { binding, namespace, role } = grant;
  const rule = role.rules!.rules.find((one) => allowsRequest(compileRuleSet([one]), attributes));
  return (
    rule && {
      binding: { kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding', name: binding.metadata.name ?? '', namespace },
      role: { kind: role.kind, name: role.name, namespace: role.kind === 'Role' ? namespace : '' },
      rule,
    }
  );
}

const allowsRequest = (rules: RuleSet, attributes: AuthorizationAttributes): boolean =>
  attributes.isResourceRequest ? allowsResource(rules, queryOf(attributes)) : allowsPath(rules, attributes.verb, attributes.path);

const isMissingRole = ({ role }: Grant): boolean => role.rules === undefined;

const hasMissingRole = (index: RbacIndex, user: User, namespace: string): boolean =>
  index.find(user, '', isMissingRole) !== undefined || (namespace !== '' && index.find(user, namespace, isMissingRole) !== undefined);

function denialOverMissingRoles(index: RbacIndex, user: User, namespace: string): Decision {
  const errors = missingRoles(grantsFor(index, user, namespace), 'kind');
  return { decision: 'noOpinion', reason: `RBAC: ${aggregateMessage(errors)}` };
}

const missingRoles = (grants: readonly Grant[], naming: RoleNaming): string[] =>
  grants.map((grant) => missingRole(grant, naming)).filter((error) => error !== undefined);

function grantTest(attributes: AuthorizationAttributes): (grant: Grant) => boolean {
  const { verb, path } = attributes;
  if (!attributes.isResourceRequest) return ({ role }) => role.rules !== undefined && allowsPath(role.rules, verb, path);
  const query = queryOf(attributes);
  return ({ role }) => role.rules !== undefined && allowsResource(role.rules, query);
}

/** What a request for a resource asks of rules. */
export const queryOf = ({ verb, apiGroup, resource, subresource, name }: AuthorizationAttributes): RuleQuery => ({
  verb,
  apiGroup,
  resource: subresource === '' ? resource : `${resource}/${subresource}`,
  anyOfSubresource: subresource === '' ? '' : `*/${subresource}`,
  name,
});

/** The user may be several subjects of one binding: the reason names the first. */
function firstApplicable(index: RbacIndex, user: User, grant: Grant): Grant {
  let first = grant;
  index.find(user, grant.namespace, (other) => {
    if (other.binding === grant.binding && other.subjectIndex < first.subjectIndex) first = other;
    return false;
  });
  return first;
}

function grantsFor(index: RbacIndex, user: User, namespace: string): Grant[] {
  const ofCluster = index.list(user, '');
  return namespace === '' ? ofCluster : [...ofCluster, ...index.list(user, namespace)];
}

const toResourceRule = ({ verbs, apiGroups = [], resources = [], resourceNames }: PolicyRule): ResourceRule => ({
  verbs,
  apiGroups,
  resources,
  ...(resourceNames && { resourceNames }),
});

/** A role that is bound many times gives its rules as often, as upstream's does; a rule costs a few bytes of a role, so they are counted first. */
function toUserRules(grants: readonly Grant[]): UserRules {
  const errors = missingRoles(grants, 'kind');
  const rules: PolicyRule[] = [];
  for (const { role } of grants) {
    const more = role.rules?.rules ?? [];
    if (rules.length + more.length > LIMITS.reviewedRules) {
      errors.push(`only the first ${rules.length} rules are listed`);
      return userRules(rules, errors, true);
    }
    rules.push(...more);
  }
  return userRules(rules, errors, false);
}

function userRules(rules: readonly PolicyRule[], errors: readonly string[], isIncomplete: boolean): UserRules {
  const withResources = rules.filter((rule) => rule.resources?.length);
  const withPaths = rules.filter((rule) => rule.nonResourceURLs?.length);
  return {
    resourceRules: withResources.map(toResourceRule),
    nonResourceRules: withPaths.map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
    isIncomplete,
    ...(errors.length > 0 && { evaluationError: aggregateMessage(errors) }),
  };
}
