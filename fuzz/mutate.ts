import type { Random } from '../src/util/test-random.ts';
import { mutateJson } from './mutate-json.ts';

export interface MutationOptions {
  /** Words that are put in. */
  tokens?: readonly (Buffer | string)[];
  /** Inputs to take parts from. */
  others?: readonly Buffer[];
  maxBytes?: number;
  /** The input is mostly to stay JSON. */
  isJson?: boolean;
  /** Changes the input and leaves it well-formed; undefined where it cannot. */
  mutateStructure?: ((random: Random, bytes: Buffer) => Buffer | undefined) | undefined;
  /** Mostly repeats, doubles and nests: looks for what takes time. */
  isGrowing?: boolean;
}

const MAX_BYTES = 4096;
const WELL_FORMED_SHARE = 0.8;
const NOTHING = Buffer.alloc(0);

/** Bytes with a few of them flipped, cut out, repeated, nested, replaced by others or made up. The bytes given stay as they are. */
export function mutate(random: Random, bytes: Buffer, options: MutationOptions = {}): Buffer {
  const { maxBytes = MAX_BYTES, isGrowing = false } = options;
  const wellFormed = random.chance(WELL_FORMED_SHARE) ? changedInside(random, bytes, options) : undefined;
  if (wellFormed !== undefined && wellFormed.length <= maxBytes) return wellFormed;
  let mutated: Buffer = Buffer.from(bytes);
  // Mostly one change: what has many is refused for the first.
  do {
    const change = random.pick(isGrowing && random.chance(0.6) ? GROWING : CHANGES);
    mutated = change(random, mutated, options);
  } while (random.chance(0.5));
  return mutated.length > maxBytes ? mutated.subarray(0, maxBytes) : mutated;
}

/** Undefined where nothing is known of the input's structure. */
function changedInside(random: Random, bytes: Buffer, { isJson = false, mutateStructure }: MutationOptions): Buffer | undefined {
  if (mutateStructure) return mutateStructure(random, bytes);
  const text = isJson ? mutateJson(random, bytes.toString()) : undefined;
  return text === undefined ? undefined : Buffer.from(text);
}

type Change = (random: Random, bytes: Buffer, options: MutationOptions) => Buffer;

const insert = (bytes: Buffer, at: number, added: Buffer, end = at): Buffer => Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(end)]);
const place = (random: Random, bytes: Buffer): number => random.below(bytes.length + 1);

/** Mostly short, now and then any part. */
function partOf(random: Random, bytes: Buffer): [at: number, end: number] {
  const at = place(random, bytes);
  const longest = random.chance(0.8) ? 16 : bytes.length - at;
  return [at, Math.min(bytes.length, at + 1 + random.below(Math.max(1, longest)))];
}

/** No more of a part than fits. */
function repeated(part: Buffer, count: number, maxBytes: number): Buffer {
  const fitting = Math.min(count, Math.floor(maxBytes / Math.max(1, part.length)));
  return fitting <= 0 ? NOTHING : Buffer.alloc(fitting * part.length, part);
}

const tokenOf = (token: Buffer | string): Buffer => (typeof token === 'string' ? Buffer.from(token) : token);

