import type { RequestInfo } from '../endpoints/request.ts';
import type { User } from '../api/user.ts';
import type { AuditLevel, Stage } from './event.ts';

/** audit.k8s.io/v1 Policy. What is empty is absent. */
export interface AuditPolicy {
  rules?: AuditRule[];
  omitStages?: Stage[];
  omitManagedFields?: boolean;
}

export interface AuditRule {
  level: AuditLevel;
  users?: string[];
  userGroups?: string[];
  verbs?: string[];
  resources?: GroupResources[];
  namespaces?: string[];
  nonResourceURLs?: string[];
  omitStages?: Stage[];
  /** Where it is absent the policy's stands. */
  omitManagedFields?: boolean;
}

export interface GroupResources {
  group?: string;
  resources?: string[];
  resourceNames?: string[];
}

/** What is recorded of a request. */
export interface RequestAuditConfig {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

type Matcher = (info: RequestInfo, user: User | undefined) => boolean;

/** Answers with the first rule that matches (apiserver/pkg/audit/policy/checker.go). Nothing is recorded of what no rule matches. */
export function compilePolicy({
  rules = [],
  omitStages = [],
  omitManagedFields = false,
}: AuditPolicy): (info: RequestInfo, user: User | undefined) => RequestAuditConfig {
  const compiled = rules.map((rule) => ({
    matches: matcherOf(rule),
    decision: {
      level: rule.level,
      omitStages: new Set([...omitStages, ...(rule.omitStages ?? [])]),
      omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
    } satisfies RequestAuditConfig,
  }));
  const otherwise: RequestAuditConfig = { level: 'None', omitStages: new Set(omitStages), omitManagedFields };
  return (info, user) => {
    for (const { matches, decision } of compiled) if (matches(info, user)) return decision;
    return otherwise;
  };
}

/** A rule matches where all that it names does. A request of nobody matches no rule that names users or groups. */
function matcherOf({ users, userGroups, verbs, resources, namespaces, nonResourceURLs }: AuditRule): Matcher {
  const matchers: Matcher[] = [];
  if (users) matchers.push(oneOf(users, (_info, user) => user?.name));
  if (userGroups) matchers.push(someGroupOf(userGroups));
  if (verbs) matchers.push(oneOf(verbs, ({ verb }) => verb));
  if (namespaces || resources) {
    matchers.push(({ isResourceRequest }) => isResourceRequest);
    if (namespaces) matchers.push(oneOf(namespaces, ({ namespace }) => namespace));
    if (resources) matchers.push(someOf(resources.map(resourceMatcher)));
  } else if (nonResourceURLs) {
    const matchesPath = nonResourceURLs.map(pathMatcher);
    matchers.push(({ isResourceRequest, path }) => !isResourceRequest && matchesPath.some((matches) => matches(path)));
  }
  return (info, user) => matchers.every((matches) => matches(info, user));
}

const someOf =
  (matchers: readonly Matcher[]): Matcher =>
  (info, user) =>
    matchers.some((matches) => matches(info, user));

function oneOf(values: readonly string[], valueOf: (info: RequestInfo, user: User | undefined) => string | undefined): Matcher {
  const wanted = new Set<string | undefined>(values);
  return (info, user) => wanted.has(valueOf(info, user));
}

function someGroupOf(groups: readonly string[]): Matcher {
  const wanted = new Set(groups);
  return (_info, user) => user !== undefined && user.groups.some((group) => wanted.has(group));
}

function resourceMatcher({ group = '', resources, resourceNames }: GroupResources): Matcher {
  const names = resourceNames && new Set(resourceNames);
  const patterns = resources && new Set(resources);
  return (info) => {
    if (group !== '*' && group !== info.apiGroup) return false;
    if (patterns === undefined) return true;
    return (names === undefined || names.has(info.name)) && matchesResource(patterns, info);
  };
}

// `pods`, `pods/log`, `*` for everything, `pods/*` for the pods and all below them, `*/scale` for every scale.
function matchesResource(patterns: ReadonlySet<string>, { resource, subresource }: RequestInfo): boolean {
  if (patterns.has('*') || patterns.has(`${resource}/*`)) return true;
  return subresource === '' ? patterns.has(resource) : patterns.has(`${resource}/${subresource}`) || patterns.has(`*/${subresource}`);
}

function pathMatcher(pattern: string): (path: string) => boolean {
  if (!pattern.endsWith('*')) return (path) => path === pattern;
  const start = pattern.replace(/\*+$/, '');
  return (path) => path.startsWith(start);
}
