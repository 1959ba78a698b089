import { parseJsonInSteps, parseOwnJson } from './json.ts';
import type { Json, JsonObject } from './json-types.ts';
import { sortedInSteps } from '../util/sliced-sort.ts';
import { resolvePlain } from './yaml-scalars.ts';

/** Lines are folded at the first space beyond this column. */
const WIDTH = 80;
/** Longer keys are written as `? key`. */
const MAX_SIMPLE_KEY_BYTES = 128;
const STEP = '  ';

/** A JSON value as sigs.k8s.io/yaml prints it (go-yaml v2's emitter): sorted keys, lists at their key's own indent. Ends in a newline. */
export function toYaml(value: Json): string {
  const out: string[] = [];
  if (isBlock(value)) writeBlock(out, value, '', '');
  else out.push(scalar(value, 0, STEP), '\n');
  return out.join('');
}

/** So many parts of a text are joined to one piece of it. */
const PARTS_OF_PIECE = 500;
/** Deeper blocks are written whole: what calls itself as a generator takes longer for every level. */
const MAX_PIECED_DEPTH = 8;

/** The same in pieces, each of which takes some tens of microseconds. Undefined is a step that made none. */
export function* toYamlInPieces(value: Json): Iterable<string | undefined> {
  if (!isBlock(value)) {
    yield toYaml(value);
    return;
  }
  const out: string[] = [];
  for (const isPiece of blockSteps(out, value, '', '', 0)) {
    if (!isPiece) yield undefined;
    if (out.length < PARTS_OF_PIECE) continue;
    yield out.join('');
    out.length = 0;
  }
  yield out.join('');
}

/** `writeBlock`, pausing behind every entry, and where many keys are being sorted: then with false. */
function* blockSteps(out: string[], value: JsonObject | Json[], indent: string, lead: string, depth: number): Generator<boolean, void> {
  let start = lead;
  const isList = Array.isArray(value);
  for (const key of isList ? value.keys() : yield* keysInSteps(value)) {
    const inner = (isList ? value[key as number] : value[key as string]) ?? null;
    const isShort = isList || !isLongKey(key as string);
    if (!isBlock(inner) || depth === MAX_PIECED_DEPTH || !isShort) {
      if (isList) writeItem(out, inner, indent, `${start}- `);
      else writeEntry(out, key as string, inner, indent, start);
    } else if (isList) yield* blockSteps(out, inner, indent + STEP, `${start}- `, depth + 1);
    else {
      out.push(start, keyText(key as string), ':\n');
      const innerIndent = Array.isArray(inner) ? indent : indent + STEP;
      yield* blockSteps(out, inner, innerIndent, innerIndent, depth + 1);
    }
    start = indent;
    yield true;
  }
}

function* keysInSteps(object: JsonObject): Generator<boolean, readonly string[]> {
  const sorting = sortedInSteps(Object.keys(object), compareKeys);
  for (;;) {
    const { done, value } = sorting.next();
    if (done) return value;
    yield false;
  }
}

const isLongKey = (key: string): boolean => Buffer.byteLength(key) > MAX_SIMPLE_KEY_BYTES || key.includes('\n');

/** An item with more JSON is written in pieces of its own; for shorter ones, that would only take longer. */
const LONG_ITEM_BYTES = 64 * 1024;

/** The same for an object with `items`, which are JSON, as one field more, whose text is made item by item. */
export function* toYamlPieces(fields: JsonObject, name: string, items: Iterable<Buffer | undefined>): Iterable<string | undefined> {
  const keys = Object.keys(fields).filter((key) => key !== name);
  const before = keys.filter((key) => compareKeys(key, name) < 0);
  const part = (names: readonly string[]): string => (names.length === 0 ? '' : toYaml(Object.fromEntries(names.map((key) => [key, fields[key]!]))));
  yield part(before);
  let isEmpty = true;
  for (const item of items) {
    if (item === undefined) {
      yield undefined;
      continue;
    }
    if (isEmpty) yield `${keyText(name)}:\n`;
    isEmpty = false;
    if (item.length > LONG_ITEM_BYTES) yield* longItem(item);
    else yield toYaml([parseOwnJson(item)]);
  }
  if (isEmpty) yield `${keyText(name)}: []\n`;
  yield part(keys.filter((key) => !before.includes(key)));
}

function* longItem(item: Buffer): Iterable<string | undefined> {
  const parsing = parseJsonInSteps(item);
  for (;;) {
    const { done, value } = parsing.next();
    if (done) return yield* toYamlInPieces([value]);
    yield undefined;
  }
}

