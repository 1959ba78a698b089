import type { Pod } from '../apis/facts/types/core-v1.ts';
import type { Client, ResourceClient, ResourceIdentity } from '../client/client.ts';
import type { ApiObject } from '../api/api-object.ts';
import { isApiError } from '../api/errors.ts';
import { TimeSlice, nextTurn } from '../util/time-slice.ts';
import type { ContentTotals } from './namespace-conditions.ts';

/** How long a finalizer is taken to need. */
const FINALIZER_ESTIMATE_SECONDS = 15;
/** Deletions under way at once, so that they reach the disk together. */
const PARALLEL_DELETIONS = 50;

/** A pass over the content of a namespace. */
export interface Emptying extends ContentTotals {
  /** Seconds until what is left may be gone; 0 where nobody can tell. */
  estimateSeconds: number;
}

/** What a pass over one resource has left. */
interface Rest {
  objects: readonly ApiObject[];
  estimateSeconds: number;
  error?: Error;
}

const isPods = ({ group, plural }: ResourceIdentity): boolean => group === '' && plural === 'pods';

/**
 * Deletes all that is in a namespace: pods first, and the rest when they are gone, so that nothing that protects them (a NetworkPolicy) goes before they do
 * (KEP-5080; pkg/controller/namespace/deletion).
 */
export async function emptyNamespace(client: Client, namespace: string, deletedForMs: number): Promise<Emptying> {
  const resources = client.resources().filter(({ namespaced, verbs }) => namespaced && verbs.includes('delete'));
  const empty = async (some: readonly ResourceIdentity[]): Promise<Emptying> =>
    summary(await Promise.all(some.map(async (resource) => [resource, await emptyResource(client, resource, namespace, deletedForMs)] as const)));
  const pods = await empty(resources.filter(isPods));
  const content = pods.remaining.size > 0 ? pods : await empty(resources);
  return { ...content, discoveryFailure: discoveryFailure(client.undiscovered?.() ?? []) };
}

/** As client-go words it: servers that are away may have more in the namespace, so that it stays. */
function discoveryFailure(groupVersions: readonly string[]): string | undefined {
  if (groupVersions.length === 0) return undefined;
  const listed = groupVersions.map((groupVersion) => `${groupVersion}: stale GroupVersion discovery: ${groupVersion}`).join(', ');
  return `Discovery failed for some groups, ${groupVersions.length} failing: unable to retrieve the complete list of server APIs: ${listed}`;
}

function summary(rests: readonly (readonly [ResourceIdentity, Rest])[]): Emptying {
  const remaining = new Map<ResourceIdentity, number>();
  const finalizers = new Map<string, number>();
  for (const [resource, { objects }] of rests) {
    if (objects.length > 0) remaining.set(resource, objects.length);
    for (const finalizer of objects.flatMap(({ metadata }) => metadata.finalizers ?? [])) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  return {
    remaining,
    finalizers,
    errors: rests.flatMap(([, { error }]) => error ?? []),
    estimateSeconds: Math.max(0, ...rests.map(([, { estimateSeconds }]) => estimateSeconds)),
  };
}

async function emptyResource(client: Client, identity: ResourceIdentity, namespace: string, deletedForMs: number): Promise<Rest> {
  const resource = client.resource(identity.group, identity.plural);
  let estimateSeconds = 0;
  try {
    const found = await resource.list(namespace);
    if (found.length === 0) return { objects: [], estimateSeconds };
    if (isPods(identity)) estimateSeconds = graceOf(found as Pod[], deletedForMs);
    await nextTurn();
    await deleteAll(resource, namespace, found);
    const objects = await resource.list(namespace);
    if (objects.length === 0 || estimateSeconds > 0) return { objects, estimateSeconds };
    if (objects.some(({ metadata }) => (metadata.finalizers ?? []).length > 0)) return { objects, estimateSeconds: FINALIZER_ESTIMATE_SECONDS };
    return { objects, estimateSeconds, error: unexpected(namespace, identity) };
  } catch (error) {
    return { objects: [], estimateSeconds, error: error as Error };
  }
}

const unexpected = (namespace: string, { group, version, plural }: ResourceIdentity): Error =>
  new Error(`unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${plural}`);

/** The longest that one of the pods may take; nothing once the namespace has waited as long. */
function graceOf(pods: readonly Pod[], deletedForMs: number): number {
  const running = pods.filter(({ status }) => status.phase !== 'Succeeded' && status.phase !== 'Failed');
  const graceSeconds = Math.max(0, ...running.map(({ spec }) => spec.terminationGracePeriodSeconds ?? 0));
  return deletedForMs >= graceSeconds * 1000 ? 0 : graceSeconds;
}

/** In the background: whatever depends on an object in the namespace is in the namespace too. */
async function deleteAll(resource: ResourceClient, namespace: string, objects: readonly ApiObject[]): Promise<void> {
  const queue = objects.values();
  // One for all: each that had a slice of its own would make turns of fifty.
  const slice = new TimeSlice();
  const work = async (): Promise<void> => {
    for (const { metadata } of queue) {
      await deleteOne(resource, namespace, metadata.name!);
      if (slice.isSpent) await slice.next();
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_DELETIONS, objects.length) }, work));
}

async function deleteOne(resource: ResourceClient, namespace: string, name: string): Promise<void> {
  try {
    await resource.delete(namespace, name, { propagationPolicy: 'Background' });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}
