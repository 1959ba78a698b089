import { equalJson } from '../../encoding/json-equal.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { equal } from '../compare.ts';
import { parseDurationText, parseTimestamp } from '../time.ts';
import { CelType } from '../types.ts';
import { CelDouble, CelError, CelList, CelMap, CelObject, CelTimestamp, noSuchOverload, type CelValue } from '../values.ts';
import { toJson } from './json-value.ts';
import { withObjectMeta, type DataSchema } from './data-schema.ts';
import { escapeIdentifier, unescapeIdentifier } from './identifiers.ts';

/**
 * Data as a schema types it (apiserver/pkg/cel/common/valuesunstructured.go): objects and maps, lists that are compared and joined as their
 * list type says, texts whose format makes them times, durations or bytes. Looked into when it is used; what does not fit its schema is an error there.
 */
export function dataValue(json: Json, schema: DataSchema): CelValue {
  if (json === null) return schema.isNullable ? null : new CelError('invalid data, got null for schema with nullable=false');
  if (schema.isIntOrString) return intOrString(json);
  switch (schema.type) {
    case 'object':
      return isObject(json) ? new DataMap(json, schema) : wrong('a map for the provided schema with type=object');
    case 'array':
      return listValue(json, schema);
    case 'string':
      return typeof json === 'string' ? textValue(json, schema.format) : wrong(`string, got ${goType(json)}`);
    case 'number':
      return isNumeric(json) ? new CelDouble(Number(json)) : wrong(`float, got ${goType(json)}`);
    case 'integer':
      return isNumeric(json) && (typeof json === 'bigint' || Number.isInteger(json)) ? json : wrong(`int, got ${goType(json)}`);
    case 'boolean':
      return typeof json === 'boolean' ? json : wrong(`bool, got ${goType(json)}`);
    default:
      return schema.preservesUnknownFields ? new PreservedValue(json) : new CelError(UNTYPED);
  }
}

const UNTYPED =
  'invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ';

const wrong = (expected: string): CelError => new CelError(`invalid data, expected ${expected}`);
const isObject = (json: Json): json is JsonObject => typeof json === 'object' && json !== null && !Array.isArray(json);
const isNumeric = (json: Json): json is number | bigint => typeof json === 'number' || typeof json === 'bigint';

function goType(json: Json): string {
  if (Array.isArray(json)) return '[]interface {}';
  if (typeof json === 'number') return Number.isInteger(json) ? 'int64' : 'float64';
  return { string: 'string', boolean: 'bool', bigint: 'int64' }[typeof json as string] ?? 'map[string]interface {}';
}

function intOrString(json: Json): CelValue {
  if (typeof json === 'string' || typeof json === 'bigint' || (typeof json === 'number' && Number.isInteger(json))) return json;
  return wrong('XIntOrString value to be either a string or integer');
}

function textValue(text: string, format: string | undefined): CelValue {
  switch (format) {
    case 'duration':
      return parseDurationText(text) ?? new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
    case 'date':
      return parseTimestamp(`${text}T00:00:00Z`) ?? new CelError(`Invalid date formatted string ${text}: parsing time`);
    case 'date-time':
      return text === ''
        ? new CelTimestamp(0, 0)
        : (parseTimestamp(text.toUpperCase()) ?? new CelError(`Invalid date-time formatted string ${text}: parsing time`));
    case 'byte':
      return bytesValue(text);
    default:
      return text;
  }
}

function bytesValue(text: string): CelValue {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
    ? bytes
    : new CelError(`Invalid byte formatted string ${text}: illegal base64 data`);
}

function listValue(json: Json, schema: DataSchema): CelValue {
  if (!Array.isArray(json)) return wrong('an array for the provided schema with type=array');
  const { items } = schema;
  if (items === undefined) return new CelError('invalid array type, expected Items with a non-empty Schema');
  switch (schema.listType) {
    case 'map':
      return new MapListValue(json, items, schema.listMapKeys ?? []);
    case 'set':
      return new SetListValue(json, items);
    default:
      return new DataList(json, items);
  }
}

/** Data that is kept without a schema: it only equals. */
class PreservedValue extends CelObject {
  readonly type = new CelType('opaque', 'unknown');
  readonly #json: Json;

  constructor(json: Json) {
    super();
    this.#json = json;
  }

