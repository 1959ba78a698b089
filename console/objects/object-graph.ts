import type { Client } from '../api/client.ts';
import type { Discovery, Resource } from '../api/discovery.ts';
import { type ApiObject, METADATA_ONLY, type ObjectList, type ObjectMeta, type OwnerReference, groupOf } from '../api/objects.ts';
import { formatPath } from '../api/resource-path.ts';
import { isAborted } from '../api/status.ts';

export interface GraphNode {
  uid: string;
  kind: string;
  name: string;
  namespace: string;
  /** Where the console shows it; nothing for what the server does not serve or has no more. */
  path: string | undefined;
  finalizers: readonly string[];
  isDeleting: boolean;
}

/** An object between those that own it and those that it owns. */
export interface ObjectGraph {
  self: GraphNode;
  /** From the object upwards, one level each. */
  owners: readonly (readonly GraphNode[])[];
  /** What each object (by uid) owns. */
  dependents: ReadonlyMap<string, readonly GraphNode[]>;
  /** Resources that could not be looked through, with why. */
  unseen: readonly string[];
}

const MAX_OWNER_LEVELS = 6;
const CONCURRENT = 8;
const PAGE_SIZE = 500;
const MAX_PAGES = 10;
/** These own nothing and are owned by nothing, and there are many of them. */
const SKIPPED: ReadonlySet<string> = new Set(['events', 'componentstatuses', 'changes']);

export async function loadGraph(client: Client, discovery: Discovery, object: ApiObject, resource: Resource, signal: AbortSignal): Promise<ObjectGraph> {
  const self = nodeOf(object.metadata, resource);
  const [owners, { dependents, unseen }] = await Promise.all([
    loadOwners(client, discovery, object.metadata, signal),
    loadDependents(client, discovery, object.metadata.namespace, signal),
  ]);
  return { self, owners, dependents, unseen };
}

/** All that hangs below an object, each once. */
export function allDependents({ self, dependents }: Pick<ObjectGraph, 'self' | 'dependents'>): GraphNode[] {
  const found = new Map<string, GraphNode>();
  const visit = (uid: string): void => {
    for (const node of dependents.get(uid) ?? []) {
      if (found.has(node.uid) || node.uid === self.uid) continue;
      found.set(node.uid, node);
      visit(node.uid);
    }
  };
  visit(self.uid);
  return [...found.values()];
}

function nodeOf({ uid = '', name, namespace = '', finalizers = [], deletionTimestamp }: ObjectMeta, { group, version, plural, kind }: Resource): GraphNode {
  const path = formatPath({ group, version, plural, name, ...(namespace !== '' && { namespace }) });
  return { uid, kind, name, namespace, path, finalizers, isDeleting: deletionTimestamp !== undefined };
}

async function loadOwners(client: Client, discovery: Discovery, metadata: ObjectMeta, signal: AbortSignal): Promise<GraphNode[][]> {
  const levels: GraphNode[][] = [];
  let current: readonly ObjectMeta[] = [metadata];
  while (levels.length < MAX_OWNER_LEVELS) {
    const references = current.flatMap(({ ownerReferences = [], namespace }) => ownerReferences.map((reference) => ({ reference, namespace })));
    if (references.length === 0) return levels;
    const found = await Promise.all(references.map(({ reference, namespace }) => loadOwner(client, discovery, reference, namespace, signal)));
    levels.push(found.map(({ node }) => node));
    current = found.flatMap(({ owner }) => (owner === undefined ? [] : [owner]));
  }
  return levels;
}

async function loadOwner(
  client: Client,
  discovery: Discovery,
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string | undefined,
  signal: AbortSignal,
) {
  const resource = discovery.ofKind(groupOf(apiVersion), kind);
  const unknown: GraphNode = { uid, kind, name, namespace: namespace ?? '', path: undefined, finalizers: [], isDeleting: false };
  if (resource === undefined) return { node: unknown, owner: undefined };
  const { group, version, plural, isNamespaced } = resource;
  try {
    const path = formatPath({ group, version, plural, name, ...(isNamespaced && namespace !== undefined && { namespace }) });
    const { metadata } = await client.json<ApiObject>(path, { accept: METADATA_ONLY, signal });
    // Another object of the same name is no owner any more.
    return metadata.uid === uid ? { node: nodeOf(metadata, resource), owner: metadata } : { node: unknown, owner: undefined };
  } catch (error) {
    if (isAborted(error)) throw error;
    return { node: unknown, owner: undefined };
  }
}

/** There is no index by owner: what could be owned is looked through, names and owners alone. */
async function loadDependents(client: Client, discovery: Discovery, namespace: string | undefined, signal: AbortSignal) {
  const dependents = new Map<string, GraphNode[]>();
  const unseen: string[] = [];
  const seen = new Set<string>();
  const queue = discovery.groups
    .flatMap(({ resources }) => resources)
    .filter(({ group, plural, verbs, isNamespaced }) => {
      const isFirst = !seen.has(`${group}/${plural}`);
      seen.add(`${group}/${plural}`);
      return isFirst && verbs.includes('list') && !SKIPPED.has(plural) && (namespace === undefined || isNamespaced);
    });
  const work = async (): Promise<void> => {
    for (let resource = queue.shift(); resource !== undefined; resource = queue.shift()) {
      try {
        await collect(client, resource, namespace, dependents, signal);
      } catch (error) {
        if (isAborted(error)) throw error;
        unseen.push(resource.plural);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  return { dependents, unseen };
}

async function collect(
  client: Client,
  resource: Resource,
  namespace: string | undefined,
  dependents: Map<string, GraphNode[]>,
  signal: AbortSignal,
): Promise<void> {
  const { group, version, plural } = resource;
  const path = formatPath({ group, version, plural, ...(namespace !== undefined && { namespace }) });
  let next: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, metadata } = await client.json<ObjectList>(path, {
      accept: METADATA_ONLY,
      query: { limit: String(PAGE_SIZE), continue: next, resourceVersion: next === undefined ? '0' : undefined },
      signal,
    });
    for (const item of items) {
      for (const { uid } of item.metadata.ownerReferences ?? []) {
        const node = nodeOf(item.metadata, resource);
        const siblings = dependents.get(uid);
        if (siblings) siblings.push(node);
        else dependents.set(uid, [node]);
      }
    }
    next = metadata.continue;
    if (next === undefined || next === '') return;
  }
}
