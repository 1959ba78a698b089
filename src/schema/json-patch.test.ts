import { describe, expect, test } from 'vitest';
import { isApiError } from '../api/errors.ts';
import { parseJson, stringifyJson } from '../encoding/json.ts';
import { runAtOnce } from '../util/time-slice.ts';
import type { Json } from '../encoding/json-types.ts';
import { applyJsonPatch as applyInSteps, type JsonPatchOperation, parseJsonPatch as parseInSteps } from './json-patch.ts';

const parseJsonPatch = (body: string, errors?: string[]) => runAtOnce(parseInSteps(body, errors));
const applyJsonPatch = (document: Json, operations: JsonPatchOperation[]) => runAtOnce(applyInSteps(document, operations));
const apply = (document: string, patch: string): string => stringifyJson(applyJsonPatch(parseJson(document), parseJsonPatch(patch)));
const codeOf = (run: () => unknown): number | undefined => {
  try {
    run();
  } catch (error) {
    return isApiError(error) ? error.code : undefined;
  }
  return 200;
};

describe('applyJsonPatch', () => {
  test.each([
    ['{"a":1}', '[{"op":"add","path":"/b","value":{"c":2}}]', '{"a":1,"b":{"c":2}}'],
    ['{"a":[1,3]}', '[{"op":"add","path":"/a/1","value":2},{"op":"add","path":"/a/-","value":4},{"op":"add","path":"/a/-1","value":5}]', '{"a":[1,2,3,4,5]}'],
    ['{"a":{"b":1,"c":2}}', '[{"op":"remove","path":"/a/b"}]', '{"a":{"c":2}}'],
    ['{"a":[1,2,3]}', '[{"op":"remove","path":"/a/-1"},{"op":"replace","path":"/a/0","value":9}]', '{"a":[9,2]}'],
    ['{"a":1}', '[{"op":"replace","path":"/b","value":2}]', '{"a":1,"b":2}'],
    ['{"a/b":1,"m~n":2}', '[{"op":"remove","path":"/a~1b"},{"op":"test","path":"/m~0n","value":2}]', '{"m~n":2}'],
    ['{"a":{"x":1},"b":{}}', '[{"op":"move","from":"/a/x","path":"/b/y"}]', '{"a":{},"b":{"y":1}}'],
    ['{"a":{"x":[1]}}', '[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/x/-","value":2}]', '{"a":{"x":[1]},"b":{"x":[1,2]}}'],
    ['{"a":null}', '[{"op":"test","path":"/a","value":null},{"op":"test","path":"/zzz"}]', '{"a":null}'],
    ['{"a":1}', '[{"op":"replace","path":"","value":{"b":2}}]', '{"b":2}'],
    ['{"z":1,"a":{"z":1,"y":2}}', '[{"op":"add","path":"/c","value":{"z":1,"a":2}}]', '{"a":{"z":1,"y":2},"c":{"z":1,"a":2},"z":1}'],
    ['{"z":1,"a":{"z":1,"y":{"z":1,"x":2}}}', '[{"op":"test","path":"/a/z","value":1}]', '{"a":{"y":{"z":1,"x":2},"z":1},"z":1}'],
    ['{"a":1}', 'null', '{"a":1}'],
  ])('%s with %s', (document, patch, result) => expect(apply(document, patch)).toBe(result));

  test.each([
    '[{"op":"remove","path":"/zzz"}]',
    '[{"op":"frobnicate","path":"/a"}]',
    '[{"op":"add","value":1}]',
    '[{"op":"add","path":"","value":1}]',
    '[{"op":"add","path":"/x/y","value":1}]',
    '[{"op":"add","path":"/a/b","value":1}]',
    '[{"op":"add","path":"/list/7","value":1}]',
    '[{"op":"replace","path":"/list/x","value":1}]',
    '[{"op":"test","path":"/a","value":2}]',
    '[{"op":"move","from":"/zzz","path":"/b"}]',
    '[{"op":"copy","path":"/b"}]',
    '[{"op":"copy","from":"","path":"/b"}]',
  ])('%s does not apply', (patch) => expect(codeOf(() => apply('{"a":1,"list":[1]}', patch))).toBe(422));

  test('leaves the document and the prototype as they were', () => {
    const document = parseJson('{"a":{"b":[1]}}');
    applyJsonPatch(
      document,
      parseJsonPatch(
        '[{"op":"add","path":"/a/b/0","value":0},{"op":"add","path":"/__proto__","value":{"polluted":1}},{"op":"add","path":"/a/constructor","value":2}]',
      ),
    );
    expect(stringifyJson(document)).toBe('{"a":{"b":[1]}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(codeOf(() => apply('{}', '[{"op":"add","path":"/__proto__/polluted","value":1}]'))).toBe(422);
    expect(codeOf(() => apply('{}', '[{"op":"add","path":"/constructor/prototype/polluted","value":1}]'))).toBe(422);
  });

  test('bounds what is copied', () => {
    const patch = `[${Array.from({ length: 30 }, (_, index) => `{"op":"copy","from":"/a","path":"/a/x${index}"}`).join(',')}]`;
    expect(codeOf(() => apply(`{"a":{"b":"${'x'.repeat(10_000)}"}}`, patch))).toBe(422);
  });
});

describe('parseJsonPatch', () => {
  test('finds unknown fields', () => {
    const errors: string[] = [];
    parseJsonPatch('[{"op":"add","path":"/a","foo":1,"value":{"a":1,"a":2}}]', errors);
    expect(errors).toEqual(['json patch unknown field "[0].foo"']);
  });

  test('refuses what is no patch', () => {
    expect(() => parseJsonPatch('{}', [])).toThrow('error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp');
    expect(() => parseJsonPatch('"text"')).toThrow('json: cannot unmarshal string into Go value of type jsonpatch.Patch');
    expect(() => parseJsonPatch('[1]')).toThrow('json: cannot unmarshal number into Go value of type jsonpatch.Operation');
    expect(parseJsonPatch('[{"op":1,"path":"/a","value":2}]')).toEqual([{ path: '/a', value: 2 }]);
    expect(() => parseJsonPatch('[{"op":1}]', [])).toThrow(
      'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    );
    expect(() => parseJsonPatch('[', [])).toThrow('error decoding patch: unexpected end of JSON input');
    const many = `[${Array(10_001).fill('{"op":"test","path":"/a"}').join(',')}]`;
    expect(() => parseJsonPatch(many)).toThrow('Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001');
  });
});

test('values cannot be put into each other without end', () => {
  const deep = `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`;
  const path = '/a'.repeat(600);
  expect(codeOf(() => apply('{}', `[{"op":"add","path":"/a","value":${deep}},{"op":"add","path":"${path}","value":${deep}}]`))).toBe(422);
});

describe('what a patch asks for is bounded', () => {
  const numbers = `[${Array.from({ length: 90_000 }, () => 1).join(',')}]`;

  test('copies count as values', () => {
    expect(codeOf(() => apply(`{"a":${numbers}}`, '[{"op":"copy","from":"/a","path":"/b"}]'))).toBe(200);
    expect(codeOf(() => apply(`{"a":${numbers}}`, '[{"op":"copy","from":"/a","path":"/b"},{"op":"copy","from":"/a","path":"/c"}]'))).toBe(413);
  });

  test('insertions count the items that they move', () => {
    const inserts = (path: string, count: number): string => `[${Array.from({ length: count }, () => `{"op":"add","path":"${path}","value":1}`).join(',')}]`;
    expect(codeOf(() => apply(`{"a":${numbers}}`, inserts('/a/-', 10_000)))).toBe(200);
    expect(codeOf(() => apply(`{"a":${numbers}}`, inserts('/a/0', 1_000)))).toBe(200);
    expect(codeOf(() => apply(`{"a":${numbers}}`, inserts('/a/0', 10_000)))).toBe(413);
  });

  test('paths count their steps', () => {
    const deep = `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`;
    const tests = Array.from({ length: 1_000 }, () => `{"op":"test","path":"${'/a'.repeat(500)}","value":1}`);
    expect(codeOf(() => apply(deep, `[${tests.slice(0, 300).join(',')}]`))).toBe(200);
    expect(codeOf(() => apply(deep, `[${tests.join(',')}]`))).toBe(413);
  });
});
