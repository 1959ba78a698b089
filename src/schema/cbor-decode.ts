import type { EmptyPaths } from './empty-paths.ts';
import { parseApiVersion } from '../api/api-object.ts';
import { ARRAY, BYTES, CborError, MAJOR_NAMES, MAP, NEGATIVE, PRIMITIVE, TAG, TEXT, UNSIGNED } from '../encoding/cbor-items.ts';
import { CborReader, CborTypeError, countOf, duplicateKey } from '../encoding/cbor-reader.ts';
import { quote } from '../util/go-quote.ts';
import { LIMITS } from '../util/limits.ts';
import { isJsonObject, setKey } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { canonicalBase64 } from '../encoding/base64.ts';
import { goTypeName } from './decode-errors.ts';
import { planOf } from './decode-plan.ts';
import { DecodeError, type StrictErrors, decode, decodeInSlices } from './decode.ts';
import { nextTurn } from '../util/time-slice.ts';
import type { FieldSchema, ListSchema, MapSchema, ObjectSchema, ScalarSchema, TypeSchema } from './schema.ts';

const STRING: ScalarSchema = { type: 'string' };
const INT32: ScalarSchema = { type: 'int32' };
/** An element of `bytes`. */
const BYTE: ScalarSchema = { type: 'int32', goName: 'uint8' };

const MIN_INT64 = -(2n ** 63n);

const typeField = (name: string): [string, FieldSchema] => [name, { name, type: STRING, required: false, whenEmpty: 'omit', pointer: false }];
const TYPE_META: ObjectSchema = {
  type: 'object',
  name: 'io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta',
  fields: new Map([typeField('kind'), typeField('apiVersion')]),
  kinds: [],
};

/** Only the type, as upstream reads it before anything else. Throws CborError. */
export function cborTypeMeta(bytes: Buffer): { apiVersion: string; kind: string } {
  const type = read(TYPE_META, bytes, false);
  const { apiVersion, kind } = isJsonObject(type) ? type : {};
  return { apiVersion: readableVersion((apiVersion ?? '') as string), kind: (kind ?? '') as string };
}

/** The same of an object of no type that Go knows: what is no string is none. */
export function cborContentType(bytes: Buffer): { apiVersion: string; kind: string } {
  try {
    const { apiVersion, kind } = readContent(bytes);
    return { apiVersion: typeof apiVersion === 'string' ? readableVersion(apiVersion) : '', kind: typeof kind === 'string' ? kind : '' };
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return cborTypeMeta(bytes);
  }
}

/** Where JSON's reader refuses what is no group and version, CBOR's takes it for none. */
const readableVersion = (apiVersion: string): string => (parseApiVersion(apiVersion) === undefined ? '' : apiVersion);

/** What a body holds, before it is brought into the canonical form. */
export interface CborBody {
  value: Json;
  object: JsonObject;
}

/**
 * `decode` for CBOR: the same canonical object, but what does not fit is told as upstream's CBOR library tells it, and of fields that nobody knows only
 * the first. Throws DecodeError.
 */
export function decodeCborObject(schema: ObjectSchema, bytes: Buffer, strict?: StrictErrors, sentEmpty?: EmptyPaths): CborBody {
  const value = readOrRefuse(schema, bytes, strict);
  return { value, object: decode(schema, value, strictFor(schema, strict), sentEmpty) };
}

/** The same for a body that may be large: others have their turn in the meantime. */
export async function decodeCborInSlices(schema: ObjectSchema, bytes: Buffer, strict?: StrictErrors, sentEmpty?: EmptyPaths): Promise<CborBody> {
  const value = readOrRefuse(schema, bytes, strict);
  await nextTurn();
  return { value, object: await decodeInSlices(schema, value, strictFor(schema, strict), sentEmpty) };
}

/** Of custom resources in CBOR, upstream does not look for unknown fields. */
const strictFor = (schema: ObjectSchema, strict: StrictErrors | undefined): StrictErrors | undefined => (schema.custom === undefined ? strict : undefined);

function readOrRefuse(schema: ObjectSchema, bytes: Buffer, strict: StrictErrors | undefined): Json {
  try {
    return readChecked(schema, bytes, strict);
  } catch (error) {
    throw error instanceof CborError ? new DecodeError(error.message) : error;
  }
}

