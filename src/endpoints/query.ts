import { badRequest } from '../api/errors.ts';
import { quote } from '../util/go-quote.ts';

/** Query parameters as Go's conversions read them (apimachinery/pkg/runtime/conversion.go). The first of several values counts. */

/** Only `0`, `false` and absence are false; even an empty value is true. */
export function queryBoolean(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

const INT64_MAX = 2n ** 63n - 1n;

/** Undefined where absent. Throws 400 with strconv's words. Beyond 2^53 the nearest number will do: nobody counts that far. */
export function queryInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[+-]?[0-9]+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
  const value = BigInt(text.slice(0, 40).replace('+', ''));
  if (value > INT64_MAX || value < -INT64_MAX - 1n) throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: value out of range`);
  return Number(value);
}
