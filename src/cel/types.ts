/** What kind of type it is; types of one kind differ by name and parameters. */
export type TypeKind =
  | 'dyn'
  | 'any'
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'opaque'
  | 'string'
  | 'struct'
  | 'timestamp'
  | 'type'
  | 'param'
  | 'uint';

/**
 * A type of the expression language. At run time it is also a value: what `type(x)` answers, where only the name counts.
 * Lists have one parameter, maps two (key, value), optionals one.
 */
export class CelType {
  readonly kind: TypeKind;
  /** `int`, `list`, `google.protobuf.Timestamp`, `kubernetes.URL`; for a parameter its letter. */
  readonly name: string;
  readonly parameters: readonly CelType[];
  /** Whether null may stand for a value of this type: the wrapper types. */
  readonly isNullable: boolean;

  constructor(kind: TypeKind, name: string, parameters: readonly CelType[] = [], isNullable = false) {
    this.kind = kind;
    this.name = name;
    this.parameters = parameters;
    this.isNullable = isNullable;
  }
}

export const DYN = new CelType('dyn', 'dyn');
export const ANY = new CelType('any', 'google.protobuf.Any');
export const BOOL = new CelType('bool', 'bool');
export const BYTES = new CelType('bytes', 'bytes');
export const DOUBLE = new CelType('double', 'double');
export const DURATION = new CelType('duration', 'google.protobuf.Duration');
export const INT = new CelType('int', 'int');
export const NULL = new CelType('null', 'null_type');
export const STRING = new CelType('string', 'string');
export const TIMESTAMP = new CelType('timestamp', 'google.protobuf.Timestamp');
export const TYPE = new CelType('type', 'type');
export const UINT = new CelType('uint', 'uint');
/** What a subexpression has after an error in it was reported, so that the rest is still checked. */
export const ERROR = new CelType('error', 'error');

export const listType = (element: CelType): CelType => new CelType('list', 'list', [element]);
export const mapType = (key: CelType, value: CelType): CelType => new CelType('map', 'map', [key, value]);
export const typeType = (of: CelType): CelType => new CelType('type', 'type', [of]);
export const paramType = (name: string): CelType => new CelType('param', name);
export const structType = (name: string): CelType => new CelType('struct', name);
export const opaqueType = (name: string, ...parameters: CelType[]): CelType => new CelType('opaque', name, parameters);
export const nullableType = (of: CelType): CelType => new CelType(of.kind, of.name, of.parameters, true);

export const OPTIONAL_TYPE_NAME = 'optional_type';
export const optionalType = (of: CelType): CelType => opaqueType(OPTIONAL_TYPE_NAME, of);

export const LIST = listType(DYN);
export const MAP = mapType(DYN, DYN);
export const OPTIONAL = optionalType(DYN);

export const isDyn = (type: CelType): boolean => type.kind === 'dyn' || type.kind === 'any';
export const isDynOrError = (type: CelType): boolean => type.kind === 'error' || isDyn(type);
export const isOptional = (type: CelType): boolean => type.kind === 'opaque' && type.name === OPTIONAL_TYPE_NAME;

/** What is inside of an optional; other types as they are. */
export const unwrapOptional = (type: CelType): CelType => (isOptional(type) ? type.parameters[0]! : type);

/** Names of parameters count. */
export const isSameType = (a: CelType, b: CelType): boolean => isAlike(a, b, true);

/** Parameters are all alike. */
export const isEquivalentType = (a: CelType, b: CelType): boolean => isAlike(a, b, false);

function isAlike(a: CelType, b: CelType, doParamNamesCount: boolean): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.parameters.length !== b.parameters.length) return false;
  if ((doParamNamesCount || a.kind !== 'param') && a.name !== b.name) return false;
  return a.parameters.every((parameter, index) => isAlike(parameter, b.parameters[index]!, doParamNamesCount));
}

/** Whether a value of type `from` may stand where `to` is wanted, without any inference (cel-go common/types IsAssignableType). */
export function isAssignableTo(to: CelType, from: CelType): boolean {
  if (to.isNullable && from.kind === 'null') return true;
  if (to === from || isDyn(to) || to.kind === 'param') return true;
  if (to.kind !== from.kind || to.name !== from.name || to.parameters.length !== from.parameters.length) return false;
  return to.parameters.every((parameter, index) => isAssignableTo(parameter, from.parameters[index]!));
}

const SHORT_NAMES: Partial<Record<TypeKind, string>> = { any: 'any', duration: 'duration', error: '!error!', null: 'null', timestamp: 'timestamp' };

/** As checker errors print it: `map(string, list(int))`, `wrapper(int)`. */
export function formatType(type: CelType): string {
  const short = SHORT_NAMES[type.kind];
  if (short !== undefined) return short;
  if (type.parameters.length > 0) return `${type.name}(${type.parameters.map(formatType).join(', ')})`;
  return declaredName(type);
}

/** As Go prints a type of cel-go, which is not how its checker does: `map(string, int)`. */
export const printedType = (type: CelType): string =>
  type.parameters.length === 0 ? declaredName(type) : `${type.name}(${type.parameters.map(printedType).join(', ')})`;

export const declaredName = (type: CelType): string => (type.isNullable ? `wrapper(${type.name})` : type.name);

/** As checker errors print a call: `string.(int)`, `(int, uint)`. */
export function formatSignature(parameters: readonly CelType[], isMember: boolean): string {
  const rest = (isMember ? parameters.slice(1) : parameters).map(formatType).join(', ');
  return `${isMember ? `${formatType(parameters[0]!)}.` : ''}(${rest})`;
}
