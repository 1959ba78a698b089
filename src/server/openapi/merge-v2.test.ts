import { expect, test } from 'vitest';
import type { JsonObject } from '../../encoding/json-types.ts';
import { runAtOnce } from '../../util/time-slice.ts';
import { filterByPaths, mergeDocuments } from './merge-v2.ts';

const ref = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });
const get = (name: string): JsonObject => ({ get: { responses: { 200: { schema: ref(name) } } } });
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const kind = (group: string): JsonObject => ({ 'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind: 'K' }] });

test('what only other paths use is left out', () => {
  const document = {
    paths: { '/apis/a/v1/x': get('X'), '/apis/b/v1/y': { ...get('Y'), parameters: [{ $ref: '#/parameters/p' }] } },
    definitions: { X: object({ shared: ref('S') }), Y: object({ shared: ref('S'), self: ref('Y') }), S: object({}), Body: object({}), Unused: object({}) },
    parameters: { p: { in: 'body', schema: ref('Body') } },
  };
  const filtered = runAtOnce(filterByPaths(document, ['/apis/a/v1/']));
  expect(Object.keys(filtered['paths']!)).toEqual(['/apis/a/v1/x']);
  expect(Object.keys(filtered['definitions']!)).toEqual(['X', 'S', 'Unused']);
});

test('the same stays one, with the kinds of both; another is renamed, and so are references to it', () => {
  const first = { swagger: '2.0', paths: { '/a': get('Same') }, definitions: { Same: object({}, kind('a')), Other: object({ a: { type: 'string' } }) } };
  const second = {
    paths: { '/b': get('Other'), '/a': get('Gone') },
    definitions: { Same: object({}, kind('b')), Other: object({ next: ref('Other'), same: ref('Same') }), Gone: object({}) },
  };
  const merged = runAtOnce(mergeDocuments(first, [second, second]));
  expect(merged).toMatchObject({
    swagger: '2.0',
    paths: { '/a': get('Same'), '/b': get('Other_v2') },
    definitions: {
      Same: { 'x-kubernetes-group-version-kind': [{ group: 'a' }, { group: 'b' }] },
      Other: object({ a: { type: 'string' } }),
      Other_v2: object({ next: ref('Other_v2'), same: ref('Same') }),
    },
  });
  expect(Object.keys(merged['definitions']!)).toEqual(['Other', 'Other_v2', 'Same']);
  expect(Object.keys(first.definitions)).toEqual(['Same', 'Other']);
});

test('a name that was given before is given again, and one that is taken is not', () => {
  const definitions = (type: string): JsonObject => ({ D: { type } });
  const documents = ['a', 'b', 'c', 'b'].map((type, index): JsonObject => ({ paths: { [`/${index}`]: get('D') }, definitions: definitions(type) }));
  const merged = runAtOnce(mergeDocuments(documents[0]!, documents.slice(1)));
  expect(merged['definitions']).toEqual({ D: { type: 'a' }, D_v2: { type: 'b' }, D_v3: { type: 'c' } });
  expect(merged['paths']).toMatchObject({ '/3': get('D_v2') });
});

test('keys of any name are only keys', () => {
  const odd = JSON.parse('{"paths":{"__proto__":{"get":{}},"/x":{"$ref":"#/definitions/constructor"}},"definitions":{"__proto__":{"type":"a"}}}') as JsonObject;
  const merged = runAtOnce(mergeDocuments({ paths: {}, definitions: {} }, [odd]));
  expect(Object.keys(merged['paths']!)).toEqual(['/x', '__proto__']);
  expect(({} as JsonObject)['type']).toBeUndefined();
});

test('a path is wanted where it begins with one of many', () => {
  const paths = Object.fromEntries(['/a', '/a/b', '/ab', '/b', '/b/c', '/c'].map((path) => [path, get('X')]));
  const kept = (...prefixes: string[]): string[] => Object.keys(runAtOnce(filterByPaths({ paths, definitions: {} }, prefixes))['paths']!);
  expect(kept('/b/', '/a', '/a/b', '/zz')).toEqual(['/a', '/a/b', '/ab', '/b/c']);
  expect(kept('/a/b', '/c/d')).toEqual(['/a/b']);
  expect(kept('/0')).toEqual([]);
});
