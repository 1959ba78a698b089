import type { GroupVersionKind } from '../util/api-object.ts';
import type { Json } from '../util/json-types.ts';

/**
 * What a type is. Built-in types come from the committed tables (`src/apis/facts/`), custom ones from their CRD; decoding, protobuf, merges,
 * OpenAPI and field ownership all walk this one description.
 */
export type TypeSchema = ObjectSchema | ListSchema | MapSchema | ScalarSchema;

export interface ScalarSchema {
  type: ScalarType;
  enum?: readonly string[];
}

/**
 * `quantity`, `time`, `microTime`, `duration`: strings on the wire with a grammar. `intOrString`: either. `any`: JSON left as it is
 * (RawExtension, FieldsV1, JSON). `bytes`: base64 text.
 */
export type ScalarType = 'string' | 'boolean' | 'int32' | 'int64' | 'double' | 'bytes' | 'quantity' | 'time' | 'microTime' | 'duration' | 'intOrString' | 'any';

export interface ListSchema {
  type: 'list';
  items: TypeSchema;
  /** As x-kubernetes-list-type; absent means atomic. */
  listType?: 'atomic' | 'set' | 'map';
  listMapKeys?: readonly string[];
  /** Strategic merge: `merge` with its key. */
  patchStrategy?: PatchStrategy;
  patchMergeKey?: string;
}

export interface MapSchema {
  type: 'map';
  values: TypeSchema;
  mapType?: 'atomic' | 'granular';
  patchStrategy?: PatchStrategy;
}

/** May hold two, as upstream writes them: `merge,retainKeys`. */
export type PatchStrategy = 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys';

export interface ObjectSchema {
  type: 'object';
  /** OpenAPI's name: `io.k8s.api.core.v1.PodSpec`. */
  name: string;
  /** In the order in which upstream's structs declare them, which is the order in which they are encoded. */
  fields: ReadonlyMap<string, FieldSchema>;
  mapType?: 'atomic' | 'granular';
  /** The kinds whose top-level type this is. */
  kinds: readonly GroupVersionKind[];
  /** `k8s.io.api.core.v1.PodSpec`; absent where the type has no protobuf form. */
  protoMessage?: string;
}

export interface FieldSchema {
  name: string;
  type: TypeSchema;
  /** OpenAPI's `required`. */
  required: boolean;
  /**
   * What upstream's encoder writes when the field has no value: nothing (`omit`), or the type's zero value (`""`, 0, false, `{}`, null for
   * lists, maps and pointers). See `normalize.ts`.
   */
  whenEmpty: 'omit' | 'zero' | 'null';
  /** OpenAPI's default, when it is more than the zero value. */
  default?: Json;
  protoNumber?: number;
  /** Strategic merge on an object-typed field: `retainKeys`. Lists and maps carry theirs in their type. */
  patchStrategy?: PatchStrategy;
}
