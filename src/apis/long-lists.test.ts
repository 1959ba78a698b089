import { describe, expect, test } from 'vitest';
import { validateNamedRules } from './admissionregistration/rules.ts';
import { typesToCheck } from './admissionregistration/type-checking.ts';
import { networkPolicies } from './networking/network-policy.ts';
import { validateBindingConditions } from './resource/binding-conditions.ts';
import { resourceClaims } from './resource/resource-claim.ts';
import { created, updated } from './testing/kind-tester.ts';
import { FieldErrors } from '../api/field-errors.ts';
import { runAtOnce } from '../util/time-slice.ts';

/**
 * Lists as long as a body has room for. Each of these took seconds to minutes when values were searched for in lists; the bound is far above what a
 * lookup takes on a busy machine, and far below what a search of the list for each of its values does.
 */
const COUNT = 60_000;
const BOUND_MS = 3_000;
const names = (prefix: string, count = COUNT): string[] => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

function within<R>(run: () => R): R {
  const startedAtMs = performance.now();
  const result = run();
  expect(performance.now() - startedAtMs).toBeLessThan(BOUND_MS);
  return result;
}

const messages = (validate: (errors: FieldErrors) => void): string[] => {
  const errors = new FieldErrors();
  validate(errors);
  return errors.list.map(({ field, body }) => `${field}: ${body}`);
};

describe('long lists', () => {
  test('binding conditions beyond their number are not looked at', () => {
    const lists = { bindingConditions: names('a'), bindingFailureConditions: names('b') };
    expect(within(() => messages((errors) => validateBindingConditions(lists, errors)))).toEqual([
      `bindingConditions: Too many: ${COUNT}: must have at most 4 items`,
      `bindingFailureConditions: Too many: ${COUNT}: must have at most 4 items`,
    ]);
    const overlapping = { bindingConditions: ['a', 'b', 'a'], bindingFailureConditions: ['b', 'c', 'c'] };
    expect(messages((errors) => validateBindingConditions(overlapping, errors))).toEqual([
      'bindingConditions[2]: Duplicate value: "a"',
      'bindingFailureConditions[2]: Duplicate value: "c"',
      'bindingFailureConditions[0]: Invalid value: "b": bindingFailureConditions must not overlap with bindingConditions',
    ]);
  });

  test('names of objects in a rule are looked up', () => {
    const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: '*' };
    const rules = [{ ...rule, resourceNames: [...names('n'), 'n0'] }];
    expect(within(() => messages((errors) => validateNamedRules(rules, errors)))).toEqual([`[0].resourceNames[${COUNT}]: Duplicate value: "n0"`]);
  });

  test('types that a rule names are looked for among those that are served', () => {
    const served = [
      { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' },
      { group: '', version: 'v1', kind: 'Pod', plural: 'pods' },
    ] as unknown as Parameters<typeof typesToCheck>[1];
    const rule = { apiGroups: [...names('g', 20_000), 'apps'], apiVersions: [...names('v', 20_000)], resources: [...names('r', 20_000), 'deployments'] };
    expect(within(() => runAtOnce(typesToCheck([rule], served))).map(({ kind }) => kind)).toEqual(['Deployment']);
    expect(runAtOnce(typesToCheck([{ ...rule, apiGroups: [''] }], served)).map(({ kind }) => kind)).toEqual(['Deployment']);
    expect(runAtOnce(typesToCheck([{ ...rule, apiGroups: ['batch'] }], served))).toEqual([]);
  });

  test('former CIDRs are looked up', () => {
    const cidr = (index: number): string => `10.${(index >> 8) & 255}.${index & 255}.0/24`;
    const from = Array.from({ length: 20_000 }, (_, index) => ({ ipBlock: { cidr: cidr(index) } }));
    const { object } = created(networkPolicies, { metadata: { name: 'p', namespace: 'n' }, spec: { podSelector: {}, ingress: [{ from }] } });
    const { problems } = within(() =>
      updated(networkPolicies, object, (next) => void (next.spec.ingress![0]!.from = next.spec.ingress![0]!.from!.toReversed())),
    );
    expect(problems).toEqual([]);
  });

  test('expressions of a claim are counted before they are compiled', () => {
    const claim = (selectors: number): object => ({
      metadata: { name: 'c', namespace: 'n' },
      spec: {
        devices: {
          requests: names('r', 30).map((name) => ({
            name,
            exactly: {
              deviceClassName: 'c',
              selectors: names('', selectors).map((index) => ({ cel: { expression: `"${'x'.repeat(9_000)}" == "${index}"` } })),
            },
          })),
        },
      },
    });
    expect(created(resourceClaims, claim(0)).problems).toEqual([]);
    expect(created(resourceClaims, claim(32)).problems).toEqual([
      'spec.devices.requests: Forbidden: the expressions of all selectors together may not be more than 262144 characters',
    ]);
  });
});
