import type { ApiResourceList } from '../resources-table.ts';
import type { Connection } from './connection.ts';

/** What a fresh server makes by itself: file → the path of the list. */
const BOOTSTRAP: Record<string, string> = {
  apiservices: '/apis/apiregistration.k8s.io/v1/apiservices',
  clusterrolebindings: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  clusterroles: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  configmaps: '/api/v1/configmaps',
  flowschemas: '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  namespaces: '/api/v1/namespaces',
  priorityclasses: '/apis/scheduling.k8s.io/v1/priorityclasses',
  prioritylevels: '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
  rolebindings: '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  roles: '/apis/rbac.authorization.k8s.io/v1/roles',
  servicecidrs: '/apis/networking.k8s.io/v1/servicecidrs',
  services: '/api/v1/services',
};
const KEPT_METADATA = ['name', 'namespace', 'labels', 'annotations'];

interface ListedObject {
  metadata: Record<string, unknown>;
  data?: Record<string, string>;
  spec?: { ports?: { targetPort?: number }[] };
}

/** By file: the objects in the order of the list, without what depends on the run. */
export async function bootstrapObjects(server: Connection): Promise<Map<string, unknown[]>> {
  const tables = new Map<string, unknown[]>();
  for (const [file, path] of Object.entries(BOOTSTRAP)) tables.set(file, (await server.json<{ items: ListedObject[] }>(path)).items.map(repeatable));
  return tables;
}

function repeatable({ metadata, ...rest }: ListedObject): unknown {
  const kept = Object.fromEntries(KEPT_METADATA.filter((key) => key in metadata).map((key) => [key, metadata[key]]));
  return JSON.parse(JSON.stringify({ metadata: kept, ...rest }), (key, value: unknown) => {
    // Certificates and days of config maps; the server's own port; times of conditions.
    if (key === 'data') return Object.fromEntries(Object.keys(value as object).map((name) => [name, '']));
    return key === 'lastTransitionTime' || key === 'targetPort' ? undefined : value;
  });
}

export interface ColumnFacts {
  name: string;
  type: string;
  format: string;
  priority: number;
}

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** `apis/apps/v1/deployments` → the columns of `kubectl get`, for all that can be listed. Their descriptions are prose. */
export async function tableColumns(server: Connection, lists: ReadonlyMap<string, ApiResourceList>): Promise<Record<string, ColumnFacts[]>> {
  const columns: Record<string, ColumnFacts[]> = {};
  for (const [path, { resources }] of lists) {
    for (const { name, verbs } of resources.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (name.includes('/') || !verbs.includes('list')) continue;
      const table = await server.json<{ columnDefinitions: ColumnFacts[] }>(`/${path}/${name}?limit=1`, TABLE);
      columns[`${path}/${name}`] = table.columnDefinitions.map(({ name: title, type, format, priority }) => ({ name: title, type, format, priority }));
    }
  }
  return columns;
}

/** The lines of `/readyz?verbose` and `/livez?verbose`: every check in its order. */
export const healthChecks = (server: Connection, endpoint: 'readyz' | 'livez'): Promise<string> => server.text(`/${endpoint}?verbose`, '*/*');
