import { quote } from '../util/go-quote.ts';
import { LIMITS } from '../util/limits.ts';
import type { Json } from './json-types.ts';

/** A JSON value as Go's fmt prints it with %v: `map[a:1 b:[x y] c:<nil>]`. For messages that upstream words this way. */
export function formatGo(value: Json | undefined): string {
  const shown = new ShownValue();
  writeGo(shown, value);
  return shown.text;
}

function writeGo(shown: ShownValue, value: Json | undefined): void {
  if (value === null || value === undefined) shown.add('<nil>');
  else if (Array.isArray(value)) shown.each('[', value, ' ', ']', (item) => writeGo(shown, item));
  else if (typeof value === 'object') {
    shown.each('map[', Object.keys(value).toSorted(), ' ', ']', (key) => {
      shown.add(key);
      shown.add(':');
      writeGo(shown, value[key]);
    });
  } else shown.add(typeof value === 'string' ? value : scalarText(value));
}

/** Integers that are larger are bigints. */
const scalarText = (value: number | bigint | boolean): string =>
  typeof value === 'number' && !Number.isSafeInteger(value) ? formatGoFloat(value, 64) : String(value);

/** A text that is cut where it has become too long for a message: what it shows is a client's, and may be the whole of a body. */
class ShownValue {
  #text = '';

  get text(): string {
    return this.#text.length > LIMITS.shownCharacters ? `${this.#text.slice(0, LIMITS.shownCharacters)}…` : this.#text;
  }

  /** How much more of a text can be seen. */
  get #left(): number {
    return LIMITS.shownCharacters + 1 - this.#text.length;
  }

  add(text: string): void {
    this.#text += text.length > this.#left ? text.slice(0, Math.max(0, this.#left)) : text;
  }

  addQuoted(text: string): void {
    this.add(quote(text.length > this.#left ? text.slice(0, Math.max(0, this.#left)) : text));
  }

  each<T>(begin: string, items: readonly T[], separator: string, end: string, write: (item: T) => void): void {
    this.add(begin);
    for (let index = 0; index < items.length && this.#left > 0; index++) {
      if (index > 0) this.add(separator);
      write(items[index]!);
    }
    this.add(end);
  }
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

/** A value as Go's %#v prints what was read from YAML: `map[interface {}]interface {}{"a":1}`, or with keys of another type. */
export function goSyntax(value: Json, keyType: 'interface {}' | 'string' = 'interface {}'): string {
  const shown = new ShownValue();
  if (value === null) shown.add('<nil>');
  else writeSyntax(shown, value, keyType);
  return shown.text;
}

function writeSyntax(shown: ShownValue, value: Json | undefined, keyType: string): void {
  if (value === null || value === undefined) shown.add('interface {}(nil)');
  else if (typeof value === 'string') shown.addQuoted(value);
  else if (Array.isArray(value)) shown.each('[]interface {}{', value, ', ', '}', (item) => writeSyntax(shown, item, keyType));
  else if (typeof value === 'object') {
    shown.each(`map[${keyType}]interface {}{`, Object.keys(value).toSorted(), ', ', '}', (key) => {
      shown.addQuoted(key);
      shown.add(':');
      writeSyntax(shown, value[key], keyType);
    });
  } else shown.add(scalarText(value));
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
