import { quote } from '../util/go-quote.ts';
import { LIMITS } from '../util/limits.ts';
import { StepBudget } from '../util/step-budget.ts';
import type { PolicyRule } from './rbac-objects.ts';
import { type ResourceGrant, type RuleSet, type VerbSet, compileRuleSet } from './rule-set.ts';

/**
 * Rights as the product of lists: every verb on every resource of every group, with every name (undefined: with all names); or every verb on a path.
 * A rule of 70 groups, resources, verbs and names stands for 24 million rights, so they are compared as blocks and never one by one.
 */
type RightsBlock = ResourceBlock | PathBlock;

interface ResourceBlock {
  apiGroups: readonly string[];
  resources: readonly string[];
  names: readonly (string | undefined)[];
  verbs: readonly string[];
}

interface PathBlock {
  path: string;
  verbs: readonly string[];
}

/**
 * What `wanted` gives and `held` does not (component-helpers/auth/rbac/validation: Covers). Values that the same held rules speak of are looked at together,
 * so that the steps depend on how many different ways there are to be covered. Throws BudgetExceeded.
 */
export function uncoveredRights(held: readonly RuleSet[], wanted: readonly PolicyRule[], budget = new StepBudget(LIMITS.escalationSteps)): RightsBlock[] {
  const uncovered: RightsBlock[] = [];
  // Rules of one role name the same resources again and again.
  const known = new Map<string, ResourceGrant[]>();
  const grantsOf = (resource: string): ResourceGrant[] => {
    let grants = known.get(resource);
    if (grants === undefined) known.set(resource, (grants = grantsOver(held, resource, budget)));
    return grants;
  };
  for (const rule of wanted) {
    budget.spend();
    // What is wanted may not be validated yet, and lack verbs.
    const verbs = rule.verbs ?? [];
    if (verbs.length === 0) continue;
    for (const path of rule.nonResourceURLs ?? []) addUncoveredPath(held, { path, verbs }, budget, uncovered);
    if (!rule.apiGroups?.length) continue;
    const names = rule.resourceNames?.length ? rule.resourceNames : ALL_NAMES;
    for (const { values, grants } of byGrants(rule.resources ?? [], grantsOf, budget))
      addUncovered(0, grants, { apiGroups: rule.apiGroups, resources: values, names, verbs }, budget, uncovered);
  }
  return uncovered;
}

/** The rights in `wanted`, each as a rule of its own, that `held` does not give. For rules of our own: it expands them. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const sets = [compileRuleSet(held)];
  return wanted.flatMap(singleRights).filter((right) => uncoveredRights(sets, [right]).length > 0);
}

/** One rule for every group, resource, verb and name; one for every path and verb. */
function singleRights(rule: PolicyRule): PolicyRule[] {
  const names = rule.resourceNames?.length ? rule.resourceNames.map((name) => ({ resourceNames: [name] })) : [{}];
  const ofResources = (rule.apiGroups ?? []).flatMap((group) =>
    (rule.resources ?? []).flatMap((resource) =>
      rule.verbs.flatMap((verb) => names.map((name) => ({ verbs: [verb], apiGroups: [group], resources: [resource], ...name }))),
    ),
  );
  return [...ofResources, ...(rule.nonResourceURLs ?? []).flatMap((path) => rule.verbs.map((verb) => ({ verbs: [verb], nonResourceURLs: [path] })))];
}

/** A right over all names is covered only by a rule over all names. */
const ALL_NAMES: readonly undefined[] = [undefined];

interface Part<V> {
  values: V[];
  grants: readonly ResourceGrant[];
}

/** The values, gathered by the grants that speak of them. */
function byGrants<V>(values: readonly V[], grantsOf: (value: V) => readonly ResourceGrant[], budget: StepBudget): Iterable<Part<V>> {
  const ids = new Map<ResourceGrant, number>();
  const idOf = (grant: ResourceGrant): number => {
    let id = ids.get(grant);
    if (id === undefined) ids.set(grant, (id = ids.size));
    return id;
  };
  const parts = new Map<string, Part<V>>();
  for (const value of values) {
    const grants = grantsOf(value);
    budget.spend(1 + grants.length);
    const key = grants.map(idOf).join(' ');
    const part = parts.get(key);
    if (part === undefined) parts.set(key, { values: [value], grants });
    else part.values.push(value);
  }
  return parts.values();
}

/** Grants over a resource as a rule writes it: `pods`, `pods/log`, `*`. */
function grantsOver(held: readonly RuleSet[], resource: string, budget: StepBudget): ResourceGrant[] {
  const slash = resource.indexOf('/');
  const found = new Set<ResourceGrant>();
  for (const { byResource } of held) {
    budget.spend();
    const lists = [byResource.get(resource), byResource.get('*'), slash < 0 ? undefined : byResource.get(`*${resource.slice(slash)}`)];
    for (const grants of lists) {
      if (grants === undefined) continue;
      budget.spend(grants.length);
      for (const grant of grants) found.add(grant);
    }
  }
  return [...found];
}