const isBlock = (value: Json): value is JsonObject | Json[] =>
  typeof value === 'object' && value !== null && (Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0);

/** A list or object, its first line beginning with `lead` where the ones after begin with `indent`. */
function writeBlock(out: string[], value: JsonObject | Json[], indent: string, lead: string): void {
  let start = lead;
  if (Array.isArray(value)) {
    for (const item of value) {
      writeItem(out, item, indent, `${start}- `);
      start = indent;
    }
    return;
  }
  for (const key of Object.keys(value).toSorted(compareKeys)) {
    writeEntry(out, key, value[key] ?? null, indent, start);
    start = indent;
  }
}

/** What stands behind `- ` or a long key's `: `: blocks go on in the same line. */
function writeItem(out: string[], item: Json, indent: string, lead: string): void {
  if (isBlock(item)) writeBlock(out, item, indent + STEP, lead);
  else out.push(lead, scalar(item, lead.length, indent + STEP), '\n');
}

function writeEntry(out: string[], key: string, value: Json, indent: string, start: string): void {
  const name = keyText(key);
  if (isLongKey(key)) {
    out.push(start, '? ', name, '\n');
    writeItem(out, value, indent, `${indent}: `);
  } else if (isBlock(value)) {
    out.push(start, name, ':\n');
    writeBlock(out, value, Array.isArray(value) ? indent : indent + STEP, Array.isArray(value) ? indent : indent + STEP);
  } else {
    out.push(start, name, ': ', scalar(value, start.length + name.length + 2, indent + STEP), '\n');
  }
}

function scalar(value: Json, column: number, indent: string): string {
  if (typeof value === 'string') return text(value, column, indent);
  if (typeof value === 'number') return number(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[]' : '{}';
  return String(value);
}

/** Go's FormatFloat 'g' for what is no integer: an exponent of two digits, from 1e21 on or below 1e-4. */
function number(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  const plain = Math.abs(value) < 1e-4 ? value.toExponential() : String(value);
  return plain.replace(/e([+-])(\d)$/, 'e$10$2');
}

function keyText(key: string): string {
  if (key.includes('\n')) return doubleQuoted(key);
  if (!staysString(key)) return doubleQuoted(key);
  return isPlain(key) ? key : canSingleQuote(key) ? `'${key.replaceAll("'", "''")}'` : doubleQuoted(key);
}

function text(value: string, column: number, indent: string): string {
  if (value.includes('\n')) return isLiteral(value) ? literal(value, indent) : fold(doubleQuoted(value), column, indent, 'double');
  if (!staysString(value)) return fold(doubleQuoted(value), column, indent, 'double');
  if (isPlain(value)) return fold(value, column, indent, 'plain');
  if (canSingleQuote(value)) return fold(`'${value.replaceAll("'", "''")}'`, column, indent, 'single');
  return fold(doubleQuoted(value), column, indent, 'double');
}

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const staysString = (value: string): boolean => resolvePlain(value).kind === 'string' && !BASE_60.test(value);

const INDICATOR_START = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$))/;
const INDICATOR_INSIDE = /:(?:[ \t]|$)|[ \t]#/;
const UNPRINTABLE = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[\u2028\u2029]/;

const isPlain = (value: string): boolean =>
  !INDICATOR_START.test(value) && !INDICATOR_INSIDE.test(value) && !UNPRINTABLE.test(value) && !/^ | $/.test(value) && value !== '';
const canSingleQuote = (value: string): boolean => !UNPRINTABLE.test(value);
/** Text of several lines that can stand as it is. */
const isLiteral = (value: string): boolean => !UNPRINTABLE.test(value) && !/ $| \n/.test(value);

function literal(value: string, indent: string): string {
  const hint = /^[ \n]/.test(value) ? '2' : '';
  const chomp = !value.endsWith('\n') ? '-' : value.endsWith('\n\n') || value === '\n' ? '+' : '';
  const body = value.endsWith('\n') ? value.slice(0, -1) : value;
  const lines = body.split('\n').map((line) => (line === '' ? '' : indent + line));
  return `|${hint}${chomp}\n${lines.join('\n')}`;
}

