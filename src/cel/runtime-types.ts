import { isInt } from './numbers.ts';
import { CelType, DYN } from './types.ts';
import { CelDouble, CelDuration, CelList, CelMap, CelObject, CelOptional, CelTimestamp, CelUint, typeOf, type CelValue } from './values.ts';

export type TypeTest = (value: CelValue) => boolean;

const TESTS: Partial<Record<CelType['kind'], TypeTest>> = {
  bool: (value) => typeof value === 'boolean',
  bytes: (value) => value instanceof Uint8Array,
  double: (value) => value instanceof CelDouble,
  duration: (value) => value instanceof CelDuration,
  int: isInt,
  null: (value) => value === null,
  string: (value) => typeof value === 'string',
  timestamp: (value) => value instanceof CelTimestamp,
  type: (value) => value instanceof CelType,
  uint: (value) => value instanceof CelUint,
};

/** Whether a value can be passed where the type is declared; undefined where any can. Of lists and maps only the first element is looked at, as in cel-go. */
export function typeTest(type: CelType): TypeTest | undefined {
  switch (type.kind) {
    case 'dyn':
    case 'any':
    case 'param':
      return undefined;
    case 'list':
      return listTest(typeTest(type.parameters[0] ?? DYN));
    case 'map':
      return mapTest(typeTest(type.parameters[0] ?? DYN), typeTest(type.parameters[1] ?? DYN));
    case 'opaque':
    case 'struct':
      return (value) => (value instanceof CelObject || value instanceof CelOptional) && typeOf(value).name === type.name;
    default:
      return TESTS[type.kind] ?? (() => false);
  }
}

function listTest(element: TypeTest | undefined): TypeTest {
  if (element === undefined) return (value) => value instanceof CelList;
  return (value) => value instanceof CelList && (value.size === 0 || element(value.get(0)));
}

function mapTest(key: TypeTest | undefined, item: TypeTest | undefined): TypeTest {
  if (key === undefined && item === undefined) return (value) => value instanceof CelMap;
  return (value) => {
    if (!(value instanceof CelMap)) return false;
    const first = value.keys()[0];
    return first === undefined || ((key?.(first) ?? true) && (item?.(value.find(first)!) ?? true));
  };
}
