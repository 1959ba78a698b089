import type { StepBudget } from '../../util/step-budget.ts';
import { compileRegexp, type Regexp } from '../../re2/regexp.ts';
import { equal } from '../compare.ts';
import { convert } from '../convert.ts';
import { fn, member, overload, type FunctionDeclaration, type Library, type Overload, type Search } from '../declarations.ts';
import * as operators from '../operators.ts';
import { wallClock, type WallClock } from '../time.ts';
import type { CelType } from '../types.ts';
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, TYPE, UINT, listType, mapType, paramType, typeType } from '../types.ts';
import type { CelDuration, CelTimestamp } from '../values.ts';
import { CelError, CelList, CelMap, canonicalInt, codePointCount, noSuchOverload, type CelValue } from '../values.ts';
import { ARITHMETIC } from './arithmetic.ts';

/** The functions that every environment has (cel-go common/stdlib/standard.go). */
const A = paramType('A');
const B = paramType('B');
const LIST_OF_A = listType(A);
const MAP_OF_AB = mapType(A, B);

function isIn(value: CelValue, container: CelValue): CelValue {
  if (container instanceof CelMap) {
    const found = container.find(value);
    return found instanceof CelError ? found : found !== undefined;
  }
  if (!(container instanceof CelList)) return noSuchOverload();
  return contains(container, value);
}

export function contains(list: CelList, value: CelValue): boolean {
  for (let index = 0; index < list.size; index++) if (equal(value, list.get(index)) === true) return true;
  return false;
}

