import { expect, test } from 'vitest';
import { thing } from '../test-schemas.ts';
import { parseJson } from '../../encoding/json.ts';
import type { DuplicateKeys } from '../../encoding/json-parser.ts';
import type { Json } from '../../encoding/json-types.ts';
import { fillDefaults, fillSentDefaults } from './defaults.ts';
import { decodeInRuns } from '../decode-run.ts';
import type { ObjectSchema } from '../schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { hasUnknownFields, settleObject, shapeObject } from './shape.ts';
import { Structure } from './structure.ts';

const METADATA = thing.fields.get('metadata')!.type as ObjectSchema;
const SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: { type: 'integer', default: 1 },
        maybe: { type: 'string', nullable: true },
        list: { type: 'array', items: { type: 'object', properties: { x: { type: 'string' }, y: { type: 'integer', default: 2 } } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { z: { type: 'string' } } } },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: { type: 'object', properties: { k: { type: 'string' } } } } },
        pods: { type: 'object', additionalProperties: { type: 'object', 'x-kubernetes-embedded-resource': true } },
        embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

function shape(spec: Json): { spec: Json | undefined; errors: string[] } {
  const errors: string[] = [];
  const shaped = shapeObject(new Structure(SCHEMA), METADATA, { kind: 'T', apiVersion: 'g/v1', metadata: { name: 'n' }, spec }, { errors });
  return { spec: shaped['spec'], errors };
}

test('unknown fields go, and are told in the order of their paths', () => {
  expect(shape({ z: 1, list: [{ x: 'a', w: 1 }], map: { m: { z: 'a', q: 1 } } })).toEqual({
    spec: { list: [{ x: 'a' }], map: { m: { z: 'a' } } },
    errors: ['unknown field "spec.list[0].w"', 'unknown field "spec.map.m.q"', 'unknown field "spec.z"'],
  });
});

test('of repeated fields a hundred are told, of unknown ones all', () => {
  const fields = Array.from({ length: 150 }, (_, index) => `"f${index}":1,"f${index}":2`).join(',');
  const duplicates: DuplicateKeys = new Map();
  const value = parseJson(`{"spec":{${fields}}}`, duplicates);
  const errors: string[] = [];
  shapeObject(new Structure(SCHEMA), METADATA, value, { errors, duplicates });
  expect(errors.filter((error) => error.startsWith('duplicate field'))).toHaveLength(100);
  expect(errors.filter((error) => error.startsWith('unknown field'))).toHaveLength(150);
});

test('unknown fields stay where the schema says so, but not in what it knows', () => {
  expect(shape({ any: { b: [{ c: null }], known: { k: 'a', l: 1 } } })).toEqual({
    spec: { any: { b: [{ c: null }], known: { k: 'a' } } },
    errors: ['unknown field "spec.any.known.l"'],
  });
});

test('nulls go where they may not be and nothing stands in for them', () => {
  expect(shape({ a: null, maybe: null, list: null })).toEqual({ spec: { a: null, maybe: null }, errors: [] });
});

test('nulls that may not be stay where validation is to tell of them', () => {
  const kept = shapeObject(new Structure(SCHEMA), METADATA, { spec: { list: null, map: { m: null } } }, undefined, true);
  expect(kept['spec']).toEqual({ list: null, map: { m: null } });
});

test('embedded resources have a type and metadata', () => {
  expect(shape({ embedded: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'x', bogus: 1 }, more: 1 } })).toEqual({
    spec: { embedded: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'x' }, more: 1 } },
    errors: ['unknown field "spec.embedded.metadata.bogus"'],
  });
  expect(() => shape({ embedded: { kind: 1 } })).toThrow('spec.embedded.kind: Invalid value: 1: must be a string');
  expect(() => shape({ embedded: { kind: { b: { d: 1, c: 2 }, a: 3 } } })).toThrow(
    'spec.embedded.kind: Invalid value: {"a":3,"b":{"c":2,"d":1}}: must be a string',
  );
  expect(() => shape({ embedded: { metadata: 'text' } })).toThrow(/^spec\.embedded\.metadata: Invalid value: "text": json: cannot unmarshal string into /);
  expect(() => shape({ pods: { 'a b': { kind: [] } } })).toThrow('spec.pods[a b].kind: Invalid value: []: must be a string');
  expect(shape({ pods: { a: { metadata: { bogus: 1 } } } }).errors).toEqual(['unknown field "spec.pods[a].metadata.bogus"']);
});

