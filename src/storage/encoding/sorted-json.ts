import { stringifyJson } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';

/** JSON as Go writes a map: keys in the order of their bytes, those that look like numbers too. Keys without a value are left out. No newline at the end. */
export function sortedJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return stringifyJson(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .toSorted(compareBytes)
    .map((key) => `${stringifyJson(key)}:${sortedJson(value[key]!)}`);
  return `{${members.join(',')}}`;
}

const SURROGATE = /[\ud800-\udfff]/;

/** JavaScript compares UTF-16 units, which differs only where a character is beyond the first plane. */
function compareBytes(a: string, b: string): number {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}