function readChecked(schema: ObjectSchema, bytes: Buffer, strict: StrictErrors | undefined): Json {
  if (schema.custom !== undefined) return readContent(bytes);
  if (strict === undefined) return read(schema, bytes, false);
  try {
    return read(schema, bytes, true);
  } catch (error) {
    if (!(error instanceof UnknownFieldError)) throw error;
    const value = read(schema, bytes, false);
    strict.errors.push(error.message);
    return value;
  }
}

/** An object of no type that Go knows. Throws CborError. */
export function readContent(bytes: Buffer): JsonObject {
  const reader = new TypedReader(bytes, false);
  return (reader.value({ type: 'map', goName: 'map[string]interface {}', values: { type: 'any' } }) ?? {}) as JsonObject;
}

function read(schema: ObjectSchema, bytes: Buffer, isStrict: boolean): Json {
  const reader = new TypedReader(bytes, isStrict);
  try {
    return reader.value(schema);
  } catch (error) {
    if (!(error instanceof CborTypeError) || reader.rootField === undefined) throw error;
    // Every struct on the way up puts its own name there, so the outermost one's is left.
    throw new CborError(error.messageAt(`${goTypeName(schema)}.${reader.rootField}`));
  }
}

class UnknownFieldError extends CborError {}

/** Reads items into types as fxamacker/cbor does with upstream's modes. What it answers with still has to be decoded. */
class TypedReader {
  /** The field of the outermost object that is being read. */
  rootField: string | undefined;
  readonly #reader: CborReader;
  #isStrict: boolean;
  #depth = 0;

  constructor(bytes: Buffer, isStrict: boolean) {
    this.#reader = new CborReader(bytes, LIMITS.cborValues);
    this.#isStrict = isStrict;
  }

  value(type: TypeSchema): Json {
    switch (type.type) {
      case 'any':
        return this.#anew(() => (type.orObject === undefined ? this.#reader.any() : this.#alternative(type.orObject)));
      case 'duration':
        return this.#anew(() => this.#reader.any());
      case 'quantity':
      case 'time':
      case 'microTime':
        return this.#anew(() => this.#typed(STRING));
      case 'intOrString':
        return this.#anew(() => this.#intOrString());
      default:
        return this.#typed(type);
    }
  }

