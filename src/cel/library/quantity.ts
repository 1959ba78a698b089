import {
  QuantityError,
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantitySign,
  subtractQuantities,
  type Quantity,
} from '../../api/quantity.ts';
import { fn, member, overload, type Library } from '../declarations.ts';
import { BOOL, DOUBLE, INT, STRING, structType } from '../types.ts';
import { CelDouble, CelError, CelObject, canonicalInt, noSuchOverload, type CelInt, type CelValue } from '../values.ts';

/** Amounts of resources (apiserver/pkg/cel/library/quantity.go). */
const QUANTITY = structType('kubernetes.Quantity');
const MAX_INT64 = 2n ** 63n - 1n;
/** So many digits are kept as an int64 upstream; what is longer is never an integer to it. */
const MAX_DIGITS = 18;

class QuantityValue extends CelObject {
  readonly type = QUANTITY;
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }

  override equals(other: CelValue): boolean | CelError {
    return other instanceof QuantityValue ? compareQuantities(this.quantity, other.quantity) === 0 : noSuchOverload();
  }

  toString(): string {
    return formatQuantity(this.quantity);
  }
}

function parse(text: string): QuantityValue | CelError {
  try {
    return new QuantityValue(parseQuantity(text));
  } catch (error) {
    if (error instanceof QuantityError) return new CelError(error.message);
    throw error;
  }
}

/** Undefined where upstream does not see a whole number: also for `1000m`, whose digits it does not reduce. */
function wholeAmount({ quantity: { unscaled, exponent } }: QuantityValue): bigint | undefined {
  if (exponent < 0 || exponent > MAX_DIGITS || unscaled.toString().replace('-', '').length > MAX_DIGITS) return undefined;
  const amount = unscaled * 10n ** BigInt(exponent);
  return amount > MAX_INT64 || amount < -MAX_INT64 - 1n ? undefined : amount;
}

function asInteger(value: QuantityValue): CelValue {
  const amount = wholeAmount(value);
  return amount === undefined ? new CelError('cannot convert value to integer') : canonicalInt(amount);
}

const asFloat = ({ quantity: { unscaled, exponent } }: QuantityValue): CelDouble =>
  new CelDouble(exponent < 0 ? Number(unscaled) / Number(`1e${-exponent}`) : Number(unscaled) * Number(`1e${exponent}`));

const ofInt = (amount: CelInt): Quantity => ({ unscaled: BigInt(amount), exponent: 0, format: 'DecimalExponent' });

/** -1, 0 or 1. */
const order = (a: QuantityValue, b: QuantityValue): number => Math.sign(compareQuantities(a.quantity, b.quantity));

const combining = (combine: (a: Quantity, b: Quantity) => Quantity) => ({
  withQuantity: (a: QuantityValue, b: QuantityValue): CelValue => new QuantityValue(combine(a.quantity, b.quantity)),
  withInt: (a: QuantityValue, b: CelInt): CelValue => new QuantityValue(combine(a.quantity, ofInt(b))),
});

const adding = combining(addQuantities);
const subtracting = combining(subtractQuantities);

export const QUANTITY_LIBRARY: Library = {
  functions: [
    fn('quantity', overload('string_to_quantity', [STRING], QUANTITY, parse)),
    fn(
      'isQuantity',
      overload('is_quantity_string', [STRING], BOOL, (text: string) => !(parse(text) instanceof CelError)),
    ),
    fn(
      'sign',
      overload('quantity_sign', [QUANTITY], INT, ({ quantity }: QuantityValue) => quantitySign(quantity)),
    ),
    fn(
      'isGreaterThan',
      member('quantity_is_greater_than', [QUANTITY, QUANTITY], BOOL, (a: QuantityValue, b: QuantityValue) => order(a, b) > 0),
    ),
    fn(
      'isLessThan',
      member('quantity_is_less_than', [QUANTITY, QUANTITY], BOOL, (a: QuantityValue, b: QuantityValue) => order(a, b) < 0),
    ),
    fn('compareTo', member('quantity_compare_to', [QUANTITY, QUANTITY], INT, order)),
    fn('asApproximateFloat', member('quantity_get_float', [QUANTITY], DOUBLE, asFloat)),
    fn('asInteger', member('quantity_get_int', [QUANTITY], INT, asInteger)),
    fn(
      'isInteger',
      member('quantity_is_integer', [QUANTITY], BOOL, (value: QuantityValue) => wholeAmount(value) !== undefined),
    ),
    fn(
      'add',
      member('quantity_add', [QUANTITY, QUANTITY], QUANTITY, adding.withQuantity),
      member('quantity_add_int', [QUANTITY, INT], QUANTITY, adding.withInt),
    ),
    fn(
      'sub',
      member('quantity_sub', [QUANTITY, QUANTITY], QUANTITY, subtracting.withQuantity),
      member('quantity_sub_int', [QUANTITY, INT], QUANTITY, subtracting.withInt),
    ),
  ],
};
