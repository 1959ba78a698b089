import { expect, test } from 'vitest';
import { featuresWhere } from '../apis/features.ts';
import { groupVersions, resourcesOf } from '../apis/facts/resources.ts';
import type { ServiceAllocators } from '../apis/core/service/allocation.ts';
import type { Column, ResourceDefinition } from '../registry/definition.ts';
import { kubeKinds } from './kinds.ts';

/* Facts about PUT that hold for each kind by itself (AllowCreateOnUpdate, AllowUnconditionalUpdate of upstream's strategies). */

const CREATED_BY_PUT = new Set([
  'services',
  'events',
  'endpoints',
  'limitranges',
  'leases',
  'leasecandidates',
  'runtimeclasses',
  'roles',
  'clusterroles',
  'rolebindings',
  'clusterrolebindings',
]);
/** A PUT must say which version it is for. */
const NEEDS_VERSION = new Set([
  'clustertrustbundles',
  'podcertificaterequests',
  'leases',
  'leasecandidates',
  'runtimeclasses',
  'poddisruptionbudgets',
  'csidrivers',
  'csinodes',
  'csistoragecapacities',
  'volumeattachments',
  'resourcepoolstatusrequests',
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'storageversions',
  'storageversionmigrations',
]);

const kindsWith = (isEnabled: boolean): ResourceDefinition[] =>
  kubeKinds({
    allocators: {} as ServiceAllocators,
    eventTtlSeconds: 3600,
    now: () => new Date(),
    settings: { features: featuresWhere(() => isEnabled), allowsPrivileged: false },
  });
const kinds = kindsWith(true);

const pluralsOf = (definitions: readonly ResourceDefinition[]): Set<string> => new Set(definitions.map(({ plural }) => plural));

test('which kinds a PUT creates', () => expect(pluralsOf(kinds.filter(({ createsOnUpdate }) => createsOnUpdate))).toEqual(CREATED_BY_PUT));

test('which kinds a PUT overwrites only by version', () =>
  expect(pluralsOf(kinds.filter(({ allowsUnconditionalUpdate = true }) => !allowsUnconditionalUpdate))).toEqual(NEEDS_VERSION));

test('without features, their kinds are not there', () => {
  const without = pluralsOf(kindsWith(false));
  const gated = [...pluralsOf(kinds)].filter((plural) => !without.has(plural));
  expect(gated).toEqual(['clustertrustbundles', 'podcertificaterequests', 'storageversionmigrations', 'podgroups', 'workloads']);
});

test('whether clients write the status of a ServiceCIDR with the rest', () => {
  const hasOwnStatus = (definitions: readonly ResourceDefinition[]): boolean | undefined =>
    definitions.find(({ plural }) => plural === 'servicecidrs')?.hasStatus;
  expect([hasOwnStatus(kinds), hasOwnStatus(kindsWith(false))]).toEqual([true, false]);
});

test('every version of every resource that is stored is of a kind here, but for those of the other two servers', () => {
  const elsewhere = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);
  const stored = groupVersions
    .filter(({ group }) => !elsewhere.has(group))
    .flatMap(({ group, version }) => resourcesOf(group, version).filter(({ storageVersionHash }) => storageVersionHash !== undefined))
    .map(({ group, version, plural }) => `${group}/${version}/${plural}`);
  const here = kinds.flatMap(({ plural, served }) => served.map(({ group, version }) => `${group}/${version}/${plural}`));
  expect(here.toSorted()).toEqual(stored.toSorted());
});

test('every column but Name has a cell of its own: one that a kind leaves out, or spells otherwise than the facts, would show the name', () => {
  const bare = { apiVersion: 'v1', kind: 'Any', metadata: { name: 'its-name' } };
  const showsName = ({ cell }: Column): boolean => {
    try {
      return cell(bare, new Date()) === 'its-name';
    } catch {
      return false; // A cell of its own, which this object has too little for.
    }
  };
  const unfilled = kinds.flatMap(({ plural, table }) =>
    (table?.columns ?? []).filter((column) => column.name !== 'Name' && showsName(column)).map(({ name }) => `${plural}: ${name}`),
  );
  expect(unfilled).toEqual([]);
});
