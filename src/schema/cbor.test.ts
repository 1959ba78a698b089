import { describe, expect, test } from 'vitest';
import { decodeCbor } from '../encoding/cbor-reader.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { cborContentType, cborTypeMeta, decodeCborObject, readContent } from './cbor-decode.ts';
import { encodeCbor, encodeCborItem } from './cbor-encode.ts';
import type { StrictErrors } from './decode.ts';
import { thing } from './test-schemas.ts';

const sent = (value: Json): Buffer => encodeCbor(value, undefined);
const decoded = (value: Json, strict?: StrictErrors): JsonObject => decodeCborObject(thing, sent(value), strict).object;

describe('encodeCbor', () => {
  test('is deterministic, and has the tag by which CBOR is known', () => {
    const hex = encodeCbor({ kind: 'Thing', apiVersion: 'v1', b: null, a: [true, 'x'] }, undefined).toString('hex');
    expect(hex).toBe('d9d9f7a4416182f541784162f6446b696e64455468696e674a61706956657273696f6e427631');
  });

  test('the type says what is bytes', () => {
    expect(encodeCborItem({ data: { a: 'aGk=' } }, thing).toString('hex')).toBe('a14464617461a14161d6426869');
    expect(encodeCborItem({ other: { a: 'aGk=' } }, thing).toString('hex')).toBe('a1456f74686572a141614461476b3d');
  });

  test('the type says what is a float', () => {
    expect(encodeCborItem(1, { type: 'double' }).toString('hex')).toBe('f93c00');
    expect(encodeCborItem(1, undefined).toString('hex')).toBe('01');
  });

  test('what is absent is left out', () => expect(encodeCborItem({ a: undefined }, undefined).toString('hex')).toBe('a0'));
});

describe('decodeCborObject', () => {
  test('comes to the same as JSON', () => {
    const object = { kind: 'Thing', apiVersion: 'v1', metadata: { name: 'x' }, spec: { replicas: 3, containers: [{ name: 'a', image: 'i', resources: {} }] } };
    expect(JSON.stringify(decoded(object))).toBe(JSON.stringify(object));
    expect(JSON.stringify(decoded({ data: { a: 'aGk=' } }))).toContain('"data":{"a":"aGk="}');
    expect(JSON.stringify(decodeCborObject(thing, encodeCbor({ data: { a: 'aGk=' } }, thing)).object)).toContain('"data":{"a":"aGk="}');
  });

  test.each<[Json, string]>([
    [{ spec: { replicas: '3' } }, 'cbor: cannot unmarshal byte string into Go struct field v1.Thing.spec of type int32'],
    [{ spec: { replicas: 1.5 } }, 'cbor: cannot unmarshal primitives into Go struct field v1.Thing.spec of type int32'],
    [
      { spec: { replicas: 4294967296 } },
      'cbor: cannot unmarshal positive integer into Go struct field v1.Thing.spec of type int32 (4294967296 overflows int32)',
    ],
    [{ spec: { paused: 1 } }, 'cbor: cannot unmarshal positive integer into Go struct field v1.Thing.spec of type bool'],
    [
      { spec: [] },
      'cbor: cannot unmarshal array into Go struct field v1.Thing.spec of type v1.ThingSpec (cannot decode CBOR array to struct without toarray option)',
    ],
    [{ spec: { containers: {} } }, 'cbor: cannot unmarshal map into Go struct field v1.Thing.spec of type []v1.Container'],
    [{ spec: { target: true } }, 'cbor: cannot unmarshal primitives into Go struct field v1.Thing.spec of type int32'],
    [{ spec: { timeout: '1x' } }, 'time: unknown unit "x" in duration "1x"'],
    [{ data: { a: '?' } }, 'cbor: failed to decode base64 from byte string: illegal base64 data at input byte 0'],
    [[], 'cbor: cannot unmarshal array into Go value of type v1.Thing (cannot decode CBOR array to struct without toarray option)'],
  ])('refuses %j', (value, message) => expect(() => decoded(value)).toThrow(message));

  test('of unknown fields the first is told, by its place', () => {
    const strict: StrictErrors = { errors: [] };
    decoded({ kind: 'Thing', spec: { foo: 1 }, apiVersion: 'v1' }, strict);
    expect(strict.errors).toEqual(['cbor: found unknown field at map element index 0']);
    expect(() => decoded({ kind: 'Thing', spec: { foo: 1, paused: 1 } }, { errors: [] })).toThrow('of type bool');
  });

  test.each([
    ['a2446b696e644154446b696e644154', 'cbor: found duplicate map key "kind" at map element index 1'],
    ['a205010501', 'cbor: found duplicate map key 5 at map element index 1'],
    ['a1f501', 'cbor: cannot unmarshal primitives into Go value of type string (map key is of type primitives and cannot be used to match struct field name)'],
    ['a14464617461a1416161', 'unexpected EOF'],
    ['a14464617461a141616161', 'cbor: cannot unmarshal UTF-8 text string into Go struct field v1.Thing.data of type []uint8'],
  ])('refuses %s', (hex, message) => expect(() => decodeCborObject(thing, Buffer.from(hex, 'hex'))).toThrow(message));

  test('bytes may come as a list of numbers', () => {
    expect(decodeCborObject(thing, Buffer.from('a14464617461a141618218681869', 'hex')).object['data']).toEqual({ a: 'aGk=' });
  });
});

describe('the type of a body', () => {
  test('is read before all else', () => {
    expect(cborTypeMeta(sent({ kind: 'Thing', apiVersion: 'v1', spec: 5 }))).toEqual({ kind: 'Thing', apiVersion: 'v1' });
    expect(cborTypeMeta(sent({ apiVersion: 'a/b/c' }))).toEqual({ kind: '', apiVersion: '' });
    expect(() => cborTypeMeta(sent({ kind: 5 }))).toThrow('cbor: cannot unmarshal positive integer into Go struct field v1.TypeMeta.kind of type string');
  });

  test('of content without a type is what is text', () =>
    expect(cborContentType(sent({ kind: 5, apiVersion: 'g/v1' }))).toEqual({ kind: '', apiVersion: 'g/v1' }));
});

test('content without a type', () => {
  const content = { kind: 'T', n: [1, -1, 1.5, null, 'x'], __proto__x: {} };
  expect(readContent(sent(content))).toEqual(decodeCbor(sent(content)));
  expect(readContent(Buffer.from([0xf6]))).toEqual({});
  expect(() => readContent(sent([]))).toThrow('cbor: cannot unmarshal array into Go value of type map[string]interface {}');
});
