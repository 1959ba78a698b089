import type { TypeProvider } from '../declarations.ts';
import type { CostNode, SizeEstimator } from '../cost/node.ts';
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, listType, mapType, structType, type CelType } from '../types.ts';
import { withObjectMeta, type DataSchema } from './data-schema.ts';
import { escapeIdentifier, isReserved } from './identifiers.ts';

/** Rules of sizes are those of apiserver/pkg/cel/common/schemas.go; all follow from how much fits a request. */
const MAX_REQUEST_BYTES = 3 * 1024 * 1024;
const MAX_TEXT = MAX_REQUEST_BYTES - 2;
/** Of a duration, of a moment, and of a day, with quotes. */
const MAX_DURATION = 32;
const MAX_DATE_TIME = 32;
const DATE_SIZE = 12;

/** The type of some data, with how large it can get. */
export interface DeclaredType {
  readonly type: CelType;
  /** By the names that expressions have. Only for objects. */
  readonly fields: ReadonlyMap<string, DeclaredType> | undefined;
  /** Of lists and maps. */
  readonly element: DeclaredType | undefined;
  /** Elements, entries or characters. */
  readonly maxElements: number;
  /** The fewest bytes that such data takes as JSON. */
  readonly minSerializedSize: number;
}

const scalar = (type: CelType, minSerializedSize: number, maxElements = 0): DeclaredType => ({
  type,
  fields: undefined,
  element: undefined,
  maxElements,
  minSerializedSize,
});

const KEY = scalar(STRING, 2);

/** The declared type of data, or undefined where expressions cannot see it. `name` is what its objects are called; nested ones get longer names. */
export function declareType(schema: DataSchema, name: string, isResourceRoot = false): DeclaredType | undefined {
  if (schema.isIntOrString) return scalar(DYN, 1, schema.maxLength === undefined ? MAX_TEXT : textLimit(schema.maxLength));
  const whole = isResourceRoot ? withObjectMeta(schema) : schema;
  switch (whole.type) {
    case 'array':
      return declareList(whole, name);
    case 'object':
      return whole.additionalProperties === undefined ? declareObject(whole, name) : declareMap(whole, whole.additionalProperties, name);
    case 'string':
      return declareText(whole);
    case 'boolean':
      return scalar(BOOL, 4);
    case 'number':
      return scalar(DOUBLE, 1);
    case 'integer':
      return scalar(INT, 1);
    default:
      return undefined;
  }
}

function declareList({ items, maxItems }: DataSchema, name: string): DeclaredType | undefined {
  const element = items && declareType(items, `${name}.@idx`, items.isEmbeddedResource);
  if (element === undefined) return undefined;
  const most = maxItems === undefined ? Math.trunc(MAX_TEXT / (element.minSerializedSize + 1)) : Math.max(0, maxItems);
  return { type: listType(element.type), fields: undefined, element, maxElements: most, minSerializedSize: 2 };
}

function declareMap({ maxProperties }: DataSchema, values: DataSchema, name: string): DeclaredType | undefined {
  const element = declareType(values, `${name}.@elem`, values.isEmbeddedResource);
  if (element === undefined) return undefined;
  // Quotes, a colon, a comma and a short key.
  const most = maxProperties === undefined ? Math.trunc(MAX_TEXT / (element.minSerializedSize + 6)) : Math.max(0, maxProperties);
  return { type: mapType(STRING, element.type), fields: undefined, element, maxElements: most, minSerializedSize: 2 };
}

function declareObject(schema: DataSchema, name: string): DeclaredType {
  const fields = new Map<string, DeclaredType>();
  let minSerializedSize = 2;
  for (const [key, property] of schema.properties ?? []) {
    const escaped = escapeIdentifier(key);
    const field = declareType(property, `${name}.${escaped ?? key}`, property.isEmbeddedResource);
    if (field === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, field);
    // What has a default is filled in by the server.
    if (schema.required?.includes(key) && !property.hasDefault) minSerializedSize += Buffer.byteLength(key) + field.minSerializedSize + 4;
  }
  return { type: structType(name), fields, element: undefined, maxElements: 0, minSerializedSize };
}

function declareText({ format, maxLength, enumValues = [] }: DataSchema): DeclaredType {
  switch (format) {
    case 'byte':
      return scalar(BYTES, 2, maxLength === undefined ? MAX_TEXT : Math.max(0, maxLength));
    case 'duration':
      return scalar(DURATION, 3, MAX_DURATION);
    case 'date':
      return scalar(TIMESTAMP, 12, DATE_SIZE);
    case 'date-time':
      return scalar(TIMESTAMP, 21, MAX_DATE_TIME);
    default:
      return scalar(STRING, 2, maxLength === undefined ? longestOf(enumValues) : textLimit(maxLength));
  }
}

/** A character has up to four bytes. */
const textLimit = (maxLength: number): number => Math.max(0, maxLength) * 4;

const longestOf = (enumValues: readonly unknown[]): number =>
  enumValues.length === 0 ? MAX_TEXT : Math.max(0, ...enumValues.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)));

/** The objects inside declared types, by name. Fields that are called as a keyword are found by that too. */
export function declaredTypes(...roots: DeclaredType[]): TypeProvider {
  const objects = new Map<string, DeclaredType>();
  const gather = (declared: DeclaredType): void => {
    if (declared.fields !== undefined) objects.set(declared.type.name, declared);
    if (declared.element !== undefined) gather(declared.element);
    for (const field of declared.fields?.values() ?? []) gather(field);
  };
  roots.forEach(gather);
  return {
    findType: (name) => objects.get(name)?.type,
    findField(typeName, field) {
      const fields = objects.get(typeName)?.fields;
      return (fields?.get(field) ?? (isReserved(field) ? fields?.get(`__${field}__`) : undefined))?.type;
    },
  };
}

/** Sizes of all data that variables lead to; the first step of a path, the variable itself, is taken for the root (apiextensions' schema/cel/compilation.go). */
export function declaredSizes(root: DeclaredType): SizeEstimator {
  return ({ path }: CostNode) => {
    if (path === undefined || path.length === 0) return undefined;
    let declared: DeclaredType | undefined = root;
    for (const step of path.slice(1)) {
      if (step === '@items' || step === '@values') declared = declared.element;
      else if (step === '@keys') declared = declared.type.kind === 'map' ? KEY : undefined;
      else declared = declared.fields?.get(step);
      if (declared === undefined) return undefined;
    }
    return { min: 0, max: declared.maxElements };
  };
}

/** How often data of a declared type can occur in one object. */
export const maxCardinality = ({ minSerializedSize }: DeclaredType): number => Math.trunc(MAX_REQUEST_BYTES / (minSerializedSize + 1));
