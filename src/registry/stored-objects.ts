import type { StoredCodec } from '../storage/codec.ts';
import { CommitConflict, type Engine, type Stored } from '../storage/engine.ts';
import type { ApiObject } from '../api/api-object.ts';
import { parseOwnJson } from '../encoding/json.ts';

export interface ObjectAtRevision<T extends ApiObject> {
  object: T;
  revision: number;
}

export interface StoredUpdate<T extends ApiObject> {
  /** What the caller last knew of the object, to spare a reading. It may be old. */
  known?: ObjectAtRevision<T> | undefined;
  /** The store removes the object after so long. */
  ttlSeconds?: number;
}

/**
 * Objects of one kind that no client is served, under upstream's keys: by them servers that share a store agree on things. There is no cache; every
 * reading asks the store.
 */
export class StoredObjects<T extends ApiObject> {
  readonly #engine: Engine;
  readonly #codec: StoredCodec;
  readonly #prefix: string;

  /** `prefix`: of the keys, with the slash at its end. */
  constructor(engine: Engine, codec: StoredCodec, prefix: string) {
    this.#engine = engine;
    this.#codec = codec;
    this.#prefix = prefix;
  }

  async get(name: string): Promise<ObjectAtRevision<T> | undefined> {
    return this.#read(await this.#engine.get(this.#prefix + name));
  }

  async list(): Promise<T[]> {
    const { items } = await this.#engine.range(this.#prefix);
    return items.map((item) => this.#read(item)!.object);
  }

  /**
   * Puts what `change` makes of the current object in its place, and answers with it; `change` is called again whenever others were faster. Where it
   * answers undefined, the object stays as it is; it was shown the newest one then.
   */
  async update(
    name: string,
    change: (current: T | undefined) => T | undefined,
    { known, ttlSeconds }: StoredUpdate<T> = {},
  ): Promise<ObjectAtRevision<T> | undefined> {
    let current = known ?? (await this.get(name));
    let mayBeOld = known !== undefined;
    for (;;) {
      const next = change(current?.object);
      if (next === undefined && !mayBeOld) return current;
      if (next === undefined) current = await this.get(name);
      else {
        const written = await this.#put(name, next, current?.revision ?? 0, ttlSeconds);
        if (!(written instanceof CommitConflict)) return { object: next, revision: written };
        current = this.#read(written.current);
      }
      mayBeOld = false;
    }
  }

  /** False where there was none. */
  async remove(name: string): Promise<boolean> {
    const key = this.#prefix + name;
    for (let current = await this.#engine.get(key); current !== undefined;) {
      try {
        await this.#engine.commit({ type: 'delete', key, expected: current.revision });
        return true;
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error;
        current = error.current;
      }
    }
    return false;
  }

  async #put(name: string, object: T, expected: number, ttlSeconds: number | undefined): Promise<number | CommitConflict> {
    const value = this.#codec.encode(object);
    try {
      return await this.#engine.commit({ type: 'put', key: this.#prefix + name, value, expected, ...(ttlSeconds !== undefined && { ttlSeconds }) });
    } catch (error) {
      if (error instanceof CommitConflict) return error;
      throw error;
    }
  }

  #read(stored: Stored | undefined): ObjectAtRevision<T> | undefined {
    if (stored === undefined) return undefined;
    const { value, revision } = stored;
    return { object: parseOwnJson(this.#codec.toClientBytes(value, revision)) as unknown as T, revision };
  }
}
