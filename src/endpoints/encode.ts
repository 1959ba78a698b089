import type { ListResult } from '../registry/store.ts';
import { ProtobufWriter, WIRE_BYTES, WIRE_VARINT, tagOf } from '../encoding/protobuf-wire.ts';
import { encodeEnvelope, encodeProtobuf, encodeProtobufList, encodeProtobufObject } from '../schema/protobuf.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import type { ApiObject } from '../api/api-object.ts';
import { notAcceptable, unknownError } from '../api/errors.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { type Body, JsonListBody, type ListItems, type PiecedBody } from './body.ts';
import { JsonList } from './json-list.ts';
import { type ItemForm, RunListBody, sharedRuns } from './list-runs.ts';
import { cborList, cborOf, partialCborList, partialCborOf } from './encode-cbor.ts';
import { CBOR_TYPE, type OutputForm, PROTOBUF_TYPE, type Transform } from './negotiation.ts';
import { type IncludeObject, parseTableOptions } from './options.ts';
import { metaApiVersion, partialJson, partialMetadata } from './partial-metadata.ts';
import { metaSchema } from './target.ts';
import { TABLE_TAIL, type TableOptions, emptyTable, tableHead, tableRow } from './table.ts';
import { type ClientView, clientObject, formName, jsonOf, typePrefix, typePrefixLengthOf } from './view.ts';

/** One object in the negotiated form: JSON (from which YAML is made), protobuf or CBOR. */
export function encodeEntry(view: ClientView, form: OutputForm, entry: CacheEntry, query: () => URLSearchParams): Buffer {
  const { transform } = form;
  if (transform === undefined) return encodeObject(view, form, entry);
  // A scale that cannot be read is not there to be transformed.
  if (view.hasOwnMetadata) clientObject(view, entry);
  if (transform.kind === 'PartialObjectMetadataList') {
    // A custom object could be a list, to the type that it is read into upstream, until it is gone through.
    if (view.kind.schema.custom !== undefined) throw unknownError('content is not a list');
    throw notAcceptable(`you requested PartialObjectMetadataList, but the requested object is not a list (${goType(view)})`);
  }
  if (transform.kind === 'PartialObjectMetadata') return encodePartial(view, form, transform, entry);
  return encodeTable(view, tableOptions(transform, query()), entry, true);
}

/** As it is, without a transform. */
export function encodeObject(view: ClientView, { mediaType }: OutputForm, entry: CacheEntry): Buffer {
  if (mediaType === CBOR_TYPE) return cborOf(view, entry);
  return mediaType === PROTOBUF_TYPE ? envelopeOf(view, entry) : jsonOf(view, entry);
}

/** As PartialObjectMetadata. */
export function encodePartial(view: ClientView, { mediaType }: OutputForm, transform: Transform, entry: CacheEntry): Buffer {
  if (mediaType === CBOR_TYPE) return partialCborOf(view, entry, transform);
  return mediaType === PROTOBUF_TYPE ? partialEnvelopeOf(view, entry, transform) : partialJson(view, entry, transform.version);
}

/** One object as a Table of one row. */
export function encodeTable(
  view: ClientView,
  options: { version: Transform['version']; includeObject: IncludeObject },
  entry: CacheEntry,
  withColumns: boolean,
): Buffer {
  const { resourceVersion } = entry.object().metadata;
  const metadata = resourceVersion ? JSON.stringify({ resourceVersion }) : '{}';
  return Buffer.concat([
    Buffer.from(tableHead(view, metadata, options, withColumns)),
    tableRow(view, entry, options, view.environment.now()),
    Buffer.from(TABLE_TAIL),
  ]);
}

export const tableOptions = ({ version }: Transform, query: URLSearchParams): { version: Transform['version']; includeObject: IncludeObject } => ({
  version,
  includeObject: parseTableOptions(query),
});

const envelopeOf = (view: ClientView, entry: CacheEntry): Buffer => encodeEnvelope(view.apiVersion, view.kind.kind, protobufOf(view, entry));

