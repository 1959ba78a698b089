import { describe, expect, test } from 'vitest';
import { FieldErrors, TooManyFieldErrors } from '../../api/field-errors.ts';
import { validateInSlices } from '../../api/validation-run.ts';
import type { Json } from '../../encoding/json-types.ts';
import type { JsonSchema } from './json-schema.ts';
import { validateValue } from './value-faults.ts';

const validate = (schema: JsonSchema, value: Json): string[] => {
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
  // Bounds are integers to integers, and floating point to all else.
  [{ maximum: 1_000_000 }, 2_000_000, ['FieldValueInvalid at: Invalid value: 2000000:  in body should be less than or equal to 1000000']],
  [{ maximum: 1_000_000 }, 1_234_567.5, ['FieldValueInvalid at: Invalid value: 1.2345675e+06:  in body should be less than or equal to 1e+06']],
  [{ maximum: 1_000_000 }, 1e18, ['FieldValueInvalid at: Invalid value: 1e+18:  in body should be less than or equal to 1e+06']],
  [{ multipleOf: 2_000_000 }, 2_000_001.5, ['FieldValueInvalid at: Invalid value: 2.0000015e+06:  in body should be a multiple of 2e+06']],
  [{ type: 'integer' }, 1e18, ['FieldValueTypeInvalid at: Invalid value: "number":  in body must be of type integer: "number"']],
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
])('%j validates %j', (schema, value, expected) => {
  expect(validate(schema, value)).toEqual(expected);
});

describe('what a schema asks for is bounded', () => {
  const messages = (schema: object, value: Json): string[] => {
    const errors = new FieldErrors();
    validateValue(schema as JsonSchema, value, errors);
    return errors.list.map(({ field, body }) => `${field}: ${body}`);
  };
  const TOO_MUCH = /takes more than 400000 steps to validate by the schema/;

  test('an enumeration is looked up', () => {
    const choices = Array.from({ length: 50_000 }, (_, index) => `v${index}`);
    expect(messages({ items: { enum: choices } }, choices)).toEqual([]);
    expect(messages({ items: { enum: [{ a: 1, b: ['x'] }, 1, 'true', null] } }, [{ b: ['x'], a: 1 }, 1, 1.5, 'true'])).toEqual([]);
    expect(messages({ enum: ['true', '1', [1]] }, true)).toHaveLength(1);
    expect(messages({ items: { enum: ['true', '1', ['1'], { a: '1' }] } }, [1, [1], { a: 1 }])).toHaveLength(3);
  });

  test('properties are looked up', () => {
    const names = Array.from({ length: 50_000 }, (_, index) => `p${index}`);
    const schema = { items: { properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])) } };
    expect(
      messages(
        schema,
        Array.from({ length: 50_000 }, () => ({})),
      ),
    ).toEqual([]);
    expect(messages(schema, [{ p9: 'x', p3: 'y', other: 1 }]).map((message) => message.split(':')[0])).toEqual(['[0].p3', '[0].p9']);
  });

  test('alternatives and patterns have a number of steps in all', () => {
    const texts = Array.from({ length: 10_000 }, (_, index) => `text${index}`);
    expect(messages({ items: { anyOf: [{ pattern: '^x' }, { pattern: '^t' }] } }, texts)).toEqual([]);
    const patterns = Array.from({ length: 600 }, (_, index) => ({ pattern: `^t${index}` }));
    expect(messages({ items: { oneOf: patterns } }, texts.slice(0, 3)).at(-1)).not.toMatch(TOO_MUCH);
    expect(messages({ items: { oneOf: patterns } }, texts).at(-1)).toMatch(TOO_MUCH);
    const fitting = patterns.map((_, index) => ({ pattern: `^t${'e?'.repeat(index % 3)}` }));
    expect(messages({ items: { anyOf: [{ allOf: fitting }] } }, texts).at(-1)).toMatch(TOO_MUCH);
    const states = Array.from({ length: 30_000 }, (_, index) => (Math.sin(index * index) < 0 ? 'a' : 'b')).join('');
    expect(messages({ pattern: '[ab]*a[ab]{900}c' }, states)[0]).toMatch(TOO_MUCH);
  });

  test('what is told has an end', () => {
    const choices = Array.from({ length: 10_000 }, (_, index) => `v${index}`);
    const told: FieldErrors = new FieldErrors();
    expect(() =>
      validateValue(
        { items: { enum: choices } } as JsonSchema,
        Array.from({ length: 900 }, (_, index) => `w${index}`),
        told,
      ),
    ).toThrow(TooManyFieldErrors);
    expect(told.list.length).toBeLessThan(30);
  });
});

test('a long validation takes turns, with the same result', async () => {
  const patterns = Array.from({ length: 200 }, (_, index) => ({ pattern: `^[ab]{${index + 2}}c$` }));
  const text: JsonSchema = { type: 'string', oneOf: [...patterns, { pattern: '^ok' }] };
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: 'object', properties: { texts: { type: 'array', items: text } } } },
      map: { type: 'object', additionalProperties: text },
    },
  };
  const texts = Array.from({ length: 12 }, (_, index) => (index % 5 === 0 ? 'bad' : `ok${index}`));
  const value: Json = {
    list: Array.from({ length: 10 }, () => ({ texts })),
    map: Object.fromEntries(texts.map((item, index) => [`k${index}`, item])),
  };
  let runs = 0;
  const validateBy = (budgeted: Json) =>
    validateInSlices((beginPass) => {
      runs++;
      const errors = new FieldErrors('at');
      beginPass(errors);
      validateValue(schema, budgeted, errors);
      return errors.list.map(({ type, field, body }) => `${type} ${field}: ${body}`);
    });
  expect(await validateBy(value)).toEqual(validate(schema, value));
  expect(runs).toBeGreaterThan(1);
  // The budget is that of the whole, however many runs there are.
  const tooMuch: Json = { list: Array.from({ length: 40 }, () => ({ texts })) };
  expect(await validateBy(tooMuch)).toEqual(validate(schema, tooMuch));
  expect((await validateBy(tooMuch)).join()).toContain('takes more than 400000 steps');
});
