import { setPodCondition } from '../apis/core/pod/conditions.ts';
import type { Node, Pod } from '../apis/facts/types/core-v1.ts';
import type { Concerns, Informer, ResourceClient } from '../client/client.ts';
import { isApiError } from '../api/errors.ts';
import { type Controller, type ControllerOptions, FIELD_MANAGER, stopOnAbort } from './controller.ts';
import { WorkQueue } from './work-queue.ts';

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
const OUT_OF_SERVICE_JSON = Buffer.from(`"${OUT_OF_SERVICE}"`);
/** How long a pod's node may be missing. */
const QUARANTINE_MS = 40_000;
/** So many pods that have ended are kept. */
const MAX_ENDED_PODS = 12_500;
/** How often the rest of them is removed. */
const ENDED_INTERVAL_MS = 20_000;
const ENDED_PODS = 'ended';
const CONCERNING = ['"nodeName":"', '"deletionTimestamp":"', '"phase":"Succeeded"', '"phase":"Failed"'].map((text) => Buffer.from(text));
/** Pods that wait to be scheduled concern nobody here. */
const concernsEnd: Concerns = (json) => CONCERNING.some((text) => json.includes(text));
const WORKERS = 20;

/**
 * Removes pods that no kubelet will ever see to: such as end with no node or with one that is out of service, such as are bound to a node that does not
 * exist, and, beyond a number, such as have ended long ago (pkg/controller/podgc, for which one pass every twenty seconds is soon enough). A pod that is
 * being deleted on a node that does not exist has its grace, and no more.
 */
export const collectPods: Controller = async (client, options) => {
  const pods = client.resource<Pod>('', 'pods', FIELD_MANAGER);
  const nodes = client.resource<Node>('', 'nodes').informer;
  await Promise.all([pods.informer.synced, nodes.synced]);
  if (!options.signal.aborted) new PodCollector(pods, nodes, options).start();
};

/** When a pod is to be removed, and why, where that is told in its status. */
interface PendingRemoval {
  atMs: number;
  isOrphan: boolean;
}

class PodCollector {
  readonly #pods: ResourceClient<Pod>;
  readonly #nodes: Informer<Node>;
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  /** Since when a pod's node was seen to be missing. */
  readonly #orphanedMs = new Map<string, number>();
  readonly #ended = new Set<string>();

  constructor(pods: ResourceClient<Pod>, nodes: Informer<Node>, options: ControllerOptions) {
    this.#pods = pods;
    this.#nodes = nodes;
    this.#options = options;
    this.#queue = new WorkQueue((key) => (key === ENDED_PODS ? this.#removeEnded() : this.#visit(key)), {
      ...options,
      name: 'orphaned_pods_nodes',
      workers: WORKERS,
    });
  }

  start(): void {
    const { informer } = this.#pods;
    const { signal, report } = this.#options;
    stopOnAbort(signal, [
      informer.onChange((pod, old) => (pod ? this.#see(pod) : this.#forget(old!)), concernsEnd),
      this.#nodes.onChange(
        (node, old) => this.#seeNode((node ?? old)!.metadata.name!),
        (json) => json.includes(OUT_OF_SERVICE_JSON),
      ),
    ]);
    void informer.scan((pod) => this.#see(pod), concernsEnd, signal).catch((error: unknown) => report(error as Error));
  }

  #see(pod: Pod): void {
    const key = keyOf(pod);
    if (!hasEnded(pod)) this.#ended.delete(key);
    else if (this.#ended.add(key).size > MAX_ENDED_PODS) this.#queue.addAfter(ENDED_PODS, ENDED_INTERVAL_MS);
    const removal = this.#removalOf(pod);
    if (removal) this.#queue.addAfter(key, Math.max(0, removal.atMs - this.#options.now().getTime()));
  }

  #forget(pod: Pod): void {
    this.#ended.delete(keyOf(pod));
    this.#orphanedMs.delete(keyOf(pod));
  }

  /** It has gone, or was marked as out of service. */
  #seeNode(name: string): void {
    for (const pod of this.#pods.informer.list('')) if (pod.spec.nodeName === name) this.#see(pod);
  }

  #removalOf(pod: Pod): PendingRemoval | undefined {
    const { nodeName } = pod.spec;
    const { deletionTimestamp } = pod.metadata;
    if (!nodeName) return deletionTimestamp ? { atMs: 0, isOrphan: false } : undefined;
    const node = this.#nodes.get('', nodeName);
    const key = keyOf(pod);
    if (node) {
      this.#orphanedMs.delete(key);
      return deletionTimestamp && isOutOfService(node) ? { atMs: 0, isOrphan: false } : undefined;
    }
    const orphanedMs = this.#orphanedMs.get(key) ?? this.#options.now().getTime();
    this.#orphanedMs.set(key, orphanedMs);
    const graceEndMs = deletionTimestamp ? Date.parse(deletionTimestamp) : Infinity;
    return { atMs: Math.min(orphanedMs + QUARANTINE_MS, graceEndMs), isOrphan: true };
  }

  async #visit(key: string): Promise<number | void> {
    const [namespace, name] = key.split('/') as [string, string];
    const pod = this.#pods.informer.get(namespace, name);
    const removal = pod && this.#removalOf(pod);
    if (!removal) return;
    const waitMs = removal.atMs - this.#options.now().getTime();
    if (waitMs > 0) return waitMs;
    await this.#remove(pod, removal.isOrphan);
  }

  /** The longest ended ones, and before them those that were evicted. */
  async #removeEnded(): Promise<void> {
    const ended = this.#pods.informer.list('').filter(hasEnded).toSorted(byEvictionAndAge);
    await Promise.all(ended.slice(0, Math.max(0, ended.length - MAX_ENDED_PODS)).map((pod) => this.#remove(pod, false)));
  }

  async #remove(pod: Pod, isOrphan: boolean): Promise<void> {
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    try {
      await this.#markFailed(pod, isOrphan);
      await this.#pods.delete(namespace, name, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      // It has gone meanwhile, or another has its name.
      if (!isApiError(error, 'NotFound') && !isApiError(error, 'Conflict')) throw error;
    }
  }

  /** Nobody else would: those who wait for the pod's end see that it came to none of its own. */
  async #markFailed({ metadata: { namespace = '', name = '', uid } }: Pod, isOrphan: boolean): Promise<void> {
    const now = this.#options.now();
    const change = (pod: Pod): boolean => {
      if (pod.metadata.uid !== uid || hasEnded(pod)) return false;
      const observed = pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation };
      Object.assign(pod.status, { phase: 'Failed', ...observed });
      if (isOrphan) setPodCondition(pod, { ...ORPHANED, ...observed }, now);
      return true;
    };
    await this.#pods.update(namespace, name, change, 'status');
  }
}

const ORPHANED = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' };

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

const hasEnded = ({ status: { phase } }: Pod): boolean => phase === 'Succeeded' || phase === 'Failed';

const isOutOfService = ({ spec, status }: Node): boolean =>
  (spec.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE) &&
  !(status.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');

function byEvictionAndAge(a: Pod, b: Pod): number {
  const [left, right] = [a, b].map(
    ({ status, metadata }) =>
      [status.phase === 'Failed' && status.reason === 'Evicted' ? 0 : 1, metadata.creationTimestamp ?? '', metadata.name ?? ''] as const,
  ) as [SortKey, SortKey];
  const index = left.findIndex((value, at) => value !== right[at]);
  if (index < 0) return 0;
  return left[index]! < right[index]! ? -1 : 1;
}

type SortKey = readonly [eviction: number, createdAt: string, name: string];
