import type { CacheEntry, ObjectCache } from '../storage/cache/cache.ts';
import type { Subscription } from '../storage/engine.ts';
import type { ApiObject } from '../api/api-object.ts';
import { forbidden } from '../api/errors.ts';
import type { AdmissionController } from './admission.ts';
import { amend } from './amend.ts';
import { create } from './create.ts';
import type { ResourceDefinition } from './definition.ts';
import { deleteCorrupt } from './corrupt-objects.ts';
import { deleteCollection, deleteObject } from './delete.ts';
import { getEntry, listEntries, watchEntries, watchError } from './read.ts';
import type { RequestContext } from './request-context.ts';
import { type StoreParts, groupResource } from './store-parts.ts';
import type {
  AmendOptions,
  DeleteOptions,
  DeleteResult,
  ListOptions,
  ListResult,
  ResourceStore,
  UpdateOptions,
  WatchOptions,
  WatchSink,
  WriteOptions,
  WriteResult,
} from './store.ts';
import { update } from './update.ts';
import type { NextObject } from './write.ts';

const ADMITS_ALL: AdmissionController = { mutate() {}, validate() {} };

/** The store of every resource that is kept: built-in or custom, they differ only in their definition. */
export class GenericStore<T extends ApiObject = ApiObject> implements ResourceStore<T> {
  readonly definition: ResourceDefinition<T>;
  readonly #parts: StoreParts<T>;

  constructor(parts: StoreParts<T>) {
    this.#parts = parts;
    this.definition = parts.definition;
  }

  get ready(): Promise<void> {
    return this.#parts.cache.ready;
  }
  get isLoaded(): boolean {
    return this.#parts.cache.isLoaded;
  }
  get admission(): AdmissionController {
    return this.#parts.admission;
  }
  get(namespace: string, name: string, resourceVersion: string): CacheEntry | Promise<CacheEntry> {
    return getEntry(this.#parts, namespace, name, resourceVersion);
  }
  list(namespace: string, options: ListOptions): ListResult | Promise<ListResult> {
    return listEntries(this.#parts, namespace, options);
  }
  async watch(namespace: string, options: WatchOptions, sink: WatchSink): Promise<Subscription> {
    try {
      return await watchEntries(this.#parts, namespace, options, sink);
    } catch (error) {
      throw watchError(error as Error, Number(options.resourceVersion));
    }
  }
  create(context: RequestContext, namespace: string, decode: NextObject<T>, options: WriteOptions): Promise<WriteResult<T>> {
    return create({ parts: this.#parts, context, namespace, options }, decode);
  }
  update(context: RequestContext, namespace: string, name: string, decode: NextObject<T>, options: UpdateOptions): Promise<WriteResult<T>> {
    return update(this.#parts, context, namespace, name, decode, options);
  }
  async delete(context: RequestContext, namespace: string, name: string, options: DeleteOptions): Promise<DeleteResult<T>> {
    const refusal = this.definition.deletion?.refusal?.(name);
    if (refusal !== undefined) throw forbidden(groupResource(this.definition), name, refusal);
    return deleteObject(this.#parts, context, namespace, name, options);
  }
  async deleteCorrupt(context: RequestContext, namespace: string, name: string): Promise<void> {
    return deleteCorrupt(this.#parts as unknown as StoreParts, context, namespace, name);
  }
  deleteCollection(context: RequestContext, namespace: string, list: ListOptions, options: DeleteOptions): Promise<ListResult> {
    return deleteCollection(this.#parts, context, namespace, list, options);
  }
  amend(namespace: string, name: string, change: (object: T) => void, options: AmendOptions): Promise<T> {
    return amend(this.#parts, namespace, name, change, options);
  }
  get kept(): { cache: ObjectCache; keyPrefix: string } {
    return this.#parts;
  }
  over(cache: ObjectCache): ResourceStore<T> {
    return new GenericStore({ ...this.#parts, cache });
  }
  withoutAdmission(): ResourceStore<T> {
    return new GenericStore({ ...this.#parts, admission: ADMITS_ALL });
  }
}