  /** For types with an unmarshaler of their own, which know nothing of the tags around them. */
  #anew(readIt: () => Json): Json {
    const outer = this.#reader.laterEncoding;
    this.#reader.laterEncoding = undefined;
    const value = readIt();
    this.#reader.laterEncoding = outer;
    return value;
  }

  #typed(type: TypeSchema): Json {
    const reader = this.#reader;
    reader.checkTags();
    const { major } = reader;
    switch (major) {
      case UNSIGNED:
      case NEGATIVE:
        return this.#integer(major, type);
      case BYTES:
        return this.#byteString(type);
      case TEXT:
        return type.type === 'string' ? reader.text() : this.#refuse(major, type);
      case ARRAY:
        return this.#array(type);
      case MAP:
        if (type.type === 'object') return this.#object(type);
        return type.type === 'map' ? this.#map(type) : this.#refuse(major, type);
      case TAG:
        return reader.tagged(reader.head().argument, () => this.#typed(type));
      default:
        return this.#primitive(type);
    }
  }

  #refuse(major: number, type: TypeSchema, note?: string): never {
    throw new CborTypeError(major, goTypeName(type), note);
  }

  #integer(major: number, type: TypeSchema): Json {
    if (type === BYTE) return this.#byte(major);
    if (type.type !== 'int32' && type.type !== 'int64' && type.type !== 'double') return this.#refuse(major, type);
    const value = this.#reader.anyInteger();
    if (type.type === 'double') return Number(value);
    const bits = type.type === 'int32' ? 32 : 64;
    if (BigInt.asIntN(bits, BigInt(value)) === BigInt(value)) return value;
    const isBeyondInt64 = major === NEGATIVE && value < MIN_INT64;
    return this.#refuse(major, type, `${value} overflows ${isBeyondInt64 ? "Go's int64" : goTypeName(type)}`);
  }

  #byte(major: number): number {
    const value = this.#reader.anyInteger();
    if (major === NEGATIVE) this.#refuse(major, BYTE);
    return value <= 0xff ? Number(value) : this.#refuse(major, BYTE, `${value} overflows ${goTypeName(BYTE)}`);
  }

  #byteString(type: TypeSchema): Json {
    if (type.type === 'string') return this.#reader.byteText();
    if (type.type !== 'bytes') return this.#refuse(BYTES, type);
    const bytes = this.#reader.byteString();
    // Without a tag that says otherwise, the bytes are base64 already.
    if (this.#reader.laterEncoding !== undefined) return bytes.toString('base64');
    try {
      return canonicalBase64(bytes.toString('latin1'));
    } catch (error) {
      throw new CborError(`cbor: failed to decode base64 from byte string: ${(error as Error).message}`);
    }
  }

  #primitive(type: TypeSchema): Json {
    const value = this.#reader.primitive();
    const fits = value === null || (typeof value === 'boolean' ? type.type === 'boolean' : type.type === 'double');
    return fits ? value : this.#refuse(PRIMITIVE, type);
  }

  #array(type: TypeSchema): Json {
    if (type.type === 'list') return this.#list(type);
    // Go's bytes are a list of numbers too.
    if (type.type === 'bytes') return Buffer.from(this.#list({ items: BYTE }).map(Number)).toString('base64');
    return this.#refuse(ARRAY, type, type.type === 'object' ? 'cannot decode CBOR array to struct without toarray option' : undefined);
  }

  #list({ items }: Pick<ListSchema, 'items'>): Json[] {
    const reader = this.#reader;
    const count = countOf(reader.head());
    const list: Json[] = [];
    while (!reader.isOver(count, list.length)) list.push(this.value(items));
    return list;
  }

  #map({ values }: MapSchema): JsonObject {
    const reader = this.#reader;
    const count = countOf(reader.head());
    const map: JsonObject = {};
    const seen = new Set<string>();
    for (let index = 0; !reader.isOver(count, index); index++) {
      const key = reader.mapKey();
      setKey(map, key, this.value(values));
      if (seen.has(key)) throw duplicateKey(quote(key), index);
      seen.add(key);
    }
    return map;
  }

  #object(schema: ObjectSchema): JsonObject {
    const reader = this.#reader;
    const { byName } = planOf(schema);
    const count = countOf(reader.head());
    const object: JsonObject = {};
    const seen = new Set<string>();
    this.#depth++;
    for (let index = 0; !reader.isOver(count, index); index++) {
      if (this.#depth === 1) this.rootField = undefined;
      const key = this.#fieldName();
      const field = key.name === undefined ? undefined : byName.get(key.name);
      if (field === undefined && this.#isStrict) throw new UnknownFieldError(`cbor: found unknown field at map element index ${index}`);
      if (seen.has(key.shown)) throw duplicateKey(key.shown, index);
      seen.add(key.shown);
      if (field === undefined) reader.skip();
      else {
        if (this.#depth === 1) this.rootField = field.name;
        object[field.name] = this.value(field.type);
      }
    }
    this.#depth--;
    return object;
  }

  /** Structs have fields by name; a number is the name of none. `shown` tells keys apart, and is what Go's %#v prints. */
  #fieldName(): { name: string | undefined; shown: string } {
    const reader = this.#reader;
    const { major } = reader;
    if (major === UNSIGNED || major === NEGATIVE) return { name: undefined, shown: String(reader.integer()) };
    if (major !== TEXT && major !== BYTES)
      throw new CborTypeError(major, 'string', `map key is of type ${MAJOR_NAMES[major]} and cannot be used to match struct field name`);
    const name = major === TEXT ? reader.text() : reader.byteString().toString('utf8');
    return { name, shown: quote(name) };
  }

  #intOrString(): Json {
    const { at } = this.#reader;
    try {
      return this.#typed(STRING);
    } catch (error) {
      if (!(error instanceof CborError)) throw error;
      this.#reader.at = at;
      return this.#typed(INT32);
    }
  }

  /** apiextensions' JSONSchemaPropsOr…: their unmarshalers read what is inside strictly, whoever asks. */
  #alternative({ schema, or }: NonNullable<ScalarSchema['orObject']>): Json {
    const outer = this.#isStrict;
    this.#isStrict = true;
    const value = this.#alternativeOf(schema, or);
    this.#isStrict = outer;
    return value;
  }

  #alternativeOf(schema: ObjectSchema, or: 'boolean' | 'objects' | 'strings'): Json {
    const reader = this.#reader;
    const { major } = reader;
    if (major === MAP) return this.#object(schema);
    if (or === 'boolean') {
      const value = major === PRIMITIVE ? reader.primitive() : undefined;
      if (typeof value !== 'boolean') throw new CborError('boolean or JSON schema expected');
      return value;
    }
    if (major === ARRAY) return this.#list({ items: or === 'objects' ? schema : STRING });
    reader.skip();
    return null;
  }
}
