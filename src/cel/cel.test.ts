import { describe, expect, it } from 'vitest';
import { PlanError, compile, type EvaluationOptions } from './cel.ts';
import { formatLiteral } from './convert.ts';
import { jsonValue } from './data/json-value.ts';
import type { Environment } from './environment.ts';
import { KUBERNETES_ENVIRONMENT } from './library/kubernetes.ts';
import { JSON_PATCH_LIBRARY, MUTATION_TYPES } from './library/mutation.ts';
import { CelErrors } from './source.ts';
import { BOOL, DYN, INT, STRING, formatType, listType } from './types.ts';
import type { Json } from '../encoding/json-types.ts';
import { CelError } from './values.ts';

const environment = KUBERNETES_ENVIRONMENT.extend({ variables: { object: DYN, count: INT, names: listType(STRING) } });

function evaluate(text: string, variables: Record<string, Json> = {}, options?: EvaluationOptions, within: Environment = environment) {
  const activation = Object.fromEntries(Object.entries(variables).map(([name, json]) => [name, jsonValue(json)]));
  return compile(text, within).evaluate(activation, options);
}

/** The value as an expression, or the error's message. */
function result(text: string, variables?: Record<string, Json>): string {
  const { value } = evaluate(text, variables);
  return value instanceof CelError ? `error: ${value.message}` : formatLiteral(value);
}

function errorOf(text: string): string {
  try {
    compile(text, environment);
    return '';
  } catch (error) {
    if (error instanceof CelErrors || error instanceof PlanError) return error.message;
    throw error;
  }
}

describe('evaluation', () => {
  it.each([
    ['9223372036854775807 + 1', 'error: integer overflow'],
    ['-9223372036854775808 / -1', 'error: integer overflow'],
    ['9007199254740993 - 1 == 9007199254740992', 'true'],
    ['9007199254740991 + 2', '9007199254740993'],
    ['3037000500 * 3037000500', 'error: integer overflow'],
    ['-7 / 2', '-3'],
    ['-7 % 2', '-1'],
    ['1u - 2u', 'error: unsigned integer overflow'],
    ['1 / 0', 'error: division by zero'],
    ['1.5 < 2 && 2u > 1.9', 'true'],
    ['dyn(1) == 1.0 && dyn(1u) == 1', 'true'],
    ["'😀é'.size()", '2'],
    ["'b' > '\\U00010000'", 'false'],
    ["'\\uffff' < '\\U00010000'", 'true'],
    ["bytes('é').size()", '2'],
    ['string(1234567.0)', '"1.234567e+06"'],
    ["timestamp('2020-01-01T00:00:00+02:00') - timestamp('2019-12-31T22:00:00Z')", 'duration("0s")'],
    ["string(timestamp('2020-01-01T00:00:00.5+02:00'))", '"2020-01-01T00:00:00.5+02:00"'],
    ["timestamp('2023-01-01T05:30:00Z').getFullYear('America/Los_Angeles')", '2022'],
    ["timestamp('2023-01-01T05:30:00Z').getHours('-02:30')", '3'],
    ["timestamp('2023-01-01T05:30:00Z').getHours('Mars/Olympus')", 'error: unknown time zone Mars/Olympus'],
    ['[1, 2] + [3]', '[1, 2, 3]'],
    ['[[1, 2] + [3], [4]][0][2]', '3'],
    ['[1][5]', 'error: index out of bounds: 5'],
    ["{'a': 1}['b']", 'error: no such key: b'],
    ['type(1) == int && type(type(1)) == type', 'true'],
  ])('%s is %s', (text, wanted) => {
    expect(result(text)).toBe(wanted);
  });

  it.each([
    ['object.a.b == 1 || true', 'true'],
    ['object.missing == 1 && false', 'false'],
    ['object.missing == 1 || false', 'error: no such key: missing'],
    ['object.missing == 1 ? true : false', 'error: no such key: missing'],
    ['[1, 2].all(x, x / (x - 1) > 0 || true)', 'true'],
    ['[0, 1].exists(x, 1 / x == 1)', 'true'],
    ['has(object.a) && !has(object.b)', 'true'],
    ['object.?x.y.orValue(7)', '7'],
    ["object.?a.orValue('none')", '5'],
    ["{?'k': object.?x, 'l': object.a}", '{"l": 5}'],
    ['[?object.?x, ?object.?a]', '[5]'],
    ['object.?a.optMap(v, v + 1).value()', '6'],
    ['optional.none().value()', 'error: optional.none() dereference'],
    ["object['__proto__']", 'error: no such key: __proto__'],
    ['object.constructor', 'error: no such key: constructor'],
    ['names.map(n, n.size()).sum()', '3'],
    ['[3, 1, 2].sortBy(x, -x)', '[3, 2, 1]'],
    ["{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 10)", '{"b": 20}'],
    ['[1, 1].transformMapEntry(i, v, {v: i})', 'error: insert failed: key 1 already exists'],
  ])('%s is %s of data', (text, wanted) => {
    expect(result(text, { object: { a: 5 }, names: ['x', 'yy'], count: 1 })).toBe(wanted);
  });

  it('reads keys that are names of methods as data', () => {
    const object = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}') as Json;
    expect(result("object['__proto__'] + object.constructor + object.toString", { object })).toBe('6');
  });

  it('keeps large integers exact', () => {
    expect(result('object.big + 1', { object: { big: 9_007_199_254_740_993n } })).toBe('9007199254740994');
  });
});

