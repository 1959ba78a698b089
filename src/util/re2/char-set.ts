/** A set of code points, as ranges in order that do not touch: low and high ends in turn. */
export type CharSet = readonly number[];

export const MAX_CODE_POINT = 0x10_ffff;
const NEWLINE = 10;

/** A set of any ranges. */
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

const CHUNK = 0x1_0000;

/** Runs of code points that match, found in texts of all code points there are but surrogates, which stand for themselves only in pairs. */
function* runsOf(expression: RegExp): Generator<[number, number]> {
  for (let start = 0; start <= MAX_CODE_POINT; start += CHUNK) {
    const parts =
      start === 0
        ? [
            [0, 0xd7ff],
            [0xe000, 0xffff],
          ]
        : [[start, start + CHUNK - 1]];
    for (const [low, high] of parts) {
      const text = chunksOf(low!, high!).join('');
      const unitsEach = low! > 0xffff ? 2 : 1;
      for (const match of text.matchAll(expression)) yield [low! + match.index / unitsEach, low! + (match.index + match[0].length) / unitsEach - 1];
    }
  }
}

const MAX_ARGUMENTS = 4096;

function chunksOf(low: number, high: number): string[] {
  const chunks: string[] = [];
  for (let start = low; start <= high; start += MAX_ARGUMENTS) {
    const length = Math.min(MAX_ARGUMENTS, high - start + 1);
    chunks.push(String.fromCodePoint(...Array.from({ length }, (_, index) => start + index)));
  }
  return chunks;
}

/** All characters that are the same but for case, for those that have any; made when it is first needed. */
let foldings: ReadonlyMap<number, readonly number[]> | undefined;
/** Nothing above has case. */
const LAST_CASED = 0x1_e943;

function buildFoldings(): ReadonlyMap<number, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (let code = 0; code <= LAST_CASED; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const key = foldKey(String.fromCodePoint(code));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [code]);
    else group.push(code);
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

/** The set with all other cases of its characters. */
export function foldCase(set: CharSet): CharSet {
  const added: [number, number][] = [];
  for (const [low, high] of rangesOf(set))
    for (let code = low; code <= Math.min(high, LAST_CASED); code++) for (const other of casesOf(code)) added.push([other, other]);
  return charSet([...rangesOf(set), ...added]);
}

const KELVIN = 0x212a;
const LONG_S = 0x17f;

function casesOf(code: number): readonly number[] {
  if (code > 127) return (foldings ??= buildFoldings()).get(code) ?? [];
  const isLetter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  if (!isLetter) return [];
  const lower = code | 32;
  const others = [lower, lower - 32];
  if (lower === 107) others.push(KELVIN);
  if (lower === 115) others.push(LONG_S);
  return others;
}
