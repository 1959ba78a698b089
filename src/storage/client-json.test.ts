import { describe, expect, test } from 'vitest';
import { typePrefixLength, withResourceVersion } from './client-json.ts';

const splice = (json: string, revision = 7): string => withResourceVersion(Buffer.from(json), revision).toString();

describe('withResourceVersion', () => {
  test.each([
    [
      'behind the uid',
      '{"kind":"K","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u","labels":{"uid":"x"}},"data":{}}',
      '{"kind":"K","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","labels":{"uid":"x"}},"data":{}}',
    ],
    [
      'behind a uid that ends metadata',
      '{"kind":"K","apiVersion":"v1","metadata":{"name":"a","uid":"u"}}',
      '{"kind":"K","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7"}}',
    ],
    [
      'past escapes',
      '{"kind":"K","apiVersion":"g/v1","metadata":{"name":"a\\"\\\\","generateName":"\\u0022","uid":"u"}}',
      '{"kind":"K","apiVersion":"g/v1","metadata":{"name":"a\\"\\\\","generateName":"\\u0022","uid":"u","resourceVersion":"7"}}',
    ],
    [
      'past characters of several bytes',
      '{"kind":"K","apiVersion":"v1","metadata":{"name":"ü\u{1f600}","uid":"u"},"d":"é"}',
      '{"kind":"K","apiVersion":"v1","metadata":{"name":"ü\u{1f600}","uid":"u","resourceVersion":"7"},"d":"é"}',
    ],
    [
      'at the start where there is no uid',
      '{"kind":"K","apiVersion":"v1","metadata":{"name":"a"},"x":1}',
      '{"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"},"x":1}',
    ],
    [
      'at the start where the uid comes late',
      '{"kind":"K","apiVersion":"v1","metadata":{"labels":{"a":"b"},"uid":"u"}}',
      '{"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"7","labels":{"a":"b"},"uid":"u"}}',
    ],
    ['into empty metadata', '{"kind":"K","apiVersion":"v1","metadata":{}}', '{"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"7"}}'],
    [
      'in place of another',
      '{"kind":"K","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"12345","x":1}}',
      '{"kind":"K","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7","x":1}}',
    ],
    [
      'in place of another at the start',
      '{"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"1","name":"a"}}',
      '{"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"}}',
    ],
    [
      'into other layouts, written anew',
      '{ "metadata": {"uid":"u","resourceVersion":"1","name":"a"}, "big": 9007199254740993, "apiVersion":"v1","kind":"K"}',
      '{"kind":"K","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7"},"big":9007199254740993}',
    ],
    ['where there is no metadata', '{"kind":"K","apiVersion":"v1","data":{}}', '{"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"7"},"data":{}}'],
  ])('puts the version %s', (_, json, expected) => {
    expect(splice(json)).toBe(expected);
    expect(splice(splice(json), 12_345_678)).toBe(expected.replace('"7"', '"12345678"'));
  });

  test('refuses what is no object', () => {
    expect(() => splice('[]')).toThrow('a stored value is not an object');
    expect(() => splice('{"kind":"K","apiV')).toThrow('unexpected end of JSON input');
  });

  test('leaves the given bytes alone', () => {
    const json = Buffer.from('{"kind":"K","apiVersion":"v1","metadata":{"uid":"u"}}');
    const before = json.toString();
    withResourceVersion(json, 7);
    expect(json.toString()).toBe(before);
  });
});

test('typePrefixLength', () => {
  const json = '{"kind":"Role","apiVersion":"rbac/v1","metadata":{}}';
  expect(json.slice(typePrefixLength(Buffer.from(json)))).toBe('"metadata":{}}');
  expect(typePrefixLength(Buffer.from('{"apiVersion":"v1","kind":"K"}'))).toBe(0);
  expect(typePrefixLength(Buffer.from('{"kind":"K"}'))).toBe(0);
});
