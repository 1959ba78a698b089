import { describe, expect, test } from 'vitest';
import { groupVersions, resourcesOf } from '../apis/facts/resources.ts';
import { persistentVolumes } from '../apis/core/persistent-volume.ts';
import { mutatingAdmissionPolicies } from '../apis/admissionregistration/mutating-admission-policy.ts';
import { resourceClaims } from '../apis/resource/resource-claim.ts';
import { volumeAttributesClasses } from '../apis/storage/volume-attributes-class.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { resolveEffectiveVersion } from '../options/effective-version.ts';
import { storageVersions } from './emulated-storage.ts';
import { servedVersions } from './served-resources.ts';

const at = (emulated: string, ...min: string[]) => resolveEffectiveVersion({ emulatedVersion: [emulated], minCompatibilityVersion: min }, []);
const definitions = [resourceClaims, mutatingAdmissionPolicies, volumeAttributesClasses] as unknown as ResourceDefinition[];

/** `v1beta1/resourceclaims` of a group. */
function served(emulated: string, config: Record<string, boolean>, group: string, flags: { forward?: boolean; named?: boolean } = {}): string[] {
  const isServed = servedVersions(
    {
      runtimeConfig: new Map(Object.entries(config)),
      effectiveVersion: at(emulated),
      emulationForwardCompatible: flags.forward ?? false,
      runtimeConfigEmulationForwardCompatible: flags.named ?? false,
    },
    () => definitions,
  );
  const plurals = new Set(definitions.map(({ plural }) => plural));
  return groupVersions
    .filter((facts) => facts.group === group)
    .flatMap((facts) =>
      resourcesOf(group, facts.version)
        .filter(({ plural }) => plurals.has(plural) && isServed(facts, plural))
        .map(({ plural }) => `${facts.version}/${plural}`),
    );
}

const DEVICES = 'resource.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';

describe('what is served', () => {
  test.each<[string, Record<string, boolean>, string, { forward?: boolean; named?: boolean }, string[]]>([
    ['1.36', {}, DEVICES, {}, ['v1/resourceclaims']],
    ['1.34', {}, DEVICES, {}, ['v1/resourceclaims']],
    ['1.33', {}, DEVICES, {}, []],
    ['1.33', { 'api/beta': true }, DEVICES, {}, ['v1beta2/resourceclaims', 'v1beta1/resourceclaims']],
    ['1.33', { 'resource.k8s.io/v1beta2': true }, DEVICES, { forward: true }, ['v1/resourceclaims', 'v1beta2/resourceclaims']],
    ['1.33', { 'resource.k8s.io/v1beta2': true, 'resource.k8s.io/v1': false }, DEVICES, { forward: true }, ['v1beta2/resourceclaims']],
    ['1.33', { 'resource.k8s.io/v1/resourceclaims': true }, DEVICES, { named: true }, ['v1/resourceclaims']],
    ['1.35', {}, ADMISSION, {}, []],
    ['1.35', { 'api/beta': true }, ADMISSION, {}, ['v1beta1/mutatingadmissionpolicies']],
    ['1.35', { 'api/beta': true }, ADMISSION, { forward: true }, ['v1/mutatingadmissionpolicies', 'v1beta1/mutatingadmissionpolicies']],
    // Alpha versions bring no higher ones.
    ['1.33', { 'api/alpha': true }, ADMISSION, { forward: true }, ['v1alpha1/mutatingadmissionpolicies']],
    // Upstream serves a kind of it that is gone by now, so that naming the version is no mistake.
    ['1.33', { 'admissionregistration.k8s.io/v1beta1': true }, ADMISSION, {}, []],
  ])('v%s with %j: %s %j', (emulated, config, group, flags, expected) => {
    expect(served(emulated, config, group, flags)).toEqual(expected);
  });
});

test('a version that came later cannot be named, but one whose kinds are off with their features can', () => {
  expect(() => served('1.33', { 'resource.k8s.io/v1': true }, DEVICES)).toThrow('cannot enable version resource.k8s.io/v1 in runtime-config');
  expect(served('1.34', { 'storagemigration.k8s.io/v1beta1': true }, DEVICES)).toEqual(['v1/resourceclaims']);
});

/* As the reference wrote them into etcd. */
test.each<[string, string[], unknown, string | undefined]>([
  ['1.36', [], resourceClaims, undefined],
  ['1.35', [], resourceClaims, undefined],
  ['1.34', [], resourceClaims, 'v1beta2'],
  ['1.34', [], volumeAttributesClasses, 'v1beta1'],
  ['1.36', ['1.33'], volumeAttributesClasses, 'v1beta1'],
  ['1.33', [], persistentVolumes, undefined],
  // Upstream names this one itself.
  ['1.33', [], mutatingAdmissionPolicies, 'v1beta1'],
])('v%s %j stores a kind as', (emulated, min, definition, version) => {
  const own = definition as ResourceDefinition;
  expect((storageVersions(at(emulated, ...min))?.(own) ?? own).storage.form?.version).toBe(version);
});
