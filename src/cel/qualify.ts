import { show } from './convert.ts';
import { isInt } from './numbers.ts';
import { CelDouble, CelError, CelList, CelMap, CelObject, CelOptional, CelUint, NONE, typeOf, type CelValue } from './values.ts';

/** What `object.field` or `object[key]` is; undefined where it is not there. */
function find(object: CelValue, key: CelValue): CelValue | undefined {
  if (object instanceof CelMap) return object.find(key);
  if (object instanceof CelList) return findElement(object, key);
  if (object instanceof CelObject) return typeof key === 'string' ? object.get(key) : undefined;
  return undefined;
}

function findElement(list: CelList, key: CelValue): CelValue | undefined {
  const index = listIndex(key);
  if (typeof index === 'object') return index;
  return index >= 0 && index < list.size ? list.get(index) : undefined;
}

function listIndex(key: CelValue): number | CelError {
  if (isInt(key)) return Number(key);
  if (key instanceof CelUint) return Number(key.value);
  if (!(key instanceof CelDouble)) return new CelError(`unsupported index type '${typeOf(key).name}' in list`);
  return Number.isInteger(key.value) ? key.value : new CelError(`unsupported index value ${show(key)} in list`);
}

/** `object.field` and `object[key]`. From an optional it is an optional again. */
export function qualify(object: CelValue, key: CelValue): CelValue {
  const found = find(object, key);
  if (found !== undefined) return found;
  if (object instanceof CelOptional) return qualifyOptionally(object, key);
  if (object instanceof CelList) return new CelError(`index out of bounds: ${show(key)}`);
  return new CelError(object instanceof CelObject ? `no such field '${show(key)}'` : `no such key: ${show(key)}`);
}

/** `object.?field` and `object[?key]`. */
export function qualifyOptionally(object: CelValue, key: CelValue): CelValue {
  const inner = object instanceof CelOptional ? object.value : object;
  if (inner === undefined) return NONE;
  const found = inner instanceof CelObject && typeof key === 'string' && !inner.isSet(key) ? undefined : find(inner, key);
  if (found === undefined) return NONE;
  return found instanceof CelError ? found : new CelOptional(found);
}

/** `has(object.field)`: whether the field is there; a value that has no fields has none. */
export function isPresent(object: CelValue, field: string): boolean | CelError {
  const inner = object instanceof CelOptional ? object.value : object;
  if (inner === undefined) return false;
  if (inner instanceof CelObject) return inner.isSet(field);
  const found = find(inner, field);
  return found instanceof CelError ? found : found !== undefined;
}
