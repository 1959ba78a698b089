import { canonicalDuration } from '../util/duration.ts';
import { quote } from '../util/go-quote.ts';
import { hasKeys, isJsonObject, setKey } from '../encoding/json.ts';
import { type DuplicateKeys, type NumberLiterals, noFloat } from '../encoding/json-parser.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { canonicalQuantity } from '../api/quantity.ts';
import { canonicalMicroTime, canonicalTime } from '../util/time.ts';
import { canonicalBase64 } from '../encoding/base64.ts';
import { type DecodeRules, converterRules, jsonRules } from './decode-errors.ts';
import { type DecodeRun, KEPT_FROM, decodeInRuns } from './decode-run.ts';
import { type FieldPlan, type ObjectPlan, assemble, planOf, zeroOf } from './decode-plan.ts';
import type { EmptyPaths } from './empty-paths.ts';
import { mergeRepeated, tellInOrder } from './repeated-keys.ts';
import type { ListSchema, MapSchema, ObjectSchema, ScalarSchema, TypeSchema } from './schema.ts';
import { withSortedKeys } from '../encoding/sorted-keys.ts';
import { LIMITS } from '../util/limits.ts';

/** A value that does not fit its type. The message is that of Go's decoder (sigs.k8s.io/json), for whoever answers the client to put in context. */
export class DecodeError extends Error {}

/** What a strict decoding may complain of. The decoding itself is the same. */
export interface StrictErrors {
  /** From the parser that read the value, which decoding then changes: what is repeated is merged. */
  duplicates?: DuplicateKeys;
  /** From the same parser. */
  literals?: NumberLiterals;
  /** Of errors: LIMITS.strictErrors where absent. */
  limit?: number;
  /** `unknown field "spec.foo"`, `duplicate field "metadata.name"`: added to, in the order of the text. */
  errors: string[];
  /** Added to instead, where there are many. */
  told?: Set<string>;
}

const MAX_STRICT_ERRORS = LIMITS.strictErrors;
/** Upstream's converter tells all. */
const MAX_CONVERTED_ERRORS = 10_000;
const MAX_INT32 = 2 ** 31 - 1;
const MIN_INT32 = -(2 ** 31);
/** One of a list of bytes. */
const BYTE: ScalarSchema = { type: 'int32', goName: 'uint8' };

/**
 * The value as Go's decoder takes it into a type and its encoder writes it back: fields in the order of the structs, map keys sorted, quantities, times
 * and durations in canonical form, nulls and empty values dropped or written as upstream does, unknown fields gone. Answers a new object, which shares
 * only `any` values with the one given. Lists and maps that are dropped since they are empty are added to `sentEmpty`; none of a custom resource is.
 * Throws DecodeError.
 */
export function decode(schema: ObjectSchema, value: Json, strict?: StrictErrors, sentEmpty?: EmptyPaths): JsonObject {
  if (schema.custom !== undefined) return schema.custom.decode(value, strict);
  return (decodeAs(schema, value, { strict, rules: jsonRules, sentEmpty }) ?? assemble(planOf(schema))) as JsonObject;
}

/** The same for what may be large: others have their turn while long lists are decoded. */
export function decodeInSlices(schema: ObjectSchema, value: Json, strict?: StrictErrors, sentEmpty?: EmptyPaths): JsonObject | Promise<JsonObject> {
  const { custom } = schema;
  if (custom !== undefined) return decodeInRuns((run) => custom.decode(value, strict, false, run));
  if ((strict?.duplicates?.size ?? 0) > 0) return decode(schema, value, strict, sentEmpty);
  return decodeInRuns((run) => (decodeAs(schema, value, { strict, rules: jsonRules, sentEmpty, run }) ?? assemble(planOf(schema))) as JsonObject);
}

/** The same for any type; null for no value. */
export const decodeType = (type: TypeSchema, value: Json, strict?: StrictErrors): Json => decodeAs(type, value, { strict, rules: jsonRules }) ?? null;

/**
 * The same for an object that a merge made: errors have the messages of apimachinery's converter, and unknown fields are told in the
 * order of their paths. `strict.errors` is added to. Of custom resources nothing is decoded a second time: nulls stay.
 */
