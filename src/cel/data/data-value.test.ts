import { describe, expect, it } from 'vitest';
import type { Json } from '../../encoding/json-types.ts';
import { compile } from '../cel.ts';
import { formatLiteral } from '../convert.ts';
import { KUBERNETES_ENVIRONMENT } from '../library/kubernetes.ts';
import { formatType } from '../types.ts';
import { CelError } from '../values.ts';
import { withObjectMeta, type DataSchema } from './data-schema.ts';
import { dataValue } from './data-value.ts';
import { declareType, declaredTypes } from './declared-type.ts';
import { escapeIdentifier, unescapeIdentifier } from './identifiers.ts';
import { NotJsonError, jsonValue, toJson } from './json-value.ts';

const text: DataSchema = { type: 'string' };
const object = (properties: Record<string, DataSchema>): DataSchema => ({ type: 'object', properties: new Map(Object.entries(properties)) });

function evaluate(rule: string, schema: DataSchema, self: Json, oldSelf: Json = self): string {
  const declared = declareType(schema, 'selfType', true)!;
  const environment = KUBERNETES_ENVIRONMENT.extend({ variables: { self: declared.type, oldSelf: declared.type }, types: [declaredTypes(declared)] });
  const whole = withObjectMeta(schema);
  const { value } = compile(rule, environment).evaluate({ self: dataValue(self, whole), oldSelf: dataValue(oldSelf, whole) });
  return value instanceof CelError ? `error: ${value.message}` : formatLiteral(value);
}

describe('data with a schema', () => {
  const schema = object({
    'a-b': text,
    namespace: text,
    number: { type: 'number' },
    when: { type: 'string', format: 'date-time' },
    wait: { type: 'string', format: 'duration' },
    bytes: { type: 'string', format: 'byte' },
    port: { isIntOrString: true },
    nothing: { type: 'string', isNullable: true },
    free: { type: 'object', preservesUnknownFields: true },
    embedded: { type: 'object', isEmbeddedResource: true, preservesUnknownFields: true },
    labels: { type: 'object', additionalProperties: { type: 'string', isNullable: true } },
  });
  const self: Json = {
    'a-b': 'x',
    namespace: 'n',
    number: 1,
    when: '2020-01-01T00:00:00Z',
    wait: '90s',
    bytes: 'aGk=',
    port: 80,
    nothing: null,
    free: { any: [1, { thing: 'a' }] },
    embedded: { kind: 'Pod', metadata: { name: 'p' } },
    labels: { 'a-b': 'c', nil: null },
    metadata: { name: 'me' },
  };

  it.each([
    ["self.a__dash__b == 'x' && self.__namespace__ == 'n' && self.namespace == 'n'", 'true'],
    ['type(self.number) == double && self.number == 1.0', 'true'],
    ['self.when.getFullYear() == 2020 && self.wait.getMinutes() == 1', 'true'],
    ["self.bytes == b'hi'", 'true'],
    ['type(self.port) == int && self.port + 1 == 81', 'true'],
    ['has(self.nothing)', 'false'],
    ['type(self.labels.nil) == null_type', 'true'],
    ["self.labels['a-b']", '"c"'],
    ['self.labels.missing', 'error: no such key: missing'],
    ['self.free == oldSelf.free', 'true'],
    ['self.embedded.metadata.name + self.metadata.name + self.embedded.kind', '"pmePod"'],
    ['self == oldSelf', 'true'],
    ['self.labels.map(k, k).size()', '2'],
    ["'a-b' in self.labels", 'true'],
  ])('%s', (rule, wanted) => {
    expect(evaluate(rule, schema, self)).toBe(wanted);
  });

  it('that does not fit is an error where it is used', () => {
    expect(evaluate('self.number > 0.0', schema, { number: 'x' })).toBe('error: invalid data, expected float, got string');
    expect(evaluate('has(self.labels)', schema, { labels: [] })).toBe('error: invalid data, expected a map for the provided schema with type=object');
    expect(evaluate('size(self.a__dash__b)', schema, { 'a-b': null })).toBe('error: no such key: a__dash__b');
  });

  it('compares and joins lists as their types say', () => {
    const lists = object({
      set: { type: 'array', items: text, listType: 'set' },
      map: { type: 'array', items: object({ k: text, v: { type: 'integer' } }), listType: 'map', listMapKeys: ['k'] },
      plain: { type: 'array', items: { type: 'integer' } },
    });
    const a: Json = {
      set: ['a', 'b'],
      map: [
        { k: 'x', v: 1 },
        { k: 'y', v: 2 },
      ],
      plain: [1, 2],
    };
    const b: Json = {
      set: ['b', 'a'],
      map: [
        { k: 'y', v: 2 },
        { k: 'x', v: 1 },
      ],
      plain: [2, 1],
    };
    expect(evaluate('[self.set == oldSelf.set, self.map == oldSelf.map, self.plain == oldSelf.plain]', lists, a, b)).toBe('[true, true, false]');
    expect(evaluate("self.set + ['c', 'a']", lists, a)).toBe('["a", "b", "c"]');
    expect(
      evaluate('(self.map + oldSelf.map).map(e, e.v)', lists, a, {
        map: [
          { k: 'x', v: 9 },
          { k: 'z', v: 3 },
        ],
      }),
    ).toBe('[9, 2, 3]');
    expect(evaluate('(self.plain + oldSelf.plain).size()', lists, a, b)).toBe('4');
  });

  it('is declared with types', () => {
    const declared = declareType(schema, 'selfType')!;
    expect(formatType(declared.fields!.get('labels')!.type)).toBe('map(string, string)');
    expect(formatType(declared.fields!.get('when')!.type)).toBe('timestamp');
    expect(declared.fields!.get('port')!.maxElements).toBe(3 * 1024 * 1024 - 2);
    expect(declareType({ preservesUnknownFields: true }, 'x')).toBeUndefined();
  });
});

describe('names of properties', () => {
  it.each([
    ['a', 'a'],
    ['a-b.c/d', 'a__dash__b__dot__c__slash__d'],
    ['a__b', 'a__underscores__b'],
    ['namespace', '__namespace__'],
    ['1a', undefined],
    ['a b', undefined],
    ['', undefined],
  ])('%j is %j in expressions', (name, escaped) => {
    expect(escapeIdentifier(name)).toBe(escaped);
    if (escaped !== undefined) expect(unescapeIdentifier(escaped)).toBe(name);
  });

  it('that are no escapes are none', () => {
    expect(unescapeIdentifier('a__what__b')).toBeUndefined();
    expect(unescapeIdentifier('x__namespace__')).toBeUndefined();
  });
});

describe('JSON without a schema', () => {
  it('goes in and comes out', () => {
    const json: Json = { a: [1, 2.5, 'x', null, { b: true }], big: 2n ** 60n };
    expect(toJson(jsonValue(json))).toEqual(json);
    const made = compile(
      "{'t': timestamp('2020-01-01T00:00:00Z'), 'd': duration('1m'), 'b': b'hi', 'u': 3u, 'l': [dyn(1.5), optional.of(2)]}",
      KUBERNETES_ENVIRONMENT.extend({ isStrict: false }),
    );
    expect(toJson(made.evaluate({}).value)).toEqual({ t: '2020-01-01T00:00:00Z', d: '60s', b: 'aGk=', u: 3, l: [1.5, 2] });
    expect(() => toJson(compile('{1: 2}', KUBERNETES_ENVIRONMENT).evaluate({}).value)).toThrow(NotJsonError);
  });
});
