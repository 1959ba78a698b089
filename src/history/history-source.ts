import type { Json, JsonObject } from '../encoding/json-types.ts';
import type { RecordedCluster, RecordedResource } from './flight-format.ts';

/** Which changes somebody wants to know of. */
export interface ChangeQuery {
  /** As kubectl lets people name it: `deploy`, `deployments.apps`, `Deployment`. Undefined: of every resource. */
  type?: string | undefined;
  name?: string | undefined;
  /** Undefined: of every namespace. */
  namespace?: string | undefined;
  /** Of one request; a recording does not know which that was. */
  auditId?: string | undefined;
  fromMs?: number | undefined;
  toMs?: number | undefined;
  /** After those that there are, waits for more, until this is aborted. */
  follow?: AbortSignal | undefined;
}

/** Who made a change: what a server with history knows, and a watch does not tell. */
export interface ChangeAuthor {
  username: string;
  groups: readonly string[];
  impersonator: string | undefined;
  userAgent: string;
  verb: string;
  subresource: string;
  auditId: string;
}

/** A field that a change gave another value. */
export interface ChangedField {
  /** `spec.template.spec.containers[0].image` */
  path: string;
  /** Undefined where there was none. */
  from: Json | undefined;
  /** Undefined where there is none any more. */
  to: Json | undefined;
}

/** The object before a change and after it; undefined where there was none. */
export interface ChangeVersions {
  before: JsonObject | undefined;
  after: JsonObject | undefined;
}

/** One change of one object. */
export interface ObjectChange {
  /** `c-000000001234`, by which a server with history knows it. */
  id: string | undefined;
  timeMs: number;
  resource: RecordedResource;
  /** `namespace/name`, or a name. */
  key: string;
  /** `seen`: it was there when the recording of its resource began. */
  type: 'seen' | 'created' | 'modified' | 'deleted';
  /** Without what the server keeps books of (resourceVersion, managedFields, generation). */
  readonly fields: readonly ChangedField[];
  /** The field managers that wrote, as far as anybody tells. */
  readonly managers: readonly string[];
  author: ChangeAuthor | undefined;
  /** Of the object after it, or of its deletion; empty where nobody has told it. */
  resourceVersion: string;
  /** It may be several in one: the recorder was cut off from this time on. */
  gapSinceMs: number | undefined;
  versions(): Promise<ChangeVersions>;
}

/** An object as it was at a moment. */
export interface RecordedObject {
  resource: RecordedResource;
  key: string;
  object: JsonObject;
}

/** A time, or a version of the store. */
export type Moment = { readonly timeMs: number } | { readonly resourceVersion: number };

/** A change as it is played: the next version of an object, or its deletion. */
export interface TimelineChange {
  timeMs: number;
  resource: RecordedResource;
  key: string;
  /** Undefined where it was deleted. */
  object: JsonObject | undefined;
  revision: number;
}

/** The whole state of a cluster at a moment, and what came after it. */
export interface Timeline {
  cluster: RecordedCluster;
  /** The moment; it may be a little later than the one that was asked for, where a recording had only begun. */
  atMs: number;
  /** Those that were recorded at that moment. */
  resources: readonly RecordedResource[];
  /** Names of resources that there were, and of which nothing is known. */
  leftOut: readonly string[];
  objects: readonly (RecordedObject & { revision: number })[];
  /** What a list of the resource had as its version. */
  revisionOf(resource: RecordedResource): number;
  /** Resources whose versions count in a store of their own: those of aggregated servers, and events where they are kept apart. */
  isApart(resource: RecordedResource): boolean;
  /** In the order in which they were stored, each revision higher than the one before in the same store. */
  changes(): AsyncIterable<TimelineChange>;
  close(): Promise<void>;
}

/** What is known of the past of a cluster: a recording of it, or its own server. */
export interface HistorySource {
  /** Oldest first. Throws Error with one line where the type is not known. */
  changes(query: ChangeQuery): AsyncIterable<ObjectChange>;
  stateAt(moment: Moment, query: ChangeQuery): Promise<RecordedObject[]>;
  timelineAt(moment: Moment): Promise<Timeline>;
  /** When it ends: what "five minutes ago" counts from. */
  endMs(): Promise<number>;
  /** What a reader should be told beside what was asked for; undefined where there is nothing. */
  readonly remark: string | undefined;
  close(): Promise<void>;
}