export function convert(schema: ObjectSchema, value: JsonObject, strict?: StrictErrors, sentEmpty?: EmptyPaths, run?: DecodeRun): JsonObject {
  if (schema.custom !== undefined) return schema.custom.decode(value, strict, true, run);
  const makeTold = (): Set<string> => new Set();
  const told = run?.keep(makeTold) ?? makeTold();
  const converted = convertTelling(schema, value, {
    strict: strict && { errors: [], told, limit: MAX_CONVERTED_ERRORS },
    rules: converterRules,
    sentEmpty,
    run,
  });
  strict?.errors.push(...[...told].toSorted());
  return converted;
}

/** The same for what may be large: others have their turn meanwhile. */
export function convertInSlices(schema: ObjectSchema, value: JsonObject, strict?: StrictErrors, sentEmpty?: EmptyPaths): JsonObject | Promise<JsonObject> {
  return decodeInRuns((run) => convert(schema, value, strict, sentEmpty, run));
}

/** What does not fit is looked for once more, in the order in which the converter would find it. */
function convertTelling(schema: ObjectSchema, value: JsonObject, decoding: Decoding): JsonObject {
  try {
    return decodeAs(schema, value, decoding) as JsonObject;
  } catch (error) {
    if (error instanceof DecodeError) decodeAs(schema, value, { rules: { ...converterRules, goesByFields: true } });
    throw error;
  }
}

const NO_DUPLICATES: DuplicateKeys = new Map();

interface Decoding {
  rules: DecodeRules;
  strict?: StrictErrors | undefined;
  /** Added to. */
  sentEmpty?: EmptyPaths | undefined;
  /** Where others have their turn meanwhile. */
  run?: DecodeRun | undefined;
}

function decodeAs(type: TypeSchema, value: Json, decoding: Decoding): Json | undefined {
  const { strict, run } = decoding;
  const duplicates = strict?.duplicates ?? NO_DUPLICATES;
  if (duplicates.size > 0) {
    tellInOrder(type, value, duplicates, (what, path) => complain(strict!.errors, what, path));
  }
  const areFewRepeated = duplicates.size > 0 && mergeRepeated(type, value, duplicates);
  const decoder = new Decoder(decoding, duplicates.size > 0 ? undefined : strict);
  if (areFewRepeated) decoder.duplicates = duplicates;
  const base = slotsInUse;
  let decoded: Json | undefined;
  try {
    decoded = value === null ? undefined : decoder.value(type, value);
  } finally {
    releaseSlots(base);
    run?.end(decoder.firstError);
  }
  if (decoder.firstError !== undefined) throw new DecodeError(decoder.firstError);
  return decoded;
}

/**
 * Values of the structs that are being read, each in the order of its fields. One list for all, empty but for those below `slotsInUse`: a new one for
 * every struct was a tenth of what a write allocates.
 */
const slots: (Json | undefined)[] = [];
let slotsInUse = 0;

function claimSlots(count: number): number {
  const base = slotsInUse;
  slotsInUse += count;
  while (slots.length < slotsInUse) slots.push(undefined);
  return base;
}

function releaseSlots(base: number): void {
  for (let i = base; i < slotsInUse; i++) slots[i] = undefined;
  slotsInUse = base;
}

class Decoder {
  /** Go reports the first mismatch, after it has read everything. Only what a type's own unmarshaler says ends the reading. */
  firstError: string | undefined;
  strict: StrictErrors | undefined;
  readonly rules: DecodeRules;
  /** The way down: fields, indexes of lists, keys of maps. */
  readonly path: (FieldPlan | number | string)[] = [];
  readonly literals: NumberLiterals | undefined;
  /** How the number that is being read was written, where that is not as this server writes it. */
  literal: string | undefined;
  /** Of a text that repeats keys: each value is read, as Go reads them, though the last one wins. */
  duplicates: DuplicateKeys | undefined;
  readonly run: DecodeRun | undefined;
  sentEmpty: EmptyPaths | undefined;

  constructor({ rules, strict: given, run, sentEmpty }: Decoding, strict: StrictErrors | undefined) {
    this.strict = strict;
    this.rules = rules;
    this.literals = given?.literals;
    this.run = run;
    this.sentEmpty = sentEmpty;
    this.firstError = run?.firstError;
  }

