import { describe, expect, test } from 'vitest';
import { duplicatePaths } from './json.ts';
import type { DuplicateKeys } from './json-parser.ts';
import type { Json } from './json-types.ts';
import { LIMITS } from '../util/limits.ts';
import { YamlError, parseYaml, parseYamlInSlices, toYaml, toYamlInPieces } from './yaml.ts';

describe('parseYaml', () => {
  test('resolves scalars as go-yaml v2 does', () => {
    const text = `
a: yes
b: [no, On, off, y, ~, null, "yes"]
c: [0777, 0o17, 0x1F, 0b11, 1_000, +1, 08, -5]
d: [1.5, 1e3, .5, 1.0]
e: [9223372036854775807, 9007199254740993]
f: 2020-01-02
g: 12:30:45
h: !!str 12
i: !!float 3
j: |
  two
  lines
k:
`;
    expect(parseYaml(text)).toEqual({
      a: true,
      b: [false, true, false, true, null, null, 'yes'],
      c: [511, 15, 31, 3, 1000, 1, 8, -5],
      d: [1.5, 1000, 0.5, 1],
      e: [9223372036854775807n, 9007199254740993n],
      f: '2020-01-02',
      g: '12:30:45',
      h: '12',
      i: 3,
      j: 'two\nlines\n',
      k: null,
    });
  });

  test('reads the first document only', () => {
    expect(parseYaml('---\na: 1\n---\nb: [\n')).toEqual({ a: 1 });
    expect(parseYaml('')).toBeNull();
    expect(parseYaml('{"a": [1, "b"]}')).toEqual({ a: [1, 'b'] });
  });

  test('makes strings of keys, and sorts them', () => {
    expect(JSON.stringify(parseYaml('z: 1\ntrue: 2\n1.5: 3\n__proto__: 4\n'))).toBe('{"1.5":3,"__proto__":4,"true":2,"z":1}');
  });

  test('expands aliases and merges', () => {
    expect(parseYaml('base: &b {x: 1, y1: 2}\nd: *b\ne: {<<: *b, x: 3}\nf: {x: 3, <<: [{x: 4}, {x: 5, z: 6}]}\n')).toEqual({
      base: { x: 1, y1: 2 },
      d: { x: 1, y1: 2 },
      e: { x: 3, y1: 2 },
      f: { x: 4, z: 6 },
    });
  });

  test('notes repeated keys', () => {
    const duplicates: DuplicateKeys = new Map();
    const value = parseYaml('a: 1\nb: {c: 1, c: 2}\na: 3\n', duplicates);
    expect(value).toEqual({ a: 3, b: { c: 2 } });
    expect(duplicatePaths(value, duplicates).toSorted()).toEqual(['a', 'b.c']);
  });

  test('refuses what would unfold beyond measure', () => {
    const bomb = `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(',')}]`).join('\n')}\n`;
    expect(() => parseYaml(bomb)).toThrow('yaml: document contains excessive aliasing');
    expect(() => parseYaml('['.repeat(20_000))).toThrow(YamlError);
    expect(() => parseYaml(`${'a: {'.repeat(1500)}${'}'.repeat(1500)}`)).toThrow(YamlError);
  });

  test.each([
    ['a: b: c\n', 'yaml: line 1: mapping values are not allowed in this context'],
    ['a: *x\n', "yaml: unknown anchor 'x' referenced"],
    ['a: &x [*x]\n', "yaml: anchor 'x' value contains itself"],
    ['a: .nan\n', 'json: unsupported value: NaN'],
    ['a: !!int x\n', 'yaml: cannot decode !!str `x` as a !!int'],
    ['a:\n\t- b\n', 'yaml: line 2: found character that cannot start any token'],
    ['<<: 1\n', 'yaml: map merge requires map or sequence of maps as the value'],
    ['{a: 1}: 2\n', 'yaml: invalid map key'],
  ])('refuses %j', (text, message) => expect(() => parseYaml(text)).toThrow(message));
});

describe('toYaml', () => {
  test('prints as sigs.k8s.io/yaml does', () => {
    const value = {
      kind: 'List',
      apiVersion: 'v1',
      items: [
        {
          metadata: { name: 'a', creationTimestamp: '2020-01-02T03:04:05Z' },
          data: { a: '1', b: 'true', c: 'x: y', d: "it's", e: '', f: 'a\nb\n', g: '#x', h: '- x', i: 'y' },
        },
        ['x', ['y']],
        {},
        [],
      ],
      'f:data': { '.': {}, 'f:a': {} },
      number: 1.5,
      big: 9223372036854775807n,
      empty: null,
    };
    expect(toYaml(value)).toBe(`apiVersion: v1
big: 9223372036854775807
empty: null
f:data:
  .: {}
  f:a: {}
items:
- data:
    a: "1"
    b: "true"
    c: 'x: y'
    d: it's
    e: ""
    f: |
      a
      b
    g: '#x'
    h: '- x'
    i: "y"
  metadata:
    creationTimestamp: "2020-01-02T03:04:05Z"
    name: a
- - x
  - - "y"
- {}
- []
kind: List
number: 1.5
`);
  });

  test('folds long lines and hints at odd blocks', () => {
    const words = Array(20).fill('lorem').join(' ');
    expect(toYaml({ a: words, b: ' x\ny', c: 'x\n\n', d: 'tab\there' })).toBe(
      `a: ${Array(14).fill('lorem').join(' ')}\n  ${Array(6).fill('lorem').join(' ')}\nb: |2-\n   x\n  y\nc: |+\n  x\n\nd: "tab\\there"\n`,
    );
  });

  test('orders keys by their numbers, and writes long ones apart', () => {
    expect(toYaml({ a10: 1, a9: 2, B: 3, _: 4, ['k'.repeat(129)]: { x: 5 } })).toBe(`_: 4\nB: 3\na9: 2\na10: 1\n? ${'k'.repeat(129)}\n: x: 5\n`);
  });

  test('comes back the same', () => {
    const value = {
      a: ['yes', '0777', '1e3', 'null', '~', '2020-01-02', '12:30', ' x ', 'é\u2028😀', 'a: b', '<<', '-', '?', '---'],
      b: { 'x y': [{ c: [] }] },
    };
    expect(parseYaml(toYaml(value))).toEqual(value);
  });
});

describe('a text that would take long', () => {
  test('has too many tokens', () => {
    expect(() => parseYaml('- a\n'.repeat(100_000))).toThrow('Request entity too large: limit is 100000 YAML tokens');
    expect(() => parseYaml(`[${','.repeat(90_000)}]`)).toThrow(YamlError);
  });

  test('repeats too much by its aliases', () => {
    expect(() => parseYaml(`a: &a "${'x'.repeat(100_000)}"\nb: [${Array(100).fill('*a').join(', ')}]`)).toThrow('yaml: document contains excessive aliasing');
  });

  test('is quick to read where it is JSON', () => {
    const duplicates: DuplicateKeys = new Map();
    expect(parseYaml(`{"a":[${'1,'.repeat(90_000)}1],"b":1,"b":2}`, duplicates)).toMatchObject({ b: 2 });
    expect(duplicates.size).toBe(1);
    expect(parseYaml('{a: 1, "b": yes}')).toEqual({ a: 1, b: true });
  });
});

describe('written in pieces', () => {
  const LONG_KEY = 'k'.repeat(200);
  test.each<[string, Json]>([
    ['a scalar', 'x'],
    ['nothing', {}],
    ['a list', [1, [2, [3, {}]], { a: [], b: { c: 1 } }]],
    ['long keys and lines', { [LONG_KEY]: { a: [1] }, [`${LONG_KEY}2`]: 'x', 'a\nb': [{ c: 1 }], text: 'one\ntwo\n' }],
    ['many entries', Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`k${index}`, { list: [index, { deep: { er: index } }] }]))],
    ['many levels', { a: { a: { a: { a: { a: { a: { a: { a: { a: { a: [1, { b: 2 }] } } } } } } } } } }],
  ])('%s is the same as at once', (_name, value) => {
    expect([...toYamlInPieces(value)].join('')).toBe(toYaml(value));
  });
});

test('a text without quotes may have so many characters in a line', () => {
  const limit = 'limit is 1500000 characters of a plain YAML text';
  for (const before of ['a: ', `a: "${'q'.repeat(700_000)}"\nb: `, '# c\n- [x, ']) {
    const closing = before.endsWith(', ') ? ']' : '';
    const space = before.endsWith(', ') ? 0 : before.length - before.lastIndexOf('\n') - 1;
    expect(() => parseYaml(`${before}${'1'.repeat(1_500_001 - space)}${closing}`)).toThrow(limit);
    expect(JSON.stringify(parseYaml(`${before}${'b'.repeat(1_499_000)}${closing}`)).length).toBeGreaterThan(1_499_000);
  }
});

test('keys are in the order of go-yaml, by their numbers however long these are', () => {
  const long = '9'.repeat(100_000);
  const text = toYaml({ [`k${long}0`]: 1, [`k${long}`]: 2 });
  expect(text.indexOf(': 2')).toBeLessThan(text.indexOf(': 1'));
  expect(toYaml({ a10: 0, a9: 0, a1b: 0, b: 0, '0a': 0 })).toBe('0a: 0\na1b: 0\na9: 0\na10: 0\nb: 0\n');
});

describe('in slices', () => {
  test.each(['a: 1\nb: [x, {c: 2}]\n', '', '# nothing', 'a: &x {b: 1}\nc: *x\n', '{"a": [1, 2]}', `list:\n${'- a: b\n  c: d\n'.repeat(3_000)}`])(
    'the same as at once (%#)',
    async (text) => {
      expect(await parseYamlInSlices(text)).toEqual(parseYaml(text));
    },
  );

  test.each(['a: [', 'a: b: c', '\t- a', 'a: *x', `${'['.repeat(20_000)}`, `${'- '.repeat(30_000)}a`, `[${'1,'.repeat(100_000)}]`])(
    'what is wrong is told alike (%#)',
    async (text) => {
      const told = (error: unknown): string => (error as Error).message;
      const atOnce = ((): string => {
        try {
          return JSON.stringify(parseYaml(text));
        } catch (error) {
          return told(error);
        }
      })();
      await expect(parseYamlInSlices(text).then((value) => JSON.stringify(value), told)).resolves.toBe(atOnce);
    },
  );
});

test('a text is read up to the first token that has no place', () => {
  expect(() => parseYaml(`a: [b${'}'.repeat(1_000_000)}`)).toThrow(/^yaml: line 1: did not find expected key$/);
});

describe('a long text', () => {
  const LONG = 'long text '.repeat(200);

  test.each([
    ['in double quotes', `"${LONG}\\n\\u00e9"`, `${LONG}\n\u00e9`],
    ['in double quotes, with an escape that JSON has not', `"${LONG}\\x41"`, `${LONG}A`],
    ['in double quotes, over lines', `"${LONG}x\n  y"`, `${LONG}x y`],
    ['in single quotes', `'${LONG}''x'`, `${LONG}'x`],
  ])('%s is read as a short one', (_, text, value) => {
    expect(parseYaml(`a: ${text}\nb: 1\n`)).toEqual({ a: value, b: 1 });
    expect(parseYaml(`{"b": [${text}], ${text}: 2}\n`)).toEqual({ b: [value], [value]: 2 });
    expect(parseYaml(`a: &anchor ${text}\nb: *anchor\nc: 3\n`)).toEqual({ a: value, b: value, c: 3 });
  });

  test.each([
    ['lines', `a: |\n${' b\n'.repeat(50_001)}`],
    ['quotes', `a: '${"''".repeat(250_000)}'`],
    ['escapes that JSON has not', `a: "${'\\x41'.repeat(120_000)}"`],
  ])('of %s has an end', (_, text) => expect(() => parseYaml(text)).toThrow('limit is 100000 YAML tokens'));
});

