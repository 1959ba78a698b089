import type { Json } from './json-types.ts';

/** A JSON value as Go's fmt prints it with %v: `map[a:1 b:[x y] c:<nil>]`. For messages that upstream words this way. */
export function formatGo(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(formatGo).join(' ')}]`;
  if (typeof value === 'object') {
    const entries = Object.keys(value).toSorted();
    return `map[${entries.map((key) => `${key}:${formatGo(value[key])}`).join(' ')}]`;
  }
  return typeof value === 'number' && !Number.isInteger(value) ? formatFloat(value) : String(value);
}

/** Go writes exponents with two digits, and from 1e21 on or below 1e-4. */
function formatFloat(value: number): string {
  const size = Math.abs(value);
  const text = size < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
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
