import type { Authorizer } from '../../registry/authorizer.ts';
import { type AuthorizationAttributes, resourceAttributes } from '../../api/authorization.ts';
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
} from '../../api/user.ts';
import { aggregateMessage } from '../../api/aggregate-message.ts';
import { validateDomainPrefixedPath } from '../../api/domain-prefixed-path.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
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

/** What is counted of impersonations (apiserver/pkg/endpoints/filters/impersonation/metrics.go). */
export interface ImpersonationMetrics {
  /** One question to the authorizer. */
  authorized(mode: string, isAllowed: boolean, durationMs: number): void;
}

/** Who is asked, and who counts that. */
interface Asked {
  authorizer: Authorizer;
  metrics: ImpersonationMetrics | undefined;
}

export interface Impersonation {
  user: User;
  /** The verb that allowed it; '' for the old right. */
  constraint: string;
}

/** Answers with the user to go on as; throws the refusal of the mode that was tried first where none allows it. */
export type Impersonator = (wanted: User, request: AuthorizationAttributes) => Promise<Impersonation>;

/** How many requestors' last modes are remembered (upstream's modeIndexCache). */
const MAX_REMEMBERED = 10_000;

/** `isConstrainable`: whether the newer rights count (ConstrainedImpersonation). The mode that served a requestor last is tried first, as upstream does. */
export function impersonatorOf(authorizer: Authorizer, isConstrainable = true, metrics?: ImpersonationMetrics): Impersonator {
  const asked: Asked = { authorizer, metrics };
  if (!isConstrainable) return (wanted, request) => tryMode(asked, OLD_RIGHT, wanted, request);
  const lastModes = new Map<string, Mode>();
  return async (wanted, request) => {
    const requestor = request.user.name;
    const last = lastModes.get(requestor);
    let refusal: unknown;
    for (const mode of last ? [last, ...MODES.filter((other) => other !== last)] : MODES) {
      if (!mode.appliesTo(wanted, request.user)) continue;
      try {
        const impersonation = await tryMode(asked, mode, wanted, request);
        remember(lastModes, requestor, mode);
        return impersonation;
      } catch (error) {
        refusal ??= error;
      }
    }
    throw refusal;
  };
}

function remember(modes: Map<string, Mode>, requestor: string, mode: Mode): void {
  modes.delete(requestor);
  if (modes.size >= MAX_REMEMBERED) modes.delete(modes.keys().next().value!);
  modes.set(requestor, mode);
}

async function tryMode(authorizer: Asked, mode: Mode, wanted: User, request: AuthorizationAttributes): Promise<Impersonation> {
  if (mode.name !== '') await demand(authorizer, { ...spread(request), verb: `impersonate-on:${mode.name}:${request.verb}` }, mode);
  return { user: await authorizeUser(authorizer, mode, wanted, request.user), constraint: mode.name === '' ? '' : `impersonate:${mode.name}` };
}

/** Attributes may be computed on demand; a copy asks for all of them. */
function spread(attributes: AuthorizationAttributes): AuthorizationAttributes {
  const { user, verb, isResourceRequest, apiGroup, apiVersion, resource, subresource, namespace, name, path, fieldSelector, labelSelector } = attributes;
  const selectors = { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) };
  return { user, verb, isResourceRequest, apiGroup, apiVersion, resource, subresource, namespace, name, path, ...selectors };
}

/** One question of the mode: whether its verb is allowed on this. Throws the 403 where it is not. */
type Ask = (resource: string, name: string, more?: Partial<AuthorizationAttributes>) => Promise<void>;

