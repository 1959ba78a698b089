import type { OrderedMap } from '../ordered-map.ts';
import type { StoredEntry } from './entry.ts';

/** What a cache had at one revision of its store. Caches share its entries, and its tree until they change it. */
export interface CacheImage {
  readonly tree: OrderedMap<string, StoredEntry>;
  readonly revision: number;
}