  /** Undefined where the value is none, or a mismatch was noted. */
  value(type: TypeSchema, raw: Json): Json | undefined {
    switch (type.type) {
      case 'object':
        return isJsonObject(raw) ? this.object(planOf(type), raw) : this.mismatch(raw, type);
      case 'list':
        return Array.isArray(raw) ? this.list(type, raw) : this.mismatch(raw, type);
      case 'map':
        if (!isJsonObject(raw)) return this.mismatch(raw, type);
        return this.run === undefined ? this.map(type, raw) : this.mapInRun(this.run, type, raw);
      case 'string':
        return typeof raw === 'string' ? raw : this.mismatch(raw, type);
      case 'boolean':
        return typeof raw === 'boolean' ? raw : this.mismatch(raw, type);
      case 'int32':
        return isInt32(raw) && this.literal === undefined ? raw : this.int32(raw, type);
      case 'any':
        if (type.orObject !== undefined) return this.alternative(type.orObject, raw);
        if (this.literals !== undefined) refuseInfinite(raw, this.literals, this.literal);
        return this.rules.sortsUntyped ? withSortedKeys(raw) : raw;
      default:
        return this.grammar(type, raw);
    }
  }

  object(plan: ObjectPlan, sent: JsonObject): JsonObject {
    const raw = this.rules.goesByFields ? inOrderOfFields(plan, sent) : sent;
    const base = claimSlots(plan.fields.length);
    for (const key in raw) {
      const item = raw[key];
      const field = plan.byName.get(key);
      if (field === undefined) {
        if (item !== undefined) this.complainOfUnknown(key);
      } else if (item !== undefined && item !== null) {
        this.path.push(field);
        if (this.duplicates !== undefined) this.readEarlier(sent, key, field);
        if (this.literals !== undefined) this.literal = this.literals.get(sent)?.get(key);
        const value = this.field(field, item);
        this.path.pop();
        slots[base + field.index] = value;
        if (value === undefined && this.sentEmpty !== undefined) this.noteEmpty(this.sentEmpty, field, item);
      }
    }
    const object = assemble(plan, slots, base);
    releaseSlots(base);
    return object;
  }

  /** What is wrong with a value that a later one replaced is wrong all the same. Those of structs and maps have been merged with it. */
  readEarlier(sent: JsonObject, key: string, field: FieldPlan): void {
    const { sentEmpty } = this;
    this.sentEmpty = undefined;
    for (const [name, value, literal] of this.duplicates!.get(sent)?.replaced ?? []) {
      if (name !== key || value === null || isJsonObject(value)) continue;
      this.literal = literal;
      this.field(field, value);
      this.literal = undefined;
    }
    this.sentEmpty = sentEmpty;
  }

  noteEmpty(sentEmpty: EmptyPaths, { name, type: { type } }: FieldPlan, raw: Json): void {
    if (type !== 'list' && type !== 'map') return;
    if (Array.isArray(raw) !== (type === 'list') || typeof raw !== 'object') return;
    const path = this.path.map((step) => (typeof step === 'object' ? step.name : step));
    sentEmpty.add(path, name, type);
  }

  /** Undefined for what Go counts as no value in this field. */
  field(field: FieldPlan, raw: Json): Json | undefined {
    const value = this.value(field.type, raw);
    if (value === null) return field.type.type === 'any' ? value : undefined;
    if (typeof value !== 'object') return value === undefined || field.pointer || field.whenEmpty !== 'omit' || isNonZero(value) ? value : undefined;
    if (field.type.type === 'list') return (value as Json[]).length === 0 ? undefined : value;
    if (field.type.type === 'map' || (!field.pointer && field.whenEmpty === 'omit')) return hasKeys(value as JsonObject) ? value : undefined;
    return value;
  }

  list(type: ListSchema, raw: readonly Json[]): Json[] {
    const run = raw.length >= KEPT_FROM ? this.run : undefined;
    const items: Json[] = run?.itemsOf(raw) ?? [];
    for (let index = items.length; index < raw.length; index++) {
      if (run !== undefined) run.beforeItem();
      this.path.push(index);
      if (this.literals !== undefined) this.literal = this.literals.get(raw as Json[])?.get(index);
      items.push(this.item(type.items, raw[index]!));
      this.path.pop();
    }
    return items;
  }

  map(type: MapSchema, raw: JsonObject): JsonObject {
    const map: JsonObject = {};
    let previous = '';
    let isSorted = true;
    for (const key in raw) {
      const item = raw[key];
      if (item === undefined) continue;
      this.enter(raw, key);
      setKey(map, key, this.item(type.values, item));
      this.path.pop();
      if (key < previous) isSorted = false;
      previous = key;
    }
    return isSorted ? map : sortKeys(map);
  }

