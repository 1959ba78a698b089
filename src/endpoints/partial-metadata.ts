import type { CacheEntry } from '../storage/cache/cache.ts';
import type { ApiObject, ObjectMeta } from '../api/api-object.ts';
import { stringifyJson } from '../encoding/json.ts';
import type { Transform } from './negotiation.ts';
import { type ClientView, clientObject, typePrefix } from './view.ts';

/** PartialObjectMetadata: any object, cut down to what all objects have. */
const KIND = 'PartialObjectMetadata';

export const metaApiVersion = ({ version }: Pick<Transform, 'version'>): string => `meta.k8s.io/${version}`;

const HEADS = { v1: partialHead('v1'), v1beta1: partialHead('v1beta1') };
const CLOSING_BRACE = Buffer.from('}');

function partialHead(version: Transform['version']): Buffer {
  return Buffer.from(`${typePrefix(KIND, metaApiVersion({ version }))}"metadata":`);
}

export function partialJson(view: ClientView, entry: CacheEntry, version: Transform['version']): Buffer {
  const metadata =
    view.unlistedAnnotation === undefined && !view.hasOwnMetadata ? metadataBytes(entry) : Buffer.from(stringifyJson(partialMetadata(view, entry)));
  return Buffer.concat([HEADS[version], metadata, CLOSING_BRACE]);
}

/** The metadata, without what upstream writes only into whole objects. */
export function partialMetadata(view: ClientView, entry: CacheEntry): ObjectMeta {
  const { unlistedAnnotation } = view;
  const { metadata } = view.hasOwnMetadata ? (clientObject(view, entry) as unknown as ApiObject) : entry.object();
  if (unlistedAnnotation === undefined || metadata.annotations?.[unlistedAnnotation] === undefined) return metadata;
  const { annotations, ...others } = metadata;
  const listed = Object.entries(annotations).filter(([name]) => name !== unlistedAnnotation);
  return listed.length > 0 ? { ...others, annotations: Object.fromEntries(listed) } : others;
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
