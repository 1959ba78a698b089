import type { ListResult } from '../registry/store.ts';
import { encodeCbor, encodeCborItem } from '../schema/cbor-encode.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import { CborWriter } from '../encoding/cbor-writer.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { Body, PiecedBody } from './body.ts';
import type { Transform } from './negotiation.ts';
import { metaApiVersion, partialMetadata } from './partial-metadata.ts';
import { type ClientView, clientObject, formName } from './view.ts';

/**
 * Objects, lists and events in CBOR (KEP-4222). Upstream writes map entries of answers in an order of chance; here it is the deterministic one, in which
 * it stores them.
 */

export const cborOf = (view: ClientView, entry: CacheEntry): Buffer =>
  entry.form(`cbor ${formName(view)}`, () => encodeCbor(clientObject(view, entry), view.kind.schema));

/** As an item of a list: those of built-in kinds leave out their type. */
function cborItemOf(view: ClientView, entry: CacheEntry): Buffer {
  return entry.form(`cbor item ${formName(view)}`, () => {
    const object = clientObject(view, entry);
    return encodeCborItem(view.isCustom ? object : { ...object, kind: undefined, apiVersion: undefined }, view.kind.schema);
  });
}

const partialOf = (view: ClientView, entry: CacheEntry, transform: Transform): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: metaApiVersion(transform),
  metadata: partialMetadata(view, entry) as unknown as JsonObject,
});

export const partialCborOf = (view: ClientView, entry: CacheEntry, transform: Transform): Buffer => encodeCbor(partialOf(view, entry, transform), undefined);

export const cborList = (view: ClientView, listMeta: JsonObject, { entries }: ListResult): PiecedBody =>
  listOf({ kind: view.listKind, apiVersion: view.apiVersion }, listMeta, entries, (entry) => cborItemOf(view, entry));

/** Upstream's list has no items rather than an empty list of them. */
export function partialCborList(view: ClientView, transform: Transform, listMeta: JsonObject, { entries }: ListResult): Body {
  const type = { kind: 'PartialObjectMetadataList', apiVersion: metaApiVersion(transform) };
  if (entries.length === 0) return encodeCbor({ ...type, metadata: listMeta, items: null }, undefined);
  return listOf(type, listMeta, entries, (entry) => encodeCborItem(partialOf(view, entry, transform), undefined));
}

/** Its four entries in the order of their keys. */
const listOf = (
  type: { kind: string; apiVersion: string },
  metadata: JsonObject,
  entries: readonly CacheEntry[],
  itemOf: (entry: CacheEntry) => Buffer,
): PiecedBody => ({
  *pieces(): Iterable<Buffer> {
    const head = new CborWriter();
    head.selfDescribed();
    head.map(4);
    head.string('kind');
    head.string(type.kind);
    head.string('items');
    head.array(entries.length);
    yield head.finish();
    for (const entry of entries) yield itemOf(entry);
    const tail = new CborWriter();
    tail.string('metadata');
    tail.raw(encodeCborItem(metadata, undefined));
    tail.string('apiVersion');
    tail.string(type.apiVersion);
    yield tail.finish();
  },
});

/** An event of a watch around its object, which has its own tag. */
export function cborWatchFrame(type: string, object: Buffer): Buffer {
  const writer = new CborWriter();
  writer.selfDescribed();
  writer.map(2);
  writer.string('type');
  writer.string(type);
  writer.string('object');
  writer.raw(object);
  return writer.finish();
}
