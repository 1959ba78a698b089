import { type GroupVersionFacts, type ResourceFacts, groupVersions, resourcesOf } from './facts/resources.ts';
import type { ResourceStore } from '../registry/store.ts';
import type { ResourceDefinition, ServedVersion, Subresource } from '../registry/definition.ts';
import { type ApiVersion, type InstalledResource, storageVersionHashOf } from '../registry/api-version.ts';

/** Whether a resource of a group-version is on: as it is by default, or as --runtime-config changes it. */
export type IsServed = (facts: GroupVersionFacts, plural: string) => boolean;

/** The aggregator's own group comes first; it registers itself nowhere, so the facts give it no priority. */
const AGGREGATOR_PRIORITY = { groupPriorityMinimum: 20_000, versionPriority: 100 };

/**
 * The built-in resources that `isServed` lets through, by group-version, with the given stores behind them. A store serves every version that its
 * definition names; a resource without a store is not there.
 */
export function builtInApiVersions(stores: readonly ResourceStore[], isServed: IsServed): ApiVersion[] {
  const byName = new Map<string, InstalledResource>();
  for (const store of stores) for (const [name, resource] of installations(store)) byName.set(name, resource);
  return groupVersions.flatMap((facts) => {
    const resources = new Map<string, InstalledResource>();
    for (const resource of resourcesOf(facts.group, facts.version)) {
      const installed = byName.get(`${facts.groupVersion}/${resource.plural}`);
      if (installed && isServed(facts, resource.plural)) resources.set(resource.plural, withFacts(installed, resource));
    }
    return resources.size === 0 ? [] : [{ group: facts.group, version: facts.version, ...(facts.priority ?? AGGREGATOR_PRIORITY), resources }];
  });
}

function* installations(store: ResourceStore): Iterable<[string, InstalledResource]> {
  const { definition } = store;
  for (const served of definition.served) {
    const groupVersion = served.group === '' ? served.version : `${served.group}/${served.version}`;
    yield [
      `${groupVersion}/${definition.plural}`,
      { definition, served, store, subresources: subresourcesIn(definition, served), storageVersionHash: '', isCustom: false },
    ];
  }
}

/** Through a subresource of the object's own kind, clients see the object in the version that they speak. */
function subresourcesIn(definition: ResourceDefinition, served: ServedVersion): Record<string, Subresource> {
  const subresources = definition.subresources ?? {};
  if (served.toStored === undefined) return subresources;
  const { group, version, kind } = served;
  // The schemas are not looked at before they are asked for.
  const inVersion = (subresource: Subresource): Subresource =>
    subresource.kind === definition.kind
      ? (Object.create(subresource, {
          group: { value: group },
          version: { value: version },
          kind: { value: kind },
          schema: { get: () => served.schema },
        }) as Subresource)
      : subresource;
  return Object.fromEntries(Object.entries(subresources).map(([name, subresource]) => [name, inVersion(subresource)]));
}

function withFacts(installed: InstalledResource, { storageVersionHash = '' }: ResourceFacts): InstalledResource {
  const { group, kind, storage } = installed.definition;
  return {
    ...installed,
    storageVersionHash: storage.form?.isForOlder ? storageVersionHashOf({ group, version: storage.form.version!, kind }) : storageVersionHash,
  };
}