  mapInRun(run: DecodeRun, type: MapSchema, raw: JsonObject): JsonObject {
    const keys = Object.keys(raw);
    const kept = keys.length >= KEPT_FROM ? run.entriesOf(raw, keys) : { keys, done: 0, map: {} };
    if (kept.done === keys.length) return kept.map;
    for (; kept.done < keys.length; kept.done++) {
      if (keys.length >= KEPT_FROM) run.beforeItem();
      const key = keys[kept.done]!;
      const item = raw[key];
      if (item === undefined) continue;
      this.enter(raw, key);
      setKey(kept.map, key, this.item(type.values, item));
      this.path.pop();
    }
    if (!areSorted(keys)) kept.map = sortKeys(kept.map);
    return kept.map;
  }

  /** Goes on to a key of a map. What calls `item` does so by itself: each function between it and the next level takes from the stack, which deep values need. */
  enter(raw: JsonObject, key: string): void {
    this.path.push(key);
    if (this.literals !== undefined) this.literal = this.literals.get(raw)?.get(key);
  }

  /** Of a list or map, where no value is the zero value. */
  item(type: TypeSchema, raw: Json): Json {
    return (raw === null ? undefined : this.value(type, raw)) ?? zeroOf(type);
  }

  int32(raw: Json, type: TypeSchema): Json | undefined {
    const cut = this.rules.cutsNumbers ? cutToInt64(raw) : undefined;
    return cut === undefined ? this.mismatch(raw, type) : Number(BigInt.asIntN(32, cut));
  }

  int64(raw: Json, type: TypeSchema): Json | undefined {
    if (typeof raw === 'bigint') return raw;
    // Beyond 2^63 the parser has made a float of it.
    const isInt64 = typeof raw === 'number' && Number.isInteger(raw) && Math.abs(raw) < 2 ** 63 && this.literal === undefined;
    return isInt64 ? raw : ((this.rules.cutsNumbers ? cutToInt64(raw) : undefined) ?? this.mismatch(raw, type));
  }

  /** Scalars with a form of their own. Those that Go gives an unmarshaler end the decoding when they fail. */
  grammar(type: ScalarSchema, raw: Json): Json | undefined {
    switch (type.type) {
      case 'int64':
        return this.int64(raw, type);
      case 'double':
        return typeof raw === 'bigint' || Number.isFinite(raw) ? Number(raw) : this.mismatch(raw, type);
      case 'bytes':
        return typeof raw === 'string' ? this.bytes(raw) : Array.isArray(raw) ? this.byteList(raw) : this.mismatch(raw, type);
      case 'intOrString':
        return typeof raw === 'string' || (isInt32(raw) && this.literal === undefined) ? raw : this.stop(raw, type);
      case 'quantity':
        return stopping(canonicalQuantity, typeof raw === 'string' ? raw.trim() : typeof raw === 'object' ? '' : (this.literal ?? String(raw)));
      case 'time':
        return this.text(raw, type, canonicalTime);
      case 'microTime':
        return this.text(raw, type, canonicalMicroTime);
      default:
        return this.text(raw, type, canonicalDuration);
    }
  }

  text(raw: Json, type: TypeSchema, canonical: (text: string) => string | null): Json {
    return typeof raw === 'string' ? stopping(canonical, raw) : this.stop(raw, type);
  }

  bytes(text: string): string | undefined {
    try {
      return canonicalBase64(text);
    } catch (error) {
      return this.note(this.rules.bytesPrefix + (error as Error).message);
    }
  }

  /** Go reads a list of numbers into bytes as well; no number is zero. */
  byteList(raw: readonly Json[]): string {
    const bytes = Buffer.alloc(raw.length);
    for (const [index, item] of raw.entries()) {
      if (this.literals !== undefined) this.literal = this.literals.get(raw as Json[])?.get(index);
      if (isInt32(item) && this.literal === undefined && (this.rules.cutsNumbers || (item as number) === ((item as number) & 0xff)))
        bytes[index] = item as number;
      else if (item !== null) this.mismatch(item, BYTE);
    }
    return bytes.toString('base64');
  }

  /** A mismatch that a type's own unmarshaler found: it is told rather than any noted before. */
  stop(raw: Json, type: TypeSchema): never {
    this.firstError = undefined;
    this.mismatch(raw, type);
    throw new DecodeError(this.firstError!);
  }

