import { compare, equal, isComparable } from '../compare.ts';
import { listItems } from '../convert.ts';
import { fn, member, overload, type FunctionDeclaration, type Library } from '../declarations.ts';
import { MacroError, type Macro } from '../macro.ts';
import { isInt } from '../numbers.ts';
import { mapOver } from '../standard-macros.ts';
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, listType, paramType, type CelType } from '../types.ts';
import { ArrayList, CelDouble, CelDuration, CelError, CelList, CelUint, noSuchOverload, typeOf, type CelInt, type CelValue } from '../values.ts';
import { add } from './arithmetic.ts';

const T = paramType('T');
const LIST = listType(T);

/** Types that have an order, by the names that overload ids have for them in Kubernetes. */
const COMPARABLE: readonly [word: string, type: CelType][] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
];

const SUMMABLE: readonly [word: string, type: CelType, zero: CelValue][] = [
  ['int', INT, 0],
  ['uint', UINT, new CelUint(0n)],
  ['double', DOUBLE, new CelDouble(0)],
  ['duration', DURATION, new CelDuration(0n)],
];

function isSorted(list: CelList): CelValue {
  for (let index = 0; index < list.size; index++) {
    const item = list.get(index);
    if (!isComparable(item)) return noSuchOverload();
    const order = index === 0 ? 0 : compare(list.get(index - 1), item);
    if (typeof order === 'number' && order > 0) return false;
  }
  return true;
}

const sumFrom =
  (zero: CelValue) =>
  (list: CelList): CelValue => {
    let total = zero;
    for (let index = 0; index < list.size && !(total instanceof CelError); index++) total = add(total, list.get(index));
    return total;
  };

/** The first that nothing lies beyond. */
const extreme =
  (name: string, direction: 1 | -1) =>
  (list: CelList): CelValue => {
    if (list.size === 0) return new CelError(`${name} called on empty list`);
    let best = list.get(0);
    for (let index = 0; index < list.size; index++) {
      const item = list.get(index);
      if (!isComparable(item)) return noSuchOverload();
      const order = compare(best, item);
      if (typeof order === 'number' && order * direction < 0) best = item;
    }
    return best;
  };

const indexIn = (list: CelList, item: CelValue): number => listItems(list).findIndex((one) => equal(one, item) === true);
const lastIndexIn = (list: CelList, item: CelValue): number => listItems(list).findLastIndex((one) => equal(one, item) === true);

/** Kubernetes' own functions on lists (apiserver/pkg/cel/library/lists.go). */
export const KUBERNETES_LISTS_LIBRARY: Library = {
  functions: [
    fn('isSorted', ...COMPARABLE.map(([word, type]) => member(`list_${word}_is_sorted_bool`, [listType(type)], BOOL, isSorted))),
    fn('sum', ...SUMMABLE.map(([word, type, zero]) => member(`list_${word}_sum_${word}`, [listType(type)], type, sumFrom(zero)))),
    fn('max', ...COMPARABLE.map(([word, type]) => member(`list_${word}_max_${word}`, [listType(type)], type, extreme('max', 1)))),
    fn('min', ...COMPARABLE.map(([word, type]) => member(`list_${word}_min_${word}`, [listType(type)], type, extreme('min', -1)))),
    fn('indexOf', member('list_a_index_of_int', [LIST, T], INT, indexIn)),
    fn('lastIndexOf', member('list_a_last_index_of_int', [LIST, T], INT, lastIndexIn)),
  ],
};

function slice(list: CelList, start: CelInt, end: CelInt): CelValue {
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0 || end < 0) return new CelError(`${call}, negative indexes not supported`);
  if (start > end) return new CelError(`${call}, start index must be less than or equal to end index`);
  if (list.size < end) return new CelError(`${call}, list is length ${list.size}`);
  return new ArrayList(Array.from({ length: Number(end) - Number(start) }, (_, index) => list.get(Number(start) + index)));
}

/** No list of an expression has to be longer; memory is taken before the cost is known to whoever has no limit. */
const MAX_RANGE = 10_000_000;

function range(end: CelInt): CelValue {
  if (end > MAX_RANGE) return new CelError('result is too large');
  return new ArrayList(Array.from({ length: Math.max(0, Number(end)) }, (_, index) => index));
}

