/** One block of a text in PEM (RFC 7468). */
export interface PemBlock {
  type: string;
  hasHeaders: boolean;
  bytes: Buffer;
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** All blocks in order. Text around them, and what only looks like a block, is passed over, as Go's encoding/pem does. */
export function* pemBlocks(text: string): Generator<PemBlock, void, undefined> {
  for (let from = lineStart(text, BEGIN, 0); from !== -1; ) {
    const block = readBlock(text, from);
    if (block) yield block;
    from = lineStart(text, BEGIN, block ? block.end : from + BEGIN.length);
  }
}

/** Where a line begins with this, at or after an offset; -1 where none does. */
function lineStart(text: string, beginning: string, from: number): number {
  if (text.startsWith(beginning, from) && (from === 0 || text[from - 1] === '\n')) return from;
  const found = text.indexOf(`\n${beginning}`, Math.max(from - 1, 0));
  return found === -1 ? -1 : found + 1;
}

function readBlock(text: string, start: number): (PemBlock & { end: number }) | undefined {
  const typeEnd = endOfLine(text, start);
  const typeLine = text.slice(start + BEGIN.length, typeEnd).trimEnd();
  if (!typeLine.endsWith(DASHES)) return undefined;
  const type = typeLine.slice(0, -DASHES.length);
  const endStart = lineStart(text, END, typeEnd);
  if (endStart === -1) return undefined;
  const end = endOfLine(text, endStart);
  if (text.slice(endStart + END.length, end).trimEnd() !== type + DASHES) return undefined;
  const bodyStart = afterHeaders(text, typeEnd, endStart);
  const body = text.slice(bodyStart, endStart).replace(/[ \t\r\n]+/g, '');
  if (body.length % 4 !== 0 || !BASE64.test(body)) return undefined;
  return { type, hasHeaders: bodyStart > typeEnd, bytes: Buffer.from(body, 'base64'), end };
}

/** Past the line's own end. */
function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline === -1 ? text.length : newline + 1;
}

function afterHeaders(text: string, from: number, limit: number): number {
  let start = from;
  for (let next = endOfLine(text, start); next <= limit && text.slice(start, next).includes(':'); next = endOfLine(text, start)) start = next;
  return start;
}
