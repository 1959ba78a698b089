import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import type { Client, ResourceClient } from '../client/client.ts';
import type { ApiObject } from '../api/api-object.ts';
import { isApiError } from '../api/errors.ts';
import { delay } from '../util/delay.ts';
import { onAbort } from '../util/on-abort.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';

const WORKERS = 10;
/** Finalizers of the objects may take so long; what is left then is looked for again later. */
const LIMIT_MS = 60_000;

/** Why objects of a definition are still there, as its condition Terminating tells it. */
export class InstanceDeletionError extends Error {
  readonly reason: 'InstanceDeletionFailed' | 'InstanceDeletionCheck';

  constructor(reason: InstanceDeletionError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Deletes all objects of a definition's resource, and waits until none is left. Throws InstanceDeletionError. */
export async function deleteInstances(client: Client, { spec, status }: CustomResourceDefinition, signal: AbortSignal, limitMs = LIMIT_MS): Promise<void> {
  const resource = client.resource(spec.group, status.acceptedNames.plural || spec.names.plural);
  await resource.informer.synced;
  const counted = new Counted(resource);
  try {
    await counted.begin(signal);
    await deleteAll(resource);
    await counted.untilEmpty(limitMs, signal);
  } finally {
    counted.close();
  }
}

async function deleteAll(resource: ResourceClient): Promise<void> {
  const objects = await resource.list('').catch((error: unknown) => {
    throw new InstanceDeletionError('InstanceDeletionFailed', `could not list instances: ${(error as Error).message}`);
  });
  const left = objects.values();
  // The first of each namespace: the others tell the same.
  const errors = new Map<string, string>();
  await Promise.all(Array.from({ length: WORKERS }, () => deleteEach(resource, left, errors)));
  if (errors.size > 0) throw new InstanceDeletionError('InstanceDeletionFailed', `could not issue all deletes: ${aggregateMessage(errors.values())}`);
}

async function deleteEach(resource: ResourceClient, left: IterableIterator<ApiObject>, errors: Map<string, string>): Promise<void> {
  for (const { metadata } of left) {
    const namespace = metadata.namespace ?? '';
    try {
      await resource.delete(namespace, metadata.name!);
    } catch (error) {
      if (!isApiError(error, 'NotFound') && !errors.has(namespace)) errors.set(namespace, (error as Error).message);
    }
  }
}

/** How many objects a resource has, as they come and go. */
class Counted {
  readonly #resource: ResourceClient;
  readonly #stop: () => void;
  #count = 0;
  #onEmptied: (() => void) | undefined;

  constructor(resource: ResourceClient) {
    this.#resource = resource;
    this.#stop = resource.informer.onChange((object, old) => {
      if (old === undefined) this.#count++;
      else if (object === undefined && --this.#count === 0) this.#onEmptied?.();
    });
  }

  /** To be called once, when it is made: the changes since then are counted already. */
  begin(signal: AbortSignal): Promise<void> {
    return this.#resource.informer.forEach('', () => void this.#count++, signal);
  }

  async untilEmpty(limitMs: number, signal: AbortSignal): Promise<void> {
    const end = new AbortController();
    const stopWaiting = onAbort(signal, () => end.abort());
    this.#onEmptied = () => end.abort();
    if (this.#count > 0) await delay(limitMs, end.signal);
    stopWaiting();
    if (this.#count > 0 && !signal.aborted)
      throw new InstanceDeletionError('InstanceDeletionCheck', 'could not confirm zero CustomResources remaining: context deadline exceeded');
  }

  close(): void {
    this.#stop();
  }
}
