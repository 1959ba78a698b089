import { clone, cloneInSlices } from '../schema/clone.ts';
import { CommitConflict } from '../storage/engine.ts';
import type { ApiObject } from '../api/api-object.ts';
import { conflict, notFound } from '../api/errors.ts';
import { nextTurn } from '../util/time-slice.ts';
import { type StoreParts, canonical, canonicalInSlices, currentEntry, encodeStored, groupResource, keyOf } from './store-parts.ts';
import { LARGE_BYTES } from './request-context.ts';
import type { AmendOptions } from './store.ts';
import { annotationOf } from './write-author.ts';

/** See ResourceStore.amend (upstream: a strategy's storage used directly, etcd3/store.go GuaranteedUpdate). */
export async function amend<T extends ApiObject>(
  parts: StoreParts<T>,
  namespace: string,
  name: string,
  change: (object: T) => void,
  { dryRun, preconditions, context, subresource }: AmendOptions,
): Promise<T> {
  const key = keyOf(parts, namespace, name);
  for (;;) {
    const entry = await currentEntry(parts, key);
    if (!entry) throw notFound(groupResource(parts.definition), name);
    const isLarge = entry.bytes.length > LARGE_BYTES;
    const object = isLarge ? await cloneInSlices(entry.object<T>()) : clone(entry.object<T>());
    checkPreconditions(parts, key, object, preconditions);
    change(object);
    const amended = isLarge ? await canonicalInSlices(parts, object) : canonical(parts, object);
    if (isLarge) await nextTurn();
    if (dryRun) return amended;
    const ttlSeconds = parts.definition.storage.ttlSeconds?.(amended);
    try {
      const revision = await parts.engine.commit({
        type: 'put',
        key,
        value: await encodeStored(parts, amended),
        expected: entry.revision,
        ...(ttlSeconds !== undefined && { ttlSeconds }),
        ...annotationOf(parts, context, { verb: 'update', subresource }),
      });
      amended.metadata.resourceVersion = String(revision);
      return amended;
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
    }
  }
}

function checkPreconditions<T extends ApiObject>(
  { definition }: StoreParts<T>,
  key: string,
  { metadata }: T,
  { uid, resourceVersion }: AmendOptions['preconditions'],
): void {
  const refuse = (what: string, wanted: string, found: string | undefined): never => {
    const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found ?? ''}`;
    throw conflict(
      groupResource(definition),
      metadata.name ?? '',
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
    );
  };
  if (uid !== undefined && uid !== metadata.uid) refuse('UID', uid, metadata.uid);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) refuse('ResourceVersion', resourceVersion, metadata.resourceVersion);
}
