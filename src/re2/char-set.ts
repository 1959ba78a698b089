/** A set of code points, as ranges in order that do not touch: low and high ends in turn. */
export type CharSet = readonly number[];

export const MAX_CODE_POINT = 0x10_ffff;
const NEWLINE = 10;

export function charSet(ranges: readonly (readonly [low: number, high: number])[]): CharSet {
  const merged: number[] = [];
  for (const [low, high] of ranges.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = merged.length - 1;
    if (last > 0 && low <= merged[last]! + 1) merged[last] = Math.max(merged[last]!, high);
    else merged.push(low, high);
  }
  return merged;
}

export const rangesOf = (set: CharSet): [low: number, high: number][] =>
  Array.from({ length: set.length / 2 }, (_, index) => [set[2 * index]!, set[2 * index + 1]!]);

export function negate(set: CharSet): CharSet {
  const gaps: number[] = [];
  let next = 0;
  for (const [low, high] of rangesOf(set)) {
    if (low > next) gaps.push(next, low - 1);
    next = high + 1;
  }
  if (next <= MAX_CODE_POINT) gaps.push(next, MAX_CODE_POINT);
  return gaps;
}

export function has(set: CharSet, codePoint: number): boolean {
  let low = 0;
  let high = set.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (codePoint < set[2 * middle]!) high = middle - 1;
    else if (codePoint > set[2 * middle + 1]!) low = middle + 1;
    else return true;
  }
  return false;
}

export const DIGITS: CharSet = [48, 57];
export const WORD_CHARS: CharSet = [48, 57, 65, 90, 95, 95, 97, 122];
export const BLANKS: CharSet = [9, 10, 12, 13, 32, 32];
export const ANY: CharSet = [0, MAX_CODE_POINT];
export const ANY_BUT_NEWLINE: CharSet = negate([NEWLINE, NEWLINE]);

/** The classes of `[[:name:]]`. */
export const POSIX_CLASSES: Readonly<Record<string, CharSet>> = {
  alnum: [48, 57, 65, 90, 97, 122],
  alpha: [65, 90, 97, 122],
  ascii: [0, 127],
  blank: [9, 9, 32, 32],
  cntrl: [0, 31, 127, 127],
  digit: DIGITS,
  graph: [33, 126],
  lower: [97, 122],
  print: [32, 126],
  punct: [33, 47, 58, 64, 91, 96, 123, 126],
  space: [9, 13, 32, 32],
  upper: [65, 90],
  word: WORD_CHARS,
  xdigit: [48, 57, 65, 70, 97, 102],
};

const unicodeClasses = new Map<string, CharSet>();

/** Whether `unicodeClass` need only look it up; making one searches all of Unicode, which takes milliseconds. */
export const isKnownClass = (name: string): boolean => name === 'Any' || unicodeClasses.has(name);

/** The code points of a general category or a script. The name is known to be one (go-regexp.ts). */
export function unicodeClass(name: string): CharSet {
  if (name === 'Any') return ANY;
  const known = unicodeClasses.get(name);
  if (known !== undefined) return known;
  const set = charSet([...runsOf(propertyExpression(name))]);
  unicodeClasses.set(name, set);
  return set;
}

function propertyExpression(name: string): RegExp {
  try {
    return new RegExp(`\\p{gc=${name}}+`, 'gu');
  } catch {
    return new RegExp(`\\p{sc=${name}}+`, 'gu');
  }
}

/** Planes of 65,536 code points in which something is assigned, and those for private use, which are all of one kind. */
const ASSIGNED_PLANES = [0, 1, 2, 3, 14];
const PRIVATE_PLANES = [15, 16];
const PLANE_SIZE = 0x1_0000;

interface PlaneText {
  start: number;
  unitsEach: number;
  text: string;
}

let planeTexts: readonly PlaneText[] | undefined;

/** Texts of all code points that are assigned, in order. They take a megabyte and longer to make than to search, so they are kept. */
const allTexts = (): readonly PlaneText[] =>
  (planeTexts ??= ASSIGNED_PLANES.flatMap((plane): PlaneText[] => {
    const start = plane * PLANE_SIZE;
    if (plane > 0) return [{ start, unitsEach: 2, text: textOf(start, start + PLANE_SIZE - 1) }];
    return [
      { start: 0, unitsEach: 1, text: textOf(0, 0xd7ff) },
      { start: 0xe000, unitsEach: 1, text: textOf(0xe000, 0xffff) },
    ];
  }));