function flatten(list: CelList, depth: CelInt = 1): CelValue {
  return depth < 0 ? new CelError('level must be non-negative') : new ArrayList(flat(list, Number(depth)));
}

const flat = (list: CelList, depth: number): CelValue[] =>
  listItems(list).flatMap((item) => (item instanceof CelList && depth > 0 ? flat(item, depth - 1) : [item]));

function sortBy(list: CelList, keys: CelList): CelValue {
  if (list.size !== keys.size) {
    const sizes = `${list.size} and ${keys.size} elements respectively`;
    return new CelError(`@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${sizes}`);
  }
  if (list.size === 0) return list;
  const items = listItems(keys);
  if (!isComparable(items[0]!)) return new CelError('list elements must be comparable');
  const type = typeOf(items[0]!);
  if (items.length > 1 && items.some((item) => typeOf(item) !== type)) return new CelError('list elements must have the same type');
  const order = items.map((_, index) => index).toSorted((a, b) => orderOf(items[a]!, items[b]!));
  return new ArrayList(order.map((index) => list.get(index)));
}

function orderOf(a: CelValue, b: CelValue): number {
  const order = compare(a, b);
  return typeof order === 'number' ? order : 0;
}

function distinct(list: CelList): CelValue {
  const kept: CelValue[] = [];
  const seen = new Set<CelValue>();
  for (const item of listItems(list)) {
    // Most lists are of texts, which need no look at all others.
    if (typeof item === 'string' ? seen.has(item) : kept.some((one) => equal(item, one) === true)) continue;
    seen.add(item);
    kept.push(item);
  }
  return list.size === 0 ? list : new ArrayList(kept);
}

/** Takes lists that are flat already, whatever the types say. */
const flattenFunction: FunctionDeclaration = {
  name: 'flatten',
  overloads: [member('list_flatten', [listType(LIST)], LIST), member('list_flatten_int', [listType(DYN), INT], listType(DYN))],
  call(list, depth) {
    if (list instanceof CelList && (depth === undefined || isInt(depth))) return flatten(list, depth);
    return new CelError(`no such overload: ${typeOf(list).name}.flatten(${depth === undefined ? '' : typeOf(depth).name})`);
  },
};

const SORT_KEYS = '@sortByAssociatedKeys';
const SORT_INPUT = '@__sortBy_input__';

const sortByMacro: Macro = {
  name: 'sortBy',
  argumentCount: 2,
  isReceiver: true,
  expand(call) {
    const { make } = call;
    const target = call.target!;
    if (target.kind === 'literal' || target.kind === 'map' || target.kind === 'struct') {
      throw new MacroError(target.offset, 'sortBy can only be applied to a list, identifier, comprehension, call or select expression');
    }
    return make.bind(SORT_INPUT, target, make.memberCall(SORT_KEYS, make.ident(SORT_INPUT), mapOver(call, make.ident(SORT_INPUT))));
  },
};

const sort: FunctionDeclaration = {
  name: 'sort',
  overloads: COMPARABLE.map(([, type]) => member(`list_${type.name}_sort`, [listType(type)], listType(type))),
  call: (list) => (list instanceof CelList ? sortBy(list, list) : new CelError('no such overload: sort')),
};

const sortByKeys: FunctionDeclaration = {
  name: SORT_KEYS,
  overloads: COMPARABLE.map(([, type]) => member(`list_${type.name}_sortByAssociatedKeys`, [LIST, listType(type)], LIST)),
  call: (list, keys) => (list instanceof CelList && keys instanceof CelList ? sortBy(list, keys) : new CelError(`no such overload: ${SORT_KEYS}`)),
};

/** CEL's own functions on lists (cel-go ext/lists.go, version 3). */
export const LISTS_LIBRARY: Library = {
  macros: [sortByMacro],
  functions: [
    fn('slice', member('list_slice', [LIST, INT, INT], LIST, slice)),
    flattenFunction,
    sort,
    sortByKeys,
    fn('lists.range', overload('lists_range', [INT], listType(INT), range)),
    fn(
      'reverse',
      member('list_reverse', [LIST], LIST, (list: CelList) => new ArrayList(listItems(list).toReversed())),
    ),
    fn('distinct', member('list_distinct', [LIST], LIST, distinct)),
  ],
};
