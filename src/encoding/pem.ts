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

/**
 * All blocks in order. Text around them, and what only looks like a block, is passed over, as Go's encoding/pem does. An end is looked for first, then the
 * last beginning before it, so that the work grows with the text however many beginnings it has (CVE-2025-61723).
 */
export function* pemBlocks(text: string): Generator<PemBlock, void, undefined> {
  let from = 0;
  for (let end = lineStart(text, END, from); end !== -1; end = lineStart(text, END, from)) {
    const start = lastLineStart(text.slice(from, end), BEGIN);
    const block = start === -1 ? undefined : readBlock(text, from + start, end);
    if (block) yield block;
    from = endOfLine(text, end);
  }
}

/** Where a line begins with this, at or after the beginning of a line; -1 where none does. */
function lineStart(text: string, beginning: string, from: number): number {
  if (text.startsWith(beginning, from)) return from;
  const found = text.indexOf(`\n${beginning}`, from);
  return found === -1 ? -1 : found + 1;
}

function lastLineStart(text: string, beginning: string): number {
  const found = text.lastIndexOf(`\n${beginning}`);
  return found === -1 ? (text.startsWith(beginning) ? 0 : -1) : found + 1;
}

function readBlock(text: string, start: number, end: number): PemBlock | undefined {
  const typeEnd = endOfLine(text, start);
  const typeLine = text.slice(start + BEGIN.length, typeEnd).trimEnd();
  if (!typeLine.endsWith(DASHES) || text.slice(end + END.length, endOfLine(text, end)).trimEnd() !== typeLine) return undefined;
  const bodyStart = afterHeaders(text, typeEnd, end);
  const body = text.slice(bodyStart, end).replace(/[ \t\r\n]+/g, '');
  if (body.length % 4 !== 0 || !BASE64.test(body)) return undefined;
  return { type: typeLine.slice(0, -DASHES.length), hasHeaders: bodyStart > typeEnd, bytes: Buffer.from(body, 'base64') };
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
