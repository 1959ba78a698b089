import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import type { Client, ResourceClient } from '../client/client.ts';
import { isApiError } from '../api/errors.ts';
import { onAbort } from '../util/on-abort.ts';

const WORKERS = 10;

/** Deletes all objects of a definition's resource, and waits until none is left: finalizers may take their time. */
export async function deleteInstances(client: Client, { spec, status }: CustomResourceDefinition, signal: AbortSignal): Promise<void> {
  const resource = client.resource(spec.group, status.acceptedNames.plural || spec.names.plural);
  await resource.informer.synced;
  const left = resource.informer.list('').values();
  await Promise.all(Array.from({ length: WORKERS }, () => deleteEach(resource, left)));
  await untilNoneIsLeft(resource, signal);
}

async function deleteEach(resource: ResourceClient, left: IterableIterator<{ metadata: { namespace?: string; name?: string } }>): Promise<void> {
  for (const { metadata } of left) {
    try {
      await resource.delete(metadata.namespace ?? '', metadata.name!);
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error;
    }
  }
}

function untilNoneIsLeft({ informer }: ResourceClient, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stop();
      stopWaiting();
      resolve();
    };
    const stop = informer.onChange((object) => {
      if (object === undefined && informer.list('').length === 0) end();
    });
    const stopWaiting = onAbort(signal, () => {
      stop();
      resolve();
    });
    if (informer.list('').length === 0) end();
  });
}
