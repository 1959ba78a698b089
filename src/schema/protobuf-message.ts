import { badRequest } from '../api/errors.ts';
import { sortKeys } from './decode.ts';
import { setKey } from '../encoding/json.ts';
import { LARGE_OBJECT_KEY_VALUES, valuesOfDepth } from '../encoding/json-parser.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { readMessage, SCALAR_CODECS, type ValueCodec } from './protobuf-values.ts';
import { BYTES_AT_ONCE, type ProtobufReader, type ProtobufWriter, tagOf, WIRE_BYTES, WIRE_VARINT } from '../encoding/protobuf-wire.ts';
import type { SlicedWork } from '../util/time-slice.ts';
import type { FieldSchema, ListSchema, MapSchema, ObjectSchema, ScalarSchema, TypeSchema } from './schema.ts';

/** Messages may nest so deep: more than any real schema in a CRD, and little enough for the stack. */
const MAX_DEPTH = 500;

/** One field of a message, or one message inlined into its object's JSON. */
interface FieldCodec {
  number: number;
  /** Writes all of the field with its tags, last element first; nothing where the object has none. */
  write(writer: ProtobufWriter, object: JsonObject): void;
  /** Of one whose fields stand in the object itself. */
  inlined?: ObjectSchema;
  /** Reads one occurrence into `values`. */
  read(reader: ProtobufReader, wireType: number, values: JsonObject, depth: number): void;
}

/**
 * A type's codec, made at first use. Follows gogo's generated code: fields by number, those that are no pointers always written, maps sorted by key,
 * repeated numbers unpacked.
 */
class MessageCodec {
  readonly #schema: ObjectSchema;
  readonly #fields: readonly FieldCodec[];
  readonly #byNumber: ReadonlyMap<number, FieldCodec>;

  constructor(schema: ObjectSchema) {
    this.#schema = schema;
    const fields = [...schema.fields.values()].filter((field) => field.protoNumber !== undefined).map(fieldCodec);
    const inlined = (schema.inlined ?? []).map((message) => inlinedCodec(message.protoNumber, message.schema));
    this.#fields = [...fields, ...inlined].toSorted((a, b) => b.number - a.number);
    this.#byNumber = new Map(this.#fields.map((field) => [field.number, field]));
  }

  write(writer: ProtobufWriter, object: JsonObject): void {
    for (const field of this.#fields) field.write(writer, object);
  }

  /** Reads to the end of `reader`. `values` hold what was there, in no order; `complete` makes an object of them. */
  read(reader: ProtobufReader, values: JsonObject, depth: number): void {
    checkDepth(reader, depth);
    while (!reader.done) {
      const tag = this.#readTag(reader);
      const field = this.#byNumber.get(Math.floor(tag / 8));
      if (field === undefined) reader.skip(tag);
      else field.read(reader, tag & 7, values, depth);
    }
  }

  /** The same, while others have their turn. */
  *readInSteps(reader: ProtobufReader, values: JsonObject, depth: number): SlicedWork<void> {
    checkDepth(reader, depth);
    let dueAt = reader.bytesLeft - BYTES_AT_ONCE;
    while (!reader.done) {
      const tag = this.#readTag(reader);
      const field = this.#byNumber.get(Math.floor(tag / 8));
      if (field === undefined) reader.skip(tag);
      else if (field.inlined !== undefined && (tag & 7) === WIRE_BYTES) yield* messageCodec(field.inlined).readInSteps(reader.message(), values, depth + 1);
      else field.read(reader, tag & 7, values, depth);
      if (reader.bytesLeft > dueAt) continue;
      yield;
      dueAt = reader.bytesLeft - BYTES_AT_ONCE;
    }
  }

  #readTag(reader: ProtobufReader): number {
    reader.count();
    const tag = reader.varint();
    const number = Math.floor(tag / 8);
    if (number === 0 || number > 0x1fffffff) throw badRequest(`proto: ${this.#shortName}: illegal tag ${number} (wire type ${tag & 7})`);
    return tag;
  }

