import type { Admission } from '../../registry/admission.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { RequestContext } from '../../registry/request-context.ts';
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
} from '../../registry/store.ts';
import { clone } from '../../schema/clone.ts';
import { normalize } from '../../schema/normalize.ts';
import type { CacheEntry, CacheEvent } from '../../storage/cache/cache.ts';
import type { Subscription } from '../../storage/engine.ts';
import { type ApiObject, apiVersionOf } from '../../util/api-object.ts';
import { internalError, invalid } from '../../util/errors.ts';
import { FieldErrors } from '../../util/field-errors.ts';
import { stringifyJson } from '../../util/json.ts';
import type { JsonObject } from '../../util/json-types.ts';
import type { Converter } from './webhook-converter.ts';

/** Events that wait for their conversion; a watcher further behind is cut off. */
const MAX_PENDING_EVENTS = 10_000;

/**
 * A resource in a version that only a webhook can make of what is stored: the store of the stored version, with conversions on the way in and out.
 * Objects are defaulted and judged in this version first, and then, converted, as they are stored.
 */
export class ConvertingStore implements ResourceStore {
  readonly definition: ResourceDefinition;
  readonly #stored: ResourceStore;
  readonly #converter: Converter;
  /** Each stored entry is converted once. */
  readonly #converted = new WeakMap<CacheEntry, Promise<CacheEntry>>();

  constructor(definition: ResourceDefinition, stored: ResourceStore, converter: Converter) {
    this.definition = definition;
    this.#stored = stored;
    this.#converter = converter;
  }

  get ready(): Promise<void> {
    return this.#stored.ready;
  }
  get admission(): Admission {
    return this.#stored.admission;
  }

  async get(namespace: string, name: string, resourceVersion: string): Promise<CacheEntry> {
    return this.#entry(await this.#stored.get(namespace, name, resourceVersion));
  }

  async list(namespace: string, options: ListOptions): Promise<ListResult> {
    return this.#convertList(await this.#stored.list(namespace, options));
  }

  watch(namespace: string, options: WatchOptions, sink: WatchSink): Promise<Subscription> {
    let last: Promise<void> = Promise.resolve();
    let pending = 0;
    let isOver = false;
    const fail = (error: Error): void => {
      if (!isOver) sink.fail(error);
      isOver = true;
    };
    const enqueue = (deliver: () => Promise<void> | void): void => {
      if (isOver) return;
      if (++pending > MAX_PENDING_EVENTS) return fail(internalError('the conversion of events fell behind'));
      last = last
        .then(() => (isOver ? undefined : deliver()))
        .catch((error: unknown) => fail(error as Error))
        .finally(() => pending--);
    };
    return this.#stored.watch(namespace, options, {
      send: (type, entry, event: CacheEvent | undefined) => enqueue(async () => sink.send(type, await this.#entry(entry), event)),
      bookmark: (revision, isInitialEventsEnd) => enqueue(() => sink.bookmark(revision, isInitialEventsEnd)),
      fail: (error) => enqueue(() => fail(error)),
      end: () => enqueue(() => sink.end()),
    });
  }

  async create(context: RequestContext, namespace: string, object: ApiObject, options: WriteOptions): Promise<WriteResult> {
    this.#judge(object, (shaped, errors) => this.definition.validate?.(shaped, errors, undefined, this.#apiVersion));
    const [stored] = await this.#toStored([object]);
    return this.#result(await this.#stored.create(context, namespace, stored!, { ...options, apiVersion: this.#storedVersion }));
  }

