import type { Change } from '../registry/write.ts';
import type { ObjectMeta } from '../api/api-object.ts';

/** What a write of status leaves as it was, where a kind lets it write no metadata (apimachinery/pkg/apis/meta/v1 ResetObjectMetaForStatus). */
const KEPT = ['deletionTimestamp', 'generation', 'selfLink', 'labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

export function keepMetadataForStatus({ object: { metadata }, old }: Change): void {
  for (const field of KEPT) keepField(metadata, old.metadata, field);
}

function keepField<K extends keyof ObjectMeta>(metadata: ObjectMeta, old: ObjectMeta, field: K): void {
  const value = old[field];
  if (value === undefined) delete metadata[field];
  else metadata[field] = structuredClone(value);
}

/** The same for kinds that keep all of it; who wrote which field is the write's own. */
export function keepAllMetadataForStatus({ object, old }: Change): void {
  const { managedFields } = object.metadata;
  object.metadata = { ...structuredClone(old.metadata) };
  if (managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = managedFields;
}
