import { AdmissionChain } from '../src/admission/chain.ts';
import { createPlugins } from '../src/admission/plugins.ts';
import { testEnvironment, writeOf } from '../src/admission/testing/attributes.ts';
import { configMaps } from '../src/apis/core/config-map.ts';
import { pods } from '../src/apis/core/pod/pod.ts';
import { enabledPlugins } from '../src/admission/plugin-order.ts';
import type { ResourceDefinition } from '../src/registry/definition.ts';

/* What admission alone costs: the plug-ins that are on by default, in their chain, asked about creations over and over. bench/admission.mjs runs this. */

interface Target {
  resource: string;
  definition: ResourceDefinition;
  object: object;
}

const metadata = { name: 'round', namespace: 'n', labels: { app: 'bench' } };
const CONFIG_MAP: Target = {
  resource: 'configmaps',
  definition: configMaps as unknown as ResourceDefinition,
  object: { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { value: 'x'.repeat(550) } },
};
const CONTAINER = { name: 'c', image: 'registry.example.com/app:1', imagePullPolicy: 'IfNotPresent', resources: {} };
const POD: Target = {
  resource: 'pods',
  definition: pods as unknown as ResourceDefinition,
  object: { kind: 'Pod', apiVersion: 'v1', metadata, spec: { restartPolicy: 'Always', securityContext: {}, containers: [CONTAINER] }, status: {} },
};

const GROUP = 'admissionregistration.k8s.io';
const RULE = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
const POLICIES = 500;

/** As many as there may be in a large cluster, each about what bears a label of its own. */
const elsewhere = (selector: 'namespaceSelector' | 'objectSelector'): object[] =>
  Array.from({ length: POLICIES }, (_, index) => ({
    matchConstraints: { matchPolicy: 'Equivalent', resourceRules: [RULE], [selector]: { matchLabels: { team: `t${index}` } } },
    validations: [{ expression: 'object.data.value.size() > 0' }],
  }));
const MATCHING = {
  matchConstraints: { matchPolicy: 'Equivalent', resourceRules: [RULE] },
  validations: [
    { expression: "object.metadata.name.startsWith('round')" },
    { expression: "has(object.data) && object.data.all(key, object.data[key] != '')" },
    { expression: "request.operation == 'CREATE' || object.metadata.labels == oldObject.metadata.labels" },
  ],
};

async function chainWith(policies: readonly object[]): Promise<AdmissionChain> {
  const environment = { ...testEnvironment(), isEnabled: () => false };
  const put = (group: string, plural: string, namespace: string, object: object) =>
    environment.client.resource(group, plural).create(namespace, { kind: '', apiVersion: '', ...object } as never);
  await put('', 'namespaces', '', { metadata: { name: 'n', labels: { 'kubernetes.io/metadata.name': 'n' } } });
  await put('', 'serviceaccounts', 'n', { metadata: { name: 'default', namespace: 'n' } });
  for (const [index, spec] of policies.entries()) {
    const name = `p${index}`;
    await put(GROUP, 'validatingadmissionpolicies', '', { metadata: { name, uid: name }, spec: { failurePolicy: 'Fail', ...spec } });
    await put(GROUP, 'validatingadmissionpolicybindings', '', { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } });
  }
  const chain = new AdmissionChain(environment.metrics);
  chain.use(createPlugins(enabledPlugins([], []), environment));
  return chain;
}

const ROUNDS = 9;
const WRITES = 4000;

/** CPU microseconds a creation: the least of some rounds, since others on the machine only ever add to it. */
async function cost({ resource, definition, object }: Target, policies: readonly object[] = []): Promise<number> {
  const chain = await chainWith(policies);
  const kind = { group: '', version: 'v1', kind: definition.kind };
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const writes = Array.from({ length: WRITES }, () => writeOf(resource, object, { definition, apiVersion: 'v1', kind }));
    const before = process.cpuUsage();
    for (const write of writes) {
      await chain.mutate(write);
      await chain.validate(write);
    }
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / WRITES);
  }
  return Math.min(...rounds);
}

export async function admissionCosts(record: (what: string, value: number, unit: string, limit: number) => void): Promise<void> {
  const plain = await cost(CONFIG_MAP);
  record('admission of a configmap', plain, 'µs', 15);
  record('admission of a pod', await cost(POD), 'µs', 60);
  record('500 policies of other namespaces, more', (await cost(CONFIG_MAP, elsewhere('namespaceSelector'))) - plain, 'µs', 20);
  record('500 policies of other labels, more', (await cost(CONFIG_MAP, elsewhere('objectSelector'))) - plain, 'µs', 20);
  record('a matching policy of three rules, more', (await cost(CONFIG_MAP, [MATCHING])) - plain, 'µs', 30);
}
