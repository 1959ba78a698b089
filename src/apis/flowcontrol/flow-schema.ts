import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { subdomainName } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { FlowSchema, FlowSchemaSpec } from '../facts/types/flowcontrol-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { validateFlowRule } from './flow-schema-rules.ts';
import { EXEMPT, MANDATORY_FLOW_SCHEMAS } from './mandatory.ts';
import { statusUpdate, validateStatusConditions } from './status-conditions.ts';

const DEFAULT_PRECEDENCE = 1000;
const MAX_PRECEDENCE = 10_000;
const DISTINGUISHERS = ['ByNamespace', 'ByUser'];

const DISTINGUISHER: InternalFields = [['Type', 'type', '']];
const NAMED: InternalFields = [['Name', 'name', '']];
const SPEC: InternalFields = [
  ['PriorityLevelConfiguration', 'priorityLevelConfiguration', NAMED],
  ['MatchingPrecedence', 'matchingPrecedence', 0],
  ['DistinguisherMethod', 'distinguisherMethod', DISTINGUISHER],
  [
    'Rules',
    'rules',
    [
      [
        'Subjects',
        'subjects',
        [
          ['Kind', 'kind', ''],
          ['User', 'user', NAMED],
          ['Group', 'group', NAMED],
          [
            'ServiceAccount',
            'serviceAccount',
            [
              ['Namespace', 'namespace', ''],
              ['Name', 'name', ''],
            ],
          ],
        ],
      ],
      [
        'ResourceRules',
        'resourceRules',
        [
          ['Verbs', 'verbs'],
          ['APIGroups', 'apiGroups'],
          ['Resources', 'resources'],
          ['ClusterScope', 'clusterScope', false],
          ['Namespaces', 'namespaces'],
        ],
      ],
      [
        'NonResourceRules',
        'nonResourceRules',
        [
          ['Verbs', 'verbs'],
          ['NonResourceURLs', 'nonResourceURLs'],
        ],
      ],
    ],
  ],
];

/** Which requests belong together, and to which priority level they go. */
export const flowSchemas = defineResource<FlowSchema>('flowcontrol.apiserver.k8s.io/v1/flowschemas', {
  generation: 'spec',

  default({ spec }) {
    spec.matchingPrecedence ||= DEFAULT_PRECEDENCE;
  },

  validatesWhole: 'before',
  validatesMetadataUpdate: false,
  validate({ object: flowSchema }, errors) {
    const { metadata, spec } = flowSchema;
    validateFinalizerNames(metadata, errors);
    validateSpec(metadata.name ?? '', spec, errors.at('spec'));
    const mandatory = MANDATORY_FLOW_SCHEMAS.get(metadata.name ?? '');
    if (mandatory && !equalJson(spec, mandatory)) errors.at('spec').invalid(internalForm(spec, SPEC), `spec of '${metadata.name}' must equal the fixed value`);
    validateStatusConditions(flowSchema, errors);
  },

  subresources: { status: { update: statusUpdate } },

  table: { compareRows: (a, b) => (a.spec.matchingPrecedence ?? 0) - (b.spec.matchingPrecedence ?? 0) || (a.metadata.name! < b.metadata.name! ? -1 : 1) },
  cells: {
    PriorityLevel: ({ spec }) => spec.priorityLevelConfiguration.name,
    MatchingPrecedence: ({ spec }) => spec.matchingPrecedence,
    DistinguisherMethod: ({ spec }) => spec.distinguisherMethod?.type ?? '<none>',
    MissingPL: ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
  },
});

function validateSpec(name: string, spec: FlowSchemaSpec, errors: FieldErrors): void {
  const { matchingPrecedence, distinguisherMethod, priorityLevelConfiguration, rules } = spec;
  validatePrecedence(name, matchingPrecedence, errors.at('matchingPrecedence'));
  if (distinguisherMethod && !DISTINGUISHERS.includes(distinguisherMethod.type))
    errors.at('distinguisherMethod', 'type').notSupported(internalForm(distinguisherMethod, DISTINGUISHER), DISTINGUISHERS);
  const level = priorityLevelConfiguration.name;
  const at = errors.at('priorityLevelConfiguration', 'name');
  if (level === '') at.required('must reference a priority level');
  else for (const error of subdomainName(level, false)) at.invalid(level, error);
  for (const [index, rule] of (rules ?? []).entries()) validateFlowRule(rule, errors.at('rules').index(index));
}

function validatePrecedence(name: string, precedence: number, errors: FieldErrors): void {
  if (precedence <= 0) errors.invalid(precedence, 'must be a positive value');
  if (precedence > MAX_PRECEDENCE) errors.invalid(precedence, `must not be greater than ${MAX_PRECEDENCE}`);
  if (precedence === 1 && name !== EXEMPT) errors.invalid(precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
}
