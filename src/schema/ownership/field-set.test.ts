import { describe, expect, test } from 'vitest';
import { difference, hasPath, inOrder, intersection, leavesOf, parseFieldSet, pathsOf, recursiveDifference, setOf, union } from './field-set.ts';
import { ElementError, showPath } from './path-element.ts';

const A = ['f:a'];
const AB = ['f:a', 'f:b'];
const ABC = ['f:a', 'f:b', 'f:c'];

describe('members', () => {
  test('an element is a member where nothing lies below it, or a dot says so', () => {
    expect(setOf(A)).toEqual({ 'f:a': {} });
    expect(setOf(AB)).toEqual({ 'f:a': { 'f:b': {} } });
    expect(setOf(A, AB)).toEqual({ 'f:a': { '.': {}, 'f:b': {} } });
    expect([hasPath(setOf(AB), A), hasPath(setOf(AB), AB), hasPath(setOf(A, AB), A), hasPath(setOf(A), [])]).toEqual([false, true, true, false]);
  });

  test('paths come members first, then what lies below', () => {
    const set = setOf(['f:z'], AB, ABC, ['f:a', 'k:{"name":"x"}', 'f:v']);
    expect([...pathsOf(set)].map(showPath)).toEqual(['.z', '.a.b', '.a.b.c', '.a[name="x"].v']);
  });
});

describe('operations', () => {
  test('union', () => {
    expect(union(setOf(A), setOf(ABC))).toEqual({ 'f:a': { '.': {}, 'f:b': { 'f:c': {} } } });
    expect(union(setOf(), setOf(A))).toEqual(setOf(A));
  });

  test('a difference takes members, and leaves what lies below them', () => {
    expect(difference(setOf(A, AB), setOf(A))).toEqual(setOf(AB));
    expect(difference(setOf(A, AB), setOf(AB))).toEqual(setOf(A));
    expect(difference(setOf(A), setOf(A))).toEqual({});
    expect(difference(setOf(AB), setOf(A))).toEqual(setOf(AB));
  });

  test('a recursive difference takes what lies below members too', () => {
    expect(recursiveDifference(setOf(A, ABC), setOf(AB))).toEqual(setOf(A));
    expect(recursiveDifference(setOf(ABC), setOf(A))).toEqual({});
  });

  test('intersection', () => {
    expect(intersection(setOf(A, AB), setOf(AB, ABC))).toEqual(setOf(AB));
    expect(intersection(setOf(A), setOf(AB))).toEqual({});
  });

  test('leaves', () => {
    expect(leavesOf(setOf(A, AB))).toEqual(setOf(AB));
  });
});

describe('FieldsV1', () => {
  test('is written in order: fields, keys with numbers by size, values, places', () => {
    const set = setOf(
      ['i:2'],
      ['v:10'],
      ['v:9'],
      ['v:"a"'],
      ['k:{"port":80}'],
      ['k:{"port":9}'],
      ['k:{"name":"b"}'],
      ['k:{"name":"a"}'],
      ['f:b'],
      ['f:a', 'f:z'],
      ['f:a'],
    );
    expect(Object.keys(inOrder(set))).toEqual([
      'f:a',
      'f:b',
      'k:{"name":"a"}',
      'k:{"name":"b"}',
      'k:{"port":9}',
      'k:{"port":80}',
      'v:9',
      'v:10',
      'v:"a"',
      'i:2',
    ]);
    expect(JSON.stringify(inOrder(set))).toContain('"f:a":{".":{},"f:z":{}}');
  });

  test('is read into one form, whatever the order of its keys', () => {
    expect(parseFieldSet({ 'f:l': { 'k:{"b":1, "a":"x"}': {}, 'v:"\\u0041"': null } })).toEqual({ 'f:l': { 'k:{"a":"x","b":1}': {}, 'v:"A"': {} } });
  });

  test('elements that nobody knows yet are passed over', () => {
    expect(parseFieldSet({ 'f:a': { 'z:new': {} }, 'z:new': {} })).toEqual({ 'f:a': {} });
  });

  test.each([
    [{ f: {} }, 'key must be 2 characters long:'],
    [{ fa: {} }, 'missing colon: fa'],
    [{ 'i:x': {} }, 'strconv.Atoi: parsing "x": invalid syntax'],
  ])('%j is refused', (fields, message) => {
    expect(() => parseFieldSet(fields)).toThrow(new ElementError(message));
  });

  test('keys of prototypes are names as any other', () => {
    const set = parseFieldSet(JSON.parse('{"f:__proto__":{},"f:constructor":{"f:x":{}}}'));
    expect(hasPath(set, ['f:__proto__']) && hasPath(set, ['f:constructor', 'f:x'])).toBe(true);
    expect(hasPath(set, ['f:toString'])).toBe(false);
  });
});
