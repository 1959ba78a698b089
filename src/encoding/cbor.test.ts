import { describe, expect, test } from 'vitest';
import { diagnoseCbor } from './cbor-diagnose.ts';
import { decodeCbor } from './cbor-reader.ts';
import { CborWriter, sortedKeys } from './cbor-writer.ts';
import { InputTooLarge } from './json-parser.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

describe('RFC 8949, appendix A', () => {
  test.each<[string, unknown]>([
    ['00', 0],
    ['01', 1],
    ['0a', 10],
    ['17', 23],
    ['1818', 24],
    ['1819', 25],
    ['1864', 100],
    ['1903e8', 1000],
    ['1a000f4240', 1_000_000],
    ['1b000000e8d4a51000', 1_000_000_000_000],
    ['20', -1],
    ['29', -10],
    ['3863', -100],
    ['3903e7', -1000],
    ['f90000', 0],
    ['f98000', -0],
    ['f93c00', 1],
    ['fb3ff199999999999a', 1.1],
    ['f93e00', 1.5],
    ['f97bff', 65504],
    ['fa47c35000', 100_000],
    ['fa7f7fffff', 3.4028234663852886e38],
    ['fb7e37e43c8800759c', 1e300],
    ['f90001', 5.960464477539063e-8],
    ['f90400', 0.00006103515625],
    ['f9c400', -4],
    ['fbc010666666666666', -4.1],
    ['f4', false],
    ['f5', true],
    ['f6', null],
    ['c074323031332d30332d32315432303a30343a30305a', '2013-03-21T20:04:00Z'],
    ['c11a514b67b0', '2013-03-21T20:04:00Z'],
    ['c1fb41d452d9ec200000', '2013-03-21T20:04:00.5Z'],
    ['d74401020304', '01020304'],
    ['d818456449455446', 'dIETF'],
    ['d82076687474703a2f2f7777772e6578616d706c652e636f6d', 'http://www.example.com'],
    ['40', ''],
    ['4401020304', '\u0001\u0002\u0003\u0004'],
    ['60', ''],
    ['6161', 'a'],
    ['6449455446', 'IETF'],
    ['62225c', '"\\'],
    ['62c3bc', 'ü'],
    ['63e6b0b4', '水'],
    ['64f0908591', '𐅑'],
    ['80', []],
    ['83010203', [1, 2, 3]],
    ['8301820203820405', [1, [2, 3], [4, 5]]],
    ['98190102030405060708090a0b0c0d0e0f101112131415161718181819', Array.from({ length: 25 }, (_, index) => index + 1)],
    ['a0', {}],
    ['a26161016162820203', { a: 1, b: [2, 3] }],
    ['826161a161626163', ['a', { b: 'c' }]],
    ['a56161614161626142616361436164614461656145', { a: 'A', b: 'B', c: 'C', d: 'D', e: 'E' }],
    ['5f42010243030405ff', '\u0001\u0002\u0003\u0004\u0005'],
    ['7f657374726561646d696e67ff', 'streaming'],
    ['9fff', []],
    ['9f018202039f0405ffff', [1, [2, 3], [4, 5]]],
    ['83018202039f0405ff', [1, [2, 3], [4, 5]]],
    ['83019f0203ff820405', [1, [2, 3], [4, 5]]],
    ['bf61610161629f0203ffff', { a: 1, b: [2, 3] }],
    ['826161bf61626163ff', ['a', { b: 'c' }]],
    ['bf6346756ef563416d7421ff', { Fun: true, Amt: -2 }],
  ])('takes %s', (hex, value) => expect(decodeCbor(bytes(hex))).toEqual(value));

  test.each([
    ['1bffffffffffffffff', "cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go's int64)"],
    ['3bffffffffffffffff', "cbor: cannot unmarshal negative integer into Go value of type int64 (-18446744073709551616 overflows Go's int64)"],
    ['c249010000000000000000', 'cbor: data item of cbor type tag is not accepted by protocol: bignum'],
    ['c349010000000000000000', 'cbor: data item of cbor type tag is not accepted by protocol: bignum'],
    ['f97c00', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point infinity'],
    ['f97e00', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN'],
    ['faff800000', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point infinity'],
    ['fb7ff8000000000000', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN'],
    ['f7', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized'],
    ['f0', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 16 is not recognized'],
    ['f8ff', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 255 is not recognized'],
    ['a201020304', 'cbor: cannot unmarshal positive integer into Go value of type string'],
  ])('refuses %s, which upstream does not accept', (hex, message) => expect(() => decodeCbor(bytes(hex))).toThrow(new Error(message)));
});

describe('decodeCbor', () => {
  test.each([
    ['', 'EOF'],
    ['a1', 'unexpected EOF'],
    ['19', 'unexpected EOF'],
    ['4261', 'unexpected EOF'],
    ['9f', 'unexpected EOF'],
    ['d9d9f7', 'unexpected EOF'],
    ['ff', 'cbor: unexpected "break" code'],
    ['bf4161ff', 'cbor: unexpected "break" code'],
    ['1c', 'cbor: invalid additional information 28 for type positive integer'],
    ['1f', 'cbor: invalid additional information 31 for type positive integer'],
    ['f801', 'cbor: invalid simple value 1 for type primitives'],
    ['a0a0', 'cbor: 1 bytes of extraneous data starting at index 1'],
    ['5f6161ff', 'cbor: wrong element type UTF-8 text string for indefinite-length byte string'],
    ['5f5f4161ffff', 'cbor: indefinite-length byte string chunk is not definite-length'],
    ['5bffffffffffffffff', 'cbor: byte string length 18446744073709551615 is too large, causing integer overflow'],
    ['9bffffffffffffffff', 'cbor: array length 18446744073709551615 is too large, it would cause integer overflow'],
    ['9a80000000', 'cbor: exceeded max number of elements 2147483647 for CBOR array'],
    ['ba00200001', 'cbor: exceeded max number of key-value pairs 2097152 for CBOR map'],
    ['9a7fffffff00', 'unexpected EOF'],
    ['62c328', 'cbor: invalid UTF-8 string'],
    ['c001', 'cbor: tag number 0 must be followed by text string, got positive integer'],
    ['c16161', 'cbor: tag number 1 must be followed by integer or floating-point number, got UTF-8 text string'],
    ['c06161', 'cbor: cannot set a for time.Time: parsing time "a" as "2006-01-02T15:04:05Z07:00": cannot parse "a" as "2006"'],
    [
      'c11b0000ffffffffffff',
      'cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: year outside of range [0,9999]',
    ],
    ['a2416101416102', 'cbor: found duplicate map key "a" at map element index 1'],
    ['a2416101616102', 'cbor: found duplicate map key "a" at map element index 1'],
    ['a18001', 'cbor: cannot unmarshal array into Go value of type string'],
    ['81'.repeat(20_000) + '80', 'cbor: exceeded max nested level 1000'],
    ['c6'.repeat(20_000) + '80', 'cbor: exceeded max nested level 1000'],
  ])('refuses %s', (hex, message) => expect(() => decodeCbor(bytes(hex))).toThrow(new Error(message)));

  test('a body of too many values is refused', () => {
    expect(() => decodeCbor(Buffer.concat([bytes('9a000f4240'), Buffer.alloc(1_000_000)]))).toThrow(InputTooLarge);
  });

  test('keys are just keys, and integers stay exact', () => {
    const value = decodeCbor(bytes('a2495f5f70726f746f5f5f01616e1b7fffffffffffffff')) as Record<string, unknown>;
    expect(Object.entries(value)).toEqual([
      ['__proto__', 1],
      ['n', 9223372036854775807n],
    ]);
  });

  test.each([
    ['d6426869', 'aGk='],
    ['d54268ff', 'aP8'],
    ['d7426869', '6869'],
    // The tag holds for all that is inside, but for what has a nearer one.
    ['d682426869d7426869', ['aGk=', '6869']],
    ['d661', undefined],
  ])('text of tagged bytes: %s', (hex, value) => {
    if (value === undefined) expect(() => decodeCbor(bytes(hex))).toThrow('unexpected EOF');
    else expect(decodeCbor(bytes(hex))).toEqual(value);
  });

  test('made-up bytes end in a value or in an error of ours', () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
    for (let round = 0; round < 5_000; round++) {
      const made = Buffer.from(Array.from({ length: 1 + Math.floor(random() * 12) }, () => Math.floor(random() * 256)));
      try {
        decodeCbor(made);
      } catch (error) {
        expect((error as Error).message).toMatch(/^(cbor: |EOF$|unexpected EOF$)/);
      }
    }
  });
});

describe('CborWriter', () => {
  const written = (write: (writer: CborWriter) => void): string => {
    const writer = new CborWriter();
    write(writer);
    return writer.finish().toString('hex');
  };

  test.each<[number | bigint, string]>([
    [0, '00'],
    [23, '17'],
    [24, '1818'],
    [255, '18ff'],
    [256, '190100'],
    [65_536, '1a00010000'],
    [2 ** 32, '1b0000000100000000'],
    [-1, '20'],
    [-1000, '3903e7'],
    [9_223_372_036_854_775_807n, '1b7fffffffffffffff'],
    [-9_223_372_036_854_775_808n, '3b7fffffffffffffff'],
    [1.5, 'f93e00'],
    [1e300, 'fb7e37e43c8800759c'],
  ])('number %s', (value, hex) => expect(written((writer) => writer.number(value))).toBe(hex));

  test.each<[number, string]>([
    [0, 'f90000'],
    [-0, 'f98000'],
    [1, 'f93c00'],
    [5.960464477539063e-8, 'f90001'],
    [0.00006103515625, 'f90400'],
    [65_504, 'f97bff'],
    [65_505, 'fa477fe100'],
    [100_000, 'fa47c35000'],
    [3.4028234663852886e38, 'fa7f7fffff'],
    [1.1, 'fb3ff199999999999a'],
  ])('float %s in the shortest form', (value, hex) => expect(written((writer) => writer.float(value))).toBe(hex));

  test('strings are byte strings, bytes have tag 22', () => {
    expect(written((writer) => writer.string('ü'))).toBe('42c3bc');
    expect(written((writer) => writer.base64('aGk='))).toBe('d6426869');
    expect(written((writer) => writer.string('x'.repeat(5000)))).toBe(`591388${'78'.repeat(5000)}`);
  });

  test('keys are in the order of their bytes', () => {
    expect(sortedKeys(['b', 'aa', 'a', 'ü', 'zz', '', '\u{1f600}', '\uff5e\u0061'])).toEqual(['', 'a', 'b', 'aa', 'zz', 'ü', '\uff5ea', '\u{1f600}']);
  });
});

test.each([
  ['a2446b696e640141618242c3bcf5', "{'kind': 1, 'a': ['\\u00fc', true]}"],
  ['d9d9f7a0', '55799({})'],
  ['bf61619fff61625f4161ffff', '{_ "a": [_ ], "b": (_ \'a\')}'],
  ['8640f6f7f93c00f020', "[h'', null, undefined, 1.0, simple(16), -1]"],
  ['41ff', "h'ff'"],
  ['6422270a5c', '"\\"\'\\n\\\\"'],
])('%s is written as %s', (hex, text) => expect(diagnoseCbor(bytes(hex))).toBe(text));