async function authorizeUser(authorizer: Asked, mode: Mode, wanted: User, requestor: User): Promise<User> {
  const isConstrained = mode.name !== '';
  const ask: Ask = (resource, name, more = {}) => {
    const isOldName = !isConstrained && (resource === 'users' || resource === 'groups' || resource === 'serviceaccounts');
    const group = isOldName ? { apiGroup: '', apiVersion: 'v1' } : { apiGroup: 'authentication.k8s.io', apiVersion: 'v1' };
    const verb = isConstrained ? `impersonate:${mode.name}` : 'impersonate';
    return demand(authorizer, resourceAttributes({ user: requestor, verb, ...group, resource, name, ...more }), mode);
  };
  const groups = await authorizeName(wanted, isConstrained, ask);
  if (wanted.uid) await ask('uids', wanted.uid);
  if (isConstrained && wanted.groups.some((group) => group === '' || group === SYSTEM_PRIVILEGED_GROUP)) throw privilegedGroup(wanted, requestor, mode);
  const areGroupsAllowed = isConstrained && wanted.groups.length >= MANY && (await isAllowed(ask('groups', '*')));
  if (!areGroupsAllowed) for (const group of wanted.groups) await ask('groups', group);
  await authorizeExtra(wanted.extra ?? {}, requestor, mode, ask);
  return { ...wanted, groups: withStanding(wanted.name, groups) };
}

/** From so many values on, a constrained mode first asks for the right to all of them, which spares an authorizer elsewhere the single questions. */
const MANY = 4;

const isAllowed = (answer: Promise<void>): Promise<boolean> =>
  answer.then(
    () => true,
    () => false,
  );

async function authorizeExtra(extra: Record<string, string[]>, requestor: User, mode: Mode, ask: Ask): Promise<void> {
  const entries = Object.entries(extra);
  if (mode.name !== '') {
    const problem = entries.map(([key, values]) => extraProblem(key, values)).find((text) => text !== undefined);
    if (problem !== undefined) throw refused(requestor, mode, 'userextras', '', problem);
    const isMany = entries.length >= MANY || entries.reduce((count, [, values]) => count + values.length, 0) >= MANY;
    if (isMany && (await isAllowed(ask('userextras', '*', { subresource: '*' })))) return;
  }
  for (const [key, values] of entries) for (const value of values) await ask('userextras', value, { subresource: key });
}

/** Constrained rights name keys as paths below a domain, in lower case, with values (validateExtra in upstream's mode.go). */
function extraProblem(key: string, values: readonly string[]): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed';
  const errors = new FieldErrors('extra.key');
  validateDomainPrefixedPath(key, errors);
  if (!errors.isEmpty)
    return `impersonating an invalid key in extra is not allowed: ${aggregateMessage(errors.list.map(({ field, body }) => `${field}: ${body}`))}`;
  if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${quote(key)}`;
  if (values.length === 0) return 'impersonating empty values in extra is not allowed';
  return values.includes('') ? 'impersonating the empty string value in extra is not allowed' : undefined;
}

/** The right to the name itself, which for nodes and service accounts is a right to the object. Answers with the groups that go with the name. */
async function authorizeName(wanted: User, isConstrained: boolean, ask: Ask): Promise<string[]> {
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

async function demand({ authorizer, metrics }: Asked, attributes: AuthorizationAttributes, mode: Mode): Promise<void> {
  const asked = mode.name === 'associated-node' ? asAssociated(attributes) : attributes;
  const startMs = performance.now();
  const { decision, reason, error } = await authorizer.authorize(asked);
  metrics?.authorized(mode.name, decision === 'allow', performance.now() - startMs);
  if (decision !== 'allow') throw forbiddenError(asked.user, { ...asked, apiPrefix: '', parts: [] }, [error, reason].filter(Boolean).join(': '));
}

/** The right is to whatever node the requestor runs on, so neither the node's name nor the requestor's own details are part of the question. */
const asAssociated = (attributes: AuthorizationAttributes): AuthorizationAttributes => ({
  ...attributes,
  user: { ...attributes.user, extra: { [ASSOCIATED_KEYS]: Object.keys(attributes.user.extra ?? {}).sort() } },
  ...(attributes.verb === 'impersonate:associated-node' && { name: '*' }),
});

const ASSOCIATED_KEYS = 'authentication.kubernetes.io/associated-node-keys';

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
