import type { Json, JsonObject } from '../../encoding/json-types.ts';

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

/** Without what Go leaves out as empty; extensions come last, by name. */
export function orderedSchema(schema: JsonObject): JsonObject {
  const ordered: JsonObject = {};
  for (const key of sortedSchemaKeys(schema)) if (isWritten(key, schema[key])) ordered[key] = schema[key];
  return ordered;
}

export const sortedSchemaKeys = (schema: JsonObject): string[] => Object.keys(schema).sort(compareKeys);

/** Whether Go does not leave it out as empty. */
export function isWritten(key: string, value: Json | undefined): boolean {
  if (key === 'default' || key === 'additionalProperties') return true;
  if (key === 'example') return value !== null && value !== '' && !(typeof value === 'object' && Object.keys(value).length === 0);
  return value !== '' && value !== false;
}

function compareKeys(a: string, b: string): number {
  const difference = (POSITIONS.get(a) ?? KEYS.length) - (POSITIONS.get(b) ?? KEYS.length);
  return difference === 0 ? (a < b ? -1 : 1) : difference;
}
