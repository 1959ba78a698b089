import { compare } from '../compare.ts';
import { listItems } from '../convert.ts';
import { fn, overload, type FunctionDeclaration, type Library, type Overload } from '../declarations.ts';
import type { Expr } from '../ast.ts';
import { MacroError, type Macro } from '../macro.ts';
import { INT_OVERFLOW, isInt, isNumber, negateInt } from '../numbers.ts';
import { BOOL, DOUBLE, DYN, INT, UINT, listType, type CelType } from '../types.ts';
import type { CelList } from '../values.ts';
import { CelDouble, CelError, CelUint, canonicalInt, type CelInt, type CelValue } from '../values.ts';

/** Numbers (cel-go ext/math.go). Not a part of Kubernetes' environments. */
const NUMBERS: readonly [word: string, type: CelType][] = [
  ['double', DOUBLE],
  ['int', INT],
  ['uint', UINT],
];

const isNumericArgument = (arg: Expr): boolean =>
  arg.kind === 'literal' ? isNumber(arg.value) : arg.kind !== 'list' && arg.kind !== 'map' && arg.kind !== 'struct';

/** `math.least(…)`, `math.greatest(…)`: of one, of two, or of a list. */
const extreme = (name: string, functionName: string): Macro => ({
  name,
  argumentCount: undefined,
  isReceiver: true,
  expand({ make, target, args }) {
    if (target?.kind !== 'ident' || target.name !== 'math') return undefined;
    if (args.length === 0) throw new MacroError(target.offset, `math.${name}() requires at least one argument`);
    if (args.length === 1) return extremeOfOne(name, args[0]!, () => make.call(functionName, args[0]!));
    const wrong = args.find((arg) => !isNumericArgument(arg));
    if (wrong !== undefined) throw new MacroError(wrong.offset, `math.${name}() simple literal arguments must be numeric`);
    return args.length === 2 ? make.call(functionName, ...args) : make.call(functionName, make.list(...args));
  },
});

function extremeOfOne(name: string, arg: Expr, build: () => Expr): Expr {
  const isNumericList = arg.kind === 'list' && arg.elements.length > 0 && arg.elements.every(isNumericArgument);
  if (isNumericList || isNumericArgument(arg)) return build();
  throw new MacroError(arg.offset, `math.${name}() invalid single argument value`);
}

/** The first, unless the second lies further that way. */
function further(functionName: string, direction: 1 | -1): (a: CelValue, b: CelValue) => CelValue {
  return (a, b) => {
    const order = compare(a, b);
    if (typeof order !== 'number') return new CelError(`${order.message}: ${functionName}`);
    return order * direction < 0 ? b : a;
  };
}

function extremes(functionName: string, word: string, direction: 1 | -1): FunctionDeclaration {
  const pair = further(functionName, direction);
  const ofList = (list: CelList): CelValue => {
    if (list.size === 0) return new CelError(`${functionName}(list) argument must not be empty`);
    const result = listItems(list).reduce((best, item) => (best instanceof CelError ? best : pair(best, item)));
    return isNumber(result) || result instanceof CelError ? result : new CelError(`no such overload: ${functionName}`);
  };
  const pairs = NUMBERS.flatMap(([left, a]) => NUMBERS.map(([right, b]) => overload(`${word}_${left}_${right}`, [a, b], a === b ? a : DYN, pair)));
  return fn(
    functionName,
    ...NUMBERS.map(([name, type]) => overload(`${word}_${name}`, [type], type, (value: CelValue) => value)),
    ...pairs,
    ...NUMBERS.map(([name, type]) => overload(`${word}_list_${name}`, [listType(type)], type, ofList)),
  );
}

const onDouble = (name: string, call: (value: number) => number): FunctionDeclaration =>
  fn(
    `math.${name}`,
    overload(`math_${name}_double`, [DOUBLE], DOUBLE, ({ value }: CelDouble) => new CelDouble(call(value))),
  );

const doubleTest = (name: string, call: (value: number) => boolean): FunctionDeclaration =>
  fn(
    `math.${name}`,
    overload(`math_${name}_double`, [DOUBLE], BOOL, ({ value }: CelDouble) => call(value)),
  );

