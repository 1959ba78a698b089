import { describe, expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { runAtOnce } from '../util/time-slice.ts';
import { applyMergePatch, parseMergePatch as parseInSteps } from './merge-patch.ts';

const parseMergePatch = (body: string, errors?: string[]) => runAtOnce(parseInSteps(body, errors));
const apply = (document: string, patch: string): string => stringifyJson(runAtOnce(applyMergePatch(parseJson(document) as JsonObject, parseMergePatch(patch))));

describe('merge patch', () => {
  // RFC 7386, appendix A, where both sides are objects.
  test.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['{"e":null}', '{"a":1}', '{"a":1,"e":null}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    ['{"a":1}', '{"a":{"b":[null,{"c":null}]}}', '{"a":{"b":[null,{}]}}'],
  ])('%s with %s', (document, patch, result) => expect(apply(document, patch)).toBe(result));

  test('sorts the keys of what it merged, and only of that', () => {
    expect(apply('{"z":{"b":1,"a":2},"y":{"b":1,"a":2}}', '{"y":{"c":3}}')).toBe('{"y":{"a":2,"b":1,"c":3},"z":{"b":1,"a":2}}');
  });

  test('takes every key as data', () => {
    const merged = runAtOnce(applyMergePatch({}, parseMergePatch('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')));
    expect(Object.keys(merged!)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('refuses what is no object', () => {
    expect(() => parseMergePatch('nope', [])).toThrow("error decoding patch: invalid character 'o' in literal null (expecting 'u')");
    expect(() => parseMergePatch('[]', [])).toThrow('error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}');
    expect(() => parseMergePatch('null', [])).toThrow('Invalid JSON Patch');
    expect(() => parseMergePatch('nope')).toThrow('Invalid JSON Patch');
    expect(() => parseMergePatch('[]', [])).toThrow('error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}');
    expect(runAtOnce(applyMergePatch({ a: 1 }, parseMergePatch('[null, {"a": null}]')))).toEqual([null, {}]);
    const errors: string[] = [];
    parseMergePatch('{"a":{"b":1,"b":2}}', errors);
    expect(errors).toEqual(['duplicate field "a.b"']);
  });
});
