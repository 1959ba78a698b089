import type { IsServed } from '../apis/api-versions.ts';
import { type GroupVersionFacts, groupVersions, resourcesOf } from '../apis/facts/resources.ts';
import { compareVersionNames } from '../api/version-names.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { CommandError } from '../options/command-error.ts';
import { type Release, compareReleases, printRelease } from '../options/effective-version.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { type Lifecycle, hadFormerKinds, lifecycleOf } from '../options/lifecycle.ts';

/* What an older version serves: kubernetes: apiserver/pkg/server/deleted_kinds.go, apiserver/pkg/server/resourceconfig/helpers.go. */

export type EmulationOptions = Pick<
  CompletedOptions,
  'runtimeConfig' | 'effectiveVersion' | 'emulationForwardCompatible' | 'runtimeConfigEmulationForwardCompatible'
>;

/**
 * Narrows `isOn`, what --runtime-config leaves on, to what the emulated version has. `definitions` are the kinds that there are: features that are off take some
 * away. Throws a CommandError where --runtime-config names what came later.
 */
export function emulatedVersions(options: EmulationOptions, isOn: IsServed, definitions: readonly ResourceDefinition[]): IsServed {
  const isEnabled = options.emulationForwardCompatible ? withNewerVersions(isOn, options) : isOn;
  const kept = new Set<string>();
  for (const group of new Set(groupVersions.map((facts) => facts.group))) {
    const there = new Set(definitions.filter((definition) => definition.group === group).map(({ plural }) => plural));
    for (const name of keptOf(group, there, isEnabled, options)) kept.add(name);
  }
  return (facts, plural) => isEnabled(facts, plural) && (isAlways(facts) || kept.has(nameOf(facts, plural)));
}

const nameOf = ({ groupVersion }: GroupVersionFacts, plural: string): string => `${groupVersion}/${plural}`;
/** The two servers at the ends serve their own group always. */
const isAlways = ({ group }: GroupVersionFacts): boolean => group === 'apiextensions.k8s.io' || group === 'apiregistration.k8s.io';
const keyOf = ({ group, groupVersion }: GroupVersionFacts): string => (group === '' ? `/${groupVersion}` : groupVersion);

/** From the lowest version up: with --emulation-forward-compatible, a resource that is served in one is served in the higher ones too. */
function* keptOf(group: string, there: ReadonlySet<string>, isEnabled: IsServed, options: EmulationOptions): Generator<string> {
  const { runtimeConfig, effectiveVersion } = options;
  const lower = new Set<string>();
  for (const facts of versionsOf(group).toReversed()) {
    const installed = resourcesOf(group, facts.version).filter(({ plural }) => isEnabled(facts, plural) && isThere(facts, there, plural));
    const kept = installed.filter(({ plural, kind }) => isKept(facts, plural, lifecycleOf(facts.groupVersion, kind), lower.has(plural), options));
    const isEmptied = installed.length > 0 && kept.length === 0 && !hadFormerKinds(facts.groupVersion, effectiveVersion.emulation);
    if (isEmptied && runtimeConfig.get(keyOf(facts)) === true && isAnyLater(facts, installed, effectiveVersion.emulation))
      throw new CommandError(
        `cannot enable version ${facts.groupVersion} in runtime-config because all the resources have been introduced after the current version ${printRelease(effectiveVersion.emulation)}. ${ADVICE}`,
      );
    for (const { plural } of kept) {
      if (facts.stability !== 'alpha') lower.add(plural);
      yield nameOf(facts, plural);
    }
  }
}

const ADVICE = 'Consider setting --runtime-config-emulation-forward-compatible=true';

/** Kinds that are only asked (reviews, bindings) have no definition that is kept. */
const isThere = ({ stability }: GroupVersionFacts, there: ReadonlySet<string>, plural: string): boolean => stability === 'stable' || there.has(plural);

const isAnyLater = ({ groupVersion }: GroupVersionFacts, resources: readonly { kind: string }[], current: Release): boolean =>
  resources.some(({ kind }) => isLater(lifecycleOf(groupVersion, kind), current));

const isLater = ({ introduced }: Lifecycle, current: Release): boolean => introduced !== undefined && compareReleases(introduced, current) > 0;

function isKept(facts: GroupVersionFacts, plural: string, lifecycle: Lifecycle, isLowerKept: boolean, options: EmulationOptions): boolean {
  const { emulation } = options.effectiveVersion;
  if (lifecycle.removed && compareReleases(lifecycle.removed, emulation) <= 0) return false;
  if (!isLater(lifecycle, emulation) || (options.emulationForwardCompatible && isLowerKept)) return true;
  const isResourceNamed = options.runtimeConfig.get(`${keyOf(facts)}/${plural}`) === true;
  if (options.runtimeConfigEmulationForwardCompatible && (isResourceNamed || options.runtimeConfig.get(keyOf(facts)) === true)) return true;
  if (isResourceNamed)
    throw new CommandError(
      `cannot enable resource ${facts.group}/${facts.version}, Resource=${plural} in runtime-config because it is introduced at ${printRelease(lifecycle.introduced!)} after the current version ${printRelease(emulation)}. ${ADVICE}`,
    );
  return false;
}

/** By priority, the highest first. */
const versionsOf = (group: string): GroupVersionFacts[] =>
  groupVersions.filter((facts) => facts.group === group).toSorted((a, b) => compareVersionNames(b.version, a.version));

/** What is on turns on what is above it, unless --runtime-config names that itself. Alpha versions are left alone. */
function withNewerVersions(isOn: IsServed, { runtimeConfig }: EmulationOptions): IsServed {
  return (facts, plural) => {
    const named = runtimeConfig.get(`${keyOf(facts)}/${plural}`) ?? runtimeConfig.get(keyOf(facts));
    if (named !== undefined || isOn(facts, plural)) return isOn(facts, plural);
    const versions = versionsOf(facts.group);
    return versions.slice(versions.indexOf(facts) + 1).some((lower) => lower.stability !== 'alpha' && isOn(lower, plural));
  };
}
