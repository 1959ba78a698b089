import type { ApiObject, OwnerReference } from '../api/api-object.ts';

/** Equal owners are kept once, and the client is told (apiserver/pkg/endpoints/handlers/rest.go, dedupOwnerReferences). */
export function dedupeOwnerReferences({ metadata }: ApiObject, warn: (text: string) => void): void {
  const references = metadata.ownerReferences;
  if (references === undefined || references.length < 2) return;
  if (new Set(references.map(({ uid }) => uid)).size === references.length) return;
  // Decoded references have their keys in one order, so equal ones have equal texts.
  const kept = new Map<string, OwnerReference>();
  const duplicates: string[] = [];
  for (const reference of references) {
    const text = JSON.stringify(reference);
    if (kept.has(text)) duplicates.push(reference.uid);
    else kept.set(text, reference);
  }
  if (duplicates.length === 0) return;
  metadata.ownerReferences = [...kept.values()];
  warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  );
}