const ESCAPES: Record<string, string> = {
  '\0': '0',
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\x1b': 'e',
  '"': '"',
  '\\': '\\',
  '\x85': 'N',
  '\u2028': 'L',
  '\u2029': 'P',
};
/** But for backslashes, quotes and line ends. */
const ESCAPED = /[\u2028\u2029]|[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/gu;

function doubleQuoted(value: string): string {
  // A function for each of a million line ends takes ten times as long as three replacements.
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `"${escaped.replace(ESCAPED, escapeOf)}"`;
}

function escapeOf(character: string): string {
  if (Object.hasOwn(ESCAPES, character)) return `\\${ESCAPES[character]!}`;
  const code = character.codePointAt(0)!;
  const [letter, width] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : ['U', 8];
  return `\\${letter}${code.toString(16).toUpperCase().padStart(width, '0')}`;
}

/** Breaks lines at single spaces past the width. Within double quotes, a break before another space is escaped. */
function fold(written: string, column: number, indent: string, style: 'plain' | 'single' | 'double'): string {
  if (column + written.length <= WIDTH) return written;
  let out = '';
  /** The line begins here, and what of it is written begins in this column. */
  let start = 0;
  let startColumn = column;
  const last = written.length - (style === 'plain' ? 1 : 2);
  const firstPastWidth = (): number => start + Math.max(0, WIDTH + 1 - startColumn);
  for (let at = written.indexOf(' ', firstPastWidth()); at >= 0; at = written.indexOf(' ', Math.max(at + 1, firstPastWidth()))) {
    const isDoubled = written[at + 1] === ' ';
    const mayBreak = written[at - 1] !== ' ' && (style === 'plain' || (at > 1 && at < last)) && (style === 'double' || !isDoubled);
    if (!mayBreak) continue;
    out += `${written.slice(start, at)}\n${indent}${isDoubled ? '\\' : ''}`;
    start = at + 1;
    startColumn = indent.length + (isDoubled ? 1 : 0);
  }
  return out + written.slice(start);
}

const LETTER = /\p{L}/u;
const DIGIT = /\p{Nd}/u;
const ASCII = 0x80;

/** go-yaml's order of keys: letters after everything else, runs of digits by their number. */
function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let index = 0;
  while (index < length && a.charCodeAt(index) === b.charCodeAt(index)) index++;
  if (index === length) return a.length - b.length;
  // Characters are told apart, not halves of them.
  const isInside = isLowSurrogate(a.charCodeAt(index)) || isLowSurrogate(b.charCodeAt(index));
  if (isInside && index > 0 && isHighSurrogate(a.charCodeAt(index - 1))) index--;
  return compareFrom(a, b, index);
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** The two differ in the character at the index. */
function compareFrom(left: string, right: string, index: number): number {
  const [a, b] = [left.codePointAt(index)!, right.codePointAt(index)!];
  const [isLetterA, isLetterB] = [isLetter(a), isLetter(b)];
  const byCode = unitAt(left, index) < unitAt(right, index) ? -1 : 1;
  if (isLetterA && isLetterB) return byCode;
  if (isLetterA || isLetterB) return isLetterB ? -1 : 1;
  const [runA, runB] = [digitsFrom(left, index), digitsFrom(right, index)];
  // A digit that continues a number must not be taken for the start of one: 10 after 1, not 0 before it.
  const isCarried = (a === ZERO || b === ZERO) && continuesNumber(left, index);
  const byNumber = compareNumbers(isCarried ? `1${runA}` : runA, isCarried ? `1${runB}` : runB);
  return byNumber || runA.length - runB.length || byCode;
}

/** Characters are compared as JavaScript compares texts: by their first unit. */
const unitAt = (value: string, index: number): number =>
  value.charCodeAt(index) * 0x10000 + (isHighSurrogate(value.charCodeAt(index)) ? value.charCodeAt(index + 1) || 0 : 0);

const ZERO = 0x30;
const NINE = 0x39;
const isLetter = (code: number): boolean => (code < ASCII ? (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a : LETTER.test(String.fromCodePoint(code)));

/** Whole numbers of any length: a key may be a megabyte of digits. */
function compareNumbers(a: string, b: string): number {
  const [left, right] = [withoutZeros(a), withoutZeros(b)];
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}

function withoutZeros(digits: string): string {
  let start = 0;
  while (start < digits.length && digits.charCodeAt(start) === ZERO) start++;
  return digits.slice(start);
}

function continuesNumber(value: string, index: number): boolean {
  for (let before = index - 1; before >= 0; before--) {
    if (isLowSurrogate(value.charCodeAt(before)) && before > 0) before--;
    const code = value.codePointAt(before)!;
    if (code < ASCII ? code < ZERO || code > NINE : !DIGIT.test(String.fromCodePoint(code))) return false;
    if (code !== ZERO) return true;
  }
  return false;
}

function digitsFrom(value: string, index: number): string {
  let end = index;
  while (end < value.length && value.charCodeAt(end) >= ZERO && value.charCodeAt(end) <= NINE) end++;
  return value.slice(index, end);
}
