import { describe, expect, test } from 'vitest';
import { runAtOnce } from '../util/time-slice.ts';
import type { Json } from './json-types.ts';
import { type DuplicateKeys, JsonError, type NumberLiterals, parseDocument, parseDocumentInSteps } from './json-parser.ts';
import { duplicatePaths, parseJson, parseOwnJson, prettyJson, stringifyJson } from './json.ts';

const failure = (input: string | Uint8Array): string => {
  try {
    parseJson(input);
  } catch (error) {
    if (error instanceof JsonError) return error.message;
    throw error;
  }
  return 'no error';
};

describe('parseJson', () => {
  test('reads what JSON.parse reads', () => {
    for (const text of [
      'null',
      ' true ',
      'false',
      '0',
      '-1.5e3',
      '"a\\u00e9\\n\\"\\/"',
      '[]',
      '{}',
      '[1,[2,{"a":[]}]]',
      '{"a":{"b":"c"},"d":[null]}',
      '"\\ud83d\\ude00"',
      '"é😀"',
    ])
      expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test('keeps integers as far as int64 reaches', () => {
    expect(parseJson('[9007199254740991,9007199254740993,-9223372036854775808,9223372036854775807,9223372036854775808,0000]'.replace(',0000', ''))).toEqual([
      9007199254740991,
      9007199254740993n,
      -9223372036854775808n,
      9223372036854775807n,
      9223372036854775808,
    ]);
  });

  test('takes every key as data', () => {
    const value = parseJson('{"__proto__":{"polluted":1},"constructor":2,"toString":3}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('notes repeated keys, the last value winning', () => {
    const duplicates: DuplicateKeys = new Map();
    const value = parseJson('{"a":1,"b":[{"c":1,"d":2,"c":3}],"a":2,"a":4,"__proto__":1,"__proto__":2}', duplicates);
    expect(stringifyJson(value)).toBe('{"a":4,"b":[{"c":3,"d":2}],"__proto__":2}');
    expect(duplicatePaths(value, duplicates)).toEqual(['b[0].c', 'a', '__proto__']);
  });

  test('replaces halves of surrogate pairs', () => {
    expect(parseJson('"\\ud800x\\udc00"')).toBe('\ufffdx\ufffd');
  });

  test.each([
    ['', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['{not json', "invalid character 'n' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['not', "invalid character 'o' in literal null (expecting 'u')"],
    ['trux', "invalid character 'x' in literal true (expecting 'e')"],
    ['01', "invalid character '1' after top-level value"],
    // Go's scanner takes the end for a space, which may not stand inside of these.
    ['-', "invalid character ' ' in numeric literal"],
    ['1.', "invalid character ' ' after decimal point in numeric literal"],
    ['{"a":1e+', "invalid character ' ' in exponent of numeric literal"],
    ['[t', "invalid character ' ' in literal true (expecting 'r')"],
    ['"a\\', "invalid character ' ' in string escape code"],
    ['"a\\u12', "invalid character ' ' in \\u hexadecimal character escape"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['"\n"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
    ['1e999', 'json: cannot unmarshal number 1e999 into Go value of type float64'],
    ['[1e999,1e1000]', 'json: cannot unmarshal number 1e999 into Go value of type float64'],
    ['[1e999,]', "invalid character ']' looking for beginning of value"],
    ['['.repeat(100_000), "invalid character '[' exceeded max depth"],
  ])('words %j as Go does', (text, message) => {
    expect(failure(text)).toBe(message);
    expect(failure(Buffer.from(text))).toBe(message);
  });

  test('names bytes that are no text', () => {
    expect(failure(Uint8Array.of(0x81))).toBe("invalid character '\\u0081' looking for beginning of value");
  });
});

describe('writing', () => {
  test('escapes as Go does', () => {
    expect(stringifyJson({ a: '<b>&\u2028"\u0001\u007f' })).toBe('{"a":"\\u003cb\\u003e\\u0026\\u2028\\"\\u0001\u007f"}');
  });

  test('writes large integers exactly', () => {
    expect(stringifyJson({ a: [9223372036854775807n, 1.5], b: {}, c: [], d: undefined })).toBe('{"a":[9223372036854775807,1.5],"b":{},"c":[]}');
  });

  test('writes the same pretty text with and without large integers', () => {
    expect(prettyJson({ a: [12345678901234567890n, { b: '<' }], c: {}, d: [] })).toBe(
      prettyJson({ a: [7, { b: '<' }], c: {}, d: [] }).replace('7', '12345678901234567890'),
    );
  });
});

describe('parseOwnJson', () => {
  test.each(['{"a":[1,-2.5,null,true,"é\\u003c"],"__proto__":{"b":1}}', '{"long":9223372036854775807,"text":"1234567890123456"}'])(
    'reads %s as parseJson does',
    (text) => {
      const value = parseOwnJson(Buffer.from(text));
      expect(value).toEqual(parseJson(text));
      expect(stringifyJson(value)).toBe(text);
    },
  );
});

describe("a client's text", () => {
  const parseBody = (text: string): unknown => parseJson(text, new Map());

  test('may hold so many values', () => {
    const items = (count: number): string => `[${'1,'.repeat(count - 2)}1]`;
    expect(parseBody(items(100_000))).toHaveLength(99_999);
    expect(() => parseBody(items(100_001))).toThrow('Request entity too large: limit is 100000 values');
    expect(parseJson(items(100_001))).toHaveLength(100_000);
  });

  test('pays more for the keys of a large object', () => {
    const object = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')}}`;
    expect(Object.keys(parseBody(object(20_000)) as object)).toHaveLength(20_000);
    expect(() => parseBody(object(21_000))).toThrow('limit is 100000 values');
  });

  test('may hold numbers of so many characters', () => {
    expect(parseBody(`0.${'0'.repeat(9_997)}1`)).toBe(0);
    expect(() => parseBody('9'.repeat(10_000))).toThrow(/^json: cannot unmarshal number 999/);
    for (const number of ['9'.repeat(10_001), `0.${'0'.repeat(9_999)}`, '1'.repeat(3_000_000)])
      expect(() => parseBody(number)).toThrow('Request entity too large: limit is 10000 characters of a number');
    expect(parseJson(`0.${'0'.repeat(20_000)}1`)).toBe(0);
  });
});

describe('a text that is read in steps', () => {
  const TEXTS = [
    '{"a":[1,{"b":{"c":[[],{},"x\\n",null]}}],"a":1.0,"d":{"e":1,"e":2.50}}',
    '[[[1,2],[3,[4]]],{"__proto__":{"x":1}}]',
    '"text"',
    '[1,2,3',
    '{"a":[1,2,}',
    '["\\ud800","\\q"]',
    '[1]é',
    '[1e999]',
  ];
  const outcome = (read: (duplicates: DuplicateKeys, literals: NumberLiterals) => Json): unknown => {
    const duplicates: DuplicateKeys = new Map();
    const literals: NumberLiterals = new Map();
    try {
      return [read(duplicates, literals), [...duplicates.values()], [...literals.values()]];
    } catch (error) {
      return String(error);
    }
  };

  test.each(TEXTS)('%s is read as at once, with another text read in between', (text) => {
    const inSteps = outcome((duplicates, literals) => {
      const steps = parseDocumentInSteps(text, duplicates, literals, 1);
      for (;;) {
        const { done, value } = steps.next();
        if (done) return value;
        parseJson('{"a":[1.0,{"b":1,"b":2}]}', new Map(), new Map());
      }
    });
    expect(inSteps).toEqual(outcome((duplicates, literals) => parseDocument(text, duplicates, literals)));
  });

  test('others may have their turn at every thousand values, whatever they are in', () => {
    const list = `[${'{"a":1},'.repeat(4_999)}{"a":1}]`;
    for (const text of [list, `${'['.repeat(900)}${list}${']'.repeat(900)}`]) {
      const steps = parseDocumentInSteps(text, new Map());
      let count = 0;
      while (!steps.next().done) count++;
      expect(count).toBeGreaterThanOrEqual(9);
    }
  });

  test('all values count, in whatever step', () => {
    expect(() => runAtOnce(parseDocumentInSteps(`[${'1,'.repeat(100_000)}1]`, new Map()))).toThrow('limit is 100000 values');
  });
});
