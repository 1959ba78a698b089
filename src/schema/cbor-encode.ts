import { CborWriter, sortedKeys } from '../encoding/cbor-writer.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import type { ObjectSchema, TypeSchema } from './schema.ts';

/**
 * The value as upstream's CBOR serializer writes it in its deterministic mode, without the tag that encloses a whole answer. The type tells what JSON
 * cannot: which text is bytes, and which whole number is a float. Without one, all is as JSON has it, as it is in upstream's unstructured objects.
 */
export function encodeCborItem(value: Json, type: TypeSchema | undefined): Buffer {
  const writer = new CborWriter();
  writeItem(writer, value, type);
  return writer.finish();
}

/** The same, with the tag. */
export function encodeCbor(value: Json, type: TypeSchema | undefined): Buffer {
  const writer = new CborWriter();
  writer.selfDescribed();
  writeItem(writer, value, type);
  return writer.finish();
}

function writeItem(writer: CborWriter, value: Json, type: TypeSchema | undefined): void {
  if (typeof value === 'string') return type?.type === 'bytes' ? writer.base64(value) : writer.string(value);
  if (value === null) return writer.null();
  if (typeof value === 'boolean') return writer.boolean(value);
  if (typeof value !== 'object') return type?.type === 'double' ? writer.float(Number(value)) : writer.number(value);
  if (Array.isArray(value)) return writeList(writer, value, type);
  writeObject(writer, value, type);
}

function writeList(writer: CborWriter, list: readonly Json[], type: TypeSchema | undefined): void {
  const items = type?.type === 'list' ? type.items : schemaIn(type);
  writer.array(list.length);
  for (const item of list) writeItem(writer, item, items);
}

function writeObject(writer: CborWriter, object: JsonObject, type: TypeSchema | undefined): void {
  const schema = schemaIn(type);
  const fields = schema?.custom === undefined ? schema?.fields : undefined;
  const values = type?.type === 'map' ? type.values : undefined;
  const keys = inOrder(Object.keys(object).filter((key) => object[key] !== undefined));
  writer.map(keys.length);
  for (const key of keys) {
    writer.string(key);
    writeItem(writer, object[key]!, values ?? fields?.get(key)?.type);
  }
}

/** Of the object before: items of a list have the same ones. */
let lastKeys: readonly string[] = [];
let lastSorted: readonly string[] = [];

function inOrder(keys: readonly string[]): readonly string[] {
  if (keys.length < 2) return keys;
  if (keys.length !== lastKeys.length || keys.some((key, index) => key !== lastKeys[index])) {
    lastKeys = keys;
    lastSorted = sortedKeys(keys);
  }
  return lastSorted;
}

/** What objects are of here, also where something else may stand in their place (apiextensions' JSONSchemaPropsOr…). */
function schemaIn(type: TypeSchema | undefined): ObjectSchema | undefined {
  if (type?.type === 'object') return type;
  return type?.type === 'any' ? type.orObject?.schema : undefined;
}
