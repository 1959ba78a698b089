import { quote } from '../util/field-errors.ts';
import type { PolicyRule } from './rbac-objects.ts';
import { withoutTrailingStars } from './rule-set.ts';

/** The rights in `wanted`, each by itself, that `held` does not give (component-helpers/auth/rbac/validation: Covers). */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(singleRights).filter((right) => !held.some((rule) => covers(rule, right)));
}

/** One rule for every group, resource, verb and name; one for every path and verb. What is wanted may not be validated yet, and lack verbs. */
function singleRights(rule: PolicyRule): PolicyRule[] {
  const rights: PolicyRule[] = [];
  const verbs = rule.verbs ?? [];
  const names = rule.resourceNames?.length ? rule.resourceNames.map((name) => ({ resourceNames: [name] })) : [{}];
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of verbs) for (const name of names) rights.push({ verbs: [verb], apiGroups: [group], resources: [resource], ...name });
    }
  }
  for (const path of rule.nonResourceURLs ?? []) for (const verb of verbs) rights.push({ verbs: [verb], nonResourceURLs: [path] });
  return rights;
}

function covers(rule: PolicyRule, right: PolicyRule): boolean {
  return (
    hasAllOrStar(rule.verbs, right.verbs) &&
    hasAllOrStar(rule.apiGroups, right.apiGroups) &&
    (right.resources ?? []).every((resource) => coversResource(rule.resources ?? [], resource)) &&
    coversNames(rule.resourceNames ?? [], right.resourceNames ?? []) &&
    (right.nonResourceURLs ?? []).every((path) => (rule.nonResourceURLs ?? []).some((pattern) => coversPath(pattern, path)))
  );
}

const hasAllOrStar = (set: readonly string[] = [], wanted: readonly string[] = []): boolean =>
  set.includes('*') || wanted.every((value) => set.includes(value));

function coversResource(set: readonly string[], resource: string): boolean {
  if (set.includes('*') || set.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && set.includes(`*${resource.slice(slash)}`);
}

/** A right over all names is covered only by a rule over all names. */
const coversNames = (set: readonly string[], names: readonly string[]): boolean =>
  set.length === 0 || (names.length > 0 && names.every((name) => set.includes(name)));

const coversPath = (pattern: string, path: string): boolean => pattern === path || (pattern.endsWith('*') && path.startsWith(withoutTrailingStars(pattern)));

/** Rights to one resource gathered into one rule (pkg/registry/rbac/validation: CompactRules). */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const compacted: PolicyRule[] = [];
  const byResource = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = simpleResourceKey(rule);
    const gathered = key === undefined ? undefined : byResource.get(key);
    if (gathered !== undefined) gathered.verbs.push(...rule.verbs);
    else {
      const copy = { ...rule, verbs: [...rule.verbs] };
      compacted.push(copy);
      if (key !== undefined) byResource.set(key, copy);
    }
  }
  return compacted;
}

/** What a rule is about, where it is about one resource of one group and at most one name. */
function simpleResourceKey({ apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): string | undefined {
  const isSimple = apiGroups.length === 1 && resources.length === 1 && resourceNames.length <= 1 && nonResourceURLs.length === 0;
  return isSimple ? JSON.stringify([apiGroups[0], resources[0], resourceNames]) : undefined;
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` */
export function describeRule(rule: PolicyRule): string {
  const parts: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  return `{${parts.flatMap(([name, values]) => (values?.length ? [`${name}:${quoteList(values)}`] : [])).join(', ')}}`;
}

/** As Go prints a list of strings with %q. */
export const quoteList = (values: readonly string[]): string => `[${values.map(quote).join(' ')}]`;
