import { quote } from '../../util/go-quote.ts';

/** `1,3-5,7`: which indexes of an indexed job are meant. */
interface Interval {
  first: number;
  last: number;
}

/** How many indexes the text names, or what is wrong with it; each must be below `completions`, and they must rise. */
export function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0;
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions);
    if (typeof interval === 'string') return interval;
    if (previous !== undefined && previous >= interval.first) return nonIncreasing(previous, interval.first);
    total += interval.last - interval.first + 1;
    previous = interval.last;
  }
  return total;
}

/** The first index that both texts name; parts that cannot be read are passed over. */
export function firstSharedIndex(a: string, b: string, completions: number): number | undefined {
  const [left, right] = [readable(a, completions), readable(b, completions)];
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    const [x, y] = [left[i]!, right[j]!];
    if (x.first <= y.last && y.first <= x.last) return Math.max(x.first, y.first);
    if (x.first <= y.first) i++;
    else j++;
  }
  return undefined;
}

function readable(text: string, completions: number): Interval[] {
  return text === ''
    ? []
    : text
        .split(',')
        .map((part) => parseInterval(part, completions))
        .filter((interval) => typeof interval !== 'string');
}

function parseInterval(text: string, completions: number): Interval | string {
  const limits = text.split('-');
  if (limits.length > 2) return `the fragment ${quote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  const [first, last = first] = limits.map((limit) => parseIndex(limit, completions));
  if (typeof first === 'string') return first;
  if (typeof last === 'string') return last;
  if (limits.length === 2 && first! >= last!) return nonIncreasing(first!, last!);
  return { first: first!, last: last! };
}

function parseIndex(text: string, completions: number): number | string {
  // More digits overflow what Go reads into.
  if (!/^\+?[0-9]{1,18}$/.test(text)) return `cannot convert string to integer for index: ${quote(text)}`;
  const index = Number(text);
  return index >= completions ? `too large index: ${quote(text)}` : index;
}

const nonIncreasing = (previous: number, current: number): string => `non-increasing order, previous: ${previous}, current: ${current}`;
