import type { Json, JsonObject } from '../../encoding/json-types.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { compareText } from './parameters.ts';
import type { NamedType } from './schemas.ts';

/*
 * The JSON of a document, put together of the JSON of its parts. A part is what one custom resource adds, or what all built-in ones do: it is made once and
 * kept, so that a document of hundreds of custom resources in which one has changed costs little more than its compression.
 */

/** What some routes add to a document: entries of its maps. */
export interface DocumentMaps {
  paths: JsonObject;
  definitions: JsonObject;
  /** Of OpenAPI v2 alone. */
  parameters: JsonObject;
  /** Types that are referred to and defined elsewhere in the document. */
  outside: readonly NamedType[];
}

/** A key of a map with its value, as JSON behind another entry: `,"name":value`. */
type Entry = readonly [name: string, json: Buffer];

/** The same as text. */
export interface DocumentPart {
  readonly paths: readonly Entry[];
  readonly definitions: readonly Entry[];
  readonly parameters: readonly Entry[];
  readonly outside: readonly NamedType[];
}

/** A map of which the entries of all parts are to be written, sorted by name; of one name, the first part's. */
export class EntryMap {
  readonly #sorted: readonly Entry[];

  constructor(parts: readonly DocumentPart[], kind: 'paths' | 'definitions' | 'parameters') {
    const entries = new Map<string, Entry>();
    for (const part of parts) for (const entry of part[kind]) if (!entries.has(entry[0])) entries.set(entry[0], entry);
    this.#sorted = [...entries.values()].sort(([a], [b]) => compareText(a, b));
  }

  get size(): number {
    return this.#sorted.length;
  }

  writeTo(pieces: Buffer[]): void {
    const [first] = this.#sorted;
    pieces.push(OPEN);
    if (first) pieces.push(first[1].subarray(1));
    for (const [, json] of this.#sorted.slice(1)) pieces.push(json);
    pieces.push(CLOSE);
  }
}

/** A document whose largest maps are objects, or text that is made already. */
export type Envelope<M> = { [key: string]: Json | M | Envelope<M> };

const [OPEN, CLOSE] = ['{', '}'].map((text) => Buffer.from(text)) as [Buffer, Buffer];

type Stringify = (value: Json) => string;

/** Entries that are written in one step. Most take some tens of microseconds. */
const ENTRIES_AT_ONCE = 8;

export function* partOf({ paths, definitions, parameters, outside }: DocumentMaps, stringify: Stringify): SlicedWork<DocumentPart> {
  return {
    paths: yield* entriesOf(paths, stringify),
    definitions: yield* entriesOf(definitions, stringify),
    parameters: yield* entriesOf(parameters, stringify),
    outside,
  };
}

function* entriesOf(map: JsonObject, stringify: Stringify): SlicedWork<Entry[]> {
  const names = Object.keys(map);
  const entries: Entry[] = [];
  for (let start = 0; start < names.length; start += ENTRIES_AT_ONCE) {
    yield;
    const some = names.slice(start, start + ENTRIES_AT_ONCE);
    entries.push(...encodedTogether(some.map((name) => [name, `,${stringify(name)}:${stringify(map[name]!)}`])));
  }
  return entries;
}

/** All are parts of one buffer, of a text that is joined once: many small ones took longer than what is in them. */
export function encodedTogether(entries: readonly (readonly [name: string, json: string])[]): Entry[] {
  const text = entries.map(([, json]) => json).join('');
  const all = Buffer.from(text);
  const lengthOf = all.length === text.length ? (json: string): number => json.length : Buffer.byteLength;
  let end = 0;
  return entries.map(([name, json]) => {
    const start = end;
    end += lengthOf(json);
    return [name, all.subarray(start, end)];
  });
}

/** The whole text, as pieces to be joined. */
export function textOf(envelope: Envelope<EntryMap>, stringify: Stringify): Buffer[] {
  const pieces: Buffer[] = [];
  Object.keys(envelope).forEach((key, index) => {
    const value = envelope[key]!;
    pieces.push(Buffer.from(`${index === 0 ? '{' : ','}${stringify(key)}:`));
    if (value instanceof EntryMap) value.writeTo(pieces);
    else if (hasEntryMap(value)) pieces.push(...textOf(value, stringify));
    else pieces.push(Buffer.from(stringify(value as Json)));
  });
  pieces.push(CLOSE);
  return pieces;
}

const hasEntryMap = (value: Json | Envelope<EntryMap>): value is Envelope<EntryMap> =>
  typeof value === 'object' && value !== null && Object.values(value).some((inner) => inner instanceof EntryMap);

/** Of `components.schemas` the entries are two levels down, of `paths` one. */
const ENTRY_DEPTH = 2;

/** The text of a document that is there as an object, in pieces to be joined. */
export function* documentText(document: JsonObject, stringify: Stringify): SlicedWork<Buffer[]> {
  const pieces: Buffer[] = [];
  yield* writeMap(document, ENTRY_DEPTH, pieces, stringify);
  return pieces;
}

function* writeMap(map: JsonObject, depth: number, pieces: Buffer[], stringify: Stringify): SlicedWork<void> {
  pieces.push(OPEN);
  let count = 0;
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue;
    if (count % ENTRIES_AT_ONCE === 0) yield;
    const lead = `${count++ === 0 ? '' : ','}${stringify(key)}:`;
    if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) pieces.push(Buffer.from(lead + stringify(value)));
    else {
      pieces.push(Buffer.from(lead));
      yield* writeMap(value, depth - 1, pieces, stringify);
    }
  }
  pieces.push(CLOSE);
}
