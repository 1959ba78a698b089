import type { Json } from '../encoding/json-types.ts';
import { BOOL, BYTES, CelType, DOUBLE, DURATION, INT, LIST, MAP, NULL, OPTIONAL, STRING, TIMESTAMP, TYPE, UINT } from './types.ts';

/**
 * A value of the expression language, in the form that evaluates fastest. JSON goes in nearly as it is:
 * null, booleans and strings are themselves, and an int is a `number` where that is exact and a `bigint` beyond (never both for one
 * amount, so that ints compare with `===`). The rarer types are objects. Errors are values too, since `&&` and `||` can absorb them.
 */
export type CelValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | CelDouble
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelType
  | CelOptional
  | CelList
  | CelMap
  | CelObject
  | CelError;

/** An int64. */
export type CelInt = number | bigint;

export class CelDouble {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A uint64. */
export class CelUint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A moment. The zone it was written in is kept for printing only. */
export class CelTimestamp {
  /** Since 1970; whole. */
  readonly seconds: number;
  /** Beyond the seconds: 0 to 999,999,999. */
  readonly nanoseconds: number;
  readonly zoneSeconds: number;

  constructor(seconds: number, nanoseconds: number, zoneSeconds = 0) {
    this.seconds = seconds;
    this.nanoseconds = nanoseconds;
    this.zoneSeconds = zoneSeconds;
  }
}

export class CelDuration {
  /** Fits an int64. */
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

export class CelOptional {
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

export const NONE = new CelOptional(undefined);

/** What an evaluation that went wrong answers. */
export class CelError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export const noSuchOverload = (): CelError => new CelError('no such overload');

/** A list, whatever it is a view of. Elements may be errors where the data behind them is not what was declared. */
export abstract class CelList {
  abstract readonly size: number;

  /** `index` is within bounds. */
  abstract get(index: number): CelValue;

  /** Undefined for the usual equality, element by element. */
  equals?(other: CelValue): boolean | CelError;

  /** Undefined for the usual concatenation. */
  concat?(other: CelList): CelList;

  /** What it is a view of, as it is; undefined where it is no view of JSON. */
  toJson?(): Json;
}

/** A map from strings, bools, ints or uints, whatever it is a view of. */
export abstract class CelMap {
  abstract readonly size: number;

  /** Undefined where there is no such key; an error where keys of this type can never be. */
  abstract find(key: CelValue): CelValue | undefined;

  abstract keys(): readonly CelValue[];

  /** Undefined for the usual equality, entry by entry. */
  equals?(other: CelValue): boolean | CelError;

  /** What it is a view of, as it is; undefined where it is no view of JSON. */
  toJson?(): Json;
}

/** A value of a type with a name: a message with fields, or something only functions can look into. */
export abstract class CelObject {
  abstract readonly type: CelType;

  /** Undefined where the type has no such field. */
  get(_field: string): CelValue | undefined {
    return undefined;
  }

  /** What `has(object.field)` answers. */
  isSet(field: string): boolean {
    return this.get(field) !== undefined;
  }

  abstract equals(other: CelValue): boolean | CelError;

  /** What counts as its size where costs are measured; undefined for one. */
  get size(): number | undefined {
    return undefined;
  }

  /** As `%v` prints it. */
  abstract toString(): string;
}

export class ArrayList extends CelList {
  readonly items: readonly CelValue[];

  constructor(items: readonly CelValue[]) {
    super();
    this.items = items;
  }

  get size(): number {
    return this.items.length;
  }

  get(index: number): CelValue {
    return this.items[index]!;
  }
}

/** Grown in place by a comprehension that nobody else sees, so that a `map` over n elements takes n steps. */
export class GrowingList extends CelList {
  readonly items: CelValue[] = [];

  get size(): number {
    return this.items.length;
  }

  get(index: number): CelValue {
    return this.items[index]!;
  }

  override concat(other: CelList): CelList {
    for (let index = 0; index < other.size; index++) this.items.push(other.get(index));
    return this;
  }
}

/** Two lists seen as one. Not copied: `+` costs one unit whatever the size, so it must take one step. */
export class JoinedList extends CelList {
  readonly size: number;
  readonly #head: CelList;
  readonly #tail: CelList;

  constructor(head: CelList, tail: CelList) {
    super();
    this.#head = head;
    this.#tail = tail;
    this.size = head.size + tail.size;
  }

  get(index: number): CelValue {
    const headSize = this.#head.size;
    return index < headSize ? this.#head.get(index) : this.#tail.get(index - headSize);
  }
}

type MapKey = string | boolean | number | bigint;

/** A map built by an expression. Numbers of different types that are equal are one key. */
export class EntryMap extends CelMap {
  readonly #entries = new Map<MapKey, readonly [CelValue, CelValue]>();

  get size(): number {
    return this.#entries.size;
  }

  find(key: CelValue): CelValue | undefined {
    const place = mapKey(key);
    return place === undefined ? undefined : this.#entries.get(place)?.[1];
  }

  keys(): readonly CelValue[] {
    return Array.from(this.#entries.values(), ([key]) => key);
  }

  /** False where a value of this type cannot be a key. */
  set(key: CelValue, value: CelValue): boolean {
    const place = mapKey(key);
    if (place === undefined) return false;
    this.#entries.set(place, [key, value]);
    return true;
  }

  delete(key: CelValue): void {
    const place = mapKey(key);
    if (place !== undefined) this.#entries.delete(place);
  }
}

/** Grown in place by a comprehension that nobody else sees. */
export class GrowingMap extends EntryMap {}

function mapKey(key: CelValue): MapKey | undefined {
  if (typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean' || typeof key === 'bigint') return key;
  if (key instanceof CelUint) return canonicalInt(key.value);
  if (key instanceof CelDouble && Number.isInteger(key.value)) return canonicalInt(BigInt(key.value));
  return undefined;
}

/** The one form that an int of this amount has. */
export const canonicalInt = (amount: bigint): CelInt => (amount >= -9_007_199_254_740_991n && amount <= 9_007_199_254_740_991n ? Number(amount) : amount);

/** The type that a value has at run time, without parameters. */
export function typeOf(value: CelValue): CelType {
  switch (typeof value) {
    case 'string':
      return STRING;
    case 'number':
    case 'bigint':
      return INT;
    case 'boolean':
      return BOOL;
    default:
      return value === null ? NULL : typeOfObject(value);
  }
}

function typeOfObject(value: Exclude<CelValue, null | string | number | bigint | boolean>): CelType {
  if (value instanceof CelList) return LIST;
  if (value instanceof CelMap) return MAP;
  if (value instanceof CelObject) return value.type;
  if (value instanceof CelDouble) return DOUBLE;
  if (value instanceof CelUint) return UINT;
  if (value instanceof Uint8Array) return BYTES;
  if (value instanceof CelTimestamp) return TIMESTAMP;
  if (value instanceof CelDuration) return DURATION;
  if (value instanceof CelOptional) return OPTIONAL;
  return value instanceof CelType ? TYPE : ERROR_TYPE;
}

const ERROR_TYPE = new CelType('opaque', 'error');

const SURROGATE_PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

/** How many characters a string has: code points, not UTF-16 units. */
export function codePointCount(text: string): number {
  // V8 knows of most texts that they have no character of more than a byte, and does not look.
  if (!SURROGATE_PAIR.test(text)) return text.length;
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      count--;
      index++;
    }
  }
  return count;
}