/** After the resource; verbs come last, so that those which one resource lacks are found together and in order. */
const DIMENSIONS = [
  { list: 'apiGroups', of: ({ apiGroups }: ResourceGrant) => apiGroups },
  { list: 'names', of: ({ names }: ResourceGrant) => names },
  { list: 'verbs', of: ({ verbs }: ResourceGrant) => verbs },
] as const;

function addUncovered(depth: number, grants: readonly ResourceGrant[], block: ResourceBlock, budget: StepBudget, uncovered: RightsBlock[]): void {
  budget.spend();
  if (grants.length === 0) return void uncovered.push(block);
  const dimension = DIMENSIONS[depth];
  // Each of these grants has every value that led here: with no list left to look at, all is covered.
  if (dimension === undefined) return;
  if (grants.some((grant) => DIMENSIONS.every(({ of }, index) => index < depth || of(grant) === undefined))) return;
  const having = (value: string | undefined): ResourceGrant[] => {
    budget.spend(grants.length);
    return grants.filter((grant) => hasValue(dimension.of(grant), value));
  };
  if (dimension.list === 'verbs') {
    const verbs = block.verbs.filter((verb) => (budget.spend(grants.length), !grants.some((grant) => hasValue(grant.verbs, verb))));
    if (verbs.length > 0) uncovered.push({ ...block, verbs });
    return;
  }
  for (const part of byGrants<string | undefined>(block[dimension.list], having, budget))
    addUncovered(depth + 1, part.grants, { ...block, [dimension.list]: part.values }, budget, uncovered);
}

/** An undefined set has all values; an undefined value is all of them, which no list has. */
const hasValue = (set: ReadonlySet<string> | undefined, value: string | undefined): boolean => set === undefined || (value !== undefined && set.has(value));

function addUncoveredPath(held: readonly RuleSet[], { path, verbs }: PathBlock, budget: StepBudget, uncovered: RightsBlock[]): void {
  const over: VerbSet[] = [];
  for (const { byPath, pathPrefixes } of held) {
    budget.spend(1 + pathPrefixes.length);
    for (const set of byPath.get(path) ?? []) over.push(set);
    for (const { prefix, verbs: set } of pathPrefixes) if (path.startsWith(prefix)) over.push(set);
  }
  budget.spend(1 + over.length * verbs.length);
  const missing = verbs.filter((verb) => !over.some((set) => hasValue(set, verb)));
  if (missing.length > 0) uncovered.push({ path, verbs: missing });
}

/**
 * What a refusal lists: rights to one resource gathered into one rule, sorted (pkg/registry/rbac/validation: CompactRules). Upstream lists all of them; here
 * the list ends where it would be of no more use to a reader.
 */
export function describeRights(blocks: readonly RightsBlock[]): string[] {
  const listed = new Map<string, PolicyRule>();
  let rights = 0;
  let characters = 0;
  for (const rule of compactedRules(blocks)) {
    rights += rule.verbs.length;
    characters += charactersOf(rule);
    if (rights > LIMITS.escalationListedRights || characters > LIMITS.escalationListedCharacters) break;
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs && [rule.nonResourceURLs, rule.verbs]]);
    const gathered = listed.get(key);
    if (gathered === undefined) listed.set(key, rule);
    else if (rule.nonResourceURLs === undefined) gathered.verbs.push(...rule.verbs);
  }
  const told = [...listed.values()].reduce((count, { verbs }) => count + verbs.length, 0);
  const all = blocks.reduce((count, block) => count + sizeOf(block), 0);
  const descriptions = [...new Set([...listed.values()].map(describeRule))].toSorted();
  return rights > LIMITS.escalationListedRights || characters > LIMITS.escalationListedCharacters
    ? [...descriptions, `… and ${all - told} more`]
    : descriptions;
}

/** The rules of the blocks, each over one resource of one group and at most one name, or one path and verb; made as they are asked for. */
function* compactedRules(blocks: readonly RightsBlock[]): Generator<PolicyRule> {
  // Where the verbs of one rule are more than all that is listed, the first of them stand for it.
  const shown = (verbs: readonly string[]): string[] => verbs.slice(0, LIMITS.escalationListedRights + 1);
  for (const block of blocks) {
    if ('path' in block) {
      for (const verb of block.verbs) yield { nonResourceURLs: [block.path], verbs: [verb] };
      continue;
    }
    for (const group of block.apiGroups) {
      for (const resource of block.resources) {
        for (const name of block.names)
          yield { apiGroups: [group], resources: [resource], ...(name !== undefined && { resourceNames: [name] }), verbs: shown(block.verbs) };
      }
    }
  }
}

const sizeOf = (block: RightsBlock): number =>
  block.verbs.length * ('path' in block ? 1 : block.apiGroups.length * block.resources.length * block.names.length);

const charactersOf = ({ apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs }: PolicyRule): number =>
  [apiGroups, resources, resourceNames, nonResourceURLs, verbs].reduce((sum, list) => list.reduce((length, value) => length + value.length + 3, sum), 0);

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` */
function describeRule(rule: PolicyRule): string {
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