  readObject(reader: ProtobufReader, depth: number): JsonObject {
    const values: JsonObject = {};
    this.read(reader, values, depth);
    return complete(this.#schema, values, {});
  }

  /** Answers with an object that is still empty: what is in the message is put into it later. */
  readObjectLater(reader: ProtobufReader, depth: number): JsonObject {
    const object: JsonObject = {};
    reader.readLater(this.#fill(object, reader, depth));
    return object;
  }

  *#fill(object: JsonObject, reader: ProtobufReader, depth: number): SlicedWork<void> {
    const values: JsonObject = {};
    yield* this.readInSteps(reader, values, depth);
    complete(this.#schema, values, object);
  }

  get #shortName(): string {
    return this.#schema.name.slice(this.#schema.name.lastIndexOf('.') + 1);
  }
}

function checkDepth(reader: ProtobufReader, depth: number): void {
  if (depth > MAX_DEPTH) throw badRequest('proto: messages are nested too deeply');
  reader.count(valuesOfDepth(depth));
}

const codecs = new WeakMap<ObjectSchema, MessageCodec>();

export function messageCodec(schema: ObjectSchema): MessageCodec {
  let codec = codecs.get(schema);
  if (codec === undefined) {
    if (schema.protoMessage === undefined) throw new Error(`${schema.name} has no protobuf form`);
    codec = new MessageCodec(schema);
    codecs.set(schema, codec);
  }
  return codec;
}

/** Sets the object's fields in their order, as upstream's JSON would show what was read. */
function complete(schema: ObjectSchema, values: JsonObject, object: JsonObject): JsonObject {
  for (const field of schema.fields.values()) {
    const value = values[field.name];
    if (value !== undefined && !(field.whenEmpty === 'omit' && isNone(field, value)))
      object[field.name] = field.type.type === 'map' ? inKeyOrder(value as JsonObject) : value;
    else if (field.whenEmpty === 'null') object[field.name] = null;
    else if (field.whenEmpty === 'zero') object[field.name] = zeroOf(field.type);
  }
  return object;
}

/** Go writes maps to the wire in the order of their keys, but other clients need not. */
function inKeyOrder(map: JsonObject): JsonObject {
  let last = '';
  for (const key in map) {
    if (key < last) return sortKeys(map);
    last = key;
  }
  return map;
}

const isNone = (field: FieldSchema, value: Json): boolean => value === null || (!field.pointer && (value === '' || value === 0 || value === false));

const zeroOf = (type: TypeSchema): Json => (type.type === 'object' ? complete(type, {}, {}) : valueCodec(type).zero);

function fieldCodec(field: FieldSchema): FieldCodec {
  const { type } = field;
  if (type.type === 'list' && !type.protoWrapped) return listCodec(field, type);
  if (type.type === 'map') return mapCodec(field, type);
  return singleCodec(field, valueCodec(type));
}

function singleCodec({ name, type, protoNumber, pointer, whenEmpty }: FieldSchema, codec: ValueCodec): FieldCodec {
  const tag = tagOf(protoNumber!, codec.wireType);
  const isNullable = (pointer && !(type.type === 'any' && whenEmpty === 'null')) || type.type === 'bytes' || type.type === 'list';
  return {
    number: protoNumber!,
    write(writer, object) {
      const value = object[name] ?? null;
      if (value === null && isNullable) return;
      codec.write(writer, value ?? codec.zero);
      writer.varint(tag);
    },
    read(reader, wireType, values, depth) {
      expectWireType(wireType, codec, name);
      values[name] = codec.read(reader, depth);
    },
  };
}

function listCodec({ name, protoNumber }: FieldSchema, { items }: ListSchema): FieldCodec {
  const codec = valueCodec(items);
  const tag = tagOf(protoNumber!, codec.wireType);
  return {
    number: protoNumber!,
    write(writer, object) {
      const list = object[name] as Json[] | null | undefined;
      for (let i = (list?.length ?? 0) - 1; i >= 0; i--) {
        codec.write(writer, list![i] ?? codec.zero);
        writer.varint(tag);
      }
    },
    read(reader, wireType, values, depth) {
      const list = (values[name] ??= []) as Json[];
      if (wireType === WIRE_BYTES && codec.wireType !== WIRE_BYTES) readPacked(reader, codec, list);
      else {
        expectWireType(wireType, codec, name);
        list.push(codec.read(reader, depth));
      }
    },
  };
}

/** Numbers one after the other: not how upstream writes them, but every reader must take them. */
function readPacked(reader: ProtobufReader, codec: ValueCodec, list: Json[]): void {
  const packed = reader.message();
  while (!packed.done) {
    packed.count();
    list.push(codec.read(packed, 0));
  }
}

const KEY_TAG = tagOf(1, WIRE_BYTES);

function mapCodec({ name, protoNumber }: FieldSchema, { values: valueType }: MapSchema): FieldCodec {
  const codec = valueCodec(valueType);
  const tag = tagOf(protoNumber!, WIRE_BYTES);
  const valueTag = tagOf(2, codec.wireType);
  return {
    number: protoNumber!,
    write(writer, object) {
      const map = object[name] as JsonObject | null | undefined;
      if (!map) return;
      const keys = sortedKeys(map);
      for (let i = keys.length - 1; i >= 0; i--) {
        const before = writer.size;
        codec.write(writer, map[keys[i]!] ?? codec.zero);
        writer.varint(valueTag);
        writer.string(keys[i]!);
        writer.varint(KEY_TAG);
        writer.lengthSince(before);
        writer.varint(tag);
      }
    },
    read(reader, wireType, values, depth) {
      if (wireType !== WIRE_BYTES) throw wrongWireType(wireType, name);
      reader.count(LARGE_OBJECT_KEY_VALUES - 1);
      let key = '';
      let value: Json | undefined;
      readMessage(reader, (entryTag, entry) => {
        if (entryTag === KEY_TAG) key = entry.string();
        else if (entryTag === valueTag) value = codec.read(entry, depth);
        else return false;
        return true;
      });
      setKey((values[name] ??= {}) as JsonObject, key, value ?? zeroOf(valueType));
    },
  };
}

const SURROGATE = /[\ud800-\udfff]/;

/** In the order of their bytes, which is not that of UTF-16 where there are characters beyond the first plane. */
function sortedKeys(map: JsonObject): string[] {
  const keys = Object.keys(map).toSorted();
  return keys.some((key) => SURROGATE.test(key)) ? keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) : keys;
}