test('keys such as __proto__ are data', () => {
  const spec = JSON.parse('{"any":{"__proto__":{"a":1},"constructor":2}}') as Json;
  expect(JSON.stringify(shape(spec).spec)).toBe('{"any":{"__proto__":{"a":1},"constructor":2}}');
});

test('keys are sorted, so that shaping twice changes nothing', () => {
  const once = shape({ maybe: 'b', a: 1, any: { d: 1, c: { b: 1, a: 2 } } }).spec!;
  expect(JSON.stringify(once)).toBe('{"a":1,"any":{"c":{"a":2,"b":1},"d":1},"maybe":"b"}');
  expect(JSON.stringify(shape(once).spec)).toBe(JSON.stringify(once));
});

test('defaults stand in for what is lacking, or null where it may not be', () => {
  const structure = new Structure(SCHEMA);
  const value = { spec: { a: null, list: [{ x: 'a' }, { y: 5 }], map: {} } };
  fillDefaults(structure, value);
  expect(value).toEqual({ spec: { a: 1, list: [{ x: 'a', y: 2 }, { y: 5 }], map: {} } });
  const none = {};
  fillDefaults(structure, none);
  expect(none).toEqual({});
});

test('what a client sends does not ask for defaults without end', () => {
  const fields = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`f${index}`, { type: 'string', default: 'x' }]));
  const whole = { type: 'array', items: { type: 'integer' }, default: Array.from({ length: 99 }, (_, index) => index) };
  const structure = (properties: object): Structure =>
    new Structure({ type: 'object', properties: { list: { type: 'array', items: { type: 'object', properties } } } } as ConstructorParameters<
      typeof Structure
    >[0]);
  const list = (length: number): Json => ({ list: Array.from({ length }, () => ({})) });
  fillSentDefaults(structure(fields), list(5_000));
  for (const [properties, length] of [
    [fields, 5_001],
    [{ whole }, 501],
  ] as const) {
    // prettier-ignore
    expect(() => fillSentDefaults(structure(properties), list(length))).toThrow('limit is 50000 values that are defaults');
    fillDefaults(structure(properties), list(length));
  }
});

test('what is wrong with metadata is told by name', () => {
  const metadata = { name: 1, labels: { b: 2, a: {} } } as unknown as Json;
  expect(() => shapeObject(new Structure(SCHEMA), METADATA, { metadata }, undefined)).toThrow(/cannot unmarshal object .*labels/);
});

test('a large object is shaped while others have their turn, with the same result', async () => {
  const items = Array.from({ length: 20_000 }, (_, index) => ({ x: `v${index}`, [`w${index}`]: null }));
  const value: Json = {
    kind: 'T',
    apiVersion: 'g/v1',
    metadata: { name: 'n', other: 1 },
    spec: { list: items.slice(0, 9_000), any: { b: [[...items], { z: 1, a: items.slice(0, 100) }] }, unknown: 1 },
  };
  const structure = new Structure(SCHEMA);
  const errors: string[] = [];
  const shaped = shapeObject(structure, METADATA, value, { errors });
  const errorsInTurns: string[] = [];
  let runs = 0;
  const inTurns = await decodeInRuns((run) => {
    runs++;
    return shapeObject(structure, METADATA, value, { errors: errorsInTurns }, false, run);
  });
  expect(JSON.stringify(inTurns)).toBe(JSON.stringify(shaped));
  expect(errorsInTurns).toEqual(errors);
  expect(runs).toBeGreaterThan(1);

  const settled = await decodeInRuns((run) => settleObject(structure, METADATA, value, run));
  expect(JSON.stringify(settled)).toBe(JSON.stringify(settleObject(structure, METADATA, value)));
  expect(hasUnknownFields(settled)).toBe(true);
});
