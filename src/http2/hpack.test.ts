import { describe, expect, test } from 'vitest';
import { BlockWriter, HeaderReader, encodeHeaders } from './hpack.ts';

const headersIn = (block: Buffer): Record<string, string> => {
  const fields = new HeaderReader().read(block);
  return Object.fromEntries(fields.flatMap((field, index) => (index % 2 === 0 ? [[field, fields[index + 1]!]] : [])));
};
const read = (hex: string): Record<string, string> => headersIn(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

describe('RFC 7541', () => {
  test('C.2.1, C.2.2, C.2.4: literals and indexed fields', () => {
    expect(read('400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572')).toEqual({ 'custom-key': 'custom-header' });
    expect(read('040c 2f73 616d 706c 652f 7061 7468')).toEqual({ ':path': '/sample/path' });
    expect(read('82')).toEqual({ ':method': 'GET' });
  });

  test('C.4.1: a request with Huffman codes', () => {
    expect(read('8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff')).toEqual({ ':method': 'GET', ':scheme': 'http', ':path': '/', ':authority': 'www.example.com' });
  });

  test('C.6.1: a response with Huffman codes', () => {
    expect(
      read('4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3'),
    ).toEqual({ ':status': '302', 'cache-control': 'private', date: 'Mon, 21 Oct 2013 20:13:21 GMT', location: 'https://www.example.com' });
  });

  test('6.3: a table size of 0 may come first; a field of a table that there is not is refused', () => {
    expect(read('20 88')).toEqual({ ':status': '200' });
    expect(() => read('be')).toThrow('header 62 of a table that there is not');
  });
});

test('what is written is read back, of any length, whatever its name', () => {
  const headers = { ':path': '/etcdserverpb.KV/Txn', __proto__x: 'y', long: 'x'.repeat(300), longest: 'z'.repeat(40_000), empty: '' };
  expect(headersIn(encodeHeaders(headers))).toEqual(headers);
});

test('a block seen before is not read again', () => {
  const reader = new HeaderReader();
  expect(reader.read(Buffer.from([0x88]))).toBe(reader.read(Buffer.from([0x88])));
});

test('a block that ends too early is refused', () => {
  for (const hex of ['00', '0003', '000361', '7f', '7fffffffffff01']) expect(() => read(hex)).toThrow(/header/);
});

describe('Huffman codes', () => {
  const value = (hex: string): string => read(`00 01 61 ${hex}`)['a']!;

  test('of any length are read', () => {
    expect(value('81 1f')).toBe('a');
    // ! has 10 bits, \\ has 19, a line feed has 30.
    expect(value('84 fe3fff87')).toBe('!\\');
    expect(value('84 fffffff3')).toBe('\n');
    expect(value('80')).toBe('');
  });

  test('that do not end as they must are refused', () => {
    for (const hex of ['81 18', '81 ff', '82 1fff', '83 fffffe', '84 ffffffff', '85 ffffffffff']) expect(() => value(hex)).toThrow('no meaning');
  });
});

test('a list that is much longer than its block is refused', () => {
  expect(() => new HeaderReader().read(Buffer.alloc(8000, 0x80 | 61))).toThrow('headers are too large');
});

test('a writer forgets what it was told to, and goes on after a long block', () => {
  const writer = new BlockWriter();
  writer.add('a', 'b');
  writer.clear();
  for (const length of [10, 300_000, 20]) {
    writer.add(':method', 'GET');
    writer.add(':method', 'constructor');
    writer.add('x'.repeat(length), 'y'.repeat(length));
    const fields = [':method', 'GET', ':method', 'constructor', 'x'.repeat(length), 'y'.repeat(length)];
    const block = writer.take();
    if (length < 1000) expect(new HeaderReader().read(block)).toEqual(fields);
    else expect(block.length).toBeGreaterThan(2 * length);
  }
});