/** Runs of code points that match, found in texts of all there are but surrogates, which stand for themselves only in pairs. */
function* runsOf(expression: RegExp): Generator<[number, number]> {
  for (const { start, unitsEach, text } of allTexts()) {
    for (const match of text.matchAll(expression)) yield [start + match.index / unitsEach, start + (match.index + match[0].length) / unitsEach - 1];
  }
  for (const plane of PRIVATE_PLANES) {
    const start = plane * PLANE_SIZE;
    // The last two of a plane are no characters.
    if (String.fromCodePoint(start).search(expression) === 0) yield [start, start + PLANE_SIZE - 3];
  }
}

/** All code points from `low` to `high`, which are of one plane and no surrogates. */
function textOf(low: number, high: number): string {
  const units = new Uint16Array((high - low + 1) * (low > 0xffff ? 2 : 1));
  for (let code = low, place = 0; code <= high; code++) {
    if (code > 0xffff) units[place++] = 0xd800 + ((code - 0x1_0000) >> 10);
    units[place++] = code > 0xffff ? 0xdc00 + (code & 0x3ff) : code;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

/** All characters that are the same but for case, for those that have any; made when it is first needed. */
let foldings: ReadonlyMap<number, readonly number[]> | undefined;

function buildFoldings(): ReadonlyMap<number, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (const [low, high] of runsOf(/\p{Changes_When_Casemapped}+/gu)) {
    for (let code = low; code <= high; code++) {
      const key = foldKey(String.fromCodePoint(code));
      groups.set(key, [...(groups.get(key) ?? []), code]);
    }
  }
  return new Map(Array.from(groups.values()).flatMap((group) => (group.length === 1 ? [] : group.map((code) => [code, group] as const))));
}

/** Characters that fold to more than one are left alone, as Unicode's simple folding does. */
function foldKey(char: string): string {
  const upper = char.toUpperCase();
  const single = Array.from(upper).length === 1 ? upper : char;
  const lower = single.toLowerCase();
  return Array.from(lower).length === 1 ? lower : single;
}

/** Of sets that have been folded before: a pattern may name one of Unicode's classes hundreds of times. */
const folded = new WeakMap<CharSet, CharSet>();

/** The set with all other cases of its characters. */
export function foldCase(set: CharSet): CharSet {
  if (!isBeyondAscii(set)) return withOtherCases(set);
  let known = folded.get(set);
  if (known === undefined) folded.set(set, (known = withOtherCases(set)));
  return known;
}

function withOtherCases(set: CharSet): CharSet {
  const added: [number, number][] = [];
  const add = (code: number): void => {
    for (const other of casesOf(code)) added.push([other, other]);
  };
  if (set.length === 2 && set[0] === set[1]) add(set[0]!);
  else {
    for (let code = 0; code <= LAST_ASCII; code++) if (has(set, code)) add(code);
    if (isBeyondAscii(set)) for (const code of allFoldings().keys()) if (has(set, code)) add(code);
  }
  return charSet([...rangesOf(set), ...added]);
}

/** What a set beyond ASCII takes: each of some 2,800 characters that have cases is searched for in it (240 µs). */
const FOLDING_STEPS = 10_000;

/** How many steps foldCase takes. */
export const foldingSteps = (set: CharSet): number =>
  (set.length === 2 && set[0] === set[1]) || folded.has(set) ? 1 : isBeyondAscii(set) ? FOLDING_STEPS : 128;

const isBeyondAscii = (set: CharSet): boolean => (set.at(-1) ?? 0) > LAST_ASCII;
const LAST_ASCII = 127;
const KELVIN = 0x212a;
const LONG_S = 0x17f;

const allFoldings = (): ReadonlyMap<number, readonly number[]> => (foldings ??= buildFoldings());

/** Texts of ASCII, which most patterns are, need no table. */
function casesOf(code: number): readonly number[] {
  if (code > LAST_ASCII) return allFoldings().get(code) ?? [];
  const isLetter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  if (!isLetter) return [];
  const lower = code | 32;
  const others = [lower, lower - 32];
  if (lower === 107) others.push(KELVIN);
  if (lower === 115) others.push(LONG_S);
  return others;
}
