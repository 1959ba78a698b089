import { describe, expect, test } from 'vitest';
import { LengthBody } from './body-reader.ts';
import { ChunkedBody } from './chunked-body.ts';

/** Reads in pieces of so many bytes: what was in it, and what is left behind its end. */
function readIn(pieceBytes: number, text: string): { data: string; rest: string; isDone: boolean; trailers: string[] | undefined } {
  const body = new ChunkedBody();
  let data = '';
  let rest = '';
  for (let start = 0; start < text.length; start += pieceBytes) {
    const piece = Buffer.from(text.slice(start, start + pieceBytes), 'latin1');
    const end = body.read(piece, 0, (bytes) => (data += bytes.toString('latin1')));
    rest += piece.toString('latin1', end);
  }
  return { data, rest, isDone: body.isDone, trailers: body.trailers };
}

describe('chunks', () => {
  test.each([1, 2, 3, 5, 7, 1000])('in pieces of %i bytes', (pieceBytes) => {
    const text = '5\r\nhello\r\n1;a=b;c="d"\r\n \r\nA \r\n0123456789\r\n0\r\nX-A: 1\r\nx-a: 2\r\n\r\nnext';
    expect(readIn(pieceBytes, text)).toEqual({ data: 'hello 0123456789', rest: 'next', isDone: true, trailers: ['x-a', '1', 'x-a', '2'] });
    expect(readIn(pieceBytes, '0\r\n\r\n')).toEqual({ data: '', rest: '', isDone: true, trailers: undefined });
    expect(readIn(pieceBytes, '5\r\nhel')).toMatchObject({ data: 'hel', isDone: false });
  });

  test.each([
    ['no size', '\r\n'],
    ['a size that is none', 'zz\r\n'],
    ['a sign', '+5\r\nhello\r\n'],
    ['a prefix', '0x5\r\nhello\r\n'],
    ['a blank before the size', ' 5\r\nhello\r\n'],
    ['a size beyond all numbers', 'ffffffffffffffffff\r\n'],
    ['a bare LF behind the size', '5\nhello\r\n'],
    ['a bare CR in the size', '5\rx\r\nhello\r\n'],
    ['a NUL in an extension', '5;\0\r\nhello\r\n'],
    ['a chunk longer than it says', '2\r\nhello\r\n'],
    ['a bare LF behind the data', '2\r\nhe\n0\r\n\r\n'],
    ['an extension that is too long', `5;${'x'.repeat(5000)}\r\nhello\r\n`],
    ['extensions that are more than the data', `1;${'x'.repeat(1000)}\r\nx\r\n`.repeat(20)],
    ['trailers that are none', '0\r\nnonsense\r\n\r\n'],
    ['a folded trailer', '0\r\nX: a\r\n b\r\n\r\n'],
    ['a trailer with a bare LF', '0\r\nX: a\n\r\n'],
    ['trailers that are too long', `0\r\n${'X: y\r\n'.repeat(5000)}\r\n`],
  ])('%s', (_what, text) => {
    expect(() => readIn(1000, text)).toThrow(/chunk|header line/);
    expect(() => readIn(1, text)).toThrow(/chunk|header line/);
  });
});

test('a body of known length ends where it ends', () => {
  const body = new LengthBody(5);
  const pieces: string[] = [];
  const take = (data: Buffer): void => void pieces.push(data.toString());
  expect(body.read(Buffer.from('xhel'), 1, take)).toBe(4);
  expect([body.isDone, body.remainingBytes]).toEqual([false, 2]);
  expect(body.read(Buffer.from('lonext'), 0, take)).toBe(2);
  expect(body.read(Buffer.from('next'), 0, take)).toBe(0);
  expect([body.isDone, pieces]).toEqual([true, ['hel', 'lo']]);
});
