import type { Client } from './client.ts';

/** A resource as discovery shows it, in the version that the server prefers unless another is asked for. */
export interface Resource {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  isNamespaced: boolean;
  verbs: readonly string[];
  shortNames: readonly string[];
}

export interface ResourceGroup {
  name: string;
  /** The preferred version first. */
  versions: readonly string[];
  resources: readonly Resource[];
}

export interface Discovery {
  groups: readonly ResourceGroup[];
  find(group: string, plural: string, version?: string): Resource | undefined;
  ofKind(group: string, kind: string): Resource | undefined;
}

interface DiscoveryList {
  items: {
    metadata: { name?: string };
    versions: {
      version: string;
      resources?: {
        resource: string;
        responseKind?: { kind?: string };
        scope: string;
        singularResource?: string;
        verbs?: string[];
        shortNames?: string[];
      }[];
    }[];
  }[];
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** What the server serves: two requests, whatever the number of groups (KEP-3352). */
export async function discover(client: Client, signal?: AbortSignal): Promise<Discovery> {
  const lists = await Promise.all(['/api', '/apis'].map((path) => client.json<DiscoveryList>(path, { accept: AGGREGATED, signal })));
  return indexed(lists.flatMap(({ items }) => items.map(groupOf)));
}

function groupOf({ metadata, versions }: DiscoveryList['items'][number]): ResourceGroup {
  const group = metadata.name ?? '';
  const resources = versions.flatMap(({ version, resources: served = [] }) =>
    served.map((resource) => ({
      group,
      version,
      plural: resource.resource,
      singular: resource.singularResource ?? '',
      kind: resource.responseKind?.kind ?? resource.resource,
      isNamespaced: resource.scope === 'Namespaced',
      verbs: resource.verbs ?? [],
      shortNames: resource.shortNames ?? [],
    })),
  );
  return { name: group, versions: versions.map(({ version }) => version), resources };
}

export function indexed(groups: readonly ResourceGroup[]): Discovery {
  const all = groups.flatMap(({ resources }) => resources);
  return {
    groups,
    find: (group, plural, version) =>
      all.find((resource) => resource.group === group && resource.plural === plural && (version === undefined || resource.version === version)),
    ofKind: (group, kind) => all.find((resource) => resource.group === group && resource.kind === kind),
  };
}

/** The groups as a person looks for them: what can be listed, each once, in the preferred version. */
export function listableGroups({ groups }: Discovery): ResourceGroup[] {
  return groups
    .map((group) => {
      const seen = new Set<string>();
      const resources = group.resources.filter(({ plural, verbs }) => verbs.includes('list') && !seen.has(plural) && seen.add(plural));
      return { ...group, resources: resources.sort((a, b) => (a.plural < b.plural ? -1 : 1)) };
    })
    .filter(({ resources }) => resources.length > 0);
}