  override equals(other: CelValue): boolean {
    return other instanceof PreservedValue ? equalJson(this.#json, other.#json) : equalJson(this.#json, toJson(other));
  }

  toString(): string {
    return JSON.stringify(this.#json);
  }
}

class DataList extends CelList {
  readonly elements: Json[];
  readonly items: DataSchema;

  constructor(elements: Json[], items: DataSchema) {
    super();
    this.elements = elements;
    this.items = items;
  }

  get size(): number {
    return this.elements.length;
  }

  get(index: number): CelValue {
    return dataValue(this.elements[index]!, this.items);
  }

  override toJson(): Json {
    return this.elements;
  }

  override equals(other: CelValue): boolean | CelError {
    if (!(other instanceof CelList)) return noSuchOverload();
    if (other.size !== this.size) return false;
    for (let index = 0; index < this.size; index++) {
      const answer = equal(this.get(index), other.get(index));
      if (answer !== true) return answer;
    }
    return true;
  }
}

/** A set: the order of elements does not count, and joining adds what is not there. */
class SetListValue extends DataList {
  override equals(other: CelValue): boolean | CelError {
    if (!(other instanceof CelList)) return noSuchOverload();
    if (other.size !== this.size) return false;
    const members = new Set(this.elements);
    return rawItems(other).every((item) => members.has(item));
  }

  override concat(other: CelList): CelList {
    const members = new Set(this.elements);
    const added = rawItems(other).filter((item) => !members.has(item) && members.add(item));
    return new SetListValue([...this.elements, ...added], this.items);
  }
}

/** A map written as a list: elements are told apart by their keys, the order does not count, and joining replaces what has the same key. */
class MapListValue extends DataList {
  readonly #keys: readonly string[];
  #byKey: ReadonlyMap<string, Json> | undefined;

  constructor(elements: Json[], items: DataSchema, keys: readonly string[]) {
    super(elements, items);
    this.#keys = keys;
  }

  override equals(other: CelValue): boolean | CelError {
    if (!(other instanceof CelList)) return noSuchOverload();
    if (other.size !== this.size) return false;
    this.#byKey ??= new Map(this.elements.map((element) => [this.#keyOf(element), element]));
    for (let index = 0; index < other.size; index++) {
      const item = other.get(index);
      const own = this.#byKey.get(this.#keyOf(toJson(item)));
      if (own === undefined) return false;
      const answer = equal(dataValue(own, this.items), item);
      if (answer !== true) return answer;
    }
    return true;
  }

  override concat(other: CelList): CelList {
    const merged = new Map(this.elements.map((element) => [this.#keyOf(element), element]));
    for (const item of rawItems(other)) merged.set(this.#keyOf(item), item);
    return new MapListValue([...merged.values()], this.items, this.#keys);
  }

  #keyOf(element: Json): string {
    return JSON.stringify(this.#keys.map((key) => (isObject(element) ? String(element[key]) : null)));
  }
}

const rawItems = (list: CelList): Json[] => toJson(list) as Json[];

/** An object with properties, whose fields have escaped names and are not there where they are null, or a map. */
class DataMap extends CelMap {
  readonly #object: JsonObject;
  readonly #schema: DataSchema;

  constructor(object: JsonObject, schema: DataSchema) {
    super();
    this.#object = object;
    this.#schema = schema.isEmbeddedResource ? withObjectMeta(schema) : schema;
  }

  get size(): number {
    return Object.keys(this.#object).length;
  }

  override toJson(): Json {
    return this.#object;
  }

  #schemaOf(key: string): DataSchema | undefined {
    return this.#schema.properties?.get(key) ?? (this.#schema.properties === undefined ? this.#schema.additionalProperties : undefined);
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return noSuchOverload();
    const isFields = this.#schema.properties !== undefined;
    const name = isFields ? unescapeIdentifier(key) : key;
    if (name === undefined || !Object.hasOwn(this.#object, name)) return undefined;
    const json = this.#object[name];
    const schema = this.#schemaOf(name);
    if (json === undefined || schema === undefined || (isFields && json === null)) return undefined;
    return dataValue(json, schema);
  }

  keys(): readonly string[] {
    const known = Object.keys(this.#object).filter((key) => this.#schemaOf(key) !== undefined);
    return this.#schema.properties === undefined ? known : known.map((key) => escapeIdentifier(key) ?? key);
  }

  override equals(other: CelValue): boolean | CelError {
    if (!(other instanceof CelMap)) return noSuchOverload();
    if (other.size !== this.size) return false;
    for (const key of Object.keys(this.#object)) {
      const answer = this.#schemaOf(key) === undefined ? this.#equalsUnknown(key, other) : this.#equalsKnown(key, other);
      if (answer !== true) return answer;
    }
    return true;
  }

  #equalsKnown(key: string, other: CelMap): boolean | CelError {
    const name = this.#schema.properties === undefined ? key : (escapeIdentifier(key) ?? key);
    const own = this.find(name);
    const theirs = other.find(name);
    if (own === undefined || theirs === undefined) return own === theirs;
    return equal(own, theirs);
  }

  /** Fields that the schema does not know are compared as they are. */
  #equalsUnknown(key: string, other: CelMap): boolean | CelError {
    if (!(other instanceof DataMap)) return noSuchOverload();
    return !Object.hasOwn(other.#object, key) || equalJson(this.#object[key], other.#object[key]);
  }
}
