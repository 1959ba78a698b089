import { describe, expect, it } from 'vitest';
import { LIMITS } from '../util/limits.ts';
import { BudgetExceeded, StepBudget } from '../util/step-budget.ts';
import type { PolicyRule } from './rbac-objects.ts';
import { describeRights, uncoveredRights, uncoveredRules } from './rule-coverage.ts';
import { compileRuleSet } from './rule-set.ts';

const many = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const product = (count: number): PolicyRule => ({
  apiGroups: many('g', count),
  resources: many('r', count),
  resourceNames: many('n', count),
  verbs: many('v', count),
});
const uncovered = (held: PolicyRule[], wanted: PolicyRule[], budget?: StepBudget): string[] =>
  describeRights(uncoveredRights([compileRuleSet(held)], wanted, budget));

describe('rights that a rule gives', () => {
  it('are compared without being expanded', () => {
    const budget = new StepBudget(10_000);
    const [first, ...others] = uncovered([{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }], [product(1_000)], budget);
    expect(first).toContain('Verbs:["v0" "v1"');
    // Of the listed rights, one is 1,000 verbs; the last line counts the others.
    expect(others.at(-1)).toBe(`… and ${1_000 ** 4 - 10_000} more`);
    expect(budget.spent).toBeLessThan(3_000);
  });

  it('are covered by rules that only together have them all', () => {
    const { apiGroups, resources, resourceNames, verbs } = product(200) as Required<PolicyRule>;
    const held = [
      { apiGroups, resources: resources.slice(0, 90), verbs: ['*'] },
      { apiGroups, resources: resources.slice(80), resourceNames, verbs: verbs.slice(0, 50) },
      { apiGroups: ['*'], resources: resources.slice(80), resourceNames, verbs: verbs.slice(40) },
    ];
    const budget = new StepBudget(10_000);
    expect(uncovered(held, [product(200)], budget)).toEqual([]);
    const gap = { ...held[2]!, resourceNames: resourceNames.slice(1) };
    expect(uncovered([held[0]!, held[1]!, gap], [{ ...product(200), apiGroups: ['g7'], resources: ['r80', 'r199'] }])).toEqual([
      `{APIGroups:["g7"], Resources:["r199"], ResourceNames:["n0"], Verbs:[${verbs
        .slice(50)
        .map((verb) => `"${verb}"`)
        .join(' ')}]}`,
    ]);
  });

  it('are refused, never granted, where comparing takes too many steps', () => {
    // Each held rule lacks another value, so that every value is a class of its own.
    const held = Array.from({ length: 100 }, (_, index) => {
      const without = (list: string[]): string[] => list.filter((_value, at) => at !== index);
      const { apiGroups, resources, resourceNames, verbs } = product(100) as Required<PolicyRule>;
      return { apiGroups: without(apiGroups), resources: without(resources), resourceNames: without(resourceNames), verbs: without(verbs) };
    });
    expect(() => uncovered(held, [product(100)])).toThrow(BudgetExceeded);
  });

  const SETS: Required<Pick<PolicyRule, 'apiGroups' | 'resources' | 'verbs'>> & { names: string[] } = {
    apiGroups: ['', 'a', '*'],
    resources: ['p', 'p/s', '*/s', '*', 'q'],
    verbs: ['get', 'list', '*'],
    names: ['x', 'y'],
  };

  it('are covered as they are one by one', () => {
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below;
    const some = (list: readonly string[]): string[] => list.filter(() => random(2) === 0);
    const rule = (): PolicyRule => ({
      apiGroups: some(SETS.apiGroups),
      resources: some(SETS.resources),
      verbs: some(SETS.verbs),
      ...(random(2) === 0 && { resourceNames: some(SETS.names) }),
    });
    for (let round = 0; round < 2_000; round++) {
      const held = Array.from({ length: random(5) }, rule);
      const wanted = rule();
      // The rights one by one, each against each held rule (component-helpers/auth/rbac/validation: ruleCovers).
      const missing = singles(wanted).filter((right) => !held.some((owner) => covers(owner, right)));
      expect(uncoveredRules(held, [wanted])).toEqual(missing);
      const blocks = uncoveredRights([compileRuleSet(held)], [wanted]);
      const expanded = blocks.flatMap((block) =>
        'path' in block
          ? []
          : singles({
              ...block,
              apiGroups: [...block.apiGroups],
              resources: [...block.resources],
              verbs: [...block.verbs],
              resourceNames: block.names.filter((name) => name !== undefined),
            }),
      );
      expect(new Set(expanded.map((right) => JSON.stringify(right)))).toEqual(new Set(missing.map((right) => JSON.stringify(right))));
    }
  });

  it('are listed up to a limit', () => {
    const lines = uncovered([], [{ verbs: ['get'], nonResourceURLs: many('/', 2 * LIMITS.escalationListedRights) }]);
    expect(lines).toHaveLength(LIMITS.escalationListedRights + 1);
    expect(lines.at(-1)).toBe(`… and ${LIMITS.escalationListedRights} more`);
    expect(uncovered([], [{ verbs: many('v'.repeat(1_000), 1_000), apiGroups: [''], resources: ['pods'] }])).toEqual(['… and 1000 more']);
  });
});

function singles({ apiGroups = [], resources = [], verbs, resourceNames = [] }: PolicyRule): PolicyRule[] {
  const names = resourceNames.length > 0 ? resourceNames.map((name) => ({ resourceNames: [name] })) : [{}];
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.flatMap((verb) => names.map((name) => ({ verbs: [verb], apiGroups: [group], resources: [resource], ...name })))),
  );
}

function covers(owner: PolicyRule, right: PolicyRule): boolean {
  const has = (list: string[] | undefined, [value]: string[]): boolean => list?.includes('*') === true || list?.includes(value!) === true;
  const [resource] = right.resources!;
  const ofSubresource = resource!.includes('/') && owner.resources!.includes(`*${resource!.slice(resource!.indexOf('/'))}`);
  const ownedNames = owner.resourceNames ?? [];
  return (
    has(owner.verbs, right.verbs) &&
    has(owner.apiGroups, right.apiGroups!) &&
    (has(owner.resources, right.resources!) || ofSubresource) &&
    (ownedNames.length === 0 || (right.resourceNames !== undefined && ownedNames.includes(right.resourceNames[0]!)))
  );
}
