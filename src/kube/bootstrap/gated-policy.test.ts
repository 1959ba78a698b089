import { expect, test } from 'vitest';
import type { BindingObject, RoleObject } from '../../authorization/rbac-objects.ts';
import clusterRoleBindings from './data/cluster-role-bindings.json' with { type: 'json' };
import clusterRoles from './data/cluster-roles.json' with { type: 'json' };
import { gatedBindings, gatedRoles } from './gated-policy.ts';

/** Of the gates that the policy asks for. */
const ON = new Set([
  'ComponentFlagz',
  'ComponentStatusz',
  'DRADeviceTaints',
  'DRAExtendedResource',
  'DRAResourceClaimGranularStatusAuthorization',
  'DynamicResourceAllocation',
  'KubeletServiceAccountTokenForCredentialProviders',
  'VolumeAttributesClass',
]);
const roles = clusterRoles as unknown as RoleObject[];
const bindings = clusterRoleBindings as unknown as BindingObject[];
const isDefault = (gate: string): boolean => ON.has(gate);
const moved = (gate: string) => (one: string) => (one === gate ? !ON.has(gate) : ON.has(one));

const rulesOf = (all: readonly RoleObject[]): Map<string, string[]> =>
  new Map(all.map(({ metadata, rules }) => [metadata.name!, (rules ?? []).map((rule) => JSON.stringify(rule))]));

/** `+` and `-` before what came and went. */
function difference(gate: string): string[] {
  const before = rulesOf(gatedRoles(roles, isDefault));
  const after = rulesOf(gatedRoles(roles, moved(gate)));
  const missing = (from: Map<string, string[]>, other: Map<string, string[]>): string[] =>
    [...from].flatMap(([name, rules]) => (other.has(name) ? rules.filter((rule) => !other.get(name)!.includes(rule)).map(() => name) : [`all of ${name}`]));
  return [...missing(before, after).map((name) => `- ${name}`), ...missing(after, before).map((name) => `+ ${name}`)];
}

test('with defaults it is the policy as it was recorded', () => {
  expect(gatedRoles(roles, isDefault)).toEqual(roles);
  expect(gatedBindings(bindings, gatedRoles(roles, isDefault))).toEqual(bindings);
});

/* As the reference's policy changed when it was run with each gate. */
test.each<[string, string[]]>([
  ['ComponentFlagz', ['- system:monitoring', '+ system:monitoring']],
  ['DRADeviceTaints', ['- all of system:controller:device-taint-eviction-controller']],
  ['DRAExtendedResource', ['- system:kube-scheduler']],
  ['DRAResourceClaimGranularStatusAuthorization', ['- system:controller:resource-claim-controller', '- system:kube-scheduler']],
  ['KubeletServiceAccountTokenForCredentialProviders', ['- system:node']],
  [
    'DRADeviceTaintRules',
    ['+ system:controller:device-taint-eviction-controller', '+ system:controller:device-taint-eviction-controller', '+ system:kube-scheduler'],
  ],
  [
    'GenericWorkload',
    [
      '+ system:aggregate-to-edit',
      '+ system:aggregate-to-view',
      '+ system:kube-scheduler',
      '+ system:kube-scheduler',
      '+ all of system:controller:podgroup-protection-controller',
    ],
  ],
])('%s', (gate, changes) => expect(difference(gate).toSorted()).toEqual(changes.toSorted()));

test('a role that comes is bound to its controller, one that goes is not bound', () => {
  const names = (gate: string): Set<string> => new Set(gatedBindings(bindings, gatedRoles(roles, moved(gate))).map(({ metadata }) => metadata.name!));
  expect(names('StorageVersionMigrator').has('system:controller:storage-version-migrator-controller')).toBe(true);
  expect(names('ClusterTrustBundle').has('system:cluster-trust-bundle-discovery')).toBe(true);
  expect(names('DRADeviceTaints').has('system:controller:device-taint-eviction-controller')).toBe(false);
});
