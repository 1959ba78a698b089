import { isJsonObject, parseJson, stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');
const KIND = ascii('{"kind":"');
const API_VERSION = ascii('","apiVersion":"');
const AFTER_API_VERSION = ascii('",');
const METADATA = ascii('"metadata":{');
const VALUE = ascii('":"');
const VERSION_AT_START = ascii('"resourceVersion":"');
const VERSION_AFTER_UID = ascii(',"resourceVersion":"');

/** What may stand before the uid, in the order in which upstream writes metadata. */
const BEFORE_UID = new Set(['name', 'generateName', 'namespace', 'selfLink']);

/** Gives memory of this size; whoever asked writes all of it. */
export type Allocate = (sizeBytes: number) => Buffer;

/** Not a part of Node's shared pool: what is kept long would keep its neighbours. */
const ownMemory: Allocate = (sizeBytes) => Buffer.allocUnsafeSlow(sizeBytes);

/** What is between `start` and `end` becomes this text. */
interface Splice {
  start: number;
  end: number;
  text: string;
}

/**
 * The JSON of an object with this resourceVersion, put behind the uid (or at the start of metadata where there is none) or in place of the one
 * that stands there. Nothing is parsed where the text is laid out as this server writes it; any other layout is parsed and written anew.
 * `allocate` may give the memory for it.
 */
export function withResourceVersion(json: Buffer, revision: number, allocate: Allocate = ownMemory): Buffer {
  const metadata = metadataStart(json);
  if (metadata === -1) return rewritten(json, revision);
  const uidEnd = endOfUid(json, metadata);
  return spliced(json, uidEnd === -1 ? versionAtStart(json, metadata, revision) : versionAfterUid(json, uidEnd, revision), allocate);
}

/** Length of `{"kind":"K","apiVersion":"V",`; 0 where the text does not start so. */
export function typePrefixLength(json: Buffer): number {
  const kindEnd = stringEnd(json, passed(json, 0, KIND));
  const versionEnd = stringEnd(json, passed(json, kindEnd, API_VERSION));
  return Math.max(passed(json, versionEnd, AFTER_API_VERSION), 0);
}

function versionAfterUid(json: Buffer, uidEnd: number, revision: number): Splice {
  const present = passed(json, uidEnd, VERSION_AFTER_UID);
  if (present !== -1) return { start: present, end: stringEnd(json, present), text: String(revision) };
  return { start: uidEnd, end: uidEnd, text: `,"resourceVersion":"${revision}"` };
}

function versionAtStart(json: Buffer, metadata: number, revision: number): Splice {
  const present = passed(json, metadata, VERSION_AT_START);
  if (present !== -1) return { start: present, end: stringEnd(json, present), text: String(revision) };
  return { start: metadata, end: metadata, text: `"resourceVersion":"${revision}"${json[metadata] === QUOTE ? ',' : ''}` };
}

/** Where metadata's first member starts; -1 where the text is laid out otherwise. */
function metadataStart(json: Buffer): number {
  const prefix = typePrefixLength(json);
  return prefix === 0 ? -1 : passed(json, prefix, METADATA);
}

/** Behind the closing quote of the uid; -1 where there is no uid among the first members. */
function endOfUid(json: Buffer, metadata: number): number {
  for (let at = metadata; json[at] === QUOTE; at++) {
    const nameEnd = stringEnd(json, at + 1);
    const valueEnd = stringEnd(json, passed(json, nameEnd, VALUE));
    if (valueEnd === -1) return -1;
    const name = json.toString('latin1', at + 1, nameEnd);
    if (name === 'uid') return valueEnd + 1;
    if (!BEFORE_UID.has(name) || json[valueEnd + 1] !== COMMA) return -1;
    at = valueEnd + 1;
  }
  return -1;
}

/** Where reading goes on when `expected` stands at `at`; else -1. */
function passed(json: Buffer, at: number, expected: Buffer): number {
  if (at === -1) return -1;
  for (let i = 0; i < expected.length; i++) if (json[at + i] !== expected[i]) return -1;
  return at + expected.length;
}

/** The closing quote of the string whose content starts at `at`. */
function stringEnd(json: Buffer, at: number): number {
  if (at === -1) return -1;
  for (let i = at; i < json.length; i++) {
    if (json[i] === QUOTE) return i;
    if (json[i] === BACKSLASH) i++;
  }
  return -1;
}

function spliced(json: Buffer, { start, end, text }: Splice, allocate: Allocate): Buffer {
  const result = allocate(json.length - (end - start) + text.length);
  json.copy(result, 0, 0, start);
  result.write(text, start, 'latin1');
  json.copy(result, start + text.length, end);
  return result;
}

function rewritten(json: Buffer, revision: number): Buffer {
  const object = parseJson(json);
  if (!isJsonObject(object)) throw new TypeError('a stored value is not an object');
  const { kind, apiVersion, metadata, ...rest } = object;
  return Buffer.from(stringifyJson({ kind, apiVersion, metadata: metadataWith(isJsonObject(metadata) ? metadata : {}, revision), ...rest }));
}

function metadataWith(metadata: JsonObject, revision: number): JsonObject {
  const { name, generateName, namespace, selfLink, uid, resourceVersion, ...rest } = metadata;
  void resourceVersion;
  return { name, generateName, namespace, selfLink, uid, resourceVersion: String(revision), ...rest };
}
