import { unknownError } from '../api/errors.ts';
import { quote } from '../util/go-quote.ts';
import type { FieldSchema, TypeSchema } from './schema.ts';

/** How a field is merged. */
export interface MergeLookup {
  /** Of the object, or of the list's items. */
  type: TypeSchema;
  strategy?: string;
  mergeKey?: string;
}

/** A field that holds an object on both sides. Throws 500 where the type knows no such field, as strategicpatch does. */
export function lookUpObject(type: TypeSchema, key: string): MergeLookup {
  const field = fieldOf(type, key);
  return { type: field.type, ...strategyOf(field) };
}

/** A field that holds a list on both sides. */
export function lookUpList(type: TypeSchema, key: string): MergeLookup {
  const field = fieldOf(type, key);
  if (field.type.type !== 'list') throw unknownError(`expected slice or array type, but got: ${goKind(type)}`);
  const { items, patchMergeKey } = field.type;
  return { type: items, ...strategyOf(field), ...(patchMergeKey !== undefined && { mergeKey: patchMergeKey }) };
}

function fieldOf(type: TypeSchema, key: string): FieldSchema {
  if (type.type !== 'object' && type.type !== 'any') throw unknownError(`merging an object in json but data type is not struct, instead is: ${goKind(type)}`);
  const field = type.type === 'object' ? type.fields.get(key) : undefined;
  const struct = type.name?.slice(type.name.lastIndexOf('.') + 1) ?? '';
  if (field === undefined) throw unknownError(`unable to find api field in struct ${struct} for the json field ${quote(key)}`);
  return field;
}

/** Of two strategies (`merge,retainKeys`), the one that merging goes by: `retainKeys` tells clients to send that directive. */
function strategyOf(field: FieldSchema): { strategy?: string } {
  const strategies = 'patchStrategy' in field.type && field.type.patchStrategy !== undefined ? field.type.patchStrategy : field.patchStrategy;
  const strategy = strategies?.split(',').find((name) => name !== 'retainKeys');
  return strategy === undefined ? {} : { strategy };
}

/** reflect.Kind of the Go type. */
const goKind = (type: TypeSchema): string =>
  type.type === 'map' ? 'map' : type.type === 'list' ? 'slice' : type.type === 'object' || type.type === 'any' ? 'struct' : type.type;
