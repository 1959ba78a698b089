import { parseApiVersion } from '../../api/api-object.ts';
import { LooseEntry } from '../../endpoints/view.ts';
import { isJsonObject, ownValue, parseLongJson, parseOwnJson, stringifyJson } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { LARGE_BYTES } from '../../registry/request-context.ts';
import { type WriteAuthor, authorOf } from '../../registry/write-author.ts';
import type { TimeSlice } from '../../util/time-slice.ts';
import { fieldDifferences } from '../change-fields.ts';
import type { KeptChange, KeptVersion } from '../kept/history-reader.ts';
import type { ChangeRecord } from '../kept/record-block.ts';
import { pathText } from '../object-delta.ts';
import { type Change, HISTORY_API_VERSION } from './change-definition.ts';

/** What a key says of its object. */
export interface ObjectPlace {
  group: string;
  resource: string;
  namespace: string;
  name: string;
}

/** How what is kept becomes what clients see. */
export interface ChangeReading {
  /** Undefined for what is no object of a resource. */
  placeOf(key: string): ObjectPlace | undefined;
  /** The object as JSON, in its storage version. Throws where it cannot be read. */
  clientBytes(key: string, version: KeptVersion): Promise<Buffer>;
}

const NAME_PREFIX = 'c-';
const NAME_DIGITS = 12;

export const changeName = (revision: number): string => NAME_PREFIX + String(revision).padStart(NAME_DIGITS, '0');

/** Undefined where no change can have that name. */
export function revisionOfName(name: string): number | undefined {
  const digits = name.startsWith(NAME_PREFIX) ? name.slice(NAME_PREFIX.length) : '';
  return /^\d{12,15}$/.test(digits) ? Number(digits) : undefined;
}

export const changeType = ({ type, previousRevision }: ChangeRecord): Change['type'] =>
  type === 'delete' ? 'deleted' : previousRevision === 0 ? 'created' : 'modified';

/** The change as clients see it. What cannot be read any more is told without its fields. Each step of a large one has a slice of its own. */
export async function changeObject(change: KeptChange, place: ObjectPlace, reading: ChangeReading, slice: TimeSlice): Promise<Change> {
  const { key, record } = change;
  const before = change.before && (await objectOf(key, change.before, reading));
  if (slice.isSpent) await slice.next();
  const after = change.after && (await objectOf(key, change.after, reading));
  if (slice.isSpent) await slice.next();
  const { apiVersion = '', kind = '', metadata = {} } = (after ?? before ?? {}) as { apiVersion?: string; kind?: string; metadata?: { uid?: string } };
  const time = timeText(record.timeMs);
  return {
    kind: 'Change',
    apiVersion: HISTORY_API_VERSION,
    metadata: {
      name: changeName(record.revision),
      ...(place.namespace !== '' && { namespace: place.namespace }),
      resourceVersion: String(record.revision),
      creationTimestamp: `${time.slice(0, 19)}Z`,
    },
    object: {
      group: place.group,
      version: parseApiVersion(apiVersion)?.version ?? '',
      resource: place.resource,
      kind,
      ...(place.namespace !== '' && { namespace: place.namespace }),
      name: place.name,
      ...(metadata.uid !== undefined && { uid: metadata.uid }),
    },
    time,
    type: changeType(record),
    ...authorFields(record),
    objectResourceVersion: String(record.revision),
    ...(record.previousRevision > 0 && { previousResourceVersion: String(record.previousRevision) }),
    // The last of all: see changeEntry.
    fields: await fieldsOf(before, after, slice),
  };
}

/** Larger changes are made texts of in slices. */
const MANY_FIELDS = 500;

/** The change as it is listed and watched, with its JSON: that of a large object may have 90,000 fields. */
export async function changeEntry(change: Change, slice: TimeSlice): Promise<LooseEntry> {
  const { fields } = change;
  if (fields.length <= MANY_FIELDS) return new LooseEntry(change);
  const empty = Buffer.from(stringifyJson({ ...change, fields: [] }));
  const pieces = [empty.subarray(0, -']}'.length)];
  for (let at = 0; at < fields.length; at += MANY_FIELDS) {
    const items = stringifyJson(fields.slice(at, at + MANY_FIELDS)).slice(1, -1);
    pieces.push(Buffer.from(at === 0 ? items : `,${items}`));
    if (slice.isSpent) await slice.next();
  }
  return new LooseEntry(change, Buffer.concat([...pieces, Buffer.from(']}')]));
}

/** Microseconds, as Kubernetes' MicroTime has them, of which the store tells thousands. */
const timeText = (timeMs: number): string => `${new Date(timeMs).toISOString().slice(0, -1)}000Z`;

function authorFields({ author, auditId }: ChangeRecord): Partial<Change> {
  const known: WriteAuthor | undefined = author === '' ? undefined : authorOf(author);
  if (!known) return {};
  const { verb, subresource, username, groups, impersonator, userAgent, fieldManager } = known;
  return {
    verb,
    ...(subresource !== '' && { subresource }),
    user: { username, groups },
    ...(impersonator !== '' && { impersonator: { username: impersonator } }),
    userAgent,
    fieldManager,
    ...(auditId !== '' && { auditID: auditId }),
  };
}

async function objectOf(key: string, version: KeptVersion, reading: ChangeReading): Promise<JsonObject | undefined> {
  try {
    const bytes = await reading.clientBytes(key, version);
    return (bytes.length > LARGE_BYTES ? await parseLongJson(bytes) : parseOwnJson(bytes)) as JsonObject;
  } catch {
    return undefined;
  }
}

/** Of an object that is new or gone: what people gave it. */
const GIVEN_METADATA = ['labels', 'annotations', 'ownerReferences', 'finalizers'];

async function fieldsOf(before: JsonObject | undefined, after: JsonObject | undefined, slice: TimeSlice): Promise<Change['fields']> {
  const changed = before && after ? fieldDifferences(before, after) : fieldDifferences(givenOf(before), givenOf(after));
  const fields: Change['fields'][number][] = [];
  for (const { path, from, to } of changed) {
    fields.push({ path: pathText(path), ...(from !== undefined && { from }), ...(to !== undefined && { to }) });
    if (slice.isSpent) await slice.next();
  }
  return fields;
}

function givenOf(object: JsonObject | undefined): JsonObject {
  if (!object) return {};
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  const given = Object.fromEntries(
    GIVEN_METADATA.flatMap((field): [string, Json][] => {
      const value = isJsonObject(metadata) ? ownValue(metadata, field) : undefined;
      return value === undefined ? [] : [[field, value]];
    }),
  );
  return Object.keys(given).length > 0 ? { metadata: given, ...rest } : rest;
}
