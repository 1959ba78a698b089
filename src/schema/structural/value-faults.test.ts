import { expect, test } from 'vitest';
import { FieldErrors } from '../../util/field-errors.ts';
import type { Json } from '../../util/json-types.ts';
import type { JsonSchema } from './json-schema.ts';
import { validateValue } from './value-faults.ts';

const judge = (schema: JsonSchema, value: Json): string[] => {
  const errors = new FieldErrors('at');
  validateValue(schema, value, errors);
  return errors.list.map(({ type, field, body }) => `${type} ${field}: ${body}`);
};

test.each<[JsonSchema, Json, string[]]>([
  [{ type: 'integer' }, 1, []],
  [{ type: 'number' }, 1, []],
  [
    { type: 'integer' },
    1.5,
    [
      'FieldValueTypeInvalid at: Invalid value: "number":  in body must be of type integer: "number"',
      'FieldValueInvalid at: Invalid value: "": Checked value must be of type integer (default format) in ',
    ],
  ],
  [{ 'x-kubernetes-int-or-string': true }, 'a', []],
  [{ 'x-kubernetes-int-or-string': true }, true, ['FieldValueTypeInvalid at: Invalid value: "boolean":  in body must be of type integer,string: "boolean"']],
  [{ type: 'string', nullable: true }, null, []],
  [{ type: 'string' }, null, ['FieldValueTypeInvalid at: Invalid value: "null":  in body must be of type string: "null"']],
  [{ enum: ['a', 1] }, 'b', ['FieldValueNotSupported at: Unsupported value: "b": supported values: "a", "1"']],
  [{ type: 'number', enum: [1, 2] }, 1.5, []],
  [{ maxLength: 1, pattern: '^x$' }, 'ab', ['FieldValueTooLong at: Too long: may not be more than 1 byte']],
  [
    { required: ['a'], allOf: [{ required: ['a'] }] },
    {},
    ['FieldValueRequired at.a: Required value', 'FieldValueInvalid at: Invalid value: "": "" must validate all the schemas (allOf). None validated'],
  ],
  [{ type: 'number', multipleOf: 0.5 }, 1e21, ['FieldValueInvalid at: Invalid value: 1e+21:  in body should be a multiple of 0.5']],
  [{ type: 'number', maximum: 1e21 }, 1, ['FieldValueInvalid at: Invalid value: 1:  in body should be less than or equal to -9223372036854775808']],
  [{ type: 'number', maximum: 1e21 }, 1.5, []],
  [{ type: 'integer', maximum: 1e21 }, 1, ['FieldValueInvalid at: Invalid value: "": Maximum boundary value must be of type integer (default format) in ']],
  [{ type: 'integer', format: 'uint32' }, -1, ['FieldValueInvalid at: Invalid value: "": Checked value must be of type integer with format uint32 in ']],
  [{ type: 'array', maxItems: 1 }, [1, 2], ['FieldValueTooMany at: Too many: 2: must have at most 1 item']],
  [{ enum: ['a'] }, { b: '<', c: 1e-7 }, ['FieldValueNotSupported at: Unsupported value: {"b":"\\u003c","c":1e-7}: supported values: "a"']],
  [{ maxLength: 1 }, 'ab', ['FieldValueTooLong at: Too long: may not be more than 1 byte']],
  [{ minLength: 3 }, 'ab', ['FieldValueInvalid at: Invalid value: "ab":  in body should be at least 3 chars long']],
  [
    { minimum: 2, maximum: 1, exclusiveMaximum: true },
    1,
    [
      'FieldValueInvalid at: Invalid value: 1:  in body should be greater than or equal to 2',
      'FieldValueInvalid at: Invalid value: 1:  in body should be less than 1',
    ],
  ],
  [
    { items: { type: 'string' }, maxItems: 1 },
    ['a', 2],
    [
      'FieldValueTypeInvalid at.[1]: Invalid value: "integer": [1] in body must be of type string: "integer"',
      'FieldValueTooMany at: Too many: 2: must have at most 1 item',
    ],
  ],
  [
    { required: ['a'], properties: { b: { type: 'string' } }, additionalProperties: false },
    { b: 1, c: 1 },
    [
      'FieldValueInvalid at: Invalid value: "c": .c in body is a forbidden property',
      'FieldValueTypeInvalid at.b: Invalid value: "integer": b in body must be of type string: "integer"',
      'FieldValueRequired at.a: Required value',
    ],
  ],
  [
    { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { a: 1, b: 1 },
    ['FieldValueInvalid at: Invalid value: "": "" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
  ],
  [{ not: { required: ['a'] } }, { a: 1 }, ['FieldValueInvalid at: Invalid value: "": "" must not validate the schema (not)']],
  [{ properties: { constructor: { type: 'string' } } }, {}, []],
])('%j judges %j', (schema, value, expected) => {
  expect(judge(schema, value)).toEqual(expected);
});
