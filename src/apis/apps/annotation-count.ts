import { quote } from '../../util/go-quote.ts';

/** A whole number in an annotation that stands for a field of an older version; what Go's strconv.ParseInt says where it is none. */
export function readCount(text: string): bigint | string {
  if (!/^[+-]?[0-9]{1,40}$/.test(text)) return `strconv.ParseInt: parsing ${quote(text)}: invalid syntax`;
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? value : `strconv.ParseInt: parsing ${quote(text)}: value out of range`;
}