const setByte: Change = (random, bytes) => {
  if (bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
};

const flipBit: Change = (random, bytes) => {
  if (bytes.length > 0) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
  return bytes;
};

const cutOut: Change = (random, bytes) => {
  const [at, end] = partOf(random, bytes);
  return insert(bytes, at, NOTHING, end);
};

const doublePart: Change = (random, bytes) => {
  const [at, end] = partOf(random, bytes);
  return insert(bytes, end, bytes.subarray(at, end));
};

const addToken: Change = (random, bytes, { tokens }) => {
  const token = tokenOf(random.pick(tokens && random.chance(0.8) ? tokens : FRAGMENTS));
  const at = place(random, bytes);
  return insert(bytes, at, token, random.chance(0.3) ? Math.min(bytes.length, at + token.length) : at);
};

const splice: Change = (random, bytes, { others = [] }) => {
  if (others.length === 0) return bytes;
  const other = random.pick(others);
  const [at, end] = partOf(random, other);
  const target = place(random, bytes);
  return insert(bytes, target, other.subarray(at, end), Math.min(bytes.length, target + (random.chance(0.5) ? end - at : 0)));
};

/** What lengths, counts and numbers are held to, and just beyond. */
const INTEGERS = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0xff_ffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

const setInteger: Change = (random, bytes) => {
  const size = random.pick([1, 2, 3, 4]);
  if (bytes.length < size) return bytes;
  const value = random.pick(INTEGERS) % 2 ** (8 * size);
  const at = random.below(bytes.length - size + 1);
  if (random.chance(0.7)) bytes.writeUIntBE(value, at, size);
  else bytes.writeUIntLE(value, at, size);
  return bytes;
};

const DECIMALS = ['0', '-1', '1', '9', '255', '65536', '2147483648', '9007199254740993', '9223372036854775808', '18446744073709551616', '1e999', '0.1', '-0'];

/** Another number in the place of one. */
const setDecimal: Change = (random, bytes) => {
  const isDigit = (at: number): boolean => bytes[at]! >= 0x30 && bytes[at]! <= 0x39;
  let at = place(random, bytes);
  while (at < bytes.length && !isDigit(at)) at++;
  let end = at;
  while (end < bytes.length && isDigit(end)) end++;
  return at === bytes.length ? bytes : insert(bytes, at, Buffer.from(random.pick(DECIMALS)), end);
};

const repeatPart: Change = (random, bytes, { maxBytes = MAX_BYTES }) => {
  const [at, end] = partOf(random, bytes);
  return insert(bytes, end, repeated(bytes.subarray(at, end), random.pick([3, 10, 100, 1000, 10_000]), maxBytes - bytes.length));
};

const repeatToken: Change = (random, bytes, { tokens = FRAGMENTS, maxBytes = MAX_BYTES }) => {
  const token = tokenOf(random.pick(tokens));
  return insert(bytes, place(random, bytes), repeated(token, random.pick([3, 10, 100, 1000, 10_000]), maxBytes - bytes.length));
};

const doubleAll: Change = (_random, bytes, { maxBytes = MAX_BYTES }) => (bytes.length * 2 > maxBytes ? bytes : Buffer.concat([bytes, bytes]));

/** What stands before a part comes many times before it, and what stands behind it as many times behind it: deeper by so much. */
const nest: Change = (random, bytes, { maxBytes = MAX_BYTES }) => {
  const [at, end] = partOf(random, bytes);
  const [before, behind] = [bytes.subarray(Math.max(0, at - 1 - random.below(4)), at), bytes.subarray(end, end + 1 + random.below(4))];
  const deeper = Math.min(random.pick([2, 10, 100, 1000]), Math.floor((maxBytes - bytes.length) / Math.max(1, before.length + behind.length)));
  if (deeper <= 0) return bytes;
  return Buffer.concat([
    bytes.subarray(0, at),
    repeated(before, deeper, maxBytes),
    bytes.subarray(at, end),
    repeated(behind, deeper, maxBytes),
    bytes.subarray(end),
  ]);
};

const GROWING: readonly Change[] = [repeatPart, repeatPart, repeatToken, doubleAll, nest, doublePart];
const CHANGES: readonly Change[] = [
  setByte,
  flipBit,
  cutOut,
  doublePart,
  addToken,
  addToken,
  splice,
  setInteger,
  setDecimal,
  (random, ...rest) => (random.chance(0.2) ? random.pick(GROWING)(random, ...rest) : addToken(random, ...rest)),
];

export const JSON_FRAGMENTS: readonly string[] = ['{', '}', '[', ']', '"', ':', ',', 'null', '-', '1e9', '\\u0000', '\\ud800', '__proto__'];

/** Of JSON, YAML and protobuf. */
const FRAGMENTS: readonly string[] = [...JSON_FRAGMENTS, '&a ', '*a', '<<', '\n', '\t', '--- ', '!!binary ', '\xff\xff\xff\xff\xff', '\0', 'k8s\0'];