/** The nested message's fields stand in the object itself. */
function inlinedCodec(number: number, schema: ObjectSchema): FieldCodec {
  const tag = tagOf(number, WIRE_BYTES);
  return {
    number,
    inlined: schema,
    write(writer, object) {
      const before = writer.size;
      messageCodec(schema).write(writer, object);
      writer.lengthSince(before);
      writer.varint(tag);
    },
    read(reader, wireType, values, depth) {
      if (wireType !== WIRE_BYTES) throw wrongWireType(wireType, schema.name);
      messageCodec(schema).read(reader.message(), values, depth + 1);
    },
  };
}

function valueCodec(type: TypeSchema): ValueCodec {
  switch (type.type) {
    case 'object':
      return objectCodec(type);
    case 'list':
      return wrappedListCodec(type);
    case 'map':
      throw new Error('a map inside a list or a map has no protobuf form');
    case 'duration':
      throw new Error('a duration has no protobuf form here');
    case 'any':
      return type.orObject === undefined ? SCALAR_CODECS.any : alternativeCodec(type.orObject);
    default:
      return SCALAR_CODECS[type.type];
  }
}

/** Looks its type up only when it meets one, since types may hold themselves. */
const objectCodec = (schema: ObjectSchema): ValueCodec => ({
  wireType: WIRE_BYTES,
  write(writer, value) {
    const before = writer.size;
    messageCodec(schema).write(writer, value as JsonObject);
    writer.lengthSince(before);
  },
  read(reader, depth) {
    const message = reader.message();
    return message.isForLater ? messageCodec(schema).readObjectLater(message, depth + 1) : messageCodec(schema).readObject(message, depth + 1);
  },
  zero: {},
});

