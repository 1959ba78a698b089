import { compareVersionNames } from '../api/version-names.ts';
import { apiVersionOf } from '../api/api-object.ts';
import { copyWith } from '../apis/define.ts';
import { type EffectiveVersion, type Release, compareReleases } from '../options/effective-version.ts';
import { lifecycleOf } from '../options/lifecycle.ts';
import type { ResourceDefinition } from '../registry/definition.ts';

/** Definitions that are stored in a version that the oldest of the control plane reads; undefined where the facts have that version already. */
export const storageVersions = ({ isDefault, minCompatibility }: EffectiveVersion): ((definition: ResourceDefinition) => ResourceDefinition) | undefined =>
  isDefault ? undefined : (definition) => inStorageVersion(definition, minCompatibility);

/**
 * kubernetes: apiserver/pkg/server/storage, emulatedStorageVersion: the highest version that is no newer than `oldest`; where there is none, the one that is
 * stored always. Where upstream names the version itself, that stays.
 */
function inStorageVersion(definition: ResourceDefinition, oldest: Release): ResourceDefinition {
  const { group, kind, storage } = definition;
  if (storage.form?.version !== undefined || storage.group !== undefined) return definition;
  const isKnown = (version: string): boolean => {
    const { introduced } = lifecycleOf(apiVersionOf(group, version), kind);
    return introduced === undefined || compareReleases(introduced, oldest) <= 0;
  };
  if (isKnown(definition.version)) return definition;
  const versions = definition.served.filter((served) => served.group === group).map(({ version }) => version);
  const version = versions.toSorted((a, b) => compareVersionNames(b, a)).find(isKnown);
  return version === undefined
    ? definition
    : copyWith(definition, { storage: { ...storage, form: copyWith(storage.form ?? {}, { version, isForOlder: true }) } });
}
