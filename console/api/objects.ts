/** What the console reads of any object. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFields[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
}

export interface ManagedFields {
  manager?: string;
  operation?: string;
  subresource?: string;
  time?: string;
  fieldsV1?: FieldsV1;
}

/** A set of fields: `f:name`, `k:{"name":"web"}`, `v:"x"`, `i:0`, and `.` for the thing itself (KEP-555). */
export interface FieldsV1 {
  [step: string]: FieldsV1;
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface ApiObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  status?: { conditions?: Condition[]; [field: string]: unknown };
  [field: string]: unknown;
}

export interface ObjectList<T = ApiObject> {
  metadata: { resourceVersion?: string; continue?: string };
  items: T[];
}

/** `apps/v1` → `apps`; `v1` → the core group, which has no name. */
export const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '');

/** Names and labels without specs: what lists and watches are asked for where nothing else of the objects is shown. */
export const METADATA_ONLY = ['PartialObjectMetadataList', 'PartialObjectMetadata'].map((kind) => `application/json;as=${kind};v=v1;g=meta.k8s.io`).join(',');