/** Half away from zero. */
const round = (value: number): number => (Number.isFinite(value) ? Math.sign(value) * Math.round(Math.abs(value)) : value);

const bits = (value: CelInt): bigint => BigInt.asUintN(64, BigInt(value));
const fromBits = (value: bigint): CelInt => canonicalInt(BigInt.asIntN(64, value));

const bitwise = (name: string, call: (a: bigint, b: bigint) => bigint): FunctionDeclaration =>
  fn(
    `math.${name}`,
    overload(`math_${name}_int_int`, [INT, INT], INT, (a: CelInt, b: CelInt) => fromBits(call(bits(a), bits(b)))),
    overload(`math_${name}_uint_uint`, [UINT, UINT], UINT, (a: CelUint, b: CelUint) => new CelUint(call(a.value, b.value))),
  );

const shift = (name: string, call: (value: bigint, count: bigint) => bigint): FunctionDeclaration => {
  const checked = (value: bigint, count: CelInt, wrap: (value: bigint) => CelValue): CelValue => {
    if (count < 0) return new CelError(`math.${name}() negative offset: ${count}`);
    return wrap(count >= 64 ? 0n : BigInt.asUintN(64, call(value, BigInt(count))));
  };
  return fn(
    `math.${name}`,
    overload(`math_${name}_int_int`, [INT, INT], INT, (value: CelInt, count: CelInt) => checked(bits(value), count, fromBits)),
    overload(`math_${name}_uint_int`, [UINT, INT], UINT, (value: CelUint, count: CelInt) => checked(value.value, count, (result) => new CelUint(result))),
  );
};

function absolute(value: CelInt): CelValue {
  const result = value < 0 ? negateInt(value) : value;
  return result instanceof CelError ? INT_OVERFLOW : result;
}

const squareRoots: Overload[] = NUMBERS.map(([word, type]) =>
  overload(`math_sqrt_${word}`, [type], DOUBLE, (value: CelInt | CelDouble | CelUint) => new CelDouble(Math.sqrt(Number(isInt(value) ? value : value.value)))),
);

export const MATH_LIBRARY: Library = {
  macros: [extreme('least', 'math.@min'), extreme('greatest', 'math.@max')],
  functions: [
    extremes('math.@min', 'math_@min', -1),
    extremes('math.@max', 'math_@max', 1),
    onDouble('ceil', Math.ceil),
    onDouble('floor', Math.floor),
    onDouble('round', round),
    onDouble('trunc', Math.trunc),
    doubleTest('isInf', (value) => value === Infinity || value === -Infinity),
    doubleTest('isNaN', Number.isNaN),
    doubleTest('isFinite', Number.isFinite),
    fn(
      'math.abs',
      overload('math_abs_double', [DOUBLE], DOUBLE, ({ value }: CelDouble) => new CelDouble(Math.abs(value))),
      overload('math_abs_int', [INT], INT, absolute),
      overload('math_abs_uint', [UINT], UINT, (value: CelUint) => value),
    ),
    fn(
      'math.sign',
      overload('math_sign_double', [DOUBLE], DOUBLE, ({ value }: CelDouble) => new CelDouble(Math.sign(value) + 0)),
      overload('math_sign_int', [INT], INT, (value: CelInt) => (value < 0 ? -1 : value > 0 ? 1 : 0)),
      overload('math_sign_uint', [UINT], UINT, ({ value }: CelUint) => new CelUint(value === 0n ? 0n : 1n)),
    ),
    bitwise('bitAnd', (a, b) => a & b),
    bitwise('bitOr', (a, b) => a | b),
    bitwise('bitXor', (a, b) => a ^ b),
    fn(
      'math.bitNot',
      overload('math_bitNot_int_int', [INT], INT, (value: CelInt) => fromBits(~BigInt(value))),
      overload('math_bitNot_uint_uint', [UINT], UINT, ({ value }: CelUint) => new CelUint(BigInt.asUintN(64, ~value))),
    ),
    shift('bitShiftLeft', (value, count) => value << count),
    shift('bitShiftRight', (value, count) => value >> count),
    fn('math.sqrt', ...squareRoots),
  ],
};
