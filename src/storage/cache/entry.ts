import type { ApiObject } from '../../api/api-object.ts';
import { parseOwnJson } from '../../encoding/json.ts';
import { typePrefixLength, withResourceVersion } from '../client-json.ts';
import type { StoredCodec } from '../codec.ts';
import type { CacheEntry } from './cache.ts';
import { LARGEST_RESIDENT_BYTES, type Resident, Slab, Slabs } from './slabs.ts';
import { sliceOf } from '../mapped-memory.ts';

/** What can be made again from the bytes. */
interface Derived {
  object?: unknown;
  forms?: Map<string, Buffer>;
}

/** What all entries of one cache share. */
export class EntryMemory {
  readonly codec: StoredCodec;
  readonly slabs = new Slabs();
  /**
   * Of entries that have left, which history keeps in the order in which they did. Among those that stay they would hold memory many times their size, until
   * the last of them goes.
   */
  readonly leftSlabs = new Slabs();
  /** Memory for what is going to lie in a slab. */
  readonly allocate = (sizeBytes: number): Buffer => this.slabs.room(sizeBytes);

  constructor(codec: StoredCodec) {
    this.codec = codec;
  }
}

const NOT_MADE = -1;

/** The third byte of `{"kind":`, with which values begin that become client bytes by a copy. */
const K = 0x6b;

/**
 * An object as it was stored. Its client bytes are made on first use and take the stored value's place; what is derived from them is held weakly, so that
 * many readers of a moment share it and none of it outlives them: memory grows with the bytes stored.
 *
 *     new → enter → in the cache's tree, bytes in a slab → leave, to a slab of others that have left → kept by history, snapshots and readers only
 */
export class StoredEntry implements CacheEntry, Resident {
  readonly key: string;
  readonly revision: number;
  #memory: EntryMemory;
  /** What the bytes are made from: the stored value, or the same object at another revision; then the bytes, or the slab that they lie in. */
  #content: Buffer | StoredEntry | Slab;
  #isInTree = false;
  #start = 0;
  #length = 0;
  /** Not made yet: NOT_MADE. */
  #typePrefixLength = NOT_MADE;
  #derived: WeakRef<Derived> | undefined;

  constructor(key: string, revision: number, source: Buffer | StoredEntry, memory: EntryMemory) {
    this.key = key;
    this.revision = revision;
    this.#content = source;
    this.#memory = memory;
  }

  get bytes(): Buffer {
    if (this.#typePrefixLength === NOT_MADE) this.#make();
    const content = this.#content as Buffer | Slab;
    return content instanceof Slab ? sliceOf(content.memory, this.#start, this.#start + this.#length) : content;
  }

  /** Whether its bytes are there, so that nothing is needed to make them any more. */
  get isMade(): boolean {
    return this.#typePrefixLength !== NOT_MADE;
  }

  get typePrefixLength(): number {
    if (this.#typePrefixLength === NOT_MADE) this.#make();
    return this.#typePrefixLength;
  }

  /** About how much memory this holds. */
  get sizeBytes(): number {
    if (this.#typePrefixLength !== NOT_MADE) return this.#length;
    return this.#content instanceof StoredEntry ? this.#content.sizeBytes : (this.#content as Buffer).length;
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
    return new StoredEntry(this.key, revision, this, this.#memory);
  }

  /** The entry is what the cache holds for its key. Where that is cheap, its bytes are made now: they are smaller than a value in a Buffer of its own. */
  enter(): void {
    this.#isInTree = true;
    if (this.#typePrefixLength !== NOT_MADE) return this.#settle(this.bytes);
    if ((this.#content as Buffer)[2] !== K) return;
    try {
      this.#make();
    } catch {
      // Whoever reads it is told.
    }
  }

  /** Another one has taken its place, or none. */
  leave(): void {
    // Another cache that has it may have left it already.
    if (!this.#isInTree) return;
    this.#isInTree = false;
    if (!(this.#content instanceof Slab)) return;
    const { slabs, leftSlabs } = this.#memory;
    const left = leftSlabs.place(this.bytes);
    slabs.release(this.#content, this.#length);
    this.#content = left.slab;
    this.#start = left.start;
  }

  /** From now on it belongs to several caches, and must not hold what is of one. Only for what is made. */
  share(memory: EntryMemory): void {
    this.#memory = memory;
  }

  livesIn(slab: Slab): boolean {
    return this.#isInTree && this.#content === slab;
  }

  move(): void {
    this.#settle(this.bytes);
  }

  #make(): void {
    const source = this.#content as Buffer | StoredEntry;
    const { codec, allocate } = this.#memory;
    const bytes =
      source instanceof StoredEntry
        ? withResourceVersion(source.bytes, this.revision)
        : codec.toClientBytes(source, this.revision, this.#isInTree ? allocate : undefined);
    this.#typePrefixLength = typePrefixLength(bytes);
    this.#length = bytes.length;
    this.#content = bytes;
    if (this.#isInTree) this.#settle(bytes);
  }

  #settle(bytes: Buffer): void {
    if (bytes.length > LARGEST_RESIDENT_BYTES) return;
    const { slab, start } = this.#memory.slabs.add(this, bytes);
    this.#content = slab;
    this.#start = start;
  }

  #derive(): Derived {
    let derived = this.#derived?.deref();
    if (derived === undefined) this.#derived = new WeakRef((derived = {}));
    return derived;
  }
}
