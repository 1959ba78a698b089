import { type FileHandle, open } from 'node:fs/promises';
import type { JsonObject } from '../encoding/json-types.ts';
import { delay } from '../util/delay.ts';
import { TimeSlice } from '../util/time-slice.ts';
import { BLOCK_HEAD_BYTES, type FlightRecord, MAGIC, MAX_BLOCK_BYTES, type RecordedCluster, type RecordedResource, decodeBlock } from './flight-format.ts';
import { versionOf } from './json-fields.ts';
import { withDelta } from './object-delta.ts';

/** One change of one object, with the versions before and after it. */
export interface RecordedChange {
  timeMs: number;
  resource: RecordedResource;
  /** `namespace/name`, or a name. */
  key: string;
  /** Undefined for the first version that was seen. */
  before: JsonObject | undefined;
  /** Undefined where it was deleted. */
  after: JsonObject | undefined;
  /** Of the object after it, or of its deletion; empty where nobody has told it. */
  resourceVersion: string;
  /** It was there when the recording of its resource began. */
  isInitial: boolean;
  /** It may be several in one: the recorder was cut off from this time on. */
  gapSinceMs: number | undefined;
}

/** Which objects somebody wants to know of. */
export interface ObjectFilter {
  resource?: (resource: RecordedResource) => boolean;
  key?: (key: string) => boolean;
}

interface ReadOptions extends ObjectFilter {
  /** At the end of the file, waits for what is still written, until this is aborted. */
  follow?: AbortSignal | undefined;
}

/** How often a file that is written is looked at. The recorder writes once a second. */
const FOLLOW_INTERVAL_MS = 200;

/** Reads a flight file from its beginning to its end, while it may still be written. */
export class FlightReader {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly resources = new Map<number, RecordedResource>();
  /** The first list of each resource. */
  readonly lists = new Map<RecordedResource, { timeMs: number; resourceVersion: string }>();
  cluster: RecordedCluster | undefined;
  /** Undefined as long as no record was read. */
  startMs: number | undefined;
  endMs: number | undefined;
  /** From when on the recording is whole. */
  beganMs: number | undefined;
  /** The last block is not whole: the recorder is writing it, or was killed. */
  isCutOff = false;

  private constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** Throws an Error of one line where it is no flight file. */
  static async open(path: string): Promise<FlightReader> {
    const file = await open(path, 'r');
    const magic = Buffer.alloc(MAGIC.length);
    await file.read(magic, 0, MAGIC.length, 0);
    if (magic.equals(MAGIC)) return new FlightReader(file, path);
    await file.close();
    throw new Error(`${path} is not a recording of \`binnacle record\`, or one of another version`);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** The changes of the objects that the filter lets through, in the order in which they were seen. */
  async *changes({ resource: isWanted = () => true, key: isKeyWanted = () => true, follow }: ReadOptions = {}): AsyncGenerator<RecordedChange> {
    const versions = new Map<string, JsonObject>();
    const gaps = new Map<number, { sinceMs: number; seen: Set<string> }>();
    const listed = new Set<number>();
    for await (const record of this.#records(follow)) {
      if (record.type === 'gap') gaps.set(record.resource, { sinceMs: record.sinceMs, seen: new Set() });
      else if (record.type === 'listed') listed.add(record.resource);
      if (!isOfObject(record)) continue;
      const resource = this.resources.get(record.resource);
      if (!resource) throw new Error(`${this.#path}: a change of a resource that was never named`);
      if (!isWanted(resource) || !isKeyWanted(record.key)) continue;
      const id = `${record.resource} ${record.key}`;
      const before = versions.get(id);
      const after = versionAfter(record, before);
      if (after === undefined) versions.delete(id);
      else versions.set(id, after);
      const gapSinceMs = firstSince(gaps.get(record.resource), record.key);
      const resourceVersion = record.type === 'deleted' ? record.resourceVersion : versionOf(after);
      yield { timeMs: record.timeMs, resource, key: record.key, before, after, resourceVersion, isInitial: !listed.has(record.resource), gapSinceMs };
    }
  }

  async *#records(follow: AbortSignal | undefined): AsyncGenerator<FlightRecord> {
    const slice = new TimeSlice();
    for await (const records of this.#blocks(follow)) {
      for (const record of records) {
        this.#note(record);
        yield record;
        if (slice.isSpent) await slice.next();
      }
    }
  }

  #note(record: FlightRecord): void {
    this.startMs ??= record.timeMs;
    this.endMs = Math.max(this.endMs ?? 0, record.timeMs);
    if (record.type === 'cluster') this.cluster = record.cluster;
    else if (record.type === 'began') this.beganMs ??= record.timeMs;
    else if (record.type === 'resource') this.resources.set(record.resource, record.is);
    else if (record.type === 'listed') {
      const resource = this.resources.get(record.resource);
      if (resource && !this.lists.has(resource)) this.lists.set(resource, record);
    }
  }

  async *#blocks(follow: AbortSignal | undefined): AsyncGenerator<FlightRecord[]> {
    const head = Buffer.alloc(BLOCK_HEAD_BYTES);
    for (let at = MAGIC.length; ;) {
      const { bytesRead } = await this.#file.read(head, 0, BLOCK_HEAD_BYTES, at);
      const length = bytesRead === BLOCK_HEAD_BYTES ? head.readUInt32BE(0) : 0;
      if (length > MAX_BLOCK_BYTES) throw new Error(`${this.#path} is damaged at byte ${at}`);
      const content = Buffer.alloc(length);
      const isWhole = length > 0 && (await this.#file.read(content, 0, length, at + BLOCK_HEAD_BYTES)).bytesRead === length;
      if (isWhole) {
        yield this.#decode(head, content, at);
        at += BLOCK_HEAD_BYTES + length;
        continue;
      }
      this.isCutOff = bytesRead > 0;
      if (!follow || follow.aborted) return;
      await delay(FOLLOW_INTERVAL_MS, follow);
    }
  }

  #decode(head: Buffer, content: Buffer, at: number): FlightRecord[] {
    try {
      return decodeBlock(head, content);
    } catch (error) {
      throw new Error(`${this.#path} is damaged at byte ${at}: ${(error as Error).message}`, { cause: error });
    }
  }
}

type ObjectRecord = Extract<FlightRecord, { type: 'object' | 'delta' | 'deleted' }>;

const isOfObject = (record: FlightRecord): record is ObjectRecord => record.type === 'object' || record.type === 'delta' || record.type === 'deleted';

function versionAfter(record: ObjectRecord, before: JsonObject | undefined): JsonObject | undefined {
  if (record.type === 'deleted') return undefined;
  if (record.type === 'object') return record.object;
  if (before === undefined) throw new Error(`a delta of ${record.key} has no version before it`);
  return withDelta(before, record.delta) as JsonObject;
}

/** Behind a gap, only an object's first change may be several. */
function firstSince(gap: { sinceMs: number; seen: Set<string> } | undefined, key: string): number | undefined {
  if (!gap || gap.seen.has(key)) return undefined;
  gap.seen.add(key);
  return gap.sinceMs;
}
