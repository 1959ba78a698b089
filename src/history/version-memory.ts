import { parseJson, stringifyUnescaped } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';

interface KnownVersion {
  object: JsonObject;
  /** Versions since the last one that was written as a whole. */
  deltas: number;
}

/** Beside its text: the entry and its key. */
const ENTRY_BYTES = 200;

/** The newest version of every object, as bytes, up to a bound: of what does not fit, nothing is known. */
export class VersionMemory {
  readonly #maxBytes: number;
  readonly #versions = new Map<string, { json: Buffer; deltas: number }>();
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get(id: string): KnownVersion | undefined {
    const known = this.#versions.get(id);
    return known && { object: parseJson(known.json) as JsonObject, deltas: known.deltas };
  }

  set(id: string, { object, deltas }: KnownVersion): void {
    this.delete(id);
    const json = Buffer.from(stringifyUnescaped(object));
    if (this.#sizeBytes + json.length + ENTRY_BYTES > this.#maxBytes) return;
    this.#versions.set(id, { json, deltas });
    this.#sizeBytes += json.length + ENTRY_BYTES;
  }

  delete(id: string): void {
    const known = this.#versions.get(id);
    if (!known) return;
    this.#versions.delete(id);
    this.#sizeBytes -= known.json.length + ENTRY_BYTES;
  }
}
