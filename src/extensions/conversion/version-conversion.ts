import type { ServedVersion } from '../../registry/definition.ts';
import type { StorageConversion } from '../../registry/storage-conversion.ts';
import { clone } from '../../schema/clone.ts';
import { NOTHING_EMPTY } from '../../schema/empty-paths.ts';
import { DecodeError } from '../../schema/decode.ts';
import type { CacheEntry } from '../../storage/cache/cache.ts';
import { type ApiObject, apiVersionOf } from '../../api/api-object.ts';
import { unknownError } from '../../api/errors.ts';
import { stringifyJson } from '../../encoding/json.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { withAppliedEmpties, withDefaultsToCome } from '../stored-form.ts';
import type { Converter } from './converter.ts';

/** Objects that a webhook is sent together: their number, and about how many bytes they have. */
const MAX_BATCH_OBJECTS = 500;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** One version of a custom resource over a store of any of its versions. What a conversion brings that the version does not know is pruned. */
export class VersionConversion implements StorageConversion {
  readonly #own: ServedVersion;
  readonly #ownApiVersion: string;
  readonly #typePrefix: Buffer;
  readonly #stored: ServedVersion;
  readonly #storedApiVersion: string;
  readonly #converter: Converter;
  /** Each stored entry is converted once. */
  readonly #converted = new WeakMap<CacheEntry, ConvertedEntry | Promise<ConvertedEntry>>();

  /** `stored`: the version that is written. */
  constructor(own: ServedVersion, stored: ServedVersion, converter: Converter) {
    this.#own = own;
    this.#ownApiVersion = apiVersionOf(own.group, own.version);
    this.#typePrefix = typePrefixOf(own.kind, this.#ownApiVersion);
    this.#stored = stored;
    this.#storedApiVersion = apiVersionOf(stored.group, stored.version);
    this.#converter = converter;
  }

  read(stored: CacheEntry): CacheEntry | Promise<CacheEntry> {
    if (this.#isOwn(stored)) return stored;
    return this.#converted.get(stored) ?? this.#convert([stored])[0]!;
  }

  async readAll(stored: readonly CacheEntry[]): Promise<CacheEntry[]> {
    let [batch, sizeBytes]: [CacheEntry[], number] = [[], 0];
    for (const entry of stored) {
      if (this.#isOwn(entry) || this.#converted.has(entry)) continue;
      if (batch.length === MAX_BATCH_OBJECTS || sizeBytes + entry.bytes.length > MAX_BATCH_BYTES) {
        await Promise.all(this.#convert(batch));
        [batch, sizeBytes] = [[], 0];
      }
      batch.push(entry);
      sizeBytes += entry.bytes.length;
    }
    if (batch.length > 0) await Promise.all(this.#convert(batch));
    return Promise.all(stored.map((entry) => this.read(entry)));
  }

  storedOf(entry: CacheEntry): CacheEntry {
    return entry instanceof ConvertedEntry ? entry.stored : entry;
  }

  toStored(object: ApiObject, applied = NOTHING_EMPTY): ApiObject | Promise<ApiObject> {
    if (this.#stored.version === this.#own.version) return withAppliedEmpties(this.#toBeStored(object), applied);
    const converted = this.#converter.convert([object], this.#storedApiVersion);
    return converted instanceof Promise ? converted.then(([one]) => this.#toBeStored(one!)) : this.#toBeStored(converted[0]!);
  }

  #toBeStored(converted: ApiObject): ApiObject {
    return withDefaultsToCome(this.#stored, coerced(this.#stored, converted));
  }

  asRead(object: ApiObject): ApiObject | Promise<ApiObject> {
    const stored = this.toStored(object);
    return stored instanceof Promise ? stored.then((one) => this.#readBack(one)) : this.#readBack(stored);
  }

  #readBack(stored: ApiObject): ApiObject | Promise<ApiObject> {
    const read = clone(stored);
    this.#stored.default?.(read);
    const converted = this.#converter.convert([coerced(this.#stored, read)], this.#ownApiVersion);
    return converted instanceof Promise ? converted.then(([one]) => coerced(this.#own, one!)) : coerced(this.#own, converted[0]!);
  }

  #isOwn({ bytes }: CacheEntry): boolean {
    return bytes.compare(this.#typePrefix, 0, this.#typePrefix.length, 0, this.#typePrefix.length) === 0;
  }

  /** In one call; what fails is tried again by whoever asks next. */
  #convert(entries: readonly CacheEntry[]): (ConvertedEntry | Promise<ConvertedEntry>)[] {
    const objects = entries.map((entry) => entry.object());
    const converted = this.#converter.convert(objects, this.#ownApiVersion);
    if (!(converted instanceof Promise)) return entries.map((entry, index) => this.#keep(entry, converted[index]!));
    return entries.map((entry, index) => {
      const one = converted.then(
        (all) => this.#keep(entry, all[index]!),
        (error: unknown) => {
          this.#converted.delete(entry);
          throw error;
        },
      );
      this.#converted.set(entry, one);
      return one;
    });
  }

  #keep(entry: CacheEntry, object: ApiObject): ConvertedEntry {
    const converted = new ConvertedEntry(entry, coerced(this.#own, object));
    this.#converted.set(entry, converted);
    return converted;
  }
}

const typePrefixOf = (kind: string, apiVersion: string): Buffer => Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`);

/** What the version knows of a converted object, in canonical order. */
function coerced({ schema }: ServedVersion, object: ApiObject): ApiObject {
  try {
    return schema.custom!.decode(object as unknown as JsonObject, undefined) as unknown as ApiObject;
  } catch (error) {
    throw error instanceof DecodeError ? unknownError(error.message) : error;
  }
}

class ConvertedEntry implements CacheEntry {
  readonly stored: CacheEntry;
  readonly bytes: Buffer;
  readonly typePrefixLength: number;
  readonly #object: ApiObject;
  readonly #forms = new Map<string, Buffer>();

  constructor(stored: CacheEntry, object: ApiObject) {
    this.stored = stored;
    this.#object = object;
    this.bytes = Buffer.from(stringifyJson(object));
    this.typePrefixLength = typePrefixOf(object.kind, object.apiVersion).length;
  }

  get key(): string {
    return this.stored.key;
  }
  get revision(): number {
    return this.stored.revision;
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
