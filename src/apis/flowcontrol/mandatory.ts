import type { FlowSchemaSpec, PolicyRulesWithSubjects, PriorityLevelConfigurationSpec } from '../facts/types/flowcontrol-v1.ts';

/** What the server keeps whatever anyone does, so that no configuration can lock everybody out (apiserver/pkg/apis/flowcontrol/bootstrap). */
const everything = (...groups: string[]): PolicyRulesWithSubjects => ({
  subjects: groups.map((name) => ({ kind: 'Group', group: { name } })),
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
});

export const EXEMPT = 'exempt';
const CATCH_ALL = 'catch-all';

export const MANDATORY_FLOW_SCHEMAS: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  [EXEMPT, { priorityLevelConfiguration: { name: EXEMPT }, matchingPrecedence: 1, rules: [everything('system:masters')] }],
  [
    CATCH_ALL,
    {
      priorityLevelConfiguration: { name: CATCH_ALL },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [everything('system:unauthenticated', 'system:authenticated')],
    },
  ],
]);

export const MANDATORY_PRIORITY_LEVELS: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map([
  [EXEMPT, { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
  [CATCH_ALL, { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 } }],
]);