test.each([
  ['1000000.0: a', { '1e+06': 'a' }],
  ['1.123456789: a', { '1.1234568': 'a' }],
  ['0.00001: a', { '1e-05': 'a' }],
  ['-1.5e3: a', { '-1500': 'a' }],
  ['16777217.0: a', { '1.6777216e+07': 'a' }],
  ['1e39: a\n-.inf: b\n.nan: c', { '.inf': 'a', '-.inf': 'b', '.nan': 'c' }],
])('%j has the key that sigs.k8s.io/yaml makes of a float', (text, value) => {
  expect(parseYaml(text)).toEqual(value);
});

test.each([
  [
    '~: {a: 1, b: [x, ~, 1.5, true]}',
    'unsupported map key of type: %!s(<nil>), key: <nil>, value: map[interface {}]interface {}{"a":1, "b":[]interface {}{"x", interface {}(nil), 1.5, true}}',
  ],
  ['18446744073709551615: a', 'unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "a"'],
  ['? [a]\n: b', 'yaml: invalid map key: []interface {}{"a"}'],
])('%j has a key that JSON has no name for', (text, message) => {
  expect(() => parseYaml(text)).toThrow(message);
});

const nested: [string, (levels: number) => string][] = [
  ['[', (levels) => '['.repeat(levels) + ']'.repeat(levels)],
  ['{a: ', (levels) => `${'{a: '.repeat(levels)}1${'}'.repeat(levels)}`],
  ['- ', (levels) => `${'- '.repeat(levels)}1`],
  ['indented', (levels) => Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:\n`).join('')],
];
test.each(nested)('%s may be inside of each other up to a limit, far from the end of the stack', (_, text) => {
  expect(() => parseYaml(text(LIMITS.yamlDepth - 2))).not.toThrow();
  for (const levels of [1, 100, 600, 3_000]) expect(() => parseYaml(text(LIMITS.yamlDepth + levels))).toThrow('yaml: exceeded max depth of 300');
});

test('thousands of values in one line are refused early', () => {
  expect(() => parseYaml(`${'a: '.repeat(10_000)}1`)).toThrow('yaml: exceeded max depth of 300');
  expect(() => parseYaml(`${'a: '.repeat(100)}1`)).toThrow('yaml: line 1: mapping values are not allowed in this context');
});

test.each(['[', '{', '- ', '? ', '[{'])('thousands of %j are refused before they fill the stack', (opening) => {
  expect(() => parseYaml(`a: ${opening.repeat(3_800)}`)).toThrow('yaml: ');
  expect(() => parseYaml(`b:\n- ${opening.repeat(3_800)}`)).toThrow('exceeded max depth');
});
