import type { PolicyRule } from './rbac-objects.ts';

/**
 * A role's rules, indexed by what a request asks for, so that a check costs a few lookups however many rules the role has.
 * Meaning of the rules: pkg/apis/rbac/v1 (evaluation_helpers).
 */
export interface RuleSet {
  // By a rule's resource as written: `pods`, `pods/log`, `*/scale`, `*`.
  byResource: ReadonlyMap<string, readonly ResourceGrant[]>;
  byPath: ReadonlyMap<string, readonly VerbSet[]>;
  /** Paths that end in `*`, without the stars. */
  pathPrefixes: readonly { prefix: string; verbs: VerbSet }[];
  /** As the role has them. */
  rules: readonly PolicyRule[];
}

/** Undefined means all. */
export type VerbSet = ReadonlySet<string> | undefined;

export interface ResourceGrant {
  verbs: VerbSet;
  apiGroups: ReadonlySet<string> | undefined;
  names: ReadonlySet<string> | undefined;
}

/** What is asked of rule sets; made once a request. */
export interface RuleQuery {
  verb: string;
  apiGroup: string;
  /** `pods` or `pods/log`. */
  resource: string;
  // `*/log`; empty where the request has no subresource.
  anyOfSubresource: string;
  name: string;
}

export function compileRuleSet(rules: readonly PolicyRule[]): RuleSet {
  const byResource = new Map<string, ResourceGrant[]>();
  const byPath = new Map<string, VerbSet[]>();
  const pathPrefixes: { prefix: string; verbs: VerbSet }[] = [];
  for (const rule of rules) {
    const verbs = setOrAll(rule.verbs ?? []);
    const grant: ResourceGrant = {
      verbs,
      apiGroups: setOrAll(rule.apiGroups ?? []),
      names: rule.resourceNames?.length ? new Set(rule.resourceNames) : undefined,
    };
    for (const resource of rule.resources ?? []) addTo(byResource, resource, grant);
    for (const path of rule.nonResourceURLs ?? []) {
      if (path.endsWith('*')) pathPrefixes.push({ prefix: withoutTrailingStars(path), verbs });
      else addTo(byPath, path, verbs);
    }
  }
  return { byResource, byPath, pathPrefixes, rules };
}

export function allowsResource(set: RuleSet, query: RuleQuery): boolean {
  return (
    grantsMatch(set.byResource.get(query.resource), query) ||
    grantsMatch(set.byResource.get('*'), query) ||
    (query.anyOfSubresource !== '' && grantsMatch(set.byResource.get(query.anyOfSubresource), query))
  );
}

export function allowsPath(set: RuleSet, verb: string, path: string): boolean {
  const exact = set.byPath.get(path);
  if (exact !== undefined) for (const verbs of exact) if (verbs === undefined || verbs.has(verb)) return true;
  for (const { prefix, verbs } of set.pathPrefixes) if (path.startsWith(prefix) && (verbs === undefined || verbs.has(verb))) return true;
  return false;
}

function grantsMatch(grants: readonly ResourceGrant[] | undefined, query: RuleQuery): boolean {
  if (grants === undefined) return false;
  for (const { verbs, apiGroups, names } of grants) {
    if (
      (verbs === undefined || verbs.has(query.verb)) &&
      (apiGroups === undefined || apiGroups.has(query.apiGroup)) &&
      (names === undefined || names.has(query.name))
    )
      return true;
  }
  return false;
}

export function withoutTrailingStars(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '*') end--;
  return path.slice(0, end);
}

const setOrAll = (values: readonly string[]): ReadonlySet<string> | undefined => (values.includes('*') ? undefined : new Set(values));

function addTo<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