function partialEnvelopeOf(view: ClientView, entry: CacheEntry, transform: Transform): Buffer {
  const partial = { kind: 'PartialObjectMetadata', apiVersion: metaApiVersion(transform), metadata: partialMetadata(view, entry) };
  return encodeProtobufObject(metaSchema(view.environment, transform.version, partial.kind), partial);
}

/** The object's message, without its envelope. */
function protobufOf(view: ClientView, entry: CacheEntry): Buffer {
  return entry.form(`protobuf ${formName(view)}`, () => encodeProtobuf(view.kind.schema, clientObject(view, entry)));
}

/**
 * `isRewritten`: JSON that is going to be parsed and written in another form, item by item. Only a list that is sent as it is stored is put together from
 * what is there; all others are made in slices.
 */
export function encodeList(view: ClientView, form: OutputForm, list: ListResult, query: () => URLSearchParams, isRewritten = false): Body {
  const { transform, mediaType } = form;
  if (transform?.kind === 'PartialObjectMetadata')
    throw notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (${goListType(view)})`);
  if (mediaType === PROTOBUF_TYPE) return transform ? partialProtobufList(view, list, transform) : protobufList(view, list);
  if (mediaType === CBOR_TYPE) return transform ? partialCborList(view, transform, listMeta(list), list) : cborList(view, ownListMeta(view, list), list);
  const metadata = JSON.stringify(listMeta(list));
  if (transform === undefined) {
    const head = listHead(view.listKind, view.apiVersion, JSON.stringify(ownListMeta(view, list)));
    return isRewritten || view.convert !== undefined ? new JsonList(head, () => separateItems(itemForm(view), list.entries)) : objectList(view, head, list);
  }
  if (transform.kind === 'PartialObjectMetadataList') {
    if (list.entries.length === 0) return noMetadata(metadata, transform);
    const head = listHead('PartialObjectMetadataList', metaApiVersion(transform), metadata);
    return new JsonList(head, () => eachOf(list.entries, (entry) => partialJson(view, entry, transform.version)));
  }
  const options = tableOptions(transform, query());
  if (list.entries.length === 0) return emptyTable(view, metadata, options);
  return new JsonList(tableHead(view, metadata, options, true), () => tableRows(view, list.entries, options));
}

function* eachOf(entries: readonly CacheEntry[], make: (entry: CacheEntry) => Buffer): Iterable<Buffer> {
  for (const entry of entries) yield make(entry);
}

function* tableRows(view: ClientView, entries: readonly CacheEntry[], options: TableOptions): Iterable<Buffer | undefined> {
  const now = view.environment.now();
  const { compareRows } = view;
  if (compareRows === undefined) {
    for (const entry of entries) yield tableRow(view, entry, options, now);
    return;
  }
  const decoded: { entry: CacheEntry; object: ApiObject }[] = [];
  for (const entry of entries) {
    decoded.push({ entry, object: entry.object() });
    yield undefined;
  }
  for (const { entry } of decoded.toSorted((a, b) => compareRows(a.object, b.object))) yield tableRow(view, entry, options, now);
}

/** Upstream's list has none rather than an empty one. */
const noMetadata = (metadata: string, transform: Transform): Buffer =>
  Buffer.from(`${typePrefix('PartialObjectMetadataList', metaApiVersion(transform))}"metadata":${metadata},"items":null}`);

const LIST_TAIL = ']}';

const listHead = (kind: string, apiVersion: string, metadata: string): string => `${typePrefix(kind, apiVersion)}"metadata":${metadata},"items":[`;

/** What is read from nowhere (component statuses) has none. */
const versionOf = ({ revision }: ListResult): string => (revision > 0 ? String(revision) : '');

const listMeta = (list: ListResult): JsonObject => ({
  ...(list.revision > 0 && { resourceVersion: versionOf(list) }),
  ...(list.continue !== '' && { continue: list.continue }),
  ...(list.remainingItemCount !== undefined && { remainingItemCount: list.remainingItemCount }),
  ...(list.shard && { shardInfo: { selector: String(list.shard) } }),
});

/** Upstream's lists of custom objects have no type that would leave this out. */
const ownListMeta = ({ isCustom }: ClientView, list: ListResult): JsonObject => (isCustom ? { continue: '', ...listMeta(list) } : listMeta(list));

const protobufList = (view: ClientView, list: ListResult): PiecedBody => ({
  pieces: () =>
    encodeProtobufList({ apiVersion: view.apiVersion, kind: view.listKind }, listMetaMessage(list), list.entries, (entry) => protobufOf(view, entry)),
});

function partialProtobufList(view: ClientView, list: ListResult, transform: Transform): PiecedBody {
  const type = { apiVersion: metaApiVersion(transform), kind: 'PartialObjectMetadataList' };
  const schema = metaSchema(view.environment, transform.version, 'PartialObjectMetadata');
  const messageOf = (entry: CacheEntry): Buffer => encodeProtobuf(schema, { metadata: partialMetadata(view, entry) });
  return { pieces: () => encodeProtobufList(type, listMetaMessage(list), list.entries, messageOf) };
}

/** meta/v1 ListMeta: selfLink 1, resourceVersion 2, continue 3, remainingItemCount 4, shardInfo 5 (selector 1); strings are written even when empty. The writer goes backwards. */
function listMetaMessage(list: ListResult): Buffer {
  const writer = new ProtobufWriter();
  if (list.shard) {
    const before = writer.size;
    writer.string(String(list.shard));
    writer.varint(tagOf(1, WIRE_BYTES));
    writer.lengthSince(before);
    writer.varint(tagOf(5, WIRE_BYTES));
  }
  if (list.remainingItemCount !== undefined) {
    writer.varint(list.remainingItemCount);
    writer.varint(tagOf(4, WIRE_VARINT));
  }
  for (const [number, text] of [
    [3, list.continue],
    [2, versionOf(list)],
    [1, ''],
  ] as const) {
    writer.string(text);
    writer.varint(tagOf(number, WIRE_BYTES));
  }
  return writer.finish();
}

function objectList(view: ClientView, head: string, { entries }: ListResult): Body {
  const form = itemForm(view);
  const shared = sharedRuns(entries, form);
  return shared ? new RunListBody(head, shared, LIST_TAIL) : new JsonListBody(head, objectItems(form, entries), LIST_TAIL);
}

/** Items of built-in kinds leave out their type, which the list's says; those of custom resources carry it. */
const itemForm = (view: ClientView): ItemForm => ({
  name: formName(view),
  bytesOf: (entry) => jsonOf(view, entry),
  skipOf: (entry) => (view.isCustom ? 0 : typePrefixLengthOf(view, entry)),
});

function objectItems({ bytesOf, skipOf }: ItemForm, entries: readonly CacheEntry[]): ListItems {
  let sizeBytes = 0;
  for (const entry of entries) {
    const skip = skipOf(entry);
    sizeBytes += bytesOf(entry).length - skip + (skip > 0 ? 1 : 0);
  }
  return { count: entries.length, sizeBytes, bytesAt: (index) => bytesOf(entries[index]!), skipAt: (index) => skipOf(entries[index]!) };
}

/** Each item by itself, its type cut off where lists leave it out. */
function* separateItems({ bytesOf, skipOf }: ItemForm, entries: readonly CacheEntry[]): Iterable<Buffer> {
  for (const entry of entries) {
    const skip = skipOf(entry);
    const bytes = bytesOf(entry);
    yield skip > 0 ? Buffer.concat([OPENING_BRACE, bytes.subarray(skip)]) : bytes;
  }
}

const OPENING_BRACE = Buffer.from('{');

/** Upstream's name of the internal type, which its refusals print. */
const goListType = (view: ClientView): string => (view.kind.schema.custom === undefined ? `${goType(view)}List` : '*unstructured.UnstructuredList');

export const goType = ({ kind, storedGroup, isCustom }: ClientView): string =>
  // The scale of a custom resource is never read into an internal type.
  isCustom ? `*${kind.version}.${kind.kind}` : `*${internalPackage(storedGroup ?? kind.group)}.${kind.kind}`;

/** The Go package of a group's internal types. */
export const internalPackage = (group: string): string => (group === '' ? 'core' : group.split('.')[0]!);
