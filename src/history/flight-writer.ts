import { type FileHandle, open } from 'node:fs/promises';
import type { JsonObject } from '../encoding/json-types.ts';
import { type FlightRecord, MAGIC, type RecordedCluster, type RecordedResource, encodeBlock, encodeRecord } from './flight-format.ts';
import { deltaOf } from './object-delta.ts';
import { VersionMemory } from './version-memory.ts';

/** A block is written when it has so much text: larger ones compress little better. */
const BLOCK_CHARACTERS = 256 * 1024;
/** Of an object, so many versions are deltas before one is whole again: what it takes to read any of them is bounded. */
const DELTAS_A_KEYFRAME = 32;

interface FlightWriterOptions {
  /** For the versions that deltas are made against; beyond it, objects are written as a whole. */
  memoryBytes: number;
}

/** Appends to a flight file. What `flush` has resolved for survives a crash. */
export class FlightWriter {
  readonly #file: FileHandle;
  readonly #versions: VersionMemory;
  #lines: string[] = [];
  #characters = 0;
  #resources = 0;
  #changes = 0;
  #sizeBytes = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: FileHandle, { memoryBytes }: FlightWriterOptions) {
    this.#file = file;
    this.#versions = new VersionMemory(memoryBytes);
  }

  /** Makes the file, which must not be there yet. */
  static async create(path: string, cluster: RecordedCluster, nowMs: number, options: FlightWriterOptions): Promise<FlightWriter> {
    const file = await open(path, 'wx', 0o600);
    const writer = new FlightWriter(file, options);
    await file.write(MAGIC);
    writer.#sizeBytes = MAGIC.length;
    writer.#add({ type: 'cluster', timeMs: nowMs, cluster });
    await writer.flush();
    return writer;
  }

  /** Objects that were seen to change, and the bytes of the file. */
  get totals(): { changes: number; sizeBytes: number; memoryBytes: number } {
    return { changes: this.#changes, sizeBytes: this.#sizeBytes, memoryBytes: this.#versions.sizeBytes };
  }

  /** Answers the number by which its objects are recorded. */
  addResource(is: RecordedResource, timeMs: number): number {
    const resource = this.#resources++;
    this.#add({ type: 'resource', timeMs, resource, is });
    return resource;
  }

  /** A version that is the same as the one before is not written. */
  put(resource: number, key: string, object: JsonObject, timeMs: number): void {
    const id = idOf(resource, key);
    const known = this.#versions.get(id);
    const delta = known && deltaOf(known.object, object);
    if (delta?.length === 0) return;
    this.#changes++;
    const isDelta = known !== undefined && known.deltas < DELTAS_A_KEYFRAME;
    if (isDelta) this.#add({ type: 'delta', timeMs, resource, key, delta: delta! });
    else this.#add({ type: 'object', timeMs, resource, key, object });
    this.#versions.set(id, { object, deltas: isDelta ? known.deltas + 1 : 0 });
  }

  /** `resourceVersion`: of the deletion; empty where nobody has told it. */
  delete(resource: number, key: string, timeMs: number, resourceVersion = ''): void {
    this.#versions.delete(idOf(resource, key));
    this.#changes++;
    this.#add({ type: 'deleted', timeMs, resource, key, resourceVersion });
  }

  listed(resource: number, timeMs: number, resourceVersion = ''): void {
    this.#add({ type: 'listed', timeMs, resource, resourceVersion });
  }

  /** All that there was at first is listed. */
  began(timeMs: number): void {
    this.#add({ type: 'began', timeMs });
  }

  /** The changes between two moments may have become one for each object. */
  gap(resource: number, sinceMs: number, timeMs: number): void {
    this.#add({ type: 'gap', timeMs, resource, sinceMs });
  }

  #add(record: FlightRecord): void {
    const text = encodeRecord(record);
    this.#lines.push(text);
    this.#characters += text.length;
    if (this.#characters >= BLOCK_CHARACTERS) void this.#writeBlock();
  }

  /** All that was added is on disk when this resolves. Rejects where the file could not be written. */
  async flush(): Promise<void> {
    if (this.#lines.length > 0) this.#writeBlock();
    await this.#writing;
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      await this.#file.close();
    }
  }

  #writeBlock(): void {
    const block = encodeBlock(this.#lines);
    this.#lines = [];
    this.#characters = 0;
    this.#sizeBytes += block.length;
    this.#writing = this.#writing.then(async () => void (await this.#file.write(block)));
    // `flush` tells of it.
    this.#writing.catch(() => undefined);
  }
}

const idOf = (resource: number, key: string): string => `${resource} ${key}`;
