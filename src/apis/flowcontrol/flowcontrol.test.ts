import { describe, expect, test } from 'vitest';
import { cellsOf, created, decoded, updated } from '../testing/kind-tester.ts';
import { flowSchemas } from './flow-schema.ts';
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from './mandatory.ts';
import { priorityLevelConfigurations } from './priority-level-configuration.ts';

const metadata = { name: 'mine' };

const flowSchema = (spec: object): object => ({ metadata, spec: { priorityLevelConfiguration: { name: 'workload-low' }, ...spec } });

describe('flow schemas', () => {
  const resourceRule = { verbs: ['get'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] };
  const rule = (parts: object): object =>
    flowSchema({ rules: [{ subjects: [{ kind: 'User', user: { name: 'a' } }], resourceRules: [resourceRule], ...parts }] });
  const AT = 'spec.rules[0]';

  test.each([
    [flowSchema({}), []],
    [rule({}), []],
    [flowSchema({ priorityLevelConfiguration: {} }), ['spec.priorityLevelConfiguration.name: Required value: must reference a priority level']],
    [flowSchema({ matchingPrecedence: -1 }), ['spec.matchingPrecedence: Invalid value: -1: must be a positive value']],
    [flowSchema({ matchingPrecedence: 1 }), ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"]],
    [flowSchema({ matchingPrecedence: 10_001 }), ['spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000']],
    [
      flowSchema({ distinguisherMethod: { type: 'ByMood' } }),
      ['spec.distinguisherMethod.type: Unsupported value: {"Type":"ByMood"}: supported values: "ByNamespace", "ByUser"'],
    ],
    [rule({ subjects: [] }), [`${AT}.subjects: Required value: subjects must contain at least one value`]],
    [
      rule({ subjects: [{ kind: 'Group', user: { name: 'a' } }] }),
      [
        `${AT}.subjects[0].group: Required value: group is required when subject kind is 'Group'`,
        `${AT}.subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'`,
      ],
    ],
    [
      rule({ subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: '*' } }] }),
      [`${AT}.subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account`],
    ],
    [rule({ resourceRules: [] }), [`${AT}: Required value: at least one of resourceRules and nonResourceRules has to be non-empty`]],
    [
      rule({ resourceRules: [{ ...resourceRule, verbs: ['*', 'get'], namespaces: [] }] }),
      [
        `${AT}.resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
        `${AT}.resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace`,
      ],
    ],
    [
      rule({ resourceRules: [], nonResourceRules: [{ verbs: ['fly'], nonResourceURLs: ['/', 'a', '/a//b', '/a*', '/*/b', '/a/*'] }] }),
      [
        `${AT}.nonResourceRules[0].verbs: Unsupported value: ["fly"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"`,
        `${AT}.nonResourceRules[0].nonResourceURLs[1]: Invalid value: "a": must start with slash`,
        `${AT}.nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/a//b": must not contain double slash`,
        `${AT}.nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/a*": wildcard can only do suffix matching`,
        `${AT}.nonResourceRules[0].nonResourceURLs[4]: Invalid value: "/*/b": wildcard can only do suffix matching`,
      ],
    ],
  ])('%j', (object, problems) => {
    expect(created(flowSchemas, object).problems).toEqual(problems);
  });

  test('the mandatory ones stay as they are', () => {
    for (const [name, spec] of MANDATORY_FLOW_SCHEMAS) {
      const { object, problems } = created(flowSchemas, { metadata: { name }, spec });
      expect(problems).toEqual([]);
      expect(updated(flowSchemas, object, (next) => void delete next.spec.rules).problems).toEqual([
        expect.stringContaining(`spec of '${name}' must equal the fixed value`),
      ]);
    }
  });

  test('status', () => {
    const { object } = created(flowSchemas, flowSchema({}));
    expect(cellsOf(flowSchemas, object)).toMatchObject({
      PriorityLevel: 'workload-low',
      MatchingPrecedence: 1000,
      DistinguisherMethod: '<none>',
      MissingPL: '?',
    });
    const conditions = [
      { type: 'Dangling', status: 'False', lastTransitionTime: null },
      { type: 'Dangling', lastTransitionTime: null },
      { lastTransitionTime: null },
    ];
    const checked = updated(
      flowSchemas,
      object,
      (next) => void Object.assign(next, { status: { conditions }, metadata: { ...next.metadata, labels: { a: 'b' } } }),
      'status',
    );
    expect(checked.problems).toEqual(['status.conditions[1].type: Duplicate value: "Dangling"', 'status.conditions[2].type: Required value']);
    expect(checked.object.metadata.labels).toBeUndefined();
    expect(cellsOf(flowSchemas, checked.object)['MissingPL']).toBe('False');
  });
});

describe('priority levels', () => {
  const limited = (parts: object): object => ({ metadata, spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...parts } } });
  const queuing = (parts: object): object => limited({ limitResponse: { type: 'Queue', queuing: parts } });
  const AT = 'spec.limited';

  test('defaults', () => {
    expect(decoded(priorityLevelConfigurations, queuing({})).spec.limited).toEqual({
      nominalConcurrencyShares: 30,
      lendablePercent: 0,
      limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
    });
  });

  test.each([
    [limited({}), []],
    [{ metadata, spec: {} }, ['spec.type: Required value']],
    [
      { metadata, spec: { type: 'Exempt', limited: {} } },
      [
        "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
        'spec.limited: Forbidden: must be nil if the type is not Limited',
      ],
    ],
    [
      { metadata, spec: { type: 'Limited', exempt: {} } },
      ['spec.exempt: Forbidden: must be nil if the type is Limited', 'spec.limited: Required value: must not be empty when type is Limited'],
    ],
    [
      limited({ nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 }),
      [
        `${AT}.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer`,
        `${AT}.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive`,
        `${AT}.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer`,
      ],
    ],
    [queuing({ queues: 1 }), [`${AT}.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (1)`]],
    [
      queuing({ queues: 1024, handSize: 8 }),
      [`${AT}.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 1024 and handSize 8 should not be greater than 60`],
    ],
    [
      limited({ limitResponse: { type: 'Queue' } }),
      [`${AT}.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited`],
    ],
    [limited({ limitResponse: { type: 'Wait' } }), [`${AT}.limitResponse.type: Unsupported value: "Wait": supported values: "Queue", "Reject"`]],
  ])('%j', (object, problems) => {
    expect(created(priorityLevelConfigurations, object).problems).toEqual(problems);
  });

  test('the mandatory ones stay, but for what the exempt one lends', () => {
    for (const [name, spec] of MANDATORY_PRIORITY_LEVELS) expect(created(priorityLevelConfigurations, { metadata: { name }, spec }).problems).toEqual([]);
    expect(created(priorityLevelConfigurations, { metadata: { name: 'exempt' }, spec: { type: 'Exempt', exempt: { lendablePercent: 50 } } }).problems).toEqual(
      [],
    );
    expect(
      created(priorityLevelConfigurations, { metadata: { name: 'catch-all' }, spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } })
        .problems,
    ).toEqual([
      `spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":30,"LimitResponse":{"Type":"Reject","Queuing":null},"LendablePercent":0,"BorrowingLimitPercent":null},"Exempt":null}: spec of 'catch-all' must equal the fixed value`,
    ]);
  });
});
