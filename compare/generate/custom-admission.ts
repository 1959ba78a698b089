import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';
import { HOOK_CA } from '../hook-authority.ts';
import { SCENARIO } from '../placeholders.ts';
import { OWN_NAMESPACE, PROBE, PROBED_RULE, REGISTRATION, addProbePolicy } from './admission.ts';
import type { Draft } from './draft.ts';

/* Webhooks and policies on a custom resource, which name the version that is written, or another one. */

/** To be called before there are objects. */
export function addCustomAdmission(draft: Draft, group: string, versions: readonly string[]): void {
  const rules = [ruleFor(draft.random, group, versions), PROBED_RULE];
  if (draft.random.chance(0.6)) addWebhook(draft, rules);
  else addPolicy(draft, rules);
}

const ruleFor = (random: Random, group: string, versions: readonly string[]): JsonObject => ({
  operations: random.pick([['*'], ['CREATE', 'UPDATE'], ['UPDATE'], ['DELETE']]),
  apiGroups: [group],
  apiVersions: [random.pick([...versions, ...versions, '*', 'v9'])],
  resources: random.pick([['things'], ['things', 'things/*'], ['things/status'], ['*/*'], ['things/scale']]),
});

const matchPolicyOf = (random: Random): string => random.pick(['Exact', 'Equivalent', 'Equivalent']);

function addWebhook(draft: Draft, rules: Json[]): void {
  const { random } = draft;
  const isMutating = random.chance(0.5);
  const behaviour = random.pick(isMutating ? ['label', 'label', 'unknown-field', 'bad-value', 'host', 'allow'] : ['allow', 'allow', 'warn', 'deny']);
  const webhook = {
    name: `hook.${SCENARIO}.example.com`,
    clientConfig: { url: `https://hooks/${SCENARIO}/${behaviour}`, caBundle: HOOK_CA },
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    namespaceSelector: OWN_NAMESPACE,
    failurePolicy: 'Fail',
    matchPolicy: matchPolicyOf(random),
    ...(isMutating && random.chance(0.3) && { reinvocationPolicy: 'IfNeeded' }),
  };
  const path = `${REGISTRATION}/${isMutating ? 'mutating' : 'validating'}webhookconfigurations`;
  draft.add({ method: 'POST', path, body: { metadata: { name: SCENARIO }, webhooks: [webhook] } }, { wait: PROBE });
}

const VALIDATIONS = [
  "object == null || object.apiVersion.endsWith('/v1')",
  'object == null || oldObject == null || object.apiVersion == oldObject.apiVersion',
  "object == null || !has(object.spec) || !has(object.spec.host) || object.spec.host != 'a'",
  'object == null || !has(object.spec) || !has(object.spec.count) || object.spec.count < 10',
  "request.kind.version == request.requestKind.version || request.requestResource.version == 'v2'",
  'object.spec.nothing == 1',
];
const MUTATIONS: readonly JsonObject[] = [
  {
    patchType: 'ApplyConfiguration',
    applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'mutated': object.apiVersion.split('/')[1]}}}" },
  },
  { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec{count: 3}}' } },
  { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'patched': 'yes'}}]" } },
  { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/notThere', value: 1}]" } },
];

function addPolicy(draft: Draft, resourceRules: Json[]): void {
  const { random } = draft;
  const isMutating = random.chance(0.4);
  const kind = isMutating ? 'mutatingadmissionpolic' : 'validatingadmissionpolic';
  const matchConstraints = { resourceRules, namespaceSelector: OWN_NAMESPACE, matchPolicy: matchPolicyOf(random) };
  const spec = isMutating
    ? { matchConstraints, mutations: [random.pick(MUTATIONS)], reinvocationPolicy: 'Never' }
    : { matchConstraints, validations: [{ expression: random.pick(VALIDATIONS) }] };
  draft.post(`${REGISTRATION}/${kind}ies`, { metadata: { name: SCENARIO }, spec });
  const binding = { policyName: SCENARIO, ...(!isMutating && { validationActions: [random.pick(['Deny', 'Warn'])] }) };
  draft.post(`${REGISTRATION}/${kind}ybindings`, { metadata: { name: SCENARIO }, spec: binding });
  addProbePolicy(draft, isMutating);
}