  async update(
    context: RequestContext,
    namespace: string,
    name: string,
    next: (current: ApiObject | undefined) => ApiObject | Promise<ApiObject>,
    options: UpdateOptions,
  ): Promise<WriteResult> {
    const rules = options.subresource === '' ? this.definition : this.definition.subresources?.[options.subresource]?.update;
    const convertedNext = async (current: ApiObject | undefined): Promise<ApiObject> => {
      const [before] = current === undefined ? [] : await this.#fromStored([current]);
      const object = await next(before && clone(before));
      this.#judge(object, (shaped, errors) =>
        before ? rules?.validateUpdate?.(shaped, before, errors, this.#apiVersion) : this.definition.validate?.(shaped, errors),
      );
      return (await this.#toStored([object]))[0]!;
    };
    return this.#result(await this.#stored.update(context, namespace, name, convertedNext, { ...options, apiVersion: this.#storedVersion }));
  }

  async delete(context: RequestContext, namespace: string, name: string, options: DeleteOptions): Promise<DeleteResult> {
    const result = await this.#stored.delete(context, namespace, name, options);
    return result.answersWithObject ? { ...result, object: (await this.#fromStored([result.object]))[0]! } : result;
  }

  async deleteCollection(context: RequestContext, namespace: string, list: ListOptions, options: DeleteOptions): Promise<ListResult> {
    return this.#convertList(await this.#stored.deleteCollection(context, namespace, list, options));
  }

  amend(namespace: string, name: string, change: (object: ApiObject) => void, options: AmendOptions): Promise<ApiObject> {
    return this.#stored.amend(namespace, name, change, options);
  }

  withoutAdmission(): ResourceStore {
    return new ConvertingStore(this.definition, this.#stored.withoutAdmission(), this.#converter);
  }

  get #apiVersion(): string {
    return apiVersionOf(this.definition.group, this.definition.version);
  }
  get #storedVersion(): string {
    return apiVersionOf(this.#stored.definition.group, this.#stored.definition.version);
  }

  #judge(object: ApiObject, validate: (shaped: ApiObject, errors: FieldErrors) => void): void {
    const { group, kind, schema } = this.definition;
    const errors = new FieldErrors();
    validate(normalize(schema, object as unknown as JsonObject) as unknown as ApiObject, errors);
    if (!errors.isEmpty) throw invalid({ group, kind }, object.metadata.name ?? '', errors.list);
  }

  async #toStored(objects: readonly ApiObject[]): Promise<ApiObject[]> {
    return (await this.#converter.convert(objects, this.#storedVersion)).map((object) => withOwnersIn(object, this.#apiVersion, this.#storedVersion));
  }

  async #fromStored(objects: readonly ApiObject[]): Promise<ApiObject[]> {
    const converted = await this.#converter.convert(objects, this.#apiVersion);
    return converted.map((object) => {
      const owned = withOwnersIn(object, this.#storedVersion, this.#apiVersion);
      return normalize(this.definition.schema, owned as unknown as JsonObject) as unknown as ApiObject;
    });
  }

  #entry(stored: CacheEntry): Promise<CacheEntry> {
    let entry = this.#converted.get(stored);
    if (entry === undefined) {
      entry = this.#fromStored([stored.object()]).then(([object]) => new ConvertedEntry(stored, object!));
      entry.catch(() => this.#converted.delete(stored));
      this.#converted.set(stored, entry);
    }
    return entry;
  }

  /** Those that are not converted yet, all in one call. */
  async #convertList(list: ListResult): Promise<ListResult> {
    const due = list.entries.filter((entry) => !this.#converted.has(entry));
    const objects = await this.#fromStored(due.map((entry) => entry.object()));
    for (const [index, entry] of due.entries()) this.#converted.set(entry, Promise.resolve(new ConvertedEntry(entry, objects[index]!)));
    return { ...list, entries: await Promise.all(list.entries.map((entry) => this.#entry(entry))) };
  }

  async #result(result: WriteResult): Promise<WriteResult> {
    if (result.entry !== undefined) {
      const entry = await this.#entry(result.entry);
      return { ...result, entry, object: entry.object() };
    }
    return { ...result, object: (await this.#fromStored([result.object]))[0]! };
  }
}

/** Who owns what is told in the version that is spoken: of a conversion by webhook nobody knows which field became which. */
function withOwnersIn(object: ApiObject, from: string, to: string): ApiObject {
  const { managedFields } = object.metadata;
  if (managedFields === undefined) return object;
  return {
    ...object,
    metadata: { ...object.metadata, managedFields: managedFields.map((entry) => (entry['apiVersion'] === from ? { ...entry, apiVersion: to } : entry)) },
  };
}

class ConvertedEntry implements CacheEntry {
  readonly key: string;
  readonly revision: number;
  readonly bytes: Buffer;
  readonly typePrefixLength: number;
  readonly #object: ApiObject;
  readonly #forms = new Map<string, Buffer>();

  constructor({ key, revision }: CacheEntry, object: ApiObject) {
    this.key = key;
    this.revision = revision;
    this.#object = object;
    this.bytes = Buffer.from(stringifyJson(object));
    this.typePrefixLength = Buffer.byteLength(`{"kind":${JSON.stringify(object.kind)},"apiVersion":${JSON.stringify(object.apiVersion)},`);
  }

  object<T = ApiObject>(): T {
    return this.#object as T;
  }

  form(name: string, make: () => Buffer): Buffer {
    let form = this.#forms.get(name);
    if (form === undefined) this.#forms.set(name, (form = make()));
    return form;
  }
}
