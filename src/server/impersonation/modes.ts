import type { AuthorizationAttributes, Authorizer } from '../../registry/authorizer.ts';
import {
  ALL_AUTHENTICATED,
  ALL_UNAUTHENTICATED,
  ANONYMOUS,
  NODES_GROUP,
  SYSTEM_PRIVILEGED_GROUP,
  type User,
  nodeOf,
  serviceAccountGroups,
  serviceAccountOf,
} from '../../util/user.ts';
import { forbiddenError } from '../filters/authorization.ts';

/**
 * Ways to be allowed to act as someone, tried in this order (KEP-5284). All but the last need two rights: to impersonate that user, and to do what is
 * asked while impersonating; `impersonate` alone is the old right, which allows everything that the user may do.
 */
interface Mode {
  /** '' is the old right. */
  name: '' | 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info';
  appliesTo(wanted: User, requestor: User): boolean;
}

const isNameOnly = ({ uid, groups, extra }: User): boolean => !uid && groups.length === 0 && !extra;

const OLD_RIGHT: Mode = { name: '', appliesTo: () => true };

const MODES: readonly Mode[] = [
  { name: 'associated-node', appliesTo: (wanted, requestor) => isNameOnly(wanted) && isOnNode(requestor, nodeOf(wanted.name)) },
  { name: 'arbitrary-node', appliesTo: (wanted) => isNameOnly(wanted) && nodeOf(wanted.name) !== undefined },
  { name: 'serviceaccount', appliesTo: (wanted) => isNameOnly(wanted) && serviceAccountOf(wanted.name) !== undefined },
  { name: 'user-info', appliesTo: ({ name }) => nodeOf(name) === undefined && serviceAccountOf(name) === undefined },
  OLD_RIGHT,
];

const NODE_NAME_KEY = 'authentication.kubernetes.io/node-name';

/** Whether a service account's token says that its pod runs there. */
function isOnNode(requestor: User, node: string | undefined): boolean {
  const values = requestor.extra?.[NODE_NAME_KEY] ?? [];
  return node !== undefined && serviceAccountOf(requestor.name) !== undefined && values.length === 1 && values[0] === node;
}

export interface Impersonation {
  user: User;
  /** The verb that allowed it; '' for the old right. */
  constraint: string;
}

/** The user to go on as; `isConstrainable`: whether the newer rights count (ConstrainedImpersonation). Throws the first mode's refusal where no mode allows it. */
export async function impersonate(authorizer: Authorizer, wanted: User, request: AuthorizationAttributes, isConstrainable = true): Promise<Impersonation> {
  let refusal: unknown;
  for (const mode of isConstrainable ? MODES : [OLD_RIGHT]) {
    if (!mode.appliesTo(wanted, request.user)) continue;
    try {
      if (mode.name !== '') await demand(authorizer, { ...spread(request), verb: `impersonate-on:${mode.name}:${request.verb}` }, mode);
      return { user: await authorizeUser(authorizer, mode, wanted, request.user), constraint: mode.name === '' ? '' : `impersonate:${mode.name}` };
    } catch (error) {
      refusal ??= error;
    }
  }
  throw refusal;
}

/** Attributes may be computed on demand; a copy asks for all of them. */
function spread(attributes: AuthorizationAttributes): AuthorizationAttributes {
  const { user, verb, isResourceRequest, apiGroup, apiVersion, resource, subresource, namespace, name, path, fieldSelector, labelSelector } = attributes;
  const selectors = { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) };
  return { user, verb, isResourceRequest, apiGroup, apiVersion, resource, subresource, namespace, name, path, ...selectors };
}

