import type { EmptyPaths } from '../schema/empty-paths.ts';
import type { Exchange } from '../serving/exchange.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { StoredVersion } from '../storage/encoding/upstream-codec.ts';
import type { ApiObject } from '../api/api-object.ts';
import type { FieldErrors } from '../api/field-errors.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { RequestContext } from './request-context.ts';
import type { ResourceStore } from './store.ts';
import type { Change, KindContext, KindSettings, Write } from './write.ts';

/**
 * All that is particular about one resource. Built-in kinds are values of this, one file each under `src/apis/`; CRDs are turned into it.
 * Hooks see the object in its storage version unless they say otherwise, and change it in place.
 */
export interface ResourceDefinition<T extends ApiObject = ApiObject> extends ResourceNames, CreateRules<T>, UpdateRules<T> {
  schema: ObjectSchema;
  /** Every group-version under which clients reach the resource; the storage version first. */
  served: readonly ServedVersion[];
  /** Of the server that serves it. */
  settings: KindSettings;
  storage: StorageRules<T>;
  naming?: NamingRules;
  deletion?: DeletionRules<T>;
  transactions?: TransactionHooks<T>;
  /** Field selectors beyond metadata.name and metadata.namespace. */
  selectable?: Selectable<T>;
  /** What is said of a field that is not `selectable`, where it is not the usual words. */
  unselectable?(field: string): string;
  /** `kubectl get`; Name and Created At where absent. */
  table?: TableRules<T>;
  /** What upstream's conversion adds to an object with nothing in it, as which bookmarks are sent, and dry runs that delete are answered. */
  emptyObject?: { annotations?: Readonly<Record<string, string>>; spec?: JsonObject };
  /**
   * Custom resources with several versions: an object of one of `served` in another. Nothing is pruned, and nothing defaulted. It takes time, or throws
   * ApiError, where a webhook converts. Elsewhere versions are converted through the stored form (ServedVersion).
   */
  convert?(object: ApiObject, apiVersion: string): ApiObject | Promise<ApiObject>;
  subresources?: Record<string, Subresource<T>>;
}

/** Those of the storage version. */
export interface ResourceNames {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  namespaced: boolean;
  shortNames: readonly string[];
  categories: readonly string[];
  verbs: readonly string[];
}

/** How objects are kept. */
export interface StorageRules<T extends ApiObject = ApiObject> {
  /** Where, below the store's prefix: `configmaps`, `services/specs`, `apiextensions.k8s.io/customresourcedefinitions`. */
  prefix: string;
  /** What upstream's stored form has of its own; protobuf in `version` where absent. Counts only where values are stored as upstream stores them. */
  form?: UpstreamForm;
  /** The group of the kind that is stored, where it is another (events): what is said of an object rather than of a resource names this one. */
  group?: string;
  /** An object may be stored without some of its defaults, which follow from what was made after it was defaulted: they are filled in whenever it is read. */
  defaultsOnRead?: boolean;
  /** Upstream keeps no watch cache of it: what its cache takes liberties with, its store does to the letter. */
  isUncached?: true;
  /** Removed by the store after so long. */
  ttlSeconds?(object: T): number | undefined;
}

/** How upstream stores a kind (pkg/kubeapiserver/default_storage_factory_builder.go and its like in the other two servers). */
export interface UpstreamForm {
  /** The version that is written: a served one, or one of `older`. `version` where absent. */
  version?: string;
  /** That version follows from --min-compatibility-version rather than from the facts, which tell the hash of another. */
  isForOlder?: true;
  /** Written as JSON, whatever --storage-media-type says. */
  isJson?: boolean;
  /** Versions that are not served, but may be stored. */
  older?: readonly StoredVersion[];
}

export interface NamingRules {
  /** What is wrong with a name, in upstream's words; a DNS-1123 subdomain where absent. `isPrefix`: of a generateName. */
  errors?(name: string, isPrefix: boolean, settings: KindSettings): string[];
  /** What a generateName becomes; with a random ending where absent. */
  generate?(prefix: string): string;
}

/** What a DELETE does, where it is not to take an object without finalizers at once. */
export interface DeletionRules<T extends ApiObject = ApiObject> {
  /** Answered with the object instead of a Status. */
  returnsObject?: boolean;
  /** Why a DELETE of this name is refused, whether it is there or not. A DELETE of the whole collection does not ask. */
  refusal?(name: string): string | undefined;
  /** Sent with every DELETE that names no propagation policy. */
  warning?: string;
  /** Where none is named; `none` where owner references mean nothing (events). */
  defaultPropagation?: 'Background' | 'Orphan' | 'none';
  /** `orphanDependents: false` asks for what the policy Foreground does (namespaces). */
  foregroundUnlessOrphaned?: true;
  /** Seconds until it takes effect; absent means at once. `requested` is what the client asked for. */
  gracePeriodSeconds?(object: T, requested: number | undefined): number;
  /** Whether an object without finalizers or grace may be taken from the store (false: namespaces with spec.finalizers). */
  mayRemove?(object: T): boolean;
  /** Called on an object that is left standing (finalizers or grace pending), before it is written. */
  mark?(object: T): void;
  /** The first DELETE only marks it, whatever propagation it asks for. */
  marksBeforePropagation?: true;
}

