import type { ApiObject } from '../../util/api-object.ts';
import { parseOwnJson } from '../../util/json.ts';
import { typePrefixLength, withResourceVersion } from '../client-json.ts';
import type { StoredCodec } from '../codec.ts';
import type { CacheEntry } from './cache.ts';

/** What can be made again from the bytes. */
interface Derived {
  object?: unknown;
  forms?: Map<string, Buffer>;
}

/**
 * An object as it was stored. Its client bytes are made on first use and take the stored value's place; what is derived from them is held weakly, so that
 * many readers of a moment share it and none of it outlives them: memory grows with the bytes stored.
 */
export class StoredEntry implements CacheEntry {
  readonly key: string;
  readonly revision: number;
  readonly #codec: StoredCodec;
  /** What the bytes are made from: the stored value, or the same object at another revision. */
  #source: Buffer | StoredEntry | undefined;
  #bytes: Buffer | undefined;
  #typePrefixLength = 0;
  #derived: WeakRef<Derived> | undefined;

  constructor(key: string, revision: number, source: Buffer | StoredEntry, codec: StoredCodec) {
    this.key = key;
    this.revision = revision;
    this.#source = source;
    this.#codec = codec;
  }

  get bytes(): Buffer {
    return this.#bytes ?? this.#makeBytes();
  }

  get typePrefixLength(): number {
    if (this.#bytes === undefined) this.#makeBytes();
    return this.#typePrefixLength;
  }

  /** About how much memory this holds. */
  get sizeBytes(): number {
    return this.#bytes?.length ?? (this.#source instanceof StoredEntry ? this.#source.sizeBytes : (this.#source?.length ?? 0));
  }

  object<T = ApiObject>(): T {
    const derived = this.#derive();
    derived.object ??= parseOwnJson(this.bytes);
    return derived.object as T;
  }

  form(name: string, make: () => Buffer): Buffer {
    const derived = this.#derive();
    derived.forms ??= new Map();
    let form = derived.forms.get(name);
    if (form === undefined) derived.forms.set(name, (form = make()));
    return form;
  }

  /** The same object carrying another revision. */
  at(revision: number): StoredEntry {
    return new StoredEntry(this.key, revision, this, this.#codec);
  }

  #makeBytes(): Buffer {
    const source = this.#source!;
    const bytes = source instanceof StoredEntry ? withResourceVersion(source.bytes, this.revision) : this.#codec.toClientBytes(source, this.revision);
    this.#typePrefixLength = typePrefixLength(bytes);
    this.#bytes = bytes;
    this.#source = undefined;
    return bytes;
  }

  #derive(): Derived {
    let derived = this.#derived?.deref();
    if (derived === undefined) this.#derived = new WeakRef((derived = {}));
    return derived;
  }
}
