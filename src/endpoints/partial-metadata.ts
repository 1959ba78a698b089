import type { CacheEntry } from '../storage/cache/cache.ts';
import { stringifyJson } from '../util/json.ts';
import type { Transform } from './negotiation.ts';
import { typePrefix } from './view.ts';

/** PartialObjectMetadata: any object, cut down to what all objects have. */
const KIND = 'PartialObjectMetadata';

export const metaApiVersion = ({ version }: Pick<Transform, 'version'>): string => `meta.k8s.io/${version}`;

const HEADS = { v1: partialHead('v1'), v1beta1: partialHead('v1beta1') };
const CLOSING_BRACE = Buffer.from('}');

function partialHead(version: Transform['version']): Buffer {
  return Buffer.from(`${typePrefix(KIND, metaApiVersion({ version }))}"metadata":`);
}

export function partialJson(entry: CacheEntry, version: Transform['version']): Buffer {
  return Buffer.concat([HEADS[version], metadataBytes(entry), CLOSING_BRACE]);
}

const METADATA_KEY = Buffer.from('"metadata":{');

/** The metadata's own bytes, cut out of the object's: metadata is the same in all versions, and follows the type in all stored objects. */
function metadataBytes(entry: CacheEntry): Buffer {
  const { bytes, typePrefixLength } = entry;
  const start = typePrefixLength + METADATA_KEY.length - 1;
  if (bytes.compare(METADATA_KEY, 0, METADATA_KEY.length, typePrefixLength, start + 1) === 0) {
    const end = endOfObject(bytes, start);
    if (end > 0) return bytes.subarray(start, end);
  }
  return Buffer.from(stringifyJson(entry.object().metadata));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Where the object that opens at `start` is over; -1 where it never is. */
function endOfObject(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      for (at++; bytes[at] !== QUOTE && at < bytes.length; at++) if (bytes[at] === BACKSLASH) at++;
    } else if (byte === OPENING) depth++;
    else if (byte === CLOSING && --depth === 0) return at + 1;
  }
  return -1;
}
