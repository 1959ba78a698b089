import type { Client, ResourceClient } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { delay } from '../../util/delay.ts';
import { isApiError } from '../../api/errors.ts';

/** What every bootstrap controller is given. */
export interface BootstrapControllerOptions {
  /** Ends the controller; what it has begun may still finish. */
  signal: AbortSignal;
  /** Called with failures that are tried again later. */
  report(error: Error): void;
  now(): Date;
}

const RETRY_INTERVAL_MS = 1000;
const RETRY_LIMIT_MS = 30_000;

/** Runs `step` until it succeeds; throws its last error once `limitMs` have passed, which is when upstream gives up the process. */
export async function untilDone(step: () => Promise<unknown>, { signal, report }: BootstrapControllerOptions, limitMs = RETRY_LIMIT_MS): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += RETRY_INTERVAL_MS) {
    try {
      await step();
      return;
    } catch (error) {
      if (signal.aborted || waitedMs >= limitMs) throw error;
      report(error as Error);
    }
    await delay(RETRY_INTERVAL_MS, signal);
  }
}

/**
 * Runs `step` every `intervalMs` until the signal, in case someone changed what is kept; resolves after the first run. A failure never ends the server: it
 * is reported, once for as long as it stays the same, and tried again soon. `step` must cost nothing when there is nothing to do.
 */
export async function keepDoing(step: () => Promise<unknown>, intervalMs: number | (() => number), options: BootstrapControllerOptions): Promise<void> {
  const intervalOf = typeof intervalMs === 'number' ? () => intervalMs : intervalMs;
  const attempt = reportingOnce(step, options);
  const isDone = await attempt();
  void repeat(attempt, intervalOf, isDone ? intervalOf() : RETRY_INTERVAL_MS, options.signal);
}

async function repeat(attempt: () => Promise<boolean>, intervalOf: () => number, firstPauseMs: number, signal: AbortSignal): Promise<void> {
  for (let pauseMs = firstPauseMs; ;) {
    await delay(pauseMs, signal);
    if (signal.aborted) return;
    pauseMs = (await attempt()) ? intervalOf() : Math.min(2 * pauseMs, intervalOf());
  }
}

/** Answers whether the step succeeded. */
function reportingOnce(step: () => Promise<unknown>, { report, signal }: BootstrapControllerOptions): () => Promise<boolean> {
  let lastMessage: string | undefined;
  return async () => {
    try {
      await step();
      lastMessage = undefined;
      return true;
    } catch (error) {
      const { message } = error as Error;
      if (message !== lastMessage && !signal.aborted) report(error as Error);
      lastMessage = message;
      return false;
    }
  };
}

/** Objects of a table, with what the table leaves out. */
export const typed = <T extends ApiObject>(kind: string, apiVersion: string, facts: readonly object[]): T[] =>
  facts.map((fact) => Object.assign({ kind, apiVersion }, fact) as T);

/** A resource whose informer knows all that is there. */
export async function syncedResource<T extends ApiObject = ApiObject>(
  client: Client,
  group: string,
  plural: string,
  fieldManager?: string,
): Promise<ResourceClient<T>> {
  const resource = client.resource<T>(group, plural, fieldManager);
  await resource.informer.synced;
  return resource;
}

/** Makes the object unless it is there, whatever it looks like. */
export async function createIfMissing<T extends ApiObject>(resource: ResourceClient<T>, object: T): Promise<void> {
  const { namespace = '', name = '' } = object.metadata;
  if (resource.informer.get(namespace, name) !== undefined) return;
  await ignoringAlreadyExists(resource.create(namespace, object));
}

export async function ignoringAlreadyExists(created: Promise<unknown>): Promise<void> {
  await isCreated(created);
}

/** False where it is there already, which another server may have made at the same time. */
export async function isCreated(created: Promise<unknown>): Promise<boolean> {
  try {
    await created;
    return true;
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists')) throw error;
    return false;
  }
}

const namespaceOf = (name: string): ApiObject => ({ kind: 'Namespace', apiVersion: 'v1', metadata: { name } });

/** Controllers that write into namespaces do not wait for the one that makes them. */
export async function ensureNamespaces(client: Client, names: Iterable<string>): Promise<void> {
  const namespaces = await syncedResource(client, '', 'namespaces');
  await Promise.all(Array.from(names, (name) => createIfMissing(namespaces, namespaceOf(name))));
}
