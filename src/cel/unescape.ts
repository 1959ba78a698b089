/** The text of a string or bytes literal does not stand for anything; the message is cel-go's. */
export class UnescapeError extends Error {}

const CONTROLS: Record<string, number> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };
const HEX_DIGITS: Record<string, number> = { x: 2, X: 2, u: 4, U: 8 };

/** What a string literal stands for. `token` has its quotes and maybe an `r` before them. Throws UnescapeError. */
export function unescapeString(token: string): string {
  const { body, isRaw } = unquote(token);
  if (isRaw || !body.includes('\\')) return body;
  return body.replace(/\\(?:[xX](..)|u(.{4})|U(.{8})|([0-3][0-7]{2})|(.))/gsu, (_, x?: string, u?: string, long?: string, octal?: string, char?: string) => {
    if (char !== undefined) return String.fromCharCode(CONTROLS[char] ?? char.charCodeAt(0));
    const code = octal === undefined ? Number.parseInt((x ?? u ?? long)!, 16) : Number.parseInt(octal, 8);
    if (code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff)) throw new UnescapeError('invalid unicode code point');
    return String.fromCodePoint(code);
  });
}

/** What a bytes literal stands for, without its `b`: escapes are bytes, other characters their UTF-8. Throws UnescapeError. */
export function unescapeBytes(token: string): Uint8Array {
  const { body, isRaw } = unquote(token);
  if (isRaw || !body.includes('\\')) return Buffer.from(body);
  const parts = body.match(/\\(?:[xX]..|u.{4}|U.{8}|[0-3][0-7]{2}|.)|[^\\]+/gsu) ?? [];
  return Buffer.concat(parts.map(bytesOf));
}

function bytesOf(part: string): Uint8Array {
  if (!part.startsWith('\\')) return Buffer.from(part);
  const char = part[1]!;
  if (char === 'u' || char === 'U') throw new UnescapeError('unable to unescape string');
  if (Object.hasOwn(HEX_DIGITS, char)) return Uint8Array.of(Number.parseInt(part.slice(2), 16));
  if (part.length > 2) return Uint8Array.of(Number.parseInt(part.slice(1), 8));
  return Uint8Array.of(CONTROLS[char] ?? char.charCodeAt(0));
}

function unquote(token: string): { body: string; isRaw: boolean } {
  const isRaw = /^r/i.test(token);
  const text = (isRaw ? token.slice(1) : token).replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  const isTriple = text.length >= 6 && (text.startsWith("'''") || text.startsWith('"""'));
  return { body: isTriple ? text.slice(3, -3) : text.slice(1, -1), isRaw };
}
