import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';
import { HOOK_CA } from '../hook-authority.ts';
import { SCENARIO } from '../placeholders.ts';
import type { Wait } from '../step.ts';
import { addDelete, addDeleteCollection } from './deletes.ts';
import type { Draft } from './draft.ts';
import { type Kind, kindNamed } from './kinds.ts';
import { addSubresource } from './subresources.ts';
import { addApply, addCreate, addPatch, addUpdate } from './writes.ts';

/* Admission webhooks and policies that see the scenario's own namespace only, and writes there. */

export const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
/** Groups of the kinds that a PUT creates. */
const CREATED_BY_PUT: readonly string[] = ['rbac.authorization.k8s.io'];
const KINDS = ['v1/configmaps', 'v1/services', 'v1/pods', 'apps/v1/deployments', 'v1/secrets', 'batch/v1/jobs', 'rbac.authorization.k8s.io/v1/roles'];
export const OWN_NAMESPACE = { matchLabels: { scenario: SCENARIO } };
const BEHAVIOURS = ['deny', 'deny-bare', 'warn', 'annotate', 'allow', 'allow'];
const MUTATIONS = ['label', 'label', 'unknown-field', 'bad-patch', 'bad-value', 'rename', 'not-a-patch', 'no-patch-type'];

/** A write that the configuration refuses once it works: its name ends in -probe. */
export const PROBE: Wait = {
  request: { method: 'POST', path: `/api/v1/namespaces/${SCENARIO}/configmaps?dryRun=All`, body: { metadata: { name: `${SCENARIO}-probe` } } },
  status: 201,
  not: true,
};

export const PROBED_RULE = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };

