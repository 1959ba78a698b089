import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { CelDouble, CelDuration, CelError, CelList, CelMap, CelObject, CelOptional, CelTimestamp, CelUint, type CelValue } from '../values.ts';
import { formatDurationSeconds, formatTimestamp } from '../time.ts';
import { AppliedObjectValue } from '../library/mutation.ts';

/** A list of JSON of which nothing is declared. */
class JsonList extends CelList {
  readonly #items: readonly Json[];

  constructor(items: readonly Json[]) {
    super();
    this.#items = items;
  }

  get size(): number {
    return this.#items.length;
  }

  get(index: number): CelValue {
    return jsonValue(this.#items[index]!);
  }

  override toJson(): Json {
    return this.#items as Json[];
  }
}

/** Fields of an object whose views are kept; maps with names of the client's choice may have many more. */
const MAX_VIEWS = 16;

class JsonMap extends CelMap {
  readonly #object: JsonObject;
  #keys: readonly string[] | undefined;
  /** What is in it, as it was looked into before: a fold inside of another names the same map again and again, and each view of it would list its keys anew. */
  #views: Map<string, CelValue> | undefined;

  constructor(object: JsonObject) {
    super();
    this.#object = object;
  }

  get size(): number {
    return this.keys().length;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#object, key)) return undefined;
    const value = this.#object[key];
    if (typeof value === 'object' && value !== null) return this.#views?.get(key) ?? this.#view(key, value);
    return value === undefined ? undefined : jsonValue(value);
  }

  #view(key: string, value: Json): CelValue {
    const view = jsonValue(value);
    this.#views ??= new Map();
    if (this.#views.size < MAX_VIEWS) this.#views.set(key, view);
    return view;
  }

  keys(): readonly string[] {
    return (this.#keys ??= Object.keys(this.#object).filter((key) => this.#object[key] !== undefined));
  }

  override toJson(): Json {
    return this.#object;
  }
}

/** JSON of which nothing is declared, as it is: whole numbers are ints, others doubles. Lists and objects are looked into when they are used. */
export function jsonValue(json: Json): CelValue {
  if (typeof json === 'number') return Number.isInteger(json) ? json : new CelDouble(json);
  if (typeof json !== 'object' || json === null) return json;
  return Array.isArray(json) ? new JsonList(json) : new JsonMap(json);
}

/** A value that cannot be written as JSON. */
export class NotJsonError extends Error {}

/** What an expression came to, as JSON: bytes in base64, times as texts. Throws NotJsonError. */
export function toJson(value: CelValue): Json {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof CelDouble) return value.value;
  if (value instanceof CelUint) return value.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.value) : value.value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDurationSeconds(value);
  if (value instanceof CelList) return value.toJson?.() ?? Array.from({ length: value.size }, (_, index) => toJson(value.get(index)));
  if (value instanceof CelMap) return value.toJson?.() ?? Object.fromEntries(value.keys().map((key) => [jsonKey(key), toJson(value.find(key)!)]));
  if (value instanceof AppliedObjectValue) return Object.fromEntries(Array.from(value.fields, ([name, field]) => [name, toJson(field)]));
  if (value instanceof CelOptional && value.value !== undefined) return toJson(value.value);
  throw new NotJsonError(value instanceof CelError ? value.message : `a ${value instanceof CelObject ? value.type.name : 'value'} cannot be written as JSON`);
}

function jsonKey(key: CelValue): string {
  if (typeof key !== 'string') throw new NotJsonError('keys of objects must be strings');
  return key;
}
