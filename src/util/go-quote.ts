/** What Go, and CEL after it, write for characters that have a letter of their own. */
export const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** Nothing to escape. Also spares most processes the expression below, which takes V8 milliseconds to make. */
const PLAIN_ASCII = /^[ !#-[\]-~]*$/;
const NOT_PLAIN = /[^ !#-[\]-~]/gu;

/** Go's strconv.Quote: printable characters as they are, the rest escaped. */
export const quote = (text: string): string => `"${PLAIN_ASCII.test(text) ? text : text.replace(NOT_PLAIN, escapeCharacter)}"`;

function escapeCharacter(char: string): string {
  const short = SHORT_ESCAPES[char];
  if (short !== undefined) return short;
  if (char < ' ' || char === '\u007f') return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  if (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(char)) return char;
  const code = char.codePointAt(0)!;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