  /** apiextensions' JSONSchemaPropsOr…: their unmarshalers read what is inside without being strict, and the first mismatch in it ends the reading. */
  alternative(either: NonNullable<ScalarSchema['orObject']>, raw: Json): Json | undefined {
    const { strict, firstError } = this;
    this.strict = undefined;
    this.firstError = undefined;
    const value = this.#eitherValue(either, raw);
    const found = this.firstError as string | undefined;
    // The decoder around it says where it was itself, in a schema (encoding/json's addErrorContext).
    if (found !== undefined) throw new DecodeError(found.replace(/(?<=Go struct field )\w+/, 'JSONSchemaProps'));
    this.strict = strict;
    this.firstError = firstError;
    return value;
  }

  #eitherValue({ schema, or }: NonNullable<ScalarSchema['orObject']>, raw: Json): Json | undefined {
    if (isJsonObject(raw)) return this.object(planOf(schema), raw);
    if (or === 'boolean') {
      if (typeof raw !== 'boolean') throw new DecodeError('boolean or JSON schema expected');
      return raw;
    }
    if (!Array.isArray(raw)) return null;
    return this.list({ type: 'list', items: or === 'objects' ? schema : { type: 'string' } }, raw);
  }

  complainOfUnknown(key: string): void {
    if (this.strict === undefined || (this.strict.told?.size ?? this.strict.errors.length) >= (this.strict.limit ?? MAX_STRICT_ERRORS)) return;
    let path = '';
    const steps = this.rules.namesMapKeys ? this.path : this.path.filter((step) => typeof step !== 'string');
    for (const step of [...steps, key]) {
      if (typeof step === 'number') path += `[${step}]`;
      else path += `${path === '' ? '' : '.'}${typeof step === 'string' ? step : step.name}`;
    }
    if (this.strict.told !== undefined) this.strict.told.add(`unknown field ${quote(path)}`);
    else complain(this.strict.errors, 'unknown field', path);
  }

  mismatch(raw: Json, type: TypeSchema): undefined {
    if (this.firstError !== undefined) return;
    const fields = this.path.filter((step): step is FieldPlan => typeof step === 'object');
    this.note(this.rules.mismatch(raw, type, fields, this.literal));
  }

  note(error: string): undefined {
    if (this.rules.stopsAtOnce) throw new DecodeError(error);
    this.firstError ??= error;
  }
}

/** Of a value without a type, whose numbers are read as float64s. */
function refuseInfinite(value: Json, literals: NumberLiterals, literal: string | undefined): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new DecodeError(noFloat(literal!).message);
  if (typeof value !== 'object' || value === null) return;
  const texts = literals.get(value);
  for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) refuseInfinite(item ?? null, literals, texts?.get(key));
}

/** Each complaint once, and no more of them than anybody reads. */
function complain(errors: string[], what: string, path: string): void {
  if (errors.length >= MAX_STRICT_ERRORS) return;
  const error = `${what} ${quote(path)}`;
  if (!errors.includes(error)) errors.push(error);
}

/** What a type's own unmarshaler refuses ends the reading. */
function stopping<T>(read: (text: string) => T, text: string): T {
  try {
    return read(text);
  } catch (error) {
    throw new DecodeError((error as Error).message);
  }
}

const MIN_INT64 = -(2n ** 63n);

/** Any whole number as Go's conversion of unstructured values makes an int64 of it: what is too large becomes the smallest one, as x86-64 has it. */
function cutToInt64(raw: Json): bigint | undefined {
  if (typeof raw === 'bigint') return raw;
  if (typeof raw !== 'number' || !Number.isInteger(raw)) return undefined;
  return Math.abs(raw) < 2 ** 63 ? BigInt(raw) : MIN_INT64;
}

const isInt32 = (raw: Json): boolean => typeof raw === 'number' && Number.isInteger(raw) && raw >= MIN_INT32 && raw <= MAX_INT32;

const isNonZero = (value: Json): boolean => value !== '' && value !== 0 && value !== false && value !== 0n;

/** The converter goes through a struct by its fields, and the first that does not fit is the one that it tells of. */
function inOrderOfFields(plan: ObjectPlan, raw: JsonObject): JsonObject {
  const ordered: JsonObject = {};
  for (const { name } of plan.fields) if (Object.hasOwn(raw, name)) setKey(ordered, name, raw[name]);
  for (const key in raw) if (!Object.hasOwn(ordered, key)) setKey(ordered, key, raw[key]);
  return ordered;
}

const areSorted = (keys: readonly string[]): boolean => keys.every((key, index) => index === 0 || keys[index - 1]! <= key);

export function sortKeys(map: JsonObject): JsonObject {
  const sorted: JsonObject = {};
  for (const key of Object.keys(map).toSorted()) setKey(sorted, key, map[key]);
  return sorted;
}
