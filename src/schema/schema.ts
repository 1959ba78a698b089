import type { GroupVersionKind } from '../api/api-object.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import type { StrictErrors } from './decode.ts';
import type { DecodeRun } from './decode-run.ts';

/**
 * What a type is. Built-in types come from the committed tables (`src/apis/facts/`), custom ones from their CRD; decoding, protobuf, merges,
 * OpenAPI and field ownership all walk this one description.
 */
export type TypeSchema = ObjectSchema | ListSchema | MapSchema | ScalarSchema;

export interface ScalarSchema {
  type: ScalarType;
  /** Go's name of it, for its errors, where that is not the plain type's: `v1.RestartPolicy`. */
  goName?: string;
  enum?: readonly string[];
  /** OpenAPI's name, where the scalar is a named type: `io.k8s.apimachinery.pkg.api.resource.Quantity`. */
  name?: string;
  /** With `bytes`: OpenAPI's x-kubernetes-list-type, which a list of bytes may have although it is text. */
  listType?: 'atomic';
  /** With `any`: an object of this type, or else what `or` says (apiextensions' JSONSchemaPropsOrBool, …OrArray, …OrStringArray). */
  orObject?: { schema: ObjectSchema; or: 'boolean' | 'objects' | 'strings' };
}

/**
 * `quantity`, `time`, `microTime`, `duration`: strings on the wire with a grammar. `intOrString`: either. `any`: JSON left as it is
 * (RawExtension, FieldsV1, JSON). `bytes`: base64 text.
 */
export type ScalarType = 'string' | 'boolean' | 'int32' | 'int64' | 'double' | 'bytes' | 'quantity' | 'time' | 'microTime' | 'duration' | 'intOrString' | 'any';

export interface ListSchema {
  type: 'list';
  /** As ScalarSchema's: `v1.ExtraValue`. */
  goName?: string;
  items: TypeSchema;
  /** As x-kubernetes-list-type; absent means atomic. */
  listType?: 'atomic' | 'set' | 'map';
  listMapKeys?: readonly string[];
  /** Strategic merge: `merge` with its key. */
  patchStrategy?: PatchStrategy;
  patchMergeKey?: string;
  /** Protobuf nests the list in a message of its own, which repeats the items as field 1 (ExtraValue, Verbs). */
  protoWrapped?: boolean;
}

export interface MapSchema {
  type: 'map';
  /** As ScalarSchema's: `v1.ResourceList`, `map[v1.ResourceName]v1.ClaimResourceStatus`. */
  goName?: string;
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
  /**
   * Structs that JSON flattens into this object but protobuf nests as messages of their own (`VolumeSource` in `Volume`). Their fields stand in
   * `fields` too, there without a protoNumber.
   */
  inlined?: readonly InlinedMessage[];
  /** OpenAPI's x-kubernetes-unions: which of `fields` may be set, each with the discriminator's value that selects it. */
  unions?: readonly { discriminator?: string; fields: Readonly<Record<string, string>> }[];
  /** Of keys that are no fields; where absent there may be none, unless there are no fields either. Only custom resources have both. */
  additional?: TypeSchema;
  /** A custom resource's own type: `decode` and OpenAPI go by this instead of the fields. */
  custom?: CustomType;
}

export interface CustomType {
  /** The schema of the definition's version. */
  schema: object;
  /** Fields that selectors may name, as OpenAPI lists them: `spec.size`. */
  selectableFields?: readonly string[];
  /** One of the type's fields, for who needs no other: they are made when they are first asked for. */
  metadata: FieldSchema;
  /** As `decode` (decode.ts) promises, but that values stay as clients wrote them. `keepsNulls`: those too that may not be, for validation to tell. `run`: of one that takes turns. */
  decode(value: Json, strict: StrictErrors | undefined, keepsNulls?: boolean, run?: DecodeRun): JsonObject;
  /** The same, with nothing gone: what admission added is pruned only when it is stored. */
  settle(object: JsonObject, run?: DecodeRun): JsonObject;
  /** Whether an object that `settle` made has fields that are to be pruned. */
  hasUnknownFields(object: object): boolean;
}

export interface InlinedMessage {
  protoNumber: number;
  schema: ObjectSchema;
}

export interface FieldSchema {
  name: string;
  type: TypeSchema;
  /** OpenAPI's `required`. */
  required: boolean;
  /**
   * What upstream's encoder writes when the field has no value (absent, null, or what `pointer` counts as none): nothing (`omit`), `null`, or the
   * type's zero value (`zero`: "", 0, false; "0" of a quantity, "0s" of a duration, 0 of an int-or-string; for an object, an object made of its
   * own fields' empty forms, so `{}` for most). Follows from Go's encoding/json: see `normalize.ts`.
   */
  whenEmpty: 'omit' | 'zero' | 'null';
  /**
   * Whether a set zero value differs from none, as it does behind a Go pointer: `replicas: 0` and `emptyDir: {}` stay, whereas `minReadySeconds: 0`
   * is the same as absent. Never for lists and maps: an empty one has no protobuf form, so it is stored and read back as none.
   */
  pointer: boolean;
  /** A default that upstream declares. The zero values that OpenAPI shows for fields which are always written are not told here. */
  default?: Json;
  protoNumber?: number;
  /** Strategic merge on an object-typed field: `retainKeys`. Lists and maps carry theirs in their type. */
  patchStrategy?: PatchStrategy;
  /** On an object-typed field: merges otherwise than the object's type says (a volume's `claimRef` is granular). */
  mapType?: 'atomic' | 'granular';
}
