import { fn, member, overload, type Library } from '../declarations.ts';
import { MacroError, type Macro } from '../macro.ts';
import * as operators from '../operators.ts';
import { BOOL, DYN, INT, OPTIONAL, STRING, listType, mapType, optionalType, paramType } from '../types.ts';
import { ArrayList, CelDouble, CelDuration, CelError, CelList, CelMap, CelOptional, CelTimestamp, CelUint, NONE, type CelValue } from '../values.ts';
import { listItems, show } from '../convert.ts';

/** Values that may not be there, and the syntax for them (cel-go cel/library.go OptionalTypes). */
const K = paramType('K');
const V = paramType('V');
const OPTIONAL_V = optionalType(V);
const LIST_V = listType(V);
const MAP_KV = mapType(K, V);
const OPTIONALS = listType(OPTIONAL_V);

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof CelDouble) return value.value === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanoseconds === 0n;
  if (value instanceof CelTimestamp) return value.seconds === ZERO_TIME_SECONDS && value.nanoseconds === 0;
  return value instanceof Uint8Array && value.length === 0;
}

/** Go's zero time. */
const ZERO_TIME_SECONDS = -62_135_596_800;

function unwrapAll(list: CelList): CelValue {
  const items = listItems(list);
  const other = items.find((item) => !(item instanceof CelOptional));
  if (other !== undefined) return new CelError(`value ${show(other)} is not optional`);
  return new ArrayList(items.flatMap((item) => (item instanceof CelOptional && item.value !== undefined ? [item.value] : [])));
}

const elementAt = (list: CelList, index: number): CelOptional => (list.size === 0 ? NONE : new CelOptional(list.get(index)));

/** `target.optMap(name, transform)`: the transform of what is inside, or nothing. */
const transforming = (name: string, isWrapped: boolean): Macro => ({
  name,
  argumentCount: 2,
  isReceiver: true,
  expand({ make, target, args }) {
    const variable = args[0]!;
    if (variable.kind !== 'ident') throw new MacroError(variable.offset, `${name}() variable name must be a simple identifier`);
    const transformed = make.bind(variable.name, make.memberCall('value', make.copy(target!)), args[1]!);
    return make.call(
      operators.CONDITIONAL,
      make.memberCall('hasValue', target!),
      isWrapped ? make.call('optional.of', transformed) : transformed,
      make.call('optional.none'),
    );
  },
});

export const OPTIONAL_LIBRARY: Library = {
  hasOptionalSyntax: true,
  types: [OPTIONAL],
  macros: [transforming('optMap', true), transforming('optFlatMap', false)],
  functions: [
    fn(
      'optional.of',
      overload('optional_of', [V], OPTIONAL_V, (value: CelValue) => new CelOptional(value)),
    ),
    fn(
      'optional.ofNonZeroValue',
      overload('optional_ofNonZeroValue', [V], OPTIONAL_V, (value: CelValue) => (isZero(value) ? NONE : new CelOptional(value))),
    ),
    fn(
      'optional.none',
      overload('optional_none', [], OPTIONAL_V, () => NONE),
    ),
    fn(
      'value',
      member('optional_value', [OPTIONAL_V], V, ({ value }: CelOptional) => (value === undefined ? new CelError('optional.none() dereference') : value)),
    ),
    fn(
      'hasValue',
      member('optional_hasValue', [OPTIONAL_V], BOOL, ({ value }: CelOptional) => value !== undefined),
    ),
    fn('or', member('optional_or_optional', [OPTIONAL_V, OPTIONAL_V], OPTIONAL_V)),
    fn('orValue', member('optional_orValue_value', [OPTIONAL_V, V], V)),
    fn(operators.OPTIONAL_SELECT, overload('select_optional_field', [DYN, STRING], OPTIONAL_V)),
    fn(
      operators.OPTIONAL_INDEX,
      overload('list_optindex_optional_int', [LIST_V, INT], OPTIONAL_V),
      overload('optional_list_optindex_optional_int', [optionalType(LIST_V), INT], OPTIONAL_V),
      overload('map_optindex_optional_value', [MAP_KV, K], OPTIONAL_V),
      overload('optional_map_optindex_optional_value', [optionalType(MAP_KV), K], OPTIONAL_V),
    ),
    fn(
      operators.INDEX,
      overload('optional_list_index_int', [optionalType(LIST_V), INT], OPTIONAL_V),
      overload('optional_map_index_value', [optionalType(MAP_KV), K], OPTIONAL_V),
    ),
    fn(
      'last',
      member('list_last', [LIST_V], OPTIONAL_V, (list: CelList) => elementAt(list, list.size - 1)),
    ),
    fn(
      'first',
      member('list_first', [LIST_V], OPTIONAL_V, (list: CelList) => elementAt(list, 0)),
    ),
    fn('optional.unwrap', overload('optional_unwrap', [OPTIONALS], LIST_V, unwrapAll)),
    fn('unwrapOpt', member('optional_unwrapOpt', [OPTIONALS], LIST_V, unwrapAll)),
  ],
};