function wrappedListCodec({ items }: ListSchema): ValueCodec {
  const codec = valueCodec(items);
  const tag = tagOf(1, codec.wireType);
  return {
    wireType: WIRE_BYTES,
    write(writer, value) {
      const before = writer.size;
      const list = value as Json[];
      for (let i = list.length - 1; i >= 0; i--) {
        codec.write(writer, list[i] ?? codec.zero);
        writer.varint(tag);
      }
      writer.lengthSince(before);
    },
    read(reader, depth) {
      const list: Json[] = [];
      readMessage(reader, (itemTag, message) => {
        if (itemTag !== tag) return false;
        message.count();
        list.push(codec.read(message, depth));
        return true;
      });
      return list;
    },
    zero: [],
  };
}

/** apiextensions' JSONSchemaPropsOrArray {schema = 1, list = 2}, …OrStringArray {schema = 1, list = 2} and …OrBool {allows = 1, schema = 2}. */
function alternativeCodec({ schema, or }: NonNullable<ScalarSchema['orObject']>): ValueCodec {
  const object = objectCodec(schema);
  if (or === 'boolean') return schemaOrBool(object);
  const item = or === 'objects' ? object : SCALAR_CODECS.string;
  const [objectTag, listTag] = [tagOf(1, WIRE_BYTES), tagOf(2, WIRE_BYTES)];
  return {
    wireType: WIRE_BYTES,
    write(writer, value) {
      const before = writer.size;
      if (Array.isArray(value)) {
        for (let i = value.length - 1; i >= 0; i--) {
          item.write(writer, value[i] ?? item.zero);
          writer.varint(listTag);
        }
      } else if (value !== null) {
        object.write(writer, value);
        writer.varint(objectTag);
      }
      writer.lengthSince(before);
    },
    read(reader, depth) {
      const list: Json[] = [];
      let single: Json = null;
      readMessage(reader, (tag, message) => {
        message.count();
        if (tag === objectTag) single = object.read(message, depth + 1);
        else if (tag === listTag) list.push(item.read(message, depth + 1));
        else return false;
        return true;
      });
      return list.length > 0 ? list : single;
    },
    zero: null,
  };
}

function schemaOrBool(object: ValueCodec): ValueCodec {
  const [allowsTag, objectTag] = [tagOf(1, WIRE_VARINT), tagOf(2, WIRE_BYTES)];
  return {
    wireType: WIRE_BYTES,
    write(writer, value) {
      const before = writer.size;
      const isObject = typeof value === 'object' && value !== null;
      if (isObject) {
        object.write(writer, value);
        writer.varint(objectTag);
      }
      writer.varint(isObject || value === true ? 1 : 0);
      writer.varint(allowsTag);
      writer.lengthSince(before);
    },
    read(reader, depth) {
      let value: Json = false;
      let single: Json | undefined;
      readMessage(reader, (tag, message) => {
        if (tag === allowsTag) value = message.varint() !== 0;
        else if (tag === objectTag) single = object.read(message, depth + 1);
        else return false;
        return true;
      });
      return single ?? value;
    },
    zero: false,
  };
}

function expectWireType(wireType: number, codec: ValueCodec, name: string): void {
  if (wireType !== codec.wireType) throw wrongWireType(wireType, name);
}

const wrongWireType = (wireType: number, name: string): Error =>
  badRequest(`proto: wrong wireType = ${wireType} for field ${name[0]!.toUpperCase()}${name.slice(1)}`);
