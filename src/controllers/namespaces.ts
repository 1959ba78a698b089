import type { Namespace } from '../apis/facts/types/core-v1.ts';
import type { Client, ResourceClient, ResourceIdentity } from '../client/client.ts';
import { isApiError } from '../api/errors.ts';
import { type Controller, type ControllerOptions, FIELD_MANAGER } from './controller.ts';
import { tellOfContent } from './namespace-conditions.ts';
import { emptyNamespace } from './namespace-content.ts';
import { WorkQueue } from './work-queue.ts';
import { onAbort } from '../util/on-abort.ts';

/** The finalizer that this controller takes off. */
const FINALIZER = 'kubernetes';
const WORKERS = 10;

/** Empties namespaces that are being deleted, then lets them go (pkg/controller/namespace). */
export const keepNamespacesFinalized: Controller = async (client, options) => {
  const namespaces = client.resource<Namespace>('', 'namespaces', FIELD_MANAGER);
  await namespaces.informer.synced;
  if (!options.signal.aborted) new NamespaceFinalizer(client, namespaces, options).start();
};

class NamespaceFinalizer {
  readonly #client: Client;
  readonly #namespaces: ResourceClient<Namespace>;
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  /** Ends the listening for changes of what is left in a namespace. */
  readonly #listening = new Map<string, () => void>();

  constructor(client: Client, namespaces: ResourceClient<Namespace>, options: ControllerOptions) {
    this.#client = client;
    this.#namespaces = namespaces;
    this.#options = options;
    this.#queue = new WorkQueue((name) => this.#finalize(name), { ...options, name: 'namespace', workers: WORKERS });
  }

  start(): void {
    const { informer } = this.#namespaces;
    const stop = informer.onChange((namespace) => namespace && this.#enqueue(namespace));
    onAbort(this.#options.signal, () => {
      stop();
      for (const end of this.#listening.values()) end();
    });
    for (const namespace of informer.list('')) this.#enqueue(namespace);
  }

  #enqueue(namespace: Namespace): void {
    if (isOurs(namespace)) this.#queue.add(namespace.metadata.name!);
  }

  /** One pass. Where something is left, its next change causes another; so does the time after which upstream looks again. */
  async #finalize(name: string): Promise<number | void> {
    this.#stopListening(name);
    const namespace = this.#namespaces.informer.get('', name);
    if (!namespace || !isOurs(namespace)) return;
    const now = this.#options.now();
    const content = await emptyNamespace(this.#client, name, now.getTime() - Date.parse(namespace.metadata.deletionTimestamp!));
    if (content.remaining.size > 0) this.#listen(name, content.remaining);
    const isThere = await this.#update(namespace, 'status', (current) => tellOfContent(current.status, content, now));
    if (!isThere) return;
    const failures = [...content.errors.map(({ message }) => message), ...(content.discoveryFailure === undefined ? [] : [content.discoveryFailure])];
    if (failures.length > 0) throw new AggregateError(content.errors, `deletion of namespace ${name} failed: ${failures.join(', ')}`);
    if (content.estimateSeconds > 0) return (Math.floor(content.estimateSeconds / 2) + 1) * 1000;
    await this.#update(namespace, 'finalize', (current) => {
      current.spec = { ...current.spec, finalizers: (current.spec.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER).toSorted() };
    });
  }

  /** Answers whether the namespace is still there, and the same one. */
  async #update({ metadata }: Namespace, subresource: string, change: (namespace: Namespace) => boolean | void): Promise<boolean> {
    try {
      const updated = await this.#namespaces.update('', metadata.name!, (current) => current.metadata.uid === metadata.uid && change(current), subresource);
      return updated.metadata.uid === metadata.uid;
    } catch (error) {
      if (isApiError(error, 'NotFound')) return false;
      throw error;
    }
  }

  #listen(name: string, remaining: ReadonlyMap<ResourceIdentity, number>): void {
    if (this.#options.signal.aborted) return;
    const stops = Array.from(remaining, ([{ group, plural }, count]) => {
      const { informer } = this.#client.resource(group, plural);
      // What went while others were still being counted.
      if (informer.list(name).length < count) this.#queue.add(name);
      return informer.onChange((object, old) => {
        if ((object ?? old)!.metadata.namespace === name) this.#queue.add(name);
      });
    });
    this.#listening.set(name, () => {
      for (const stop of stops) stop();
    });
  }

  #stopListening(name: string): void {
    this.#listening.get(name)?.();
    this.#listening.delete(name);
  }
}

const isOurs = ({ metadata, spec }: Namespace): boolean => metadata.deletionTimestamp !== undefined && (spec.finalizers ?? []).includes(FINALIZER);
