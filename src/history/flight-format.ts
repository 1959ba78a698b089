import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { isJsonObject, parseJson, stringifyUnescaped } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { textOf } from './json-fields.ts';
import type { ObjectDelta } from './object-delta.ts';

/*
 * A flight file is a recording of a cluster: its resources, and every version of every object that the recorder saw. It begins with MAGIC; blocks follow, each
 * a head (length and CRC-32 of its content) and the content: records as lines of JSON, compressed. Blocks are only ever appended, so what a crash cuts off is
 * the last one at most. A version is written as what changed since the one before, and as a whole (a keyframe) from time to time.
 */

export const MAGIC = Buffer.from('binnacle flight 1\n');
export const BLOCK_HEAD_BYTES = 8;
/** A longer content was not written by us. */
export const MAX_BLOCK_BYTES = 64 * 1024 * 1024;
/** Of a block's content when it is read; compressed text of Kubernetes objects is a tenth of it. */
const MAX_TEXT_BYTES = 512 * 1024 * 1024;

/** A resource whose objects are recorded. */
export interface RecordedResource {
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
  shortNames: readonly string[];
  /** Those of discovery; recordings of the first release have none. */
  singular?: string;
  categories?: readonly string[];
}

/** Where the recording is of, and the first record of the file. */
export interface RecordedCluster {
  server: string;
  gitVersion: string;
}

export type FlightRecord =
  | { type: 'cluster'; timeMs: number; cluster: RecordedCluster }
  /** `resource`: the number by which later records name it. */
  | { type: 'resource'; timeMs: number; resource: number; is: RecordedResource }
  /** A version as a whole. */
  | { type: 'object'; timeMs: number; resource: number; key: string; object: JsonObject }
  | { type: 'delta'; timeMs: number; resource: number; key: string; delta: ObjectDelta }
  /** `resourceVersion`: of the deletion, where a watch told of it. */
  | { type: 'deleted'; timeMs: number; resource: number; key: string; resourceVersion: string }
  /** All objects that there were are recorded, as of that version of the list, and from now on every change. */
  | { type: 'listed'; timeMs: number; resource: number; resourceVersion: string }
  /** The watch was interrupted from `sinceMs` on: several changes of an object may have become one. */
  | { type: 'gap'; timeMs: number; resource: number; sinceMs: number }
  /** Every resource that there was at first is listed: from now on the recording is whole. */
  | { type: 'began'; timeMs: number };

const TYPES = ['cluster', 'resource', 'object', 'delta', 'deleted', 'gap', 'listed', 'began'] as const;

/** `namespace/name`, or the name of an object that belongs to no namespace. */
export const keyOf = (namespace: string | undefined, name: string): string => (namespace ? `${namespace}/${name}` : name);

export function encodeRecord(record: FlightRecord): string {
  const code = TYPES.indexOf(record.type);
  if (record.type === 'cluster') return line([code, record.timeMs, record.cluster]);
  if (record.type === 'began') return line([code, record.timeMs]);
  if (record.type === 'resource') return line([code, record.timeMs, record.resource, record.is]);
  if (record.type === 'listed') return line([code, record.timeMs, record.resource, record.resourceVersion]);
  if (record.type === 'gap') return line([code, record.timeMs, record.resource, record.sinceMs]);
  if (record.type === 'deleted') return line([code, record.timeMs, record.resource, record.key, record.resourceVersion]);
  return line([code, record.timeMs, record.resource, record.key, record.type === 'object' ? record.object : record.delta]);
}

const line = (values: readonly unknown[]): string => `${stringifyUnescaped(values as Json[])}\n`;

function decodeRecord(text: string): FlightRecord {
  const values = parseJson(text);
  if (!Array.isArray(values)) throw new Error('a record is no list');
  const [code, time, ...rest] = values;
  const type = TYPES[Number(code)];
  const timeMs = Number(time);
  if (type === undefined || !Number.isFinite(timeMs)) throw new Error('a record is of a type that this version does not know');
  if (type === 'cluster') return { type, timeMs, cluster: objectOf(rest[0]) as unknown as RecordedCluster };
  if (type === 'began') return { type, timeMs };
  const resource = Number(rest[0]);
  if (type === 'resource') return { type, timeMs, resource, is: objectOf(rest[1]) as unknown as RecordedResource };
  // Recordings of the first release leave versions out.
  if (type === 'listed') return { type, timeMs, resource, resourceVersion: textOf(rest[1]) };
  if (type === 'gap') return { type, timeMs, resource, sinceMs: Number(rest[1]) };
  const key = String(rest[1]);
  if (type === 'deleted') return { type, timeMs, resource, key, resourceVersion: textOf(rest[2]) };
  if (type === 'object') return { type, timeMs, resource, key, object: objectOf(rest[2]) };
  return { type, timeMs, resource, key, delta: rest[2] as unknown as ObjectDelta };
}

function objectOf(value: Json | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error('a record has no object');
  return value;
}

/** A block of records that are encoded already, ready to be appended. */
export function encodeBlock(lines: readonly string[]): Buffer {
  const content = deflateRawSync(lines.join(''));
  const head = Buffer.allocUnsafe(BLOCK_HEAD_BYTES);
  head.writeUInt32BE(content.length, 0);
  head.writeUInt32BE(crc32(content), 4);
  return Buffer.concat([head, content]);
}

/** Throws where the content is not what was written. */
export function decodeBlock(head: Buffer, content: Buffer): FlightRecord[] {
  if (crc32(content) !== head.readUInt32BE(4)) throw new Error('a block is damaged: its checksum does not match');
  const text = inflateRawSync(content, { maxOutputLength: MAX_TEXT_BYTES }).toString();
  return text.slice(0, -1).split('\n').map(decodeRecord);
}
