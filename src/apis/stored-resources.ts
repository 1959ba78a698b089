import type { GroupResource } from '../api/api-object.ts';
import { groupVersions, resourcesOf } from './facts/resources.ts';

/* What is kept where below the store's prefix: see StorageRules.prefix, which this reads backwards. */

/** Paths that do not begin with the resource's own name; the last are kept by the server for itself, under names that upstream's configurations know. */
const IRREGULAR: Readonly<Record<string, GroupResource>> = {
  minions: { group: '', resource: 'nodes' },
  controllers: { group: '', resource: 'replicationcontrollers' },
  'services/specs': { group: '', resource: 'services' },
  'services/endpoints': { group: '', resource: 'endpoints' },
  ingress: { group: 'networking.k8s.io', resource: 'ingresses' },
  masterleases: { group: '', resource: 'apiServerIPInfo' },
  peerserverleases: { group: '', resource: 'apiServerPeerIPInfo' },
  // Kept wherever, and however, services are (pkg/registry/core/rest/storage_core.go).
  'ranges/servicenodeports': { group: '', resource: 'services' },
};

/** What the server keeps for itself is no object of a resource. */
const UNSERVED = new Set(['masterleases', 'peerserverleases', 'ranges']);

/** An object by its path. */
export interface StoredObjectPlace extends GroupResource {
  /** Empty where it belongs to none. */
  namespace: string;
  name: string;
}

/** The object of a path such as `secrets/default/token`; undefined where none of a resource is kept there. */
export function storedObject(path: string): StoredObjectPlace | undefined {
  const [first = '', second = '', ...rest] = path.split('/');
  const isNested = first.includes('.') || known(IRREGULAR, `${first}/${second}`) !== undefined;
  if (UNSERVED.has(first) || !(isNested || known(IRREGULAR, first) || byPlural().has(first))) return undefined;
  const names = isNested ? rest : [second, ...rest];
  const [name = '', namespace = ''] = names.toReversed();
  if (name === '' || names.length > 2 || (names.length === 2 && namespace === '')) return undefined;
  return { ...storedResource(path), namespace, name };
}

/** Filled when it is first asked. */
const regular = new Map<string, GroupResource>();

/** The resource of a path such as `secrets/default/token` or `example.com/widgets/default/one`. */
export function storedResource(path: string): GroupResource {
  const [first = '', second = ''] = path.split('/', 2);
  // Groups of custom resources have a dot, as have those two of the server's own that are kept under theirs.
  if (first.includes('.')) return { group: first, resource: second };
  return known(IRREGULAR, first) ?? known(IRREGULAR, `${first}/${second}`) ?? byPlural().get(first) ?? { group: '', resource: first };
}

const known = (table: Readonly<Record<string, GroupResource>>, path: string): GroupResource | undefined =>
  Object.hasOwn(table, path) ? table[path] : undefined;

/** The core group first: events of either group are kept as its own. */
function byPlural(): ReadonlyMap<string, GroupResource> {
  if (regular.size > 0) return regular;
  for (const { group, version } of groupVersions)
    for (const { plural } of resourcesOf(group, version)) if (!regular.has(plural)) regular.set(plural, { group, resource: plural });
  return regular;
}
