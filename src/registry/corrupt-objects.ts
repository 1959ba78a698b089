import { ApiError, internalError, invalid } from '../api/errors.ts';
import { FieldErrors } from '../api/field-errors.ts';
import type { CacheEntry, CacheEvent } from '../storage/cache/cache.ts';
import { CorruptObject, storageReadError } from '../storage/corrupt-object.ts';
import { CommitConflict } from '../storage/engine.ts';
import { namespacePrefix } from './entry-selection.ts';
import type { RequestContext } from './request-context.ts';
import { timedStorage } from './storage-latency.ts';
import { type StoreParts, groupResource, keyOf } from './store-parts.ts';
import type { ListResult, WatchSink } from './store.ts';
import { annotationOf } from './write-author.ts';

/* AllowUnsafeMalformedObjectDeletion: reads tell which objects are corrupt, and those may be deleted unread. */

/** What is wrong with the object, if something is. */
export function corruptionOf(entry: CacheEntry): CorruptObject | undefined {
  try {
    void entry.bytes;
    return undefined;
  } catch (error) {
    if (error instanceof CorruptObject) return error;
    throw error;
  }
}

/** The key below the store's prefix, as upstream's reads of one object name it. */
const shownKey = ({ keyPrefix, definition }: StoreParts, key: string): string => `/${key.slice(keyPrefix.length - definition.storage.prefix.length - 1)}`;

/** Throws where the object can not be read, as it is told by whoever asks for it by name. */
export function demandReadable(parts: StoreParts, entry: CacheEntry): void {
  const error = parts.tellsCorrupt ? corruptionOf(entry) : undefined;
  if (error) throw internalError(error.at(shownKey(parts, entry.key)));
}

/** A list that fails where it finds a corrupt object, telling of all that are where it looked. */
export function listReadable(parts: StoreParts, namespace: string, list: () => ListResult | Promise<ListResult>): ListResult | Promise<ListResult> {
  const checked = (found: ListResult): ListResult => {
    if (found.entries.every((entry) => corruptionOf(entry) === undefined)) return found;
    throw allCorrupt(parts, namespace);
  };
  const failed = (error: unknown): never => {
    throw error instanceof CorruptObject ? allCorrupt(parts, namespace) : error;
  };
  try {
    const found = list();
    return found instanceof Promise ? found.then(checked, failed) : checked(found);
  } catch (error) {
    return failed(error);
  }
}

function allCorrupt(parts: StoreParts, namespace: string): Error {
  const { entries } = parts.cache.list(namespacePrefix(parts, namespace), {});
  const corrupt = entries.flatMap((entry) => {
    const error = corruptionOf(entry);
    return error ? [{ key: entry.key, error }] : [];
  });
  return storageReadError(groupResource(parts.definition), corrupt);
}

/** A watch ends with what is wrong with the object that changed, since nobody can say who wanted to know of it (etcd3/errors.go interpretWatchError). */
export function deliverReadable(event: CacheEvent, sink: WatchSink, deliver: () => void): void {
  const error = corruptionOf(event.entry);
  if (!error) return deliver();
  if (event.type !== 'DELETED') return sink.fail(error);
  sink.fail(new ApiError(500, 'StorageReadError', `saw a DELETED event, but object data is corrupt - ${error.why}`));
}

const OPTION = 'ignoreStoreReadErrorWithClusterBreakingPotential';

/**
 * Deletes an object that can not be read, and no other. Finalizers, preconditions and what follows a deletion are passed over, since nobody can know them
 * (registry/corrupt_obj_deleter.go).
 */
export async function deleteCorrupt(parts: StoreParts, context: RequestContext, namespace: string, name: string): Promise<void> {
  const key = keyOf(parts, namespace, name);
  for (;;) {
    await parts.cache.freshen();
    const entry = parts.cache.get(key);
    if (!entry || corruptionOf(entry) === undefined) throw notCorrupt(parts, name);
    try {
      const author = annotationOf(parts, context, { verb: 'delete' });
      await timedStorage(parts, 'delete', context, parts.engine.commit({ type: 'delete', key, expected: entry.revision, ...author }));
      return;
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
      // Somebody else deleted it, which is as good.
      if (error.current === undefined) return;
    }
  }
}

function notCorrupt({ definition }: StoreParts, name: string): Error {
  const errors = new FieldErrors();
  errors.at(OPTION).invalid(true, 'is exclusively used to delete corrupt object(s), try again by removing this option');
  return invalid({ group: definition.group, kind: definition.plural }, name, errors.list);
}
