import { goKindOfValue, goTypeOfValue } from '../encoding/go-format.ts';
import type { Json } from '../encoding/json-types.ts';
import type { FieldPlan } from './decode-plan.ts';
import type { ScalarSchema, TypeSchema } from './schema.ts';

/** What is said of a value that does not have its type, and whether that ends the decoding at once. */
export interface DecodeRules {
  readonly stopsAtOnce: boolean;
  /** `literal` is how a number was written, where that is known and not as this server writes it. */
  mismatch(raw: Json, type: TypeSchema, fields: readonly FieldPlan[], literal?: string): string;
  /** Of an integer that does not fit, the lowest bits are taken. */
  readonly cutsNumbers: boolean;
  /** What has no type is made JSON of once more, with the keys of its objects in order. */
  readonly sortsUntyped: boolean;
  /** Structs are gone through by their fields, in place of the order of what was sent: it decides which of several mismatches is told. */
  readonly goesByFields?: boolean;
  /** Keys of maps stand in the paths of unknown fields. */
  readonly namesMapKeys: boolean;
  /** What is said before the message of a failed base64 decoding. */
  readonly bytesPrefix: string;
}

/** apiextensions' JSONSchemaPropsOr…, alone or as values of a map. */
function hasOwnReader({ type }: FieldPlan): boolean {
  const read = type.type === 'map' ? type.values : type;
  return 'orObject' in read && read.orObject !== undefined;
}

/** sigs.k8s.io/json, by which bodies are read: `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`. */
export const jsonRules: DecodeRules = {
  stopsAtOnce: false,
  cutsNumbers: false,
  sortsUntyped: false,
  namesMapKeys: true,
  bytesPrefix: '',
  mismatch(raw, type, fields, literal) {
    // What a type's own unmarshaler reads inside is told as of the struct that has it.
    const struct = (fields.find(hasOwnReader) ?? fields.at(-1))?.structName;
    const place = struct === undefined ? 'Go value' : `Go struct field ${struct}.${fields.map((field) => field.goPath).join('.')}`;
    return `json: cannot unmarshal ${describe(raw, type, literal)} into ${place} of type ${goTypeName(type)}`;
  },
};

/** apimachinery/pkg/runtime's converter, by which what a strategic merge made is read: `unrecognized type: int32`. */
export const converterRules: DecodeRules = {
  stopsAtOnce: true,
  cutsNumbers: true,
  sortsUntyped: true,
  namesMapKeys: false,
  bytesPrefix: 'error decoding from json: ',
  mismatch(raw, type) {
    const kind = goKindOfValue(raw);
    switch (type.type) {
      case 'object':
        return `cannot restore struct from: ${kind}`;
      case 'list':
      case 'bytes':
        return `cannot restore slice from ${kind}`;
      case 'map':
        return `cannot restore map from ${kind}`;
      case 'intOrString':
      case 'time':
      case 'microTime':
      case 'duration':
        return jsonRules.mismatch(raw, type, []);
      default:
        return isConvertible(kind, type) ? `cannot convert ${goTypeOfValue(raw)} to ${goTypeName(type)}` : `unrecognized type: ${goKindOf(type)}`;
    }
  },
};

/** Whether Go's reflection knows a conversion, which the converter then refuses to make. */
const isConvertible = (kind: string, type: TypeSchema): boolean => {
  if (kind === 'int64') return type.type === 'string';
  return kind === 'float64' && (type.type === 'int32' || type.type === 'int64');
};

/** `string`, `object`, `number 4294967296`: Go tells the number only where a number was expected. */
function describe(raw: Json, type: TypeSchema, literal = usualLiteral(raw)): string {
  if (typeof raw === 'number' || typeof raw === 'bigint') {
    const expectsNumber = type.type === 'int32' || type.type === 'int64' || type.type === 'double' || type.type === 'intOrString';
    return expectsNumber ? `number ${literal}` : 'number';
  }
  if (typeof raw === 'boolean') return 'bool';
  return Array.isArray(raw) ? 'array' : typeof raw;
}

/** From here on, numbers are written with an exponent, by JSON.stringify as by Go's json.Marshal. */
const EXPONENT_FROM = 1e21;

/** As it was most likely written, by a body whose numbers are not kept as texts. */
const usualLiteral = (raw: Json): string => String(typeof raw === 'number' && Number.isInteger(raw) && Math.abs(raw) < EXPONENT_FROM ? BigInt(raw) : raw);

/** `v1.PodSpec`, `[]v1.Container`, `map[string]string`: a type as Go's errors name it. */
export function goTypeName(type: TypeSchema): string {
  switch (type.type) {
    case 'object':
      return type.name.split('.').slice(-2).join('.');
    case 'list':
      // Only apiextensions' enum is a list of such values that a wrong one is told of by its type.
      return type.goName ?? `[]${type.items.type === 'any' ? 'v1.JSON' : goElementName(type.items)}`;
    case 'map':
      return type.goName ?? `map[string]${goElementName(type.values)}`;
    default:
      return type.goName ?? goKindOf(type);
  }
}

/** Times read themselves from strings, and are named as those when they are wrong; what holds them is named by their type. */
function goElementName(type: TypeSchema): string {
  if (type.type === 'time') return 'v1.Time';
  if (type.type === 'microTime') return 'v1.MicroTime';
  return type.type === 'duration' ? 'v1.Duration' : goTypeName(type);
}

/** The type under the name. */
function goKindOf({ type, goName }: ScalarSchema): string {
  // Bytes that are sent as a list of numbers: Go's own kind, and no name for another.
  if (goName === 'uint8') return goName;
  switch (type) {
    case 'boolean':
      return 'bool';
    case 'double':
      return 'float64';
    case 'bytes':
      return '[]uint8';
    case 'intOrString':
      return 'int32';
    case 'time':
    case 'microTime':
    case 'duration':
      return 'string';
    default:
      return type;
  }
}