/** What runs around the store: allocations, derived objects. */
export interface TransactionHooks<T extends ApiObject = ApiObject> {
  beginCreate?(object: T, context: RequestContext, dryRun: boolean): Promise<Transaction> | Transaction;
  beginUpdate?(object: T, old: T, context: RequestContext, dryRun: boolean): Promise<Transaction> | Transaction;
  afterDelete?(object: T, context: RequestContext, dryRun: boolean): Promise<void> | void;
}

/** How objects are shown in a Table. */
export interface TableRules<T extends ApiObject = ApiObject> {
  columns?: readonly Column<T>[];
  /** The order of rows, where it is not that of their names. */
  compareRows?(a: T, b: T): number;
  /** What is said of the object's row beside its cells; nothing where absent. */
  rowConditions?(object: T): readonly RowCondition[];
  /** An annotation that upstream's conversion writes into whole objects: Tables and PartialObjectMetadata are made without it. */
  unlistedAnnotation?: string;
}

/** What a new object must be and becomes. */
export interface CreateRules<T extends ApiObject = ApiObject> {
  /** PUT to a missing name creates it. */
  createsOnUpdate?: boolean;
  /** `spec`: 1 at creation, one more whenever anything but metadata and status changes. */
  generation?: 'spec';
  /** Clients write `status` only through the subresource: dropped on create, kept from the old object on update. */
  hasStatus?: boolean;
  /** `prepareForCreate` makes the whole status of a new one, and sees what was sent as such. */
  makesStatus?: boolean;
  prepareForCreate?(write: Write<T>): void;
  /** `old` is there where `validatesWhole` has a changed object validated: what it had already may be let stay. */
  validate?(write: Write<T>, errors: FieldErrors): void;
  /** Whether validation of such a new object must see the lists that were sent empty, which are not stored. Updates compare with what is stored. */
  validatesSentEmpty?(sent: T): boolean;
  /** Validation compiles expressions or patterns, and so may take long: it is run in slices (api/validation-run.ts). */
  validatesInSlices?: true;
  /** Admission is asked which fields the user may not set so, and validation reports them with its own errors (`AdmissionController.rights`). */
  asksForRights?: boolean;
}

/** What one way of updating (the object itself, or a subresource) may change. */
export interface UpdateRules<T extends ApiObject = ApiObject> {
  prepareForUpdate?(write: Change<T>): void;
  /** Beyond the rules for metadata, which are checked for every update. */
  validateUpdate?(write: Change<T>, errors: FieldErrors): void;
  /** Whether what the kind demands of a new object is demanded of the changed one too, and on which side of `validateUpdate` (errors come in order). */
  validatesWhole?: 'before' | 'after';
  /** Whether the kind validates metadata once more by itself, beyond what is demanded of every object. True where absent. */
  validatesMetadata?: boolean;
  /** The same for what metadata became against what it was; as `validatesMetadata` where absent. */
  validatesMetadataUpdate?: boolean;
  /** What to tell the client of an object that was let in. A change of status alone is told of only where its rules say so. */
  warnings?(write: Write<T>): string[];
  /** Of a subresource: who applies to what is not there creates it, as through the object itself. */
  createsOnApply?: boolean;
  /** Called with each change that was stored; dry runs store nothing. */
  afterUpdate?(object: T, old: T): void;
  /** PUT without resourceVersion overwrites whatever is there. True where absent. */
  allowsUnconditionalUpdate?: boolean;
  /** The object as it is encoded, where that is not in the form in which it is written otherwise. */
  toBeStored?(object: ApiObject, applied: EmptyPaths): ApiObject;
}

/** Finished after the write: committed, which must not throw, or taken back when it failed. */
export interface Transaction {
  commit(): Promise<void> | void;
  revert(): Promise<void> | void;
}

