/** Where the order of UTF-16 code units parts from that of UTF-8 bytes: surrogates stand for code points beyond all others. */
const SURROGATES_START = 0xd800;
const SURROGATES_END = 0xe000;
const LAST_CODE_POINT = 0x10ffff;

const rank = (unit: number): number => (unit >= SURROGATES_START && unit < SURROGATES_END ? unit + 0x10000 : unit);

/** Keys compare as their UTF-8 bytes. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x < SURROGATES_START || y < SURROGATES_START ? x - y : rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** The first string beyond all that start with `prefix`; undefined when there is none. */
export function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === SURROGATES_START ? SURROGATES_END : last + 1;
  return String.fromCodePoint(...points, next);
}
