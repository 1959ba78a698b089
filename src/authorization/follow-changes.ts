import type { Informer } from '../client/client.ts';
import type { ApiObject } from '../api/api-object.ts';

/**
 * Tells of every object that there is (with no `old`), and of every change from then on (`object` undefined for a delete). Resolves once all that was there
 * has been told. Synchronous with the informer, so that whoever listens never lags behind an acknowledged change.
 */
export async function followChanges<T extends ApiObject>(informer: Informer<T>, tell: (object: T | undefined, old: T | undefined) => void): Promise<void> {
  await informer.synced;
  informer.onChange(tell);
  for (const object of informer.list('')) tell(object, undefined);
}
