import type { CacheChange } from './history.ts';
import type { Attribute, CacheEntry, FieldAttribute } from './cache.ts';

/** The last part of the key: nothing is decoded for it. */
export const NAME: FieldAttribute = { valueOf: ({ key }) => key.slice(key.lastIndexOf('/') + 1) };

type Labels = Readonly<Record<string, string>>;

const NO_LABELS: Labels = {};

export const labelsOf = (entry: CacheEntry | undefined): Labels => entry?.object().metadata.labels ?? NO_LABELS;

/** Undefined where the entry has no such label. Throws where the entry can not be read. */
export function valueOf(attribute: Attribute, entry: CacheEntry | undefined): string | undefined {
  if (entry === undefined) return undefined;
  if (attribute.label === undefined) return attribute.valueOf(entry);
  const labels = labelsOf(entry);
  return Object.hasOwn(labels, attribute.label) ? labels[attribute.label] : undefined;
}

/** What the change put in the place of `previous`. */
export const nextOf = (change: CacheChange): CacheChange['previous'] => (change.type === 'DELETED' ? undefined : change.entry);
