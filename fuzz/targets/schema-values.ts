import { fillDefaults } from '../../src/schema/structural/defaults.ts';
import type { JsonSchema } from '../../src/schema/structural/json-schema.ts';
import { Structure } from '../../src/schema/structural/structure.ts';
import { validateValue } from '../../src/schema/structural/value-faults.ts';
import { ApiError } from '../../src/api/errors.ts';
import { FieldErrors, TooManyFieldErrors } from '../../src/api/field-errors.ts';
import { parseJson } from '../../src/encoding/json.ts';
import { InputTooLarge, JsonError } from '../../src/encoding/json-parser.ts';
import type { FuzzTarget } from '../target.ts';

const SCHEMA: JsonSchema = {
  type: 'object',
  required: ['a'],
  properties: {
    a: { type: 'string', pattern: '^([a-z]+-?)+$', maxLength: 100 },
    b: { type: 'integer', minimum: 1, maximum: 10, multipleOf: 2, default: 4 },
    c: { type: 'array', uniqueItems: true, maxItems: 50, items: { type: 'string', enum: ['x', 'y', 'z'] } },
    d: { type: 'object', additionalProperties: { oneOf: [{ type: 'string', format: 'date-time' }, { type: 'number' }, { pattern: '(a|b)*c' }] } },
    e: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    f: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: { k: { type: 'string' } } },
    },
    g: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, not: { required: ['h'] }, minProperties: 1 },
    h: { type: 'string', format: 'uuid', nullable: true },
  },
};

/** A custom resource's value, by a schema of every kind of rule. */
export const schemaValues: FuzzTarget = {
  name: 'schema-values',
  isJson: true,
  seeds: () => ['{"a":"ab-cd","b":4,"c":["x","y"],"d":{"p":"2024-01-02T03:04:05Z","q":1.5,"r":"abc"},"e":"5","f":[{"k":"1"},{"k":"2"}],"g":{"z":[]},"h":null}'],
  tokens: ['"a":', '"c":["x"]', '{"k":"1"},', 'null', '1e300', '{', '}', '[', ']', ',', '"x",', '-', '0.1', 'abababab'],
  refusals: [JsonError, ApiError, InputTooLarge, TooManyFieldErrors],
  run(input) {
    const value = parseJson(input);
    fillDefaults(new Structure(SCHEMA), value);
    validateValue(SCHEMA, value, new FieldErrors());
  },
};