/** One group-version of a resource. Hooks here see the object in this version. */
export interface ServedVersion<V extends ApiObject = ApiObject, T extends ApiObject = ApiObject> {
  group: string;
  version: string;
  kind: string;
  /** Of lists, where that is not the kind with `List` behind it: a custom resource's definition may name it. */
  listKind?: string;
  schema: ObjectSchema;
  /** Fills in what the client left out. What is not given of the context is the server's own, with nothing sent empty. */
  default?(object: V, context?: Partial<KindContext>): void;
  /** Absent where this is the storage version. Both may change their argument and answer with it. */
  toStored?(object: V, context?: Partial<KindContext>): T;
  fromStored?(object: T): V;
  /** Sent as a warning with every request for this version. */
  deprecation?: string;
  /** Where this version's selectors or columns differ from the definition's. */
  selectable?: Selectable<T>;
  columns?: readonly Column<T>[];
  /** Where versions differ in them: the names of those that this one has. */
  subresources?: readonly string[];
  /** Where versions differ in it: where this one has its replicas, if it can be scaled. */
  replicasPath?: readonly string[] | undefined;
}

/**
 * Field selectors by name. Written as a method's type so that a definition of one kind can stand where any kind's is asked for, as its
 * other hooks can.
 */
export type Selectable<T extends ApiObject = ApiObject> = Record<string, { valueOf(object: T): string }['valueOf']>;

/** One column of a Table, as meta/v1 TableColumnDefinition, with the code of its cell. */
export interface Column<T extends ApiObject = ApiObject> {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format: string;
  description: string;
  /** 0: always; 1: with -o wide. */
  priority: number;
  /** `now` is for ages. */
  cell(object: T, now: Date): string | number | bigint | boolean | null;
  /** Its cells stand in the rows, but no column is told. */
  isUndeclared?: true;
}

/** meta/v1 TableRowCondition: `Completed` lets clients show a row with less weight. */
export interface RowCondition {
  type: 'Completed';
  status: 'True';
  reason: string;
  message: string;
}

/**
 * `/status` and its like: another way to read and write the same stored object. Where the client sees another kind (Scale, Eviction, TokenRequest),
 * `kind` and `schema` are that kind's and the conversions are given.
 */
export interface Subresource<T extends ApiObject = ApiObject> {
  group: string;
  version: string;
  kind: string;
  schema: ObjectSchema;
  verbs: readonly string[];
  /** GET: what of the object the client sees; the object itself where absent. */
  read?(object: T): ApiObject;
  /** PUT and PATCH: what the client's change is a change of, where that is not what it would `read`. */
  readToWrite?(object: T): ApiObject;
  /** What PUT and PATCH are answered with, where that is not what the client would `read`. */
  readWritten?(object: T): ApiObject;
  /** Of a kind of its own, as ResourceDefinition's: cells are made from the stored object. */
  columns?: readonly Column<T>[];
  /** Refuses to be shown as a table, which upstream has no way of for some. */
  hasNoTable?: boolean;
  /** PUT and PATCH: writes what the client sent into a copy of the stored object; the sent object takes its place where absent. */
  write?(object: T, sent: ApiObject): T;
  /** That what was sent, as mutating admission left it, is one of its kind. Throws 422. */
  validateSent?(sent: ApiObject, name: string): void;
  update?: UpdateRules<T>;
  /** Of a scale: where the object has its replicas, for who owns them; `spec.replicas` where absent. */
  replicasPath?: readonly string[];
  /** Fills in what the client left out of a body of the subresource's own kind. */
  default?(body: ApiObject): void;
  /** POST: the whole of what happens (bindings, evictions, tokens). */
  create?(call: SubresourceCall): Promise<ApiObject>;
  /** Other versions of the kind's group in which the same fields may be sent. */
  alsoAcceptsVersions?: readonly string[];
  /** Where a request is neither a read nor a write of objects, this answers it in place of all verbs. */
  connect?: Connector;
}

export interface SubresourceCall {
  namespace: string;
  name: string;
  body: ApiObject;
  dryRun: boolean;
  context: RequestContext;
  /** Of the objects that this is a subresource of. */
  store: ResourceStore;
  /** Shows the body to validating admission: to be called once it is known to be valid, and before anything is done. The mutating step is over. */
  admit(): Promise<void>;
}

/** A way to something behind the API: a container's streams, a log, a proxied server. */
export interface Connector {
  methods: readonly string[];
  /** What a request asks for, as the subresource's kind has it. `path` is what follows the subresource, with its leading slash, or ''. */
  options(query: URLSearchParams, path: string): JsonObject;
  /** Answers on the call's exchange, or leaves it unanswered where there is nothing to be sent. Refusals are thrown. A stream may outlive the promise. */
  open(call: ConnectCall): Promise<void>;
}

export interface ConnectCall {
  namespace: string;
  name: string;
  subresource: string;
  /** As it was authorized. */
  verb: string;
  options: JsonObject;
  context: RequestContext;
  exchange: Exchange;
  store: ResourceStore;
}
