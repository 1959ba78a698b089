const LINE_BREAKS = /[\r\n]/g;
const ALPHABET = /[A-Za-z0-9+/]/;
const WHOLE = /^[A-Za-z0-9+/]*={0,2}$/;

/** Base64 as Go's StdEncoding reads it and writes it again: line breaks skipped, stray bits after the end cleared. Throws with Go's message. */
export function canonicalBase64(text: string): string {
  const packed = text.includes('\n') || text.includes('\r') ? text.replace(LINE_BREAKS, '') : text;
  if (packed.length % 4 !== 0 || !WHOLE.test(packed)) throw new Error(`illegal base64 data at input byte ${corruptAt(text)}`);
  if (!packed.endsWith('=')) return packed;
  return packed.slice(0, -4) + Buffer.from(packed.slice(-4), 'base64').toString('base64');
}

/** Where Go's decoder gives up: at the first character that cannot stand there, or at the end of a text that stops within a group. */
function corruptAt(text: string): number {
  let inGroup = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!;
    if (character === '\n' || character === '\r') continue;
    if (character === '=') return corruptPadding(text, index, inGroup);
    if (!ALPHABET.test(character)) return index;
    inGroup = (inGroup + 1) % 4;
  }
  return text.length - inGroup;
}

function corruptPadding(text: string, index: number, inGroup: number): number {
  if (inGroup < 2) return index;
  let next = skipBreaks(text, index + 1);
  if (inGroup === 2) {
    if (next === text.length) return text.length;
    if (text[next] !== '=') return next - 1;
    next = skipBreaks(text, next + 1);
  }
  return next;
}

function skipBreaks(text: string, from: number): number {
  let index = from;
  while (text[index] === '\n' || text[index] === '\r') index++;
  return index;
}
