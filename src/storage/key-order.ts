/** Where the order of UTF-16 code units parts from that of UTF-8 bytes: surrogates stand for code points beyond all others. */
const SURROGATES_START = 0xd800;
const SURROGATES_END = 0xe000;
const LAST_CODE_POINT = 0x10ffff;

const rank = (unit: number): number => (unit >= SURROGATES_START && unit < SURROGATES_END ? unit + 0x10000 : unit);

/** Only these units can stand where the two orders part, and then in both strings. */
const PARTING = /[\ud800-\uffff]/;

/** Keys compare as their UTF-8 bytes. The engine's own comparison is six times as fast as a loop, and right for all but the rarest keys. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  if (PARTING.test(a) && PARTING.test(b)) return compareByUnits(a, b);
  return a < b ? -1 : 1;
}

function compareByUnits(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** The first string beyond all that start with `prefix`; undefined when there is none. */
export function prefixEnd(prefix: string): string | undefined {
  const lastUnit = prefix.charCodeAt(prefix.length - 1);
  if (lastUnit < SURROGATES_START - 1) return prefix.slice(0, -1) + String.fromCharCode(lastUnit + 1);
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === SURROGATES_START ? SURROGATES_END : last + 1;
  return String.fromCodePoint(...points, next);
}
