import { isApiError, notFound } from '../api/errors.ts';
import { fieldSelectorOf } from '../api/field-selector.ts';
import { EVERY_LABEL } from '../api/label-selector.ts';
import type { ListOptions, ListResult, ResourceStore } from '../registry/store.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';

/* Reads with `resourceVersion=0` may be of any age: a test may want them to be old. Where the store no longer has that state, they are as new as ever. */

export async function listAsOf(store: ResourceStore, namespace: string, options: ListOptions, revision: number): Promise<ListResult> {
  try {
    return await store.list(namespace, { ...options, limit: 0, resourceVersion: String(revision), resourceVersionMatch: 'Exact' });
  } catch (error) {
    if (!isApiError(error, 'Expired')) throw error;
    return store.list(namespace, options);
  }
}

export async function getAsOf(store: ResourceStore, namespace: string, name: string, revision: number): Promise<CacheEntry> {
  const fields = fieldSelectorOf([{ field: 'metadata.name', operator: '=', value: name }]);
  const options: ListOptions = { selection: { labels: EVERY_LABEL, fields }, limit: 0, continue: '', resourceVersion: '0', resourceVersionMatch: '' };
  const { entries } = await listAsOf(store, namespace, options, revision);
  const { group, plural } = store.definition;
  if (entries[0] === undefined) throw notFound({ group, resource: plural }, name);
  return entries[0];
}
