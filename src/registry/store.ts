import type { ShardSelector } from '../api/shard-selector.ts';
import type { CacheEntry, CacheEvent, ObjectCache } from '../storage/cache/cache.ts';
import type { Subscription } from '../storage/engine.ts';
import type { ApiObject } from '../api/api-object.ts';
import type { FieldSelector } from '../api/field-selector.ts';
import type { LabelSelector } from '../api/label-selector.ts';
import type { AdmissionController } from './admission.ts';
import type { ResourceDefinition } from './definition.ts';
import type { RequestContext } from './request-context.ts';
import type { NextObject } from './write.ts';

/**
 * A resource as the endpoints use it: objects in their storage version, admitted, validated and stored. The pipeline of a write is in
 * `create.ts`, `update.ts` and `delete.ts`; reads come from the cache. Refusals are thrown as ApiError.
 */
export interface ResourceStore<T extends ApiObject = ApiObject> {
  readonly definition: ResourceDefinition<T>;
  /** Resolves once everything stored can be read; rejects where it cannot. */
  readonly ready: Promise<void>;
  /** Whether that is so by now; absent where nothing is stored. */
  readonly isLoaded?: boolean;
  /** Whom writes ask. */
  readonly admission: AdmissionController;

  /** `resourceVersion`: '' for the newest, '0' for whatever is at hand, N for not older than N. Synchronous where nothing has to be waited for. */
  get(namespace: string, name: string, resourceVersion: string): CacheEntry | Promise<CacheEntry>;
  list(namespace: string, options: ListOptions): ListResult | Promise<ListResult>;
  watch(namespace: string, options: WatchOptions, sink: WatchSink): Promise<Subscription>;

  /** A write comes to a store as what decodes it: `create.ts` and `update.ts` have the steps that follow, in order. */
  create(context: RequestContext, namespace: string, decode: NextObject<T>, options: WriteOptions): Promise<WriteResult<T>>;
  /** `decode` is called again when another writer came first and the new object does not insist on a resourceVersion. */
  update(context: RequestContext, namespace: string, name: string, decode: NextObject<T>, options: UpdateOptions): Promise<WriteResult<T>>;
  delete(context: RequestContext, namespace: string, name: string, options: DeleteOptions): Promise<DeleteResult<T>>;
  /** Deletes an object that can not be read, and no other; throws where it can be. Absent where nothing is stored. */
  deleteCorrupt?(context: RequestContext, namespace: string, name: string): Promise<void>;
  /** Deletes all that match, and answers with them as they were. */
  deleteCollection(context: RequestContext, namespace: string, list: ListOptions, options: DeleteOptions): Promise<ListResult>;

  /**
   * Changes what is stored as it is: neither admission nor the kind's rules are asked, and nobody comes to own a field. `change` edits a private copy, or
   * throws; it is called again when another writer came first.
   */
  amend(namespace: string, name: string, change: (object: T) => void, options: AmendOptions): Promise<T>;
  /** Where its objects are; absent where nothing is stored. */
  readonly kept?: { readonly cache: ObjectCache; readonly keyPrefix: string };
  /** The same resource with what another cache has: that of a moment in the past. */
  over?(cache: ObjectCache): ResourceStore<T>;
  /** The same objects, for what was admitted as something else (an eviction's deletion). */
  withoutAdmission(): ResourceStore<T>;
}

export interface AmendOptions {
  /** For whom, and through which subresource. */
  context: RequestContext;
  subresource: string;
  dryRun: boolean;
  /** What the object must be. */
  preconditions: { uid?: string; resourceVersion?: string };
}

export interface Selection {
  labels: LabelSelector;
  fields: FieldSelector;
  /** ShardedListAndWatch */
  shard?: ShardSelector | undefined;
}

/** Namespace '' is all namespaces. */
export interface ListOptions {
  selection: Selection;
  /** 0: no limit. */
  limit: number;
  continue: string;
  resourceVersion: string;
  resourceVersionMatch: '' | 'Exact' | 'NotOlderThan';
  /** Called while a selection goes on; throws where nobody waits for the list any more. */
  checkWanted?: () => void;
}

export interface ListResult {
  entries: CacheEntry[];
  /** The list's resourceVersion. */
  revision: number;
  continue: string;
  remainingItemCount: number | undefined;
  /** Which shard of the collection it is, where it is one. */
  shard?: ShardSelector | undefined;
}

export interface WatchOptions {
  selection: Selection;
  resourceVersion: string;
  resourceVersionMatch: '' | 'Exact' | 'NotOlderThan';
  allowBookmarks: boolean;
  sendInitialEvents: boolean | undefined;
  /** The watch goes on with what differs when the store is taken to another state; other watches end then, as after a compaction. */
  followsResets?: boolean;
}

/** Calls come in order; `event.entry` and `sent` are shared between watchers. */
export interface WatchSink {
  /** `type` and `entry` as this watcher's selection sees the change. `event` is undefined for the initial state. */
  send(type: 'ADDED' | 'MODIFIED' | 'DELETED', entry: CacheEntry, event: CacheEvent | undefined): void;
  bookmark(revision: number, initialEventsEnd: boolean): void;
  /** The watch is over: an ERROR event with this Status, then the end. */
  fail(error: Error): void;
  /** The watch is over, and its client is told no more than that: it may watch on from where it was. */
  end(): void;
}

export interface WriteOptions {
  dryRun: boolean;
  /** As given; empty where the client gave none. */
  fieldManager: string;
  /** The group-version that the client speaks, in which it comes to own fields; that of storage where absent. */
  apiVersion?: string;
  fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** The options object as admission sees it. */
  raw: object;
}

export interface UpdateOptions extends WriteOptions {
  subresource: string;
  /** PUT of a missing name makes it, where the definition agrees. */
  mayCreate: boolean;
  /** Server-side apply: the new object comes with its managedFields settled (`apply-ownership.ts`), and may be made where there is none. */
  isApply: boolean;
  /** The new object was made from the present one: its uid is validated like its other fields, where a PUT's is a precondition. */
  isPatch?: true;
}

export interface DeleteOptions {
  dryRun: boolean;
  gracePeriodSeconds: number | undefined;
  preconditions: { uid?: string; resourceVersion?: string } | undefined;
  orphanDependents: boolean | undefined;
  propagationPolicy: 'Orphan' | 'Background' | 'Foreground' | undefined;
  /** `ignoreStoreReadErrorWithClusterBreakingPotential`: only an object that can not be read is meant. */
  ignoresReadErrors?: boolean;
  /** The group-version that the client speaks; that of storage where absent. */
  apiVersion?: string;
  raw: object;
}

export interface WriteResult<T extends ApiObject = ApiObject> {
  /** As stored; for a dry run as it would have been, without a resourceVersion. Shared: do not change it. */
  object: T;
  /** The stored entry, whose bytes can be sent as they are; undefined for a dry run. */
  entry: CacheEntry | undefined;
  created: boolean;
}

export interface DeleteResult<T extends ApiObject = ApiObject> {
  object: T;
  /** False: the object stands until its finalizers or grace period are done. */
  isGone: boolean;
  /** The client is answered with the object; else with a Status that names it. */
  answersWithObject: boolean;
}
