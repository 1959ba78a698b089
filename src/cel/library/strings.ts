import { SHORT_ESCAPES } from '../../util/go-quote.ts';
import { show } from '../convert.ts';
import { fn, member, overload, type Library } from '../declarations.ts';
import { DYN, INT, STRING, listType } from '../types.ts';
import type { CelList } from '../values.ts';
import { ArrayList, CelError, codePointCount, type CelInt, type CelValue } from '../values.ts';
import { checkFormatCall } from './format-check.ts';
import { formatText } from './format-text.ts';

/** Functions on texts (cel-go ext/strings.go). Places count characters, not UTF-16 units. */
const TEXTS = listType(STRING);
/** Results beyond this are refused: calls are charged by what they are given, and a few can make a great deal of it. */
const MAX_RESULT_UNITS = 2 ** 26;

const outOfRange = (index: CelInt): CelError => new CelError(`index out of range: ${index}`);
const tooLarge = (): CelError => new CelError('result is too large');

/** Whether units and characters are the same. */
const isSimple = (text: string): boolean => !/[\ud800-\udbff]/.test(text);

/** Characters `start` to `end`. */
function slice(text: string, start: number, end?: number): string {
  return isSimple(text) ? text.slice(start, end) : Array.from(text).slice(start, end).join('');
}

function charAt(text: string, index: CelInt): CelValue {
  return index < 0 || index > codePointCount(text) ? outOfRange(index) : slice(text, Number(index), Number(index) + 1);
}

const unitsBefore = (text: string, index: number): number => (isSimple(text) ? index : Array.from(text).slice(0, index).join('').length);
const charsBefore = (text: string, unit: number): number => (unit === -1 ? -1 : codePointCount(text.slice(0, unit)));

function indexOf(text: string, part: string, offset: CelInt = 0): CelValue {
  if (part === '') return offset;
  if (offset < 0) return outOfRange(offset);
  if (offset >= codePointCount(text)) return -1;
  return charsBefore(text, text.indexOf(part, unitsBefore(text, Number(offset))));
}

function lastIndexOf(text: string, part: string, offset?: CelInt): CelValue {
  const size = codePointCount(text);
  if (part === '') return offset ?? size;
  const from = offset ?? size - 1;
  if (offset !== undefined && offset < 0) return outOfRange(offset);
  if (from < 0 || from >= size) return -1;
  return charsBefore(text, text.lastIndexOf(part, unitsBefore(text, Number(from))));
}

/** Go's strings.Replace: a negative count is all, and nothing stands before every character and at the end. */
function replace(text: string, old: string, replacement: string, count: CelInt = -1): CelValue {
  const limit = count < 0 ? Infinity : Number(count);
  const pieces = old === '' ? ['', ...Array.from(text)] : text.split(old);
  const replaced = Math.min(limit, old === '' ? pieces.length : pieces.length - 1);
  if (text.length + replaced * replacement.length > MAX_RESULT_UNITS) return tooLarge();
  if (old === '') return pieces.map((piece, index) => piece + (index < replaced ? replacement : '')).join('');
  const head = pieces.slice(0, replaced + 1).join(replacement);
  return replaced === pieces.length - 1 ? head : [head, ...pieces.slice(replaced + 1)].join(old);
}

/** Go's strings.SplitN. */
function split(text: string, separator: string, count: CelInt = -1): CelValue {
  const limit = count < 0 ? Infinity : Number(count);
  if (limit === 0) return new ArrayList([]);
  const pieces = separator === '' ? Array.from(text) : text.split(separator);
  if (pieces.length <= limit) return new ArrayList(pieces);
  return new ArrayList([...pieces.slice(0, limit - 1), pieces.slice(limit - 1).join(separator)]);
}

function substring(text: string, start: CelInt, end?: CelInt): CelValue {
  const size = codePointCount(text);
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0 || start > size) return outOfRange(start);
  if (end !== undefined && (end < 0 || end > size)) return outOfRange(end);
  return slice(text, Number(start), end === undefined ? undefined : Number(end));
}

function join(list: CelList, separator = ''): CelValue {
  const parts: string[] = [];
  let units = 0;
  for (let index = 0; index < list.size; index++) {
    const item = list.get(index);
    if (typeof item !== 'string') return new CelError(`join: invalid input: ${show(item)}`);
    units += item.length + separator.length;
    if (units > MAX_RESULT_UNITS) return tooLarge();
    parts.push(item);
  }
  return parts.join(separator);
}

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
const upperAscii = (text: string): string => text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());

/** What Unicode calls white space, which is not quite what JavaScript trims. */
const BLANK = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const LEADING_BLANKS = new RegExp(`^${BLANK}+`);

function trim(text: string): string {
  const start = LEADING_BLANKS.exec(text)?.[0].length ?? 0;
  let end = text.length;
  while (end > start && LEADING_BLANKS.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** Unlike Go's, leaves be what has no letter of its own (cel-go/ext/strings.go). */
// oxlint-disable-next-line no-control-regex -- what CEL escapes
const quoteShort = (text: string): string => `"${text.replaceAll(/[\u0007-\r\\"]/g, (char) => SHORT_ESCAPES[char]!)}"`;

export const STRINGS_LIBRARY: Library = {
  functions: [
    fn('charAt', member('string_char_at_int', [STRING, INT], STRING, charAt)),
    fn('indexOf', member('string_index_of_string', [STRING, STRING], INT, indexOf), member('string_index_of_string_int', [STRING, STRING, INT], INT, indexOf)),
    fn(
      'lastIndexOf',
      member('string_last_index_of_string', [STRING, STRING], INT, lastIndexOf),
      member('string_last_index_of_string_int', [STRING, STRING, INT], INT, lastIndexOf),
    ),
    fn('lowerAscii', member('string_lower_ascii', [STRING], STRING, lowerAscii)),
    fn('upperAscii', member('string_upper_ascii', [STRING], STRING, upperAscii)),
    fn(
      'replace',
      member('string_replace_string_string', [STRING, STRING, STRING], STRING, replace),
      member('string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, replace),
    ),
    fn('split', member('string_split_string', [STRING, STRING], TEXTS, split), member('string_split_string_int', [STRING, STRING, INT], TEXTS, split)),
    fn(
      'substring',
      member('string_substring_int', [STRING, INT], STRING, substring),
      member('string_substring_int_int', [STRING, INT, INT], STRING, substring),
    ),
    fn('trim', member('string_trim', [STRING], STRING, trim)),
    fn('strings.quote', overload('strings_quote', [STRING], STRING, quoteShort)),
    fn('join', member('list_join', [TEXTS], STRING, join), member('list_join_string', [TEXTS, STRING], STRING, join)),
    {
      ...fn('format', member('string_format', [STRING, listType(DYN)], STRING, formatText)),
      validate: checkFormatCall,
    },
  ],
};
