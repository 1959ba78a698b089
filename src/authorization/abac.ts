import { readFileSync } from 'node:fs';
import type { Authorizer, UserRules } from '../registry/authorizer.ts';
import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import { isJsonObject, ownValue, parseJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { ALL_AUTHENTICATED, type User } from '../api/user.ts';

const API_VERSION = 'abac.authorization.kubernetes.io/v1beta1';
const ALLOW: Decision = { decision: 'allow', reason: '' };
const NO_POLICY: Decision = { decision: 'noOpinion', reason: 'No policy matched.' };
const READ_VERBS = ['get', 'list', 'watch'];

/** One line of the file. Empty texts match nothing; `*` matches all. */
interface AbacPolicy {
  user: string;
  group: string;
  readonly: boolean;
  apiGroup: string;
  resource: string;
  namespace: string;
  nonResourcePath: string;
}

/**
 * `--authorization-policy-file`: one JSON object a line, `#` begins a comment (pkg/auth/authorizer/abac). Read once, at start. Throws where it cannot be
 * read or a line is no policy; `warn` is called with lines without a version.
 */
export function loadAbacFile(path: string, warn: (message: string) => void): Authorizer {
  const policies: AbacPolicy[] = [];
  let hasUnversioned = false;
  for (const [index, line] of readFileSync(path, 'utf8').split(/\r?\n/).entries()) {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    try {
      const { policy, isVersioned } = readLine(text);
      policies.push(policy);
      hasUnversioned ||= !isVersioned;
    } catch (error) {
      throw new Error(`error reading policy file ${path}, line ${index + 1}: ${text}: ${(error as Error).message}`, { cause: error });
    }
  }
  if (hasUnversioned) warn(`Policy file ${path} contained unversioned rules. See docs/admin/authorization.md#abac-mode for ABAC file format details.`);
  return abacOf(policies);
}

function abacOf(policies: readonly AbacPolicy[]): Authorizer {
  return {
    authorize: (attributes) => (policies.some((policy) => matches(policy, attributes)) ? ALLOW : NO_POLICY),
    rulesFor: (user, namespace) => rulesFor(policies, user, namespace),
  };
}

function readLine(text: string): { policy: AbacPolicy; isVersioned: boolean } {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new Error('is no object');
  const { kind, apiVersion } = value;
  if (!kind || !apiVersion) return { policy: fromV0(fieldsOf(value)), isVersioned: false };
  if (kind !== 'Policy' || apiVersion !== API_VERSION) throw new Error(`unrecognized object: ${String(kind)} of ${String(apiVersion)}`);
  const spec = ownValue(value, 'spec') ?? {};
  if (!isJsonObject(spec)) throw new Error('spec is no object');
  return { policy: forEveryone(fieldsOf(spec)), isVersioned: true };
}

function fieldsOf(object: JsonObject): AbacPolicy {
  const text = (field: string): string => {
    const value = ownValue(object, field) ?? '';
    if (typeof value !== 'string') throw new Error(`${field} is no text`);
    return value;
  };
  const readonly = ownValue(object, 'readonly') ?? false;
  if (typeof readonly !== 'boolean') throw new Error('readonly is neither true nor false');
  const [user, group, apiGroup, resource] = [text('user'), text('group'), text('apiGroup'), text('resource')];
  return { user, group, readonly, apiGroup, resource, namespace: text('namespace'), nonResourcePath: text('nonResourcePath') };
}

/** `*` means everyone who has proved who he is. */
const forEveryone = (policy: AbacPolicy): AbacPolicy =>
  policy.user === '*' || policy.group === '*' ? { ...policy, user: '', group: ALL_AUTHENTICATED } : policy;

/** In the first version, what was left out meant everything (pkg/apis/abac/v0). */
function fromV0(policy: AbacPolicy): AbacPolicy {
  const { user, group, readonly, resource, namespace } = policy;
  return forEveryone({
    user,
    group: user === '' && group === '' ? ALL_AUTHENTICATED : group,
    readonly,
    apiGroup: '*',
    resource: resource === '' ? '*' : resource,
    namespace: namespace === '' ? '*' : namespace,
    nonResourcePath: namespace === '' && resource === '' ? '*' : '',
  });
}

const matches = (policy: AbacPolicy, attributes: AuthorizationAttributes): boolean =>
  matchesSubject(policy, attributes.user) &&
  (!policy.readonly || READ_VERBS.includes(attributes.verb)) &&
  (attributes.isResourceRequest ? matchesResource(policy, attributes) : matchesPath(policy.nonResourcePath, attributes.path));

function matchesSubject({ user, group }: AbacPolicy, { name, groups }: User): boolean {
  if (user === '' && group === '') return false;
  return (user === '' || user === name) && (group === '' || groups.includes(group));
}

const isOrAll = (pattern: string, value: string): boolean => pattern === '*' || pattern === value;

const matchesResource = (policy: AbacPolicy, { namespace, resource, apiGroup }: AuthorizationAttributes): boolean =>
  isOrAll(policy.namespace, namespace) && isOrAll(policy.resource, resource) && isOrAll(policy.apiGroup, apiGroup);

const matchesPath = (pattern: string, path: string): boolean => isOrAll(pattern, path) || (pattern.endsWith('*') && path.startsWith(withoutStars(pattern)));

/** Not by `/\*+$/`, which looks at every run of stars from each of its places. */
function withoutStars(pattern: string): string {
  let end = pattern.length;
  while (pattern[end - 1] === '*') end--;
  return pattern.slice(0, end);
}

function rulesFor(policies: readonly AbacPolicy[], user: User, namespace: string): UserRules {
  const own = policies.filter((policy) => matchesSubject(policy, user) && isOrAll(policy.namespace, namespace));
  const verbsOf = ({ readonly }: AbacPolicy): string[] => (readonly ? [...READ_VERBS] : ['*']);
  return {
    resourceRules: own
      .filter(({ resource }) => resource !== '')
      .map((policy) => ({ verbs: verbsOf(policy), apiGroups: [policy.apiGroup], resources: [policy.resource] })),
    nonResourceRules: own
      .filter(({ nonResourcePath }) => nonResourcePath !== '')
      .map((policy) => ({ verbs: verbsOf(policy), nonResourceURLs: [policy.nonResourcePath] })),
    isIncomplete: false,
  };
}
