import type { ListResult } from '../registry/store.ts';
import { ProtobufWriter, WIRE_BYTES, WIRE_VARINT, tagOf } from '../schema/protobuf-wire.ts';
import { encodeEnvelope, encodeProtobuf, encodeProtobufList, encodeProtobufObject } from '../schema/protobuf.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import { notAcceptable, unknownError } from '../util/errors.ts';
import type { JsonObject } from '../util/json-types.ts';
import { type Body, JsonListBody, type ListItems } from './body.ts';
import { type ItemForm, RunListBody, sharedRuns } from './list-runs.ts';
import { cborList, cborOf, partialCborList, partialCborOf } from './encode-cbor.ts';
import { CBOR_TYPE, type OutputForm, PROTOBUF_TYPE, type Transform } from './negotiation.ts';
import { type IncludeObject, parseTableOptions } from './options.ts';
import { metaApiVersion, partialJson, partialMetadata } from './partial-metadata.ts';
import { metaSchema } from './target.ts';
import { TABLE_TAIL, emptyTable, tableHead, tableRow } from './table.ts';
import { type View, clientObject, formName, jsonOf, typePrefix, typePrefixLengthOf } from './view.ts';

/** One object in the negotiated form: JSON (from which YAML is made), protobuf or CBOR. */
export function encodeEntry(view: View, form: OutputForm, entry: CacheEntry, query: () => URLSearchParams): Buffer {
  const { transform } = form;
  if (transform === undefined) return encodeObject(view, form, entry);
  if (transform.kind === 'PartialObjectMetadataList') {
    // A custom object could be a list, to the type that it is read into upstream, until it is gone through.
    if (view.isCustom) throw unknownError('content is not a list');
    throw notAcceptable(`you requested PartialObjectMetadataList, but the requested object is not a list (${goType(view)})`);
  }
  if (transform.kind === 'PartialObjectMetadata') return encodePartial(view, form, transform, entry);
  return encodeTable(view, tableOptions(transform, query()), entry, true);
}

/** As it is, without a transform. */
export function encodeObject(view: View, { mediaType }: OutputForm, entry: CacheEntry): Buffer {
  if (mediaType === CBOR_TYPE) return cborOf(view, entry);
  return mediaType === PROTOBUF_TYPE ? envelopeOf(view, entry) : jsonOf(view, entry);
}

/** As PartialObjectMetadata. */
export function encodePartial(view: View, { mediaType }: OutputForm, transform: Transform, entry: CacheEntry): Buffer {
  if (mediaType === CBOR_TYPE) return partialCborOf(view, entry, transform);
  return mediaType === PROTOBUF_TYPE ? partialEnvelopeOf(view, entry, transform) : partialJson(view, entry, transform.version);
}

/** One object as a Table of one row. */
export function encodeTable(
  view: View,
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

const envelopeOf = (view: View, entry: CacheEntry): Buffer => encodeEnvelope(view.apiVersion, view.kind.kind, protobufOf(view, entry));

function partialEnvelopeOf(view: View, entry: CacheEntry, transform: Transform): Buffer {
  const partial = { kind: 'PartialObjectMetadata', apiVersion: metaApiVersion(transform), metadata: partialMetadata(view, entry) };
  return encodeProtobufObject(metaSchema(view.environment, transform.version, partial.kind), partial);
}

/** The object's message, without its envelope. */
function protobufOf(view: View, entry: CacheEntry): Buffer {
  return entry.form(`protobuf ${formName(view)}`, () => encodeProtobuf(view.kind.schema, clientObject(view, entry)));
}

export function encodeList(view: View, form: OutputForm, list: ListResult, query: () => URLSearchParams): Body {
  const { transform, mediaType } = form;
  if (transform?.kind === 'PartialObjectMetadata')
    throw notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (${goType(view)}List)`);
  if (mediaType === PROTOBUF_TYPE) return transform ? partialProtobufList(view, list, transform) : protobufList(view, list);
  if (mediaType === CBOR_TYPE) return transform ? partialCborList(view, transform, listMeta(list), list) : cborList(view, ownListMeta(view, list), list);
  const metadata = JSON.stringify(listMeta(list));
  if (transform === undefined) return objectList(view, listHead(view.listKind, view.apiVersion, JSON.stringify(ownListMeta(view, list))), list);
  if (transform.kind === 'PartialObjectMetadataList') {
    if (list.entries.length === 0) return noMetadata(metadata, transform);
    return new JsonListBody(
      listHead('PartialObjectMetadataList', metaApiVersion(transform), metadata),
      madeItems(list.entries, (entry) => partialJson(view, entry, transform.version)),
      LIST_TAIL,
    );
  }
  const options = tableOptions(transform, query());
  if (list.entries.length === 0) return emptyTable(view, metadata, options);
  const now = view.environment.now();
  return new JsonListBody(
    tableHead(view, metadata, options, true),
    madeItems(inRowOrder(view, list.entries), (entry) => tableRow(view, entry, options, now)),
    TABLE_TAIL,
  );
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
});

/** Upstream's lists of custom objects have no type that would leave this out. */
const ownListMeta = ({ isCustom }: View, list: ListResult): JsonObject => (isCustom ? { continue: '', ...listMeta(list) } : listMeta(list));

function protobufList(view: View, list: ListResult): Buffer {
  const items = list.entries.map((entry) => protobufOf(view, entry));
  return encodeProtobufList(view.apiVersion, view.listKind, listMetaMessage(list), items);
}

function partialProtobufList(view: View, list: ListResult, transform: Transform): Buffer {
  const items = list.entries.map((entry) => ({ metadata: partialMetadata(view, entry) }));
  const partial = { kind: 'PartialObjectMetadataList', apiVersion: metaApiVersion(transform), metadata: listMeta(list), items };
  return encodeProtobufObject(metaSchema(view.environment, transform.version, partial.kind), partial);
}

/** meta/v1 ListMeta: selfLink 1, resourceVersion 2, continue 3, remainingItemCount 4; strings are written even when empty. The writer goes backwards. */
function listMetaMessage(list: ListResult): Buffer {
  const writer = new ProtobufWriter();
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

function objectList(view: View, head: string, { entries }: ListResult): Body {
  const form = itemForm(view);
  const shared = sharedRuns(entries, form);
  return shared ? new RunListBody(head, shared, LIST_TAIL) : new JsonListBody(head, objectItems(form, entries), LIST_TAIL);
}

/** Items of built-in kinds leave out their type, which the list's says; those of custom resources carry it. */
const itemForm = (view: View): ItemForm => ({
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

function madeItems(entries: readonly CacheEntry[], make: (entry: CacheEntry) => Buffer): ListItems {
  const made = entries.map(make);
  return { count: made.length, sizeBytes: made.reduce((sum, bytes) => sum + bytes.length, 0), bytesAt: (index) => made[index]!, skipAt: () => 0 };
}

const inRowOrder = ({ compareRows }: View, entries: readonly CacheEntry[]): readonly CacheEntry[] =>
  compareRows ? entries.toSorted((a, b) => compareRows(a.object(), b.object())) : entries;

/** Upstream's name of the internal type, which its refusals print. */
export const goType = ({ kind, storedGroup }: View): string => `*${internalPackage(storedGroup ?? kind.group)}.${kind.kind}`;

/** The Go package of a group's internal types. */
export const internalPackage = (group: string): string => (group === '' ? 'core' : group.split('.')[0]!);
