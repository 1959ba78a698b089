import type { JsonObject } from '../../encoding/json-types.ts';
import type { ApiVersion, InstalledResource } from '../../registry/api-version.ts';
import type { RemoteVersion } from '../remote-apis.ts';
import { groupVersionsByPriority, isForeign } from './legacy.ts';

/** apidiscovery.k8s.io/v2 (KEP-3352): all groups, versions and resources in one document. `core` is the document of `/api`, else that of `/apis`. */
export function aggregatedDiscovery(versions: readonly (ApiVersion | RemoteVersion)[], part: 'core' | 'groups'): JsonObject {
  const groups = part === 'core' ? [versions.filter(({ group }) => group === '')] : [...groupVersionsByPriority(versions).values()];
  const items = groups
    .filter((group) => group.length > 0)
    .map((group) => ({ metadata: group[0]!.group === '' ? {} : { name: group[0]!.group }, versions: group.map(versionDiscovery) }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

function versionDiscovery(served: ApiVersion | RemoteVersion): JsonObject {
  if ('discovery' in served) return served.discovery;
  const { version, resources } = served;
  const sorted = [...resources.values()].sort((a, b) => (a.definition.plural < b.definition.plural ? -1 : 1));
  return { version, resources: sorted.map(resourceDiscovery), freshness: 'Current' };
}

function resourceDiscovery({ definition, served, subresources, isCustom }: InstalledResource): JsonObject {
  const { plural, singular, namespaced, verbs, shortNames, categories } = definition;
  const nested = Object.entries(subresources).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    resource: plural,
    // Upstream's extension server names the whole kind, the others leave out what is the version's own.
    responseKind: isCustom ? { group: served.group, version: served.version, kind: served.kind } : { group: '', version: '', kind: served.kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: [...verbs],
    ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
    ...(categories.length > 0 && { categories: [...categories] }),
    ...(nested.length > 0 && {
      subresources: nested.map(([subresource, { group, version, kind, verbs: offered }]) => ({
        subresource,
        responseKind: isCustom || isForeign({ group, version }, served) ? { group, version, kind } : { group: '', version: '', kind },
        verbs: [...offered],
      })),
    }),
  };
}
