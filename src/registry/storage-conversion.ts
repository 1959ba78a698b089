import type { EmptyPaths } from '../schema/empty-paths.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import type { ApiObject } from '../api/api-object.ts';

/**
 * Between the version of a store's definition and what is stored, which may be of any version of the resource. Everything that a write meets sees objects
 * of the definition's version: they are converted as they are encoded for the store, and as they are read from it (upstream: the storage codec of
 * apiextensions-apiserver/pkg/apiserver/customresource_handler.go, crdConversionRESTOptionsGetter). Synchronous where nobody has to be asked. What
 * cannot be converted throws ApiError.
 */
export interface StorageConversion {
  /** In the definition's version; the entry itself where it is of that version. */
  read(stored: CacheEntry): CacheEntry | Promise<CacheEntry>;
  /** The same for many, in their order. */
  readAll(stored: readonly CacheEntry[]): CacheEntry[] | Promise<CacheEntry[]>;
  /** What an entry that was read was made of. */
  storedOf(entry: CacheEntry): CacheEntry;
  /** As it is to be stored. Never changes its argument. */
  toStored(object: ApiObject, applied?: EmptyPaths): ApiObject | Promise<ApiObject>;
  /** As it would be read if it were stored. */
  asRead(object: ApiObject): ApiObject | Promise<ApiObject>;
}
