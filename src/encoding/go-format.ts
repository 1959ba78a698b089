import { quote } from '../util/go-quote.ts';
import type { Json } from './json-types.ts';

/** A JSON value as Go's fmt prints it with %v: `map[a:1 b:[x y] c:<nil>]`. For messages that upstream words this way. */
export function formatGo(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(formatGo).join(' ')}]`;
  if (typeof value === 'object') {
    const entries = Object.keys(value).toSorted();
    return `map[${entries.map((key) => `${key}:${formatGo(value[key])}`).join(' ')}]`;
  }
  // Integers that are larger are bigints.
  return typeof value === 'number' && !Number.isSafeInteger(value) ? formatGoFloat(value, 64) : String(value);
}

/** As strconv.FormatFloat(value, 'g', -1, bits) writes it, and %v and %#v with 64 bits: `1e+06`, `1.1234568`, `+Inf`. */
export function formatGoFloat(value: number, bits: 32 | 64): string {
  const rounded = bits === 32 ? Math.fround(value) : value;
  if (!Number.isFinite(rounded)) return Number.isNaN(rounded) ? 'NaN' : rounded > 0 ? '+Inf' : '-Inf';
  const shortest = bits === 32 ? shortestFloat32(rounded) : rounded;
  const exponent = Number(shortest.toExponential().split('e')[1]);
  return exponent < -4 || exponent >= 6 ? shortest.toExponential().replace(/e([+-])(\d)$/, 'e$10$2') : String(shortest);
}

/** The number of the fewest digits that is this one among floats of 32 bits. */
function shortestFloat32(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return Number(value.toPrecision(9));
}

/** A value as Go's %#v prints what go-yaml read: `map[interface {}]interface {}{"a":1}`. */
export function goSyntax(value: Json): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : formatGoFloat(value, 64);
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object') return String(value);
  const inside = (item: Json): string => (item === null ? 'interface {}(nil)' : goSyntax(item));
  if (Array.isArray(value)) return `[]interface {}{${value.map(inside).join(', ')}}`;
  const entries = Object.keys(value).toSorted();
  return `map[interface {}]interface {}{${entries.map((key) => `${quote(key)}:${inside(value[key]!)}`).join(', ')}}`;
}

/** The Go type that a decoded JSON value has in an interface, as reflect prints it. */
export function goTypeOfValue(value: Json | undefined): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'object':
      return 'map[string]interface {}';
    case 'boolean':
      return 'bool';
    case 'number':
      // Integers that are larger are bigints: what is not was written with an exponent, which Go reads into a float.
      return Number.isSafeInteger(value) ? 'int64' : 'float64';
    case 'bigint':
      return 'int64';
    default:
      return typeof value;
  }
}

/** The kind of that type: `map`, `slice`, `string`, … */
export function goKindOfValue(value: Json): string {
  const type = goTypeOfValue(value);
  return type.startsWith('map') ? 'map' : type.startsWith('[]') ? 'slice' : type;
}

/** What Go's JSON decoder calls a value in its errors. */
export const jsonKind = (value: Json): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
