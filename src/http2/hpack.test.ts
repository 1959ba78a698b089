import { describe, expect, test } from 'vitest';
import { BlockWriter, HeaderReader, encodeHeaders } from './hpack.ts';

const LIMITS = { tableBytes: 0, listBytes: 256 * 1024, fieldCount: 4_096 };

const headersIn = (block: Buffer): Record<string, string> => {
  const fields = new HeaderReader(LIMITS).read(block);
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
  const reader = new HeaderReader(LIMITS);
  expect(reader.read(Buffer.from([0x88]))).toBe(reader.read(Buffer.from([0x88])));
});

test('of a reader with a table, blocks that neither ask nor change it are not read again; others are, each time', () => {
  const reader = new HeaderReader({ ...LIMITS, tableBytes: 4096 });
  const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const plain = bytes('83 86 04 02 2f61');
  const known = reader.read(plain);
  expect(known).toEqual([':method', 'POST', ':scheme', 'http', ':path', '/a']);
  for (const value of ['31', '32']) {
    // The same bytes, of a table that has another field in that place.
    expect(reader.read(bytes(`400161 01${value}`))).toEqual(['a', Buffer.from(value, 'hex').toString()]);
    expect(reader.read(bytes('be'))).toEqual(['a', Buffer.from(value, 'hex').toString()]);
    expect(reader.read(bytes('0f2f 0162'))).toEqual(['a', 'b']);
    expect(reader.read(plain)).toBe(known);
  }
  reader.read(bytes('20'));
  expect(() => reader.read(bytes('be'))).toThrow('header 62');
  expect(reader.read(plain)).toBe(known);
});

test('a block that is too large is told to be so each time, and one that is not, is not', () => {
  const reader = new HeaderReader({ tableBytes: 4096, listBytes: 80, fieldCount: 10 });
  const [small, large] = [encodeHeaders({ a: 'b' }), encodeHeaders({ a: 'b', c: 'd', e: 'f' })];
  for (let i = 0; i < 3; i++) {
    reader.read(large);
    expect(reader.isTooLarge).toBe(true);
    reader.read(small);
    expect(reader.isTooLarge).toBe(false);
  }
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

test('of a list that is much longer than its block, what is allowed is read, and that there was more', () => {
  const reader = new HeaderReader({ ...LIMITS, listBytes: 1000 });
  const fields = reader.read(Buffer.alloc(8000, 0x80 | 61));
  expect([fields.length / 2, reader.isTooLarge]).toEqual([Math.floor(1000 / ('www-authenticate'.length + 32)), true]);
  expect([reader.read(Buffer.from([0x88])), reader.isTooLarge]).toEqual([[':status', '200'], false]);
  const counting = new HeaderReader({ ...LIMITS, fieldCount: 3 });
  expect([counting.read(Buffer.alloc(4, 0x88)).length / 2, counting.isTooLarge]).toEqual([3, true]);
});

describe('what is remembered', () => {
  const from = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
  /** RFC 7541 C.5: three answers of one connection, with a table of 256 bytes, so that the older fields go. */
  const ANSWERS = [
    '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
    '4803 3330 37c1 c0bf',
    '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
  ];

  test('is named by number from then on, until it has to go', () => {
    const reader = new HeaderReader({ ...LIMITS, tableBytes: 256 });
    const [first, second, third] = ANSWERS.map((hex) => reader.read(from(hex)));
    const common = ['cache-control', 'private', 'date', 'Mon, 21 Oct 2013 20:13:21 GMT', 'location', 'https://www.example.com'];
    expect(first).toEqual([':status', '302', ...common]);
    expect(second).toEqual([':status', '307', ...common]);
    expect(third).toEqual([
      ':status',
      '200',
      'cache-control',
      'private',
      'date',
      'Mon, 21 Oct 2013 20:13:22 GMT',
      'location',
      'https://www.example.com',
      'content-encoding',
      'gzip',
      'set-cookie',
      'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    ]);
    // The three newest are left of it, and no fourth.
    expect(reader.read(from('be bf c0'))).toEqual([...third!.slice(-2), ...third!.slice(-4, -2), ...third!.slice(4, 6)]);
    expect(() => reader.read(from('c1'))).toThrow('header 65 of a table that there is not');
  });

  test('can be made less, and forgotten; not made more than was allowed, nor between headers', () => {
    const reader = new HeaderReader({ ...LIMITS, tableBytes: 256 });
    reader.read(from('400161 0162'));
    expect(reader.read(from('be'))).toEqual(['a', 'b']);
    expect(() => reader.read(from('20 be'))).toThrow('header 62');
    expect(() => reader.read(from('3f e201'))).toThrow('forbidden');
    expect(() => reader.read(from('88 20'))).toThrow('behind a header');
  });

  test('goes on being right through thousands of fields', () => {
    const reader = new HeaderReader({ ...LIMITS, tableBytes: 4096 });
    for (let i = 0; i < 5000; i++) {
      const value = `${i}`.padStart(5, '0');
      reader.read(Buffer.concat([from('400161 05'), Buffer.from(value)]));
      expect(reader.read(from('be'))).toEqual(['a', value]);
      if (i > 100) expect(reader.read(Buffer.from([0xff, 62 + 100 - 0x7f]))[1]).toBe(`${i - 100}`.padStart(5, '0'));
    }
  });
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
    if (length < 1000) expect(new HeaderReader(LIMITS).read(block)).toEqual(fields);
    else expect(block.length).toBeGreaterThan(2 * length);
  }
});
