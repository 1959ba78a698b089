import { expect, test } from 'vitest';
import { FieldErrors } from '../../api/field-errors.ts';
import type { Json } from '../../encoding/json-types.ts';
import type { JsonSchema } from './json-schema.ts';
import { validateListTypes } from './list-items.ts';
import { Structure } from './structure.ts';

const SET: JsonSchema = { type: 'array', 'x-kubernetes-list-type': 'set', items: {} };
const MAP: JsonSchema = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'b'], items: { type: 'object' } };

const validate = (schema: JsonSchema, value: Json): string[] => {
  const errors = new FieldErrors();
  validateListTypes(new Structure({ type: 'object', properties: { list: schema } }), { list: value }, errors);
  return errors.list.map(({ field, body }) => `${field}: ${body}`);
};

test.each<[JsonSchema, Json, string[]]>([
  [SET, ['a', 'b', 'a', 'a'], ['list[2]: Duplicate value: "a"']],
  [SET, ['1', 1, true, 'true', null, 'null'], []],
  [SET, [{ x: 1 }, { x: 1 }], ['list[1]: Duplicate value: {"x":1}']],
  [
    MAP,
    [
      { a: '1', b: 2 },
      { a: '1', b: 3 },
      { a: '1', b: 2, c: 0 },
    ],
    ['list[2]: Duplicate value: {"a":"1","b":2}'],
  ],
  // What stands in one key is not taken for a part of another, nor a text for a number.
  [MAP, [{ a: 'x', b: 'y' }, { a: 'x","y' }, { a: 1 }, { a: '1' }, { b: 1 }], []],
  [MAP, [{ a: 1 }, 'text'], ['list[1]: Invalid value: "text": must be an object for an array of list-type map']],
])('%o validates %o', (schema, value, errors) => {
  expect(validate(schema, value)).toEqual(errors);
});