function size(value: CelValue): CelValue {
  if (typeof value === 'string') return codePointCount(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  return value instanceof Uint8Array ? value.length : new CelError('no such overload: size');
}

const sizes = (suffix: string, type: CelType): Overload[] => [overload(`size_${suffix}`, [type], INT), member(`${suffix}_size`, [type], INT)];

const OPERATORS: readonly FunctionDeclaration[] = [
  fn(operators.CONDITIONAL, overload('conditional', [BOOL, A, A], A)),
  fn(operators.LOGICAL_AND, overload('logical_and', [BOOL, BOOL], BOOL)),
  fn(operators.LOGICAL_OR, overload('logical_or', [BOOL, BOOL], BOOL)),
  {
    name: operators.LOGICAL_NOT,
    overloads: [overload('logical_not', [BOOL], BOOL)],
    call: (value) => (typeof value === 'boolean' ? !value : noSuchOverload()),
  },
  fn(operators.NOT_STRICTLY_FALSE, overload('not_strictly_false', [BOOL], BOOL)),
  fn(operators.EQUALS, overload('equals', [A, A], BOOL)),
  fn(operators.NOT_EQUALS, overload('not_equals', [A, A], BOOL)),
  fn(operators.INDEX, overload('index_list', [LIST_OF_A, INT], A), overload('index_map', [MAP_OF_AB, A], B)),
  {
    name: operators.IN,
    overloads: [overload('in_list', [A, LIST_OF_A], BOOL), overload('in_map', [A, MAP_OF_AB], BOOL)],
    call: isIn,
  },
  {
    name: 'size',
    overloads: [...sizes('bytes', BYTES), ...sizes('list', LIST_OF_A), ...sizes('map', MAP_OF_AB), ...sizes('string', STRING)],
    call: size,
  },
];

const conversion = (to: CelType, name: string, sources: readonly [word: string, from: CelType][]): FunctionDeclaration =>
  fn(name, ...sources.map(([word, from]) => overload(`${word}_to_${WORDS.get(to)}`, [from], to, (value: CelValue) => convert(value, to))));

const WORDS = new Map<CelType, string>([
  [BOOL, 'bool'],
  [BYTES, 'bytes'],
  [DOUBLE, 'double'],
  [DURATION, 'duration'],
  [INT, 'int64'],
  [STRING, 'string'],
  [TIMESTAMP, 'timestamp'],
  [UINT, 'uint64'],
]);

const CONVERSIONS: readonly FunctionDeclaration[] = [
  { name: 'type', overloads: [overload('type', [A], typeType(A))], call: (value) => convert(value, TYPE) },
  { name: 'dyn', overloads: [overload('to_dyn', [A], DYN)], call: (value) => value },
  conversion(BOOL, 'bool', [
    ['bool', BOOL],
    ['string', STRING],
  ]),
  conversion(BYTES, 'bytes', [
    ['bytes', BYTES],
    ['string', STRING],
  ]),
  conversion(DOUBLE, 'double', [
    ['double', DOUBLE],
    ['int64', INT],
    ['string', STRING],
    ['uint64', UINT],
  ]),
  conversion(DURATION, 'duration', [
    ['duration', DURATION],
    ['int64', INT],
    ['string', STRING],
  ]),
  conversion(INT, 'int', [
    ['int64', INT],
    ['double', DOUBLE],
    ['duration', DURATION],
    ['string', STRING],
    ['timestamp', TIMESTAMP],
    ['uint64', UINT],
  ]),
  conversion(STRING, 'string', [
    ['string', STRING],
    ['bool', BOOL],
    ['bytes', BYTES],
    ['double', DOUBLE],
    ['duration', DURATION],
    ['int64', INT],
    ['timestamp', TIMESTAMP],
    ['uint64', UINT],
  ]),
  conversion(TIMESTAMP, 'timestamp', [
    ['timestamp', TIMESTAMP],
    ['int64', INT],
    ['string', STRING],
  ]),
  conversion(UINT, 'uint', [
    ['uint64', UINT],
    ['double', DOUBLE],
    ['int64', INT],
    ['string', STRING],
  ]),
];

function matches(budget: StepBudget, text: CelValue, pattern: CelValue): CelValue {
  if (typeof text !== 'string') return new CelError('no such overload: matches');
  if (typeof pattern !== 'string') return noSuchOverload();
  const regexp = compileRegexp(pattern);
  return 'error' in regexp ? new CelError(regexp.error) : regexp.test(text, budget);
}

/** The compiled pattern at `place`, where it is a constant; an error where it does not compile. */
export function constantPattern(constants: readonly (CelValue | undefined)[], place: number): Regexp | CelError | undefined {
  const pattern = constants[place];
  if (typeof pattern !== 'string') return undefined;
  const regexp = compileRegexp(pattern);
  return 'error' in regexp ? new CelError(regexp.error) : regexp.keep();
}

const TEXTS: readonly FunctionDeclaration[] = [
  fn(
    'contains',
    member('contains_string', [STRING, STRING], BOOL, (text: string, part: string) => text.includes(part)),
  ),
  fn(
    'endsWith',
    member('ends_with_string', [STRING, STRING], BOOL, (text: string, end: string) => text.endsWith(end)),
  ),
  fn(
    'startsWith',
    member('starts_with_string', [STRING, STRING], BOOL, (text: string, start: string) => text.startsWith(start)),
  ),
  {
    name: 'matches',
    overloads: [overload('matches', [STRING, STRING], BOOL), member('matches_string', [STRING, STRING], BOOL)],
    search: {
      call: matches as Search,
      // Texts are matched by states, most of which are there already.
      stepsPerCharacter: { text: 0, pattern: 30 },
      specialize(constants) {
        const regexp = constantPattern(constants, 1);
        if (regexp === undefined || regexp instanceof CelError) return regexp;
        return (budget, text) => (typeof text === 'string' ? regexp.test(text, budget) : noSuchOverload());
      },
    },
  },
];

/** A part of a moment, in UTC or in a zone. */
function timestampPart(word: string, read: (clock: WallClock) => number): Overload[] {
  const inZone = (moment: CelTimestamp, zone: string): CelValue => {
    const clock = wallClock(moment, zone);
    return clock instanceof CelError ? clock : read(clock);
  };
  return [
    member(`timestamp_to_${word}`, [TIMESTAMP], INT, (moment: CelTimestamp) => inZone(moment, 'UTC')),
    member(`timestamp_to_${word}_with_tz`, [TIMESTAMP, STRING], INT, inZone),
  ];
}

const durationPart = (word: string, unitNanoseconds: bigint): Overload =>
  member(`duration_to_${word}`, [DURATION], INT, ({ nanoseconds }: CelDuration) => canonicalInt(nanoseconds / unitNanoseconds));

const TIMES: readonly FunctionDeclaration[] = [
  fn('getFullYear', ...timestampPart('year', (clock) => clock.year)),
  fn('getMonth', ...timestampPart('month', (clock) => clock.month)),
  fn('getDayOfYear', ...timestampPart('day_of_year', (clock) => clock.dayOfYear)),
  fn('getDayOfMonth', ...timestampPart('day_of_month', (clock) => clock.day - 1)),
  fn('getDate', ...timestampPart('day_of_month_1_based', (clock) => clock.day)),
  fn('getDayOfWeek', ...timestampPart('day_of_week', (clock) => clock.dayOfWeek)),
  fn('getHours', ...timestampPart('hours', (clock) => clock.hours), durationPart('hours', 3_600_000_000_000n)),
  fn('getMinutes', ...timestampPart('minutes', (clock) => clock.minutes), durationPart('minutes', 60_000_000_000n)),
  fn('getSeconds', ...timestampPart('seconds', (clock) => clock.seconds), durationPart('seconds', 1_000_000_000n)),
  fn('getMilliseconds', ...timestampPart('milliseconds', (clock) => clock.milliseconds), durationPart('milliseconds', 1_000_000n)),
];

export const STANDARD_LIBRARY: Library = { functions: [...OPERATORS, ...ARITHMETIC, ...CONVERSIONS, ...TEXTS, ...TIMES] };