async function authorizeUser(authorizer: Authorizer, mode: Mode, wanted: User, requestor: User): Promise<User> {
  const isConstrained = mode.name !== '';
  const ask = (resource: string, name: string, more: Partial<AuthorizationAttributes> = {}): Promise<void> => {
    const isOldName = !isConstrained && (resource === 'users' || resource === 'groups' || resource === 'serviceaccounts');
    const group = isOldName ? { apiGroup: '', apiVersion: 'v1' } : { apiGroup: 'authentication.k8s.io', apiVersion: 'v1' };
    const verb = isConstrained ? `impersonate:${mode.name}` : 'impersonate';
    return demand(
      authorizer,
      { user: requestor, verb, isResourceRequest: true, ...group, resource, subresource: '', namespace: '', name, path: '', ...more },
      mode,
    );
  };
  const groups = await authorizeName(wanted, isConstrained, ask);
  if (wanted.uid) await ask('uids', wanted.uid);
  if (isConstrained && wanted.groups.some((group) => group === '' || group === SYSTEM_PRIVILEGED_GROUP)) throw privilegedGroup(wanted, requestor, mode);
  for (const group of wanted.groups) await ask('groups', group);
  for (const [key, values] of Object.entries(wanted.extra ?? {})) {
    if (isConstrained && !isConstrainableKey(key, values)) throw badExtra(key, requestor, mode);
    for (const value of values) await ask('userextras', value, { subresource: key });
  }
  return { ...wanted, groups: withStanding(wanted.name, groups) };
}

/** The right to the name itself, which for nodes and service accounts is a right to the object. Answers with the groups that go with the name. */
async function authorizeName(
  wanted: User,
  isConstrained: boolean,
  ask: (resource: string, name: string, more?: Partial<AuthorizationAttributes>) => Promise<void>,
): Promise<string[]> {
  const node = isConstrained ? nodeOf(wanted.name) : undefined;
  if (node !== undefined) {
    await ask('nodes', node);
    return [NODES_GROUP];
  }
  const account = serviceAccountOf(wanted.name);
  if (account) await ask('serviceaccounts', account.name, { namespace: account.namespace });
  else await ask('users', wanted.name);
  return account && wanted.groups.length === 0 ? serviceAccountGroups(account.namespace) : wanted.groups;
}

/** Everybody is authenticated or not, whatever the headers say. */
function withStanding(name: string, groups: readonly string[]): string[] {
  if (name === ANONYMOUS.name) return groups.includes(ALL_UNAUTHENTICATED) ? [...groups] : [...groups, ALL_UNAUTHENTICATED];
  return groups.includes(ALL_UNAUTHENTICATED) || groups.includes(ALL_AUTHENTICATED) ? [...groups] : [...groups, ALL_AUTHENTICATED];
}

/** Constrained rights name keys as paths below a domain, in lower case, with values. */
const isConstrainableKey = (key: string, values: readonly string[]): boolean =>
  /^[a-z0-9.-]+\/[^\s]+$/.test(key) && key === key.toLowerCase() && values.length > 0 && !values.includes('');

async function demand(authorizer: Authorizer, attributes: AuthorizationAttributes, mode: Mode): Promise<void> {
  const asked = mode.name === 'associated-node' ? asAssociated(attributes) : attributes;
  const { decision, reason, error } = await authorizer.authorize(asked);
  if (decision !== 'allow') throw forbiddenError(attributes.user, { ...attributes, apiPrefix: '', parts: [] }, [error, reason].filter(Boolean).join(': '));
}

/** The right is to whatever node the requestor runs on, so the node's name is not part of the question. */
const asAssociated = (attributes: AuthorizationAttributes): AuthorizationAttributes => ({
  ...attributes,
  ...(attributes.verb === 'impersonate:associated-node' && { name: '*' }),
});

const refused = (requestor: User, mode: Mode, resource: string, name: string, why: string): Error =>
  forbiddenError(
    requestor,
    {
      isResourceRequest: true,
      path: '',
      verb: `impersonate:${mode.name}`,
      apiPrefix: '',
      apiGroup: 'authentication.k8s.io',
      apiVersion: 'v1',
      namespace: '',
      resource,
      subresource: '',
      name,
      parts: [],
    },
    why,
  );

const privilegedGroup = ({ groups }: User, requestor: User, mode: Mode): Error =>
  groups.includes('')
    ? refused(requestor, mode, 'groups', '', 'impersonating the empty string group is not allowed')
    : refused(requestor, mode, 'groups', SYSTEM_PRIVILEGED_GROUP, 'impersonating the system:masters group is not allowed');

const badExtra = (key: string, requestor: User, mode: Mode): Error =>
  refused(requestor, mode, 'userextras', '', `impersonating an invalid key in extra is not allowed: ${key}`);
