import type { JsonObject } from '../../util/json-types.ts';

/** The keys of a JSON schema as upstream's encoder writes them (kube-openapi/pkg/validation/spec, SchemaProps and SwaggerSchemaProps). */
const KEYS = [
  'description',
  'type',
  'nullable',
  'format',
  'title',
  'default',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'enum',
  'maxProperties',
  'minProperties',
  'required',
  'items',
  'allOf',
  'oneOf',
  'anyOf',
  'not',
  'properties',
  'additionalProperties',
  'externalDocs',
  'example',
];
const POSITIONS = new Map(KEYS.map((key, position) => [key, position]));

/** Keys whose values may be anything. */
const ANY_VALUE = new Set(['default', 'example', 'additionalProperties']);

/** Without what Go leaves out as empty; extensions come last, by name. */
export function orderedSchema(schema: JsonObject): JsonObject {
  const keys = Object.keys(schema).filter((key) => ANY_VALUE.has(key) || (schema[key] !== '' && schema[key] !== false));
  return Object.fromEntries(keys.toSorted(compareKeys).map((key) => [key, schema[key]]));
}

function compareKeys(a: string, b: string): number {
  const difference = (POSITIONS.get(a) ?? KEYS.length) - (POSITIONS.get(b) ?? KEYS.length);
  return difference === 0 ? (a < b ? -1 : 1) : difference;
}
