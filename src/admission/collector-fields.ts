import type { ApiObject } from '../api/api-object.ts';
import { equalJson } from '../encoding/json-equal.ts';

/** Whether an update only touches what the garbage collector needs to: owners and finalizers (pkg/registry/rbac IsOnlyMutatingGCFields). */
export const isOnlyForCollector = (object: ApiObject, old: ApiObject): boolean => equalJson(withoutCollectorFields(object), withoutCollectorFields(old));

function withoutCollectorFields({ metadata, ...rest }: ApiObject): object {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _managed, ...others } = metadata;
  return { ...rest, metadata: others };
}
