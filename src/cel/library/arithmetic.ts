import { compare, isComparable } from '../compare.ts';
import type { FunctionDeclaration } from '../declarations.ts';
import { overload } from '../declarations.ts';
import {
  addInts,
  addUints,
  divideInts,
  divideUints,
  isInt,
  moduloInts,
  moduloUints,
  multiplyInts,
  multiplyUints,
  negateInt,
  subtractInts,
  subtractUints,
} from '../numbers.ts';
import { ADD, NEGATE } from '../operators.ts';
import { addDurations, addToTimestamp, negateDuration, subtractDurations, timestampDifference } from '../time.ts';
import type { CelType } from '../types.ts';
import { BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT, listType, paramType } from '../types.ts';
import { CelDouble, CelDuration, CelError, CelList, CelTimestamp, CelUint, JoinedList, noSuchOverload, type CelInt, type CelValue } from '../values.ts';

/** Operators on numbers, times, texts and lists, with their overload ids and errors (cel-go common/stdlib, common/types). */
type Binary = (a: CelValue, b: CelValue) => CelValue;

/** Types that answer for any function at all, so that their errors do not name it. */
const isReceiver = (value: CelValue): boolean => typeof value === 'string' || value instanceof CelTimestamp || value instanceof CelDuration;

const unsupported = (name: string, value: CelValue): CelError => (isReceiver(value) ? noSuchOverload() : new CelError(`no such overload: ${name}`));

/** An operator on two ints, two uints or two doubles, and maybe more. */
function numeric(
  name: string,
  onInts: (a: CelInt, b: CelInt) => CelValue,
  onUints: (a: CelUint, b: CelUint) => CelValue,
  onDoubles: ((a: number, b: number) => number) | undefined,
  more?: (a: CelValue, b: CelValue) => CelValue | undefined,
): Binary {
  return (a, b) => {
    if (isInt(a)) return isInt(b) ? onInts(a, b) : noSuchOverload();
    if (a instanceof CelDouble && onDoubles) return b instanceof CelDouble ? new CelDouble(onDoubles(a.value, b.value)) : noSuchOverload();
    if (a instanceof CelUint) return b instanceof CelUint ? onUints(a, b) : noSuchOverload();
    return more?.(a, b) ?? unsupported(name, a);
  };
}

function addOthers(a: CelValue, b: CelValue): CelValue | undefined {
  if (typeof a === 'string') return typeof b === 'string' ? a + b : noSuchOverload();
  if (a instanceof CelList) return b instanceof CelList ? concatenate(a, b) : noSuchOverload();
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.concat([a, b]) : noSuchOverload();
  if (a instanceof CelTimestamp) return b instanceof CelDuration ? addToTimestamp(a, b.nanoseconds) : noSuchOverload();
  if (!(a instanceof CelDuration)) return undefined;
  if (b instanceof CelDuration) return addDurations(a, b);
  return b instanceof CelTimestamp ? addToTimestamp(b, a.nanoseconds) : noSuchOverload();
}

function concatenate(a: CelList, b: CelList): CelList {
  if (a.concat !== undefined) return a.concat(b);
  if (a.size === 0) return b;
  return b.size === 0 ? a : new JoinedList(a, b);
}

function subtractOthers(a: CelValue, b: CelValue): CelValue | undefined {
  if (a instanceof CelDuration) return b instanceof CelDuration ? subtractDurations(a, b) : noSuchOverload();
  if (!(a instanceof CelTimestamp)) return undefined;
  if (b instanceof CelTimestamp) return timestampDifference(a, b);
  return b instanceof CelDuration ? addToTimestamp(a, -b.nanoseconds) : noSuchOverload();
}

/** Also for the libraries that sum lists. */
export const add = numeric(ADD, addInts, addUints, (a, b) => a + b, addOthers);

function negate(value: CelValue): CelValue {
  if (isInt(value)) return negateInt(value);
  if (value instanceof CelDouble) return new CelDouble(-value.value);
  if (value instanceof CelDuration) return negateDuration(value);
  return typeof value === 'boolean' || isReceiver(value) ? noSuchOverload() : new CelError(`no such overload: ${NEGATE}`);
}

function ordering(name: string, accepts: (order: number) => boolean): Binary {
  return (a, b) => {
    if (!isComparable(a)) return unsupported(name, a);
    const order = compare(a, b);
    return typeof order === 'number' ? accepts(order) : order;
  };
}

const A = paramType('A');
const sameTypes = (id: string, type: CelType): ReturnType<typeof overload> => overload(id, [type, type], type);

const comparison = (name: string, word: string, accepts: (order: number) => boolean): FunctionDeclaration => ({
  name,
  overloads: COMPARED.map(([suffix, left, right]) => overload(`${word}_${suffix}`, [left, right], BOOL)),
  call: ordering(name, accepts),
});

const COMPARED: readonly [suffix: string, left: CelType, right: CelType][] = [
  ['bool', BOOL, BOOL],
  ['int64', INT, INT],
  ['int64_double', INT, DOUBLE],
  ['int64_uint64', INT, UINT],
  ['uint64', UINT, UINT],
  ['uint64_double', UINT, DOUBLE],
  ['uint64_int64', UINT, INT],
  ['double', DOUBLE, DOUBLE],
  ['double_int64', DOUBLE, INT],
  ['double_uint64', DOUBLE, UINT],
  ['string', STRING, STRING],
  ['bytes', BYTES, BYTES],
  ['timestamp', TIMESTAMP, TIMESTAMP],
  ['duration', DURATION, DURATION],
];

export const ARITHMETIC: readonly FunctionDeclaration[] = [
  {
    name: ADD,
    overloads: [
      sameTypes('add_bytes', BYTES),
      sameTypes('add_double', DOUBLE),
      sameTypes('add_duration_duration', DURATION),
      overload('add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP),
      overload('add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
      sameTypes('add_int64', INT),
      sameTypes('add_list', listType(A)),
      sameTypes('add_string', STRING),
      sameTypes('add_uint64', UINT),
    ],
    call: add,
  },
  {
    name: '_-_',
    overloads: [
      sameTypes('subtract_double', DOUBLE),
      sameTypes('subtract_duration_duration', DURATION),
      sameTypes('subtract_int64', INT),
      overload('subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
      overload('subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION),
      sameTypes('subtract_uint64', UINT),
    ],
    call: numeric('_-_', subtractInts, subtractUints, (a, b) => a - b, subtractOthers),
  },
  {
    name: '_*_',
    overloads: [sameTypes('multiply_double', DOUBLE), sameTypes('multiply_int64', INT), sameTypes('multiply_uint64', UINT)],
    call: numeric('_*_', multiplyInts, multiplyUints, (a, b) => a * b),
  },
  {
    name: '_/_',
    overloads: [sameTypes('divide_double', DOUBLE), sameTypes('divide_int64', INT), sameTypes('divide_uint64', UINT)],
    call: numeric('_/_', divideInts, divideUints, (a, b) => a / b),
  },
  {
    name: '_%_',
    overloads: [sameTypes('modulo_int64', INT), sameTypes('modulo_uint64', UINT)],
    call: numeric('_%_', moduloInts, moduloUints, undefined),
  },
  {
    name: NEGATE,
    overloads: [overload('negate_double', [DOUBLE], DOUBLE), overload('negate_int64', [INT], INT)],
    call: negate,
  },
  comparison('_<_', 'less', (order) => order < 0),
  comparison('_<=_', 'less_equals', (order) => order <= 0),
  comparison('_>_', 'greater', (order) => order > 0),
  comparison('_>=_', 'greater_equals', (order) => order >= 0),
];
