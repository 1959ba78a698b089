import { show } from '../convert.ts';
import { fn, overload, type Library } from '../declarations.ts';
import { MacroError, type Macro } from '../macro.ts';
import { MAP_INSERT, TWO_VARIABLE_MACROS } from '../standard-macros.ts';
import { mapType, paramType } from '../types.ts';
import type { CelMap } from '../values.ts';
import { CelError, EntryMap, GrowingMap, type CelValue } from '../values.ts';

const K = paramType('K');
const V = paramType('V');
const MAP = mapType(K, V);

function insert(map: CelMap, key: CelValue, value: CelValue): CelMap | CelError {
  if (map.find(key) !== undefined) return new CelError(`insert failed: key ${show(key)} already exists`);
  const target = map instanceof GrowingMap ? map : copyOf(map);
  return target.set(key, value) ? target : new CelError(`unsupported key type: ${show(key)}`);
}

function copyOf(map: CelMap): EntryMap {
  const copy = new EntryMap();
  for (const key of map.keys()) copy.set(key, map.find(key)!);
  return copy;
}

function insertAll(map: CelMap, more: CelMap): CelValue {
  let target: CelMap = map;
  for (const key of more.keys()) {
    const grown = insert(target, key, more.find(key)!);
    if (grown instanceof CelError) return grown;
    target = grown;
  }
  return target;
}

/** Comprehensions with an index or key and a value (cel-go ext/comprehensions.go). */
export const TWO_VARIABLE_LIBRARY: Library = {
  macros: TWO_VARIABLE_MACROS,
  functions: [fn(MAP_INSERT, overload('@mapInsert_map_key_value', [MAP, K, V], MAP, insert), overload('@mapInsert_map_map', [MAP, MAP], MAP, insertAll))],
};

const bind: Macro = {
  name: 'bind',
  argumentCount: 3,
  isReceiver: true,
  expand({ make, target, args }) {
    if (target?.kind !== 'ident' || target.name !== 'cel') return undefined;
    const [variable, init, result] = args;
    if (variable!.kind !== 'ident') throw new MacroError(variable!.offset, 'cel.bind() variable names must be simple identifiers');
    return make.bind(variable!.name, init!, result!);
  },
};

/** `cel.bind(name, value, expression)`. Not a part of Kubernetes' environments. */
export const BINDINGS_LIBRARY: Library = { macros: [bind] };
