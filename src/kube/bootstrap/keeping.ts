import type { Client, ResourceClient } from '../../client/client.ts';
import type { ApiObject } from '../../util/api-object.ts';
import { delay } from '../../util/delay.ts';
import { isApiError } from '../../util/errors.ts';

/** What every bootstrap controller is given. */
export interface ControllerOptions {
  /** Ends the controller; what it has begun may still finish. */
  signal: AbortSignal;
  /** Hears of failures that are tried again later. */
  report(error: Error): void;
  now(): Date;
}

const RETRY_INTERVAL_MS = 1000;
const RETRY_LIMIT_MS = 30_000;

/** Runs `step` until it succeeds; throws its last error after thirty seconds of trying, which is when upstream gives up the process. */
export async function untilDone(step: () => Promise<unknown>, { signal, report }: ControllerOptions): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += RETRY_INTERVAL_MS) {
    try {
      await step();
      return;
    } catch (error) {
      if (signal.aborted || waitedMs >= RETRY_LIMIT_MS) throw error;
      report(error as Error);
    }
    await delay(RETRY_INTERVAL_MS, signal);
  }
}

/** As `untilDone`, then again every `intervalMs`, in case someone changed what is kept. `step` must cost nothing when there is nothing to do. */
export async function keepDoing(step: () => Promise<unknown>, intervalMs: number, options: ControllerOptions): Promise<void> {
  await untilDone(step, options);
  if (options.signal.aborted) return;
  let isRunning = false;
  const again = async (): Promise<void> => {
    // A store that does not answer must not be asked ever more.
    if (isRunning) return;
    isRunning = true;
    await step().catch((error: unknown) => options.report(error as Error));
    isRunning = false;
  };
  const timer = setInterval(() => void again(), intervalMs);
  timer.unref();
  options.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
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
