import type { ApiObject } from '../api/api-object.ts';

/**
 * The API as code inside the process sees it: controllers, bootstrap, authorizers and admission plug-ins. Writes take the same road as any
 * client's (defaults, admission, validation) as the user `system:apiserver`. `src/server/in-process-client.ts` implements it on the stores.
 */
export interface Client {
  /** Throws when no such resource is installed. `fieldManager`: who comes to own what is written; `kube-apiserver` where absent. */
  resource<T extends ApiObject = ApiObject>(group: string, plural: string, fieldManager?: string): ResourceClient<T>;
  /** All that `resource` can be asked for now. One that is defined anew is another identity. */
  resources(): ResourceIdentity[];
  /** Group-versions of other servers that do not say now what they have; absent: there are no such servers. */
  undiscovered?(): readonly string[];
  /** Called when `resources` has become another. Returns the way to stop. */
  onResourcesChange(listener: () => void): () => void;
}

/** What a resource is called, and what can be done with it. */
export interface ResourceIdentity {
  group: string;
  /** The storage version. */
  version: string;
  plural: string;
  kind: string;
  /** Every one by which others may refer to its objects: `v1`, `apps/v1`. */
  apiVersions: readonly string[];
  namespaced: boolean;
  verbs: readonly string[];
  /** Another server has it, which may be away: its view may be late, or never complete. */
  isRemote?: boolean;
}

/** Where a field is absent, the server chooses. */
export interface DeleteChoices {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  /** What the object must be: Conflict is thrown where it is not. */
  preconditions?: { uid?: string; resourceVersion?: string };
}

/** Looks at an object's JSON, to spare the decoding of objects that do not matter. It may say yes too often. */
export type Concerns = (json: Buffer) => boolean;

/** Objects are in their storage version. What is returned is shared with all readers: clone before changing. */
export interface ResourceClient<T extends ApiObject = ApiObject> {
  get(namespace: string, name: string): Promise<T | undefined>;
  /** Namespace '' is all of them. */
  list(namespace: string): Promise<T[]>;
  /** Throws ApiError (AlreadyExists and the rest) as a client would see it. The object given stays the caller's, unchanged. */
  create(namespace: string, object: T): Promise<T>;
  /** `change` edits a private copy, or answers false to leave the object alone; retried on conflict. Throws NotFound. `subresource`: '' or 'status'. */
  update(namespace: string, name: string, change: (object: T) => boolean | void, subresource?: string): Promise<T>;
  /** Server-side apply by force: `config` is all that the field manager wants to own. Makes the object where there is none, but not through a subresource. */
  apply(namespace: string, name: string, config: ApiObject, subresource?: string): Promise<T>;
  delete(namespace: string, name: string, choices?: DeleteChoices): Promise<void>;
  readonly informer: Informer<T>;
}

/**
 * A live, local view of a resource. A change that was acknowledged to any client of this process is visible here before
 * that client gets its answer. Where objects of several versions of a custom resource are stored, each is shown in the version in which it is: of
 * those only the metadata are to be relied on.
 */
export interface Informer<T extends ApiObject = ApiObject> {
  /** Resolves once the view is complete. */
  readonly synced: Promise<void>;
  get(namespace: string, name: string): T | undefined;
  list(namespace: string): T[];
  /**
   * Calls back with every object that `concerns` says yes of, a few at a time, so that nobody else has to wait; resolves at the end, or when the signal
   * aborts. An object that changes meanwhile is left to those who listen for changes.
   */
  scan(visit: (object: T) => void, concerns: Concerns, signal: AbortSignal): Promise<void>;
  /** Calls back with every object of a namespace as it is at the call, a few at a time; resolves at the end, or when the signal aborts. */
  forEach(namespace: string, visit: (object: T) => void, signal: AbortSignal): Promise<void>;
  /**
   * Called for every change after now, in order; `old` is undefined for a create, `object` for a delete. Returns the way to stop. With `concerns`, only
   * for deletions and where it says yes of the old object or the new one. What listeners throw ends their watch.
   */
  onChange(listener: (object: T | undefined, old: T | undefined) => void, concerns?: Concerns): () => void;
}
