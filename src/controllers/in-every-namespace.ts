import type { Namespace } from '../apis/facts/types/core-v1.ts';
import type { Client, ResourceClient } from '../client/client.ts';
import type { ApiObject } from '../api/api-object.ts';
import { isApiError } from '../api/errors.ts';
import { type ControllerOptions, FIELD_MANAGER, stopOnAbort } from './controller.ts';
import { WorkQueue } from './work-queue.ts';

const WORKERS = 50;

/** An object of one name that every active namespace has. */
export interface NamespacedFixture<T extends ApiObject> {
  plural: string;
  name: string;
  /** To be made where it is missing. */
  make(): T;
  /** Puts right what is there: answers false where nothing is wrong. Absent: it is left alone. */
  correct?(object: T): boolean;
}

/** Makes and keeps the object in every active namespace. Costs nothing while neither namespaces nor objects of that name change. */
export async function keepInEveryNamespace<T extends ApiObject>(client: Client, fixture: NamespacedFixture<T>, options: ControllerOptions): Promise<void> {
  const { signal } = options;
  const namespaces = client.resource<Namespace>('', 'namespaces').informer;
  const objects = client.resource<T>('', fixture.plural, FIELD_MANAGER);
  await Promise.all([namespaces.synced, objects.informer.synced]);
  if (signal.aborted) return;

  const ensure = async (namespace: string): Promise<void> => {
    if (namespaces.get('', namespace)?.status.phase === 'Active') await ensureIn(objects, namespace, fixture);
  };
  const queue = new WorkQueue(ensure, { ...options, name: fixture.plural, workers: WORKERS });
  const mark = Buffer.from(`"name":${JSON.stringify(fixture.name)}`);
  stopOnAbort(signal, [
    namespaces.onChange((namespace) => void (namespace && queue.add(namespace.metadata.name!))),
    objects.informer.onChange(
      (object, old) => {
        const { name, namespace } = (object ?? old)!.metadata;
        if (name === fixture.name) queue.add(namespace!);
      },
      (json) => json.includes(mark),
    ),
  ]);
  for (const { metadata } of namespaces.list('')) queue.add(metadata.name!);
  await queue.idle();
}

async function ensureIn<T extends ApiObject>(objects: ResourceClient<T>, namespace: string, { name, make, correct }: NamespacedFixture<T>): Promise<void> {
  const found = objects.informer.get(namespace, name);
  try {
    if (!found) await objects.create(namespace, make());
    else if (correct?.(structuredClone(found))) await objects.update(namespace, name, correct);
  } catch (error) {
    if (!isOvertaken(error)) throw error;
  }
}

/** Somebody else made it, or the namespace is on its way out: the change that says so is seen too. */
function isOvertaken(error: unknown): boolean {
  if (!isApiError(error)) return false;
  const isTerminating = error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false;
  return isTerminating || error.reason === 'AlreadyExists' || error.reason === 'NotFound';
}
