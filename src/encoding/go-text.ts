import { isUtf8 } from 'node:buffer';

/** Bytes as Go's encoding/json writes a string of them: each byte that is no part of a character is U+FFFD, where Node writes one for several. */
export function goText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  let written = '';
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes, at);
    written += length === 0 ? '\ufffd' : bytes.toString('utf8', at, at + length);
    at += length || 1;
  }
  return written;
}

/** Of the character that begins there, in bytes; 0 where none does. */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const character = bytes.subarray(at, at + length);
  return character.length === length && isUtf8(character) ? length : 0;
}