function rulesFor({ facts }: Kind, random: Random): Json[] {
  // No selector keeps objects without a namespace out: they may be those of another scenario.
  const scope = 'Namespaced';
  const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*', '*/*'], scope };
  const own = {
    operations: random.pick([['CREATE'], ['CREATE', 'UPDATE'], ['UPDATE', 'DELETE'], ['*'], ['CONNECT', 'CREATE']]),
    apiGroups: [facts.group],
    apiVersions: [random.pick([facts.version, '*'])],
    resources: random.pick([[facts.plural], [facts.plural, `${facts.plural}/*`], ['*'], [`${facts.plural}/status`]]),
  };
  return [random.chance(0.3) ? all : own.resources.includes('*') ? { ...own, scope } : own, PROBED_RULE];
}

/** `isRenamed`: what an apply or an update makes is stored by the reference under the name in its path, whatever admission calls it. */
function addWritesOf(draft: Draft, kind: Kind, isRenamed: boolean): void {
  const { random } = draft;
  for (let count = 3 + random.below(8); count > 0; count--) {
    const name = random.pick([SCENARIO, SCENARIO, `${SCENARIO}-b`]);
    draft.choose([
      [4, () => addCreate(draft, kind, name, random.chance(0.6))],
      [isRenamed && CREATED_BY_PUT.includes(kind.facts.group) ? 0 : 2, () => addUpdate(draft, kind, name)],
      [2, () => addPatch(draft, kind, name)],
      [isRenamed ? 0 : 2, () => addApply(draft, kind, name)],
      [1, () => void addSubresource(draft, kind, name)],
      [1, () => addDelete(draft, `${kind.collection}/${name}`)],
      [0.3, () => addDeleteCollection(draft, kind)],
    ]);
  }
}

export function addWebhooks(draft: Draft): void {
  const { random } = draft;
  const kind = kindNamed(random.pick(KINDS));
  const isMutating = random.chance(0.5);
  const webhook = (behaviour: string, index: number): JsonObject => ({
    name: `hook-${index}.${SCENARIO}.example.com`,
    clientConfig: { url: `https://hooks/${SCENARIO}/${behaviour}`, caBundle: HOOK_CA },
    rules: rulesFor(kind, random),
    sideEffects: random.pick(['None', 'None', 'NoneOnDryRun']),
    admissionReviewVersions: ['v1'],
    namespaceSelector: OWN_NAMESPACE,
    failurePolicy: random.pick(['Fail', 'Ignore']),
    matchPolicy: random.pick(['Exact', 'Equivalent']),
    ...(isMutating && random.chance(0.3) && { reinvocationPolicy: 'IfNeeded' }),
    ...(random.chance(0.3) && {
      objectSelector: random.pick<Json>([{ matchLabels: { a: 'b' } }, { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }]),
    }),
    ...(random.chance(0.3) && {
      matchConditions: [
        { name: 'c', expression: random.pick(["object.metadata.name != 'x'", "request.operation == 'CREATE'", 'object.nothing == 1', 'false']) },
      ],
    }),
  });
  const behaviours = Array.from({ length: 1 + random.below(2) }, () => random.pick(isMutating ? [...MUTATIONS, ...BEHAVIOURS] : BEHAVIOURS));
  // The first one has no conditions, so that it answers the probe.
  const { objectSelector: _selector, matchConditions: _conditions, ...first } = webhook(behaviours[0]!, 0);
  const webhooks = [first, ...behaviours.slice(1).map((behaviour, index) => webhook(behaviour, index + 1))];
  const path = `${REGISTRATION}/${isMutating ? 'mutating' : 'validating'}webhookconfigurations`;
  draft.add({ method: 'POST', path, body: { metadata: { name: SCENARIO }, webhooks } }, { wait: PROBE });
  addWritesOf(draft, kind, behaviours.includes('rename'));
}

const EXPRESSIONS = [
  'object == null || object.metadata.name.size() > 3',
  "has(object.metadata.labels) && 'a' in object.metadata.labels",
  "request.operation != 'DELETE'",
  "request.userInfo.username == 'admin'",
  'oldObject == null || object == null || oldObject.metadata.name == object.metadata.name',
  "namespaceObject.metadata.name.startsWith('n')",
  "authorizer.group('').resource('pods').namespace('default').check('get').allowed()",
  'variables.size < 20',
  'object.spec.replicas <= 3',
  '!has(object.data) || object.data.size() < 2',
  'object.spec.containers.all(c, c.image.size() > 1)',
  "params == null || !has(params.data) || params.data['max'] == '1'",
];

export function addPolicies(draft: Draft): void {
  const { random } = draft;
  const kind = kindNamed(random.pick(KINDS));
  const isMutating = random.chance(0.4);
  const variables = [{ name: 'size', expression: 'object == null ? 0 : object.metadata.name.size()' }];
  const matchConstraints = { resourceRules: rulesFor(kind, random), namespaceSelector: OWN_NAMESPACE, matchPolicy: random.pick(['Exact', 'Equivalent']) };
  const common = { matchConstraints, variables, failurePolicy: random.pick(['Fail', 'Fail', 'Ignore']) };
  const spec = isMutating
    ? { ...common, mutations: [mutationOf(random)], reinvocationPolicy: random.pick(['Never', 'IfNeeded']) }
    : { ...common, ...validationsOf(random) };
  const plural = isMutating ? 'mutatingadmissionpolicies' : 'validatingadmissionpolicies';
  draft.post(`${REGISTRATION}/${plural}`, { metadata: { name: SCENARIO }, spec: spec as unknown as Json });
  const binding = { policyName: SCENARIO, matchResources: { namespaceSelector: OWN_NAMESPACE } };
  const actions = random.pick([['Deny'], ['Warn'], ['Deny', 'Audit'], ['Warn', 'Audit']]);
  draft.post(`${REGISTRATION}/${isMutating ? 'mutatingadmissionpolicybindings' : 'validatingadmissionpolicybindings'}`, {
    metadata: { name: SCENARIO },
    spec: isMutating ? binding : { ...binding, validationActions: actions },
  });
  addProbePolicy(draft, isMutating);
  addWritesOf(draft, kind, JSON.stringify(spec).includes('/metadata/name'));
}

/** A second policy of the same type, made last, that refuses the probe: when it works, the first one does too. */
export function addProbePolicy(draft: Draft, isMutating: boolean): void {
  const name = `${SCENARIO}-last`;
  const matchConstraints = { resourceRules: [PROBED_RULE], namespaceSelector: OWN_NAMESPACE };
  const mutation = { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/not/there'}]" } };
  const spec = isMutating
    ? {
        matchConstraints,
        reinvocationPolicy: 'Never',
        mutations: [mutation],
        matchConditions: [{ name: 'probe', expression: "object.metadata.name.endsWith('-probe')" }],
      }
    : { matchConstraints, validations: [{ expression: "!object.metadata.name.endsWith('-probe')", message: 'probed' }] };
  const kind = isMutating ? 'mutatingadmissionpolic' : 'validatingadmissionpolic';
  draft.post(`${REGISTRATION}/${kind}ies`, { metadata: { name }, spec });
  const binding = { policyName: name, ...(!isMutating && { validationActions: ['Deny'] }) };
  draft.add({ method: 'POST', path: `${REGISTRATION}/${kind}ybindings`, body: { metadata: { name }, spec: binding } }, { wait: PROBE });
}

function validationsOf(random: Random): JsonObject {
  const validation = (): JsonObject => ({
    expression: random.pick(EXPRESSIONS),
    ...(random.chance(0.4) && { message: 'the policy says no' }),
    ...(random.chance(0.2) && { messageExpression: random.pick(["'no to ' + object.metadata.name", 'string(variables.size)', "''"]) }),
    ...(random.chance(0.2) && { reason: random.pick(['Forbidden', 'Invalid', 'Unauthorized', 'RequestEntityTooLarge']) }),
  });
  return {
    validations: Array.from({ length: 1 + random.below(3) }, validation),
    ...(random.chance(0.2) && {
      matchConditions: [{ name: 'not-x', expression: random.pick(["object == null || object.metadata.name != 'x'", 'object.nothing.at.all']) }],
    }),
    ...(random.chance(0.2) && { auditAnnotations: [{ key: 'size', valueExpression: 'string(variables.size)' }] }),
  };
}

const mutationOf = (random: Random): JsonObject =>
  random.pick<JsonObject>([
    { patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'mutated': 'yes'}}}" } },
    { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec{replicas: 2}}' } },
    { patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{data: {'added': string(variables.size)}}" } },
    { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'patched': 'yes'}}]" } },
    { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/not/there'}]" } },
    {
      patchType: 'JSONPatch',
      jsonPatch: { expression: "has(object.metadata.labels) ? [JSONPatch{op: 'test', path: '/metadata/name', value: object.metadata.name}] : []" },
    },
    { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'replace', path: '/metadata/name', value: 'other'}]" } },
  ]);