describe('compilation', () => {
  it('says where and what', () => {
    expect(errorOf('object.a ==\n  nothing')).toBe("ERROR: <input>:2:3: undeclared reference to 'nothing' (in container '')\n |   nothing\n | ..^");
    expect(errorOf("count + 'a'")).toBe("ERROR: <input>:1:7: found no matching overload for '_+_' applied to '(int, string)'\n | count + 'a'\n | ......^");
    expect(errorOf("'é' + count")).toBe("ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'\n | 'é' + count\n | .．..^");
    expect(errorOf('count.all(x, true)')).toContain("expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)");
  });

  it.each([
    ['count ==', "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true'"],
    ['(count', "Syntax error: missing ')' at '<EOF>'"],
    ['[count', "Syntax error: mismatched input '<EOF>' expecting {']', ','}"],
    ['', "ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'['"],
    ['[count,', "Syntax error: missing ']' at '<EOF>'"],
    ['[1,,2]', "Syntax error: mismatched input ',' expecting ']'"],
    ['count = 1', "Syntax error: token recognition error at: '= '"],
    ['count count', "Syntax error: extraneous input 'count' expecting <EOF>"],
    ['object.', "Syntax error: no viable alternative at input '.'"],
    ['"abc', "Syntax error: token recognition error at: '\"abc'"],
    ['for', 'reserved identifier: for'],
    ['`a`', "Syntax error: mismatched input '`a`' expecting"],
    [`${'('.repeat(251)}1${')'.repeat(251)}`, 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250'],
    [`1${' + 1'.repeat(251)}`, 'ERROR: <input>:-1:0: max recursion depth exceeded'],
    [`'${'x'.repeat(100_000)}'`, 'expression code point size exceeds limit: size: 100002, limit 100000'],
    [Array.from({ length: 4_001 }, () => 'true').join('&&'), 'expression token count exceeds limit: size: 8002, limit 8000'],
    ['names.map(1, 2)', 'argument is not an identifier'],
    ["[1, 'a']", "expected type 'int' but found 'string'"],
    ["duration('1')", 'invalid duration argument'],
    ["'x'.matches(')')", 'invalid matches argument'],
    ["'%d'.format(['x'])", 'error during formatting: decimal clause can only be used on integers, was given string'],
    ["int('x')", "type conversion error from 'string' to 'int'"],
    ["'x'.find(')')", 'error parsing regexp: unexpected ): `)`'],
  ])('refuses %.40s', (text, wanted) => {
    expect(errorOf(text)).toContain(wanted);
  });

  it('knows the type of the result and the variables in use', () => {
    const program = compile('names.filter(n, n.size() > count)', environment);
    expect(formatType(program.resultType)).toBe('list(string)');
    expect(program.variables).toContain('names');
    expect(program.variables).not.toContain('object');
  });

  it('is not stalled by macros that double their argument', () => {
    expect(errorOf(`object${'.optMap(x, x)'.repeat(200)}`)).toContain('expression is too large');
  });

  it('takes time in proportion to the text', () => {
    expect(compile(`${'object.b == 1 || '.repeat(1_300)}true`, environment).resultType).toBe(BOOL);
  });

  it('is not stalled by deep or long texts', () => {
    for (const text of [
      '['.repeat(50_000),
      '-'.repeat(50_000),
      '!'.repeat(50_000),
      'a.'.repeat(40_000),
      '1?'.repeat(30_000),
      '{'.repeat(90_000),
      '< '.repeat(7_000),
      '<\n'.repeat(40_000),
    ])
      expect(() => compile(text, environment)).toThrow(CelErrors);
  });
});

describe('limits', () => {
  const nested = 'names.all(a, names.all(b, names.all(c, names.all(d, a + b + c + d != ""))))';
  const names = Array.from({ length: 100 }, (_, index) => `name-${index}`);

  it('cut off what costs too much', () => {
    const { value, cancelled, cost } = evaluate(nested, { names });
    expect(cancelled).toBe('costLimitExceeded');
    expect(value).toEqual(new CelError('operation cancelled: actual cost limit exceeded'));
    expect(cost).toBeGreaterThan(1_000_000);
    expect(cost).toBeLessThan(1_000_100);
  });

  it('cut off regular expressions that take more than their cost stands for', () => {
    const uneven = Array.from({ length: 30_000 }, (_, index) => (Math.sin(index * index) < 0 ? 'a' : 'b')).join('');
    // By upstream's model these cost some 15,000 units.
    for (const text of [`names[0].matches('[ab]*a[ab]{900}c')`, `names[0].find('[ab]*a[ab]{900}c') == ''`, `names[0].matches(names[1])`])
      expect(evaluate(text, { names: [uneven, '[ab]*a[ab]{900}c'] }).cancelled).toBe('costLimitExceeded');
    const patterns = Array.from({ length: 2_000 }, (_, index) => `a{1000}${index}`);
    expect(evaluate(`names.all(n, !'a'.matches(n))`, { names: patterns }).cancelled).toBe('costLimitExceeded');
  });

  it('leave the cost of others as it is', () => {
    const version = String.raw`^v?(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$`;
    const text = `names.all(n, n.matches('${version}'))`;
    const costs = [1, 2].map(() => evaluate(text, { names: Array.from({ length: 200 }, (_, index) => `v1.${index}.3-rc.${index}`) }).cost);
    expect(costs[0]).toBe(costs[1]);
    const digits = evaluate(`names.all(n, n.find('[0-9]+') != '')`, { names });
    expect(evaluate(`names.all(n, '^name-' + n == n || (n + '!').matches(n))`, { names }).cost).toBe(
      evaluate(`names.all(n, '^name-' + n == n || (n + '!').matches(n))`, { names }).cost,
    );
    expect([digits.cancelled, digits.cost]).toEqual([undefined, evaluate(`names.all(n, n.find('[0-9]+') != '')`, { names }).cost]);
  });

  it('cut off what is interrupted', () => {
    let asked = 0;
    const { cancelled, value } = evaluate(nested, { names }, { isInterrupted: () => ++asked === 3 });
    expect(cancelled).toBe('interrupted');
    expect(value).toEqual(new CelError('operation interrupted'));
  });

  it('are checked before a call that costs too much is run', () => {
    expect(evaluate('lists.range(2000000000).size()').cancelled).toBe('costLimitExceeded');
    expect(evaluate("names.join().matches('(a+)+$')", { names: ['a'.repeat(3_000_000)] }).cancelled).toBe('costLimitExceeded');
  });

  it('refuse results that memory could not hold', () => {
    const names2 = ['x'.repeat(1_000_000)];
    expect(evaluate('names[0].replace("", names[0]).size()', { names: names2 }).value).toEqual(new CelError('result is too large'));
  });
});

describe('objects that expressions make', () => {
  const mutation = environment.extend({ libraries: [JSON_PATCH_LIBRARY], types: [MUTATION_TYPES] });
  const show = (text: string): string => formatLiteral(evaluate(text, {}, undefined, mutation).value);

  it('are patches and what is to be applied', () => {
    expect(show("JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c'), value: 'x'}.path")).toBe('"/metadata/labels/a~1b~0c"');
    expect(show('Object{spec: Object.spec{replicas: 3}}.spec.replicas')).toBe('3');
    expect(show("has(JSONPatch{op: 'remove'}.from)")).toBe('false');
    expect(() => compile("JSONPatch{where: 'x'}", mutation)).toThrow("undefined field 'where'");
  });
});
