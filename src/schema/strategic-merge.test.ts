import { describe, expect, test } from 'vitest';
import { isApiError } from '../api/errors.ts';
import { parseJson, stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { runAtOnce } from '../util/time-slice.ts';
import { applyStrategicMergePatch, parseStrategicMergePatch as parseInSteps } from './strategic-merge.ts';
import { StepBudget } from '../util/step-budget.ts';
import { thing } from './test-schemas.ts';

const parseStrategicMergePatch = (body: string, errors?: string[]) => runAtOnce(parseInSteps(body, errors));
const apply = (document: string, patch: string): JsonObject =>
  runAtOnce(applyStrategicMergePatch(thing, parseJson(document) as JsonObject, parseStrategicMergePatch(patch)));
const spec = (document: string, patch: string): string => stringifyJson(apply(`{"spec":${document}}`, `{"spec":${patch}}`)['spec']);
const refusal = (patch: string): string => {
  try {
    spec('{"containers":[{"name":"a"}],"volumes":[{"name":"v","emptyDir":{}}],"raw":{"x":{"y":1}},"settings":{"k":{"name":"a"}}}', patch);
  } catch (error) {
    if (isApiError(error)) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'none';
};

const finalizers = (document: string, patch: string): unknown =>
  (apply(`{"metadata":${document}}`, `{"metadata":${patch}}`)['metadata'] as JsonObject)['finalizers'];

describe('strategic merge', () => {
  test.each([
    ['objects by field', '{"replicas":1,"raw":{"a":1}}', '{"replicas":2,"paused":true}', '{"replicas":2,"raw":{"a":1},"paused":true}'],
    ['null removes', '{"replicas":1}', '{"replicas":null,"paused":null}', '{}'],
    [
      'lists by merge key, sent items first',
      '{"containers":[{"name":"a","image":"1"},{"name":"b"}]}',
      '{"containers":[{"name":"c"},{"name":"a","image":"2"}]}',
      '{"containers":[{"name":"c"},{"name":"a","image":"2"},{"name":"b"}]}',
    ],
    [
      'live items keep their place',
      '{"containers":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]}',
      '{"containers":[{"name":"d"},{"name":"b"},{"name":"x"}]}',
      '{"containers":[{"name":"a"},{"name":"c"},{"name":"d"},{"name":"b"},{"name":"x"}]}',
    ],
    [
      'plain lists are replaced',
      '{"containers":[{"name":"a","args":["x"]}]}',
      '{"containers":[{"name":"a","args":["y"]}]}',
      '{"containers":[{"name":"a","args":["y"]}]}',
    ],
    [
      '$patch delete of an item',
      '{"containers":[{"name":"a"},{"name":"b"}]}',
      '{"containers":[{"name":"a","$patch":"delete"}]}',
      '{"containers":[{"name":"b"}]}',
    ],
    [
      '$patch replace of a list',
      '{"containers":[{"name":"a"},{"name":"b"}]}',
      '{"containers":[{"$patch":"replace"},{"name":"c"}]}',
      '{"containers":[{"name":"c"}]}',
    ],
    ['$patch replace of an object', '{"replicas":1,"paused":true}', '{"$patch":"replace","replicas":5}', '{"replicas":5}'],
    ['$patch delete of an object', '{"replicas":1}', '{"$patch":"delete"}', '{}'],
    [
      '$retainKeys',
      '{"volumes":[{"name":"v","emptyDir":{}}]}',
      '{"volumes":[{"name":"v","hostPath":{"path":"/x"},"$retainKeys":["name","hostPath"]}]}',
      '{"volumes":[{"name":"v","hostPath":{"path":"/x"}}]}',
    ],
    [
      '$setElementOrder',
      '{"containers":[{"name":"a"},{"name":"b"}]}',
      '{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"a","image":"2"}]}',
      '{"containers":[{"name":"b"},{"name":"a","image":"2"}]}',
    ],
    [
      '$setElementOrder alone',
      '{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}',
      '{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]}',
      '{"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]}',
    ],
    [
      'new values lose their directives and nulls',
      '{}',
      '{"containers":[{"name":"a","$patch":"delete"},{"name":"b","image":null}]}',
      '{"containers":[{"name":"b"}]}',
    ],
    [
      'numbers are keys too',
      '{"containers":[{"name":"a","ports":[{"containerPort":80,"protocol":"TCP"}]}]}',
      '{"containers":[{"name":"a","ports":[{"containerPort":80,"protocol":"UDP"},{"containerPort":443}]}]}',
      '{"containers":[{"name":"a","ports":[{"containerPort":80,"protocol":"UDP"},{"containerPort":443}]}]}',
    ],
  ])('%s', (_title, document, patch, result) => expect(spec(document, patch)).toBe(result));

  test('lists of scalars', () => {
    expect(finalizers('{"finalizers":["a"]}', '{"finalizers":["b"]}')).toEqual(['b', 'a']);
    expect(finalizers('{"finalizers":["a","b"]}', '{"$deleteFromPrimitiveList/finalizers":["a"]}')).toEqual(['b']);
    expect(finalizers('{"finalizers":["a","b"]}', '{"$setElementOrder/finalizers":["b","a"]}')).toEqual(['b', 'a']);
  });

  test.each([
    ['{"containers":[{"image":"nameless"}]}', '500 map: map[image:nameless] does not contain declared merge key: name'],
    ['{"$patch":"bogus"}', '500 unknown patch type: bogus in map: map[$patch:bogus]'],
    ['{"containers":[{"name":"a","$patch":"merge"}]}', '500 merging lists cannot yet be specified in the patch'],
    ['{"$setElementOrder$":1}', '500 expected a []interface {}, but received a int64'],
    ['{"$setElementOrder":[]}', '400 invalid patch format of setElementOrder list'],
    ['{"$deleteFromPrimitiveList":[]}', '400 invalid patch format of primitive list'],
    ['{"volumes":[{"name":"v","$retainKeys":1}]}', '400 invalid patch format of retainKeys'],
    ['{"volumes":[{"name":"v","hostPath":{},"$retainKeys":["name"]}]}', '400 invalid patch format of retainKeys'],
    ['{"containers":["x"]}', '500 list element types are not identical: [[map[name:a]] [x]]'],
    [
      '{"containers":[{"name":"a"}],"$setElementOrder/containers":[{"name":"b"}]}',
      "500 The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
    ],
    ['{"settings":{"k":{"name":"b"}}}', '500 merging an object in json but data type is not struct, instead is: map'],
    ['{"raw":{"x":{"y":2}}}', '500 unable to find api field in struct  for the json field "x"'],
  ])('refuses %s', (patch, message) => expect(refusal(patch)).toBe(message));

  test('changes neither side, nor a prototype', () => {
    const document = parseJson('{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80}]}]}}') as JsonObject;
    const patch = parseStrategicMergePatch(
      '{"spec":{"$retainKeys":["containers"],"containers":[{"name":"a","image":"x","ports":[{"containerPort":80,"$patch":"delete"}]}]},"__proto__":{"polluted":1}}',
    );
    const before = stringifyJson([document, patch]);
    runAtOnce(applyStrategicMergePatch(thing, document, patch));
    expect(stringifyJson([document, patch])).toBe(before);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('what a patch asks for is bounded', () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

  test('deletions are looked up', () => {
    const list = names(40_000);
    const budget = new StepBudget(2_000_000);
    const merge = (document: object, patch: object): JsonObject =>
      runAtOnce(applyStrategicMergePatch(thing, document as JsonObject, patch as JsonObject, budget));
    expect(merge({ metadata: { finalizers: list } }, { metadata: { '$deleteFromPrimitiveList/finalizers': list } })).toEqual({ metadata: { finalizers: [] } });
    const containers = list.map((name) => ({ name }));
    const deleted = merge({ spec: { containers } }, { spec: { containers: list.map((name) => ({ name, $patch: 'delete' })) } });
    expect(deleted).toEqual({ spec: { containers: [] } });
    expect(budget.spent).toBeLessThan(2_000_000);
  });

  test('an item that is patched again and again counts each time', () => {
    const ports = names(1_000).map((_, index) => ({ containerPort: index }));
    const patch = JSON.stringify({ containers: names(2_000).map(() => ({ name: 'c', ports: [{ containerPort: 0, protocol: 'x' }] })) });
    expect(() => spec(JSON.stringify({ containers: [{ name: 'c', ports }] }), patch)).toThrow('limit is 350000 steps of a strategic merge patch');
  });
});
