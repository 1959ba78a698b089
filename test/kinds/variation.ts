import type { FieldSchema, ObjectSchema, ScalarSchema, TypeSchema } from '../../src/schema/schema.ts';
import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';

/* Objects that fit their schema, made by changing one that is valid. Whether a kind's own rules accept them is for the server to say. */

const WORDS = ['a', 'web', 'http', 'TCP', 'example.com', 'example.com/thing', 'v1', '10.0.0.1', 'node-1', '/var/lib/x', 'ü'];
const SCALARS: Record<ScalarSchema['type'], readonly Json[]> = {
  string: WORDS,
  boolean: [true, false],
  int32: [0, 1, 2, 10, 100, 8080],
  int64: [0, 1, 60, 3600, 9007199254740993n],
  double: [0, 0.5, 1e21],
  bytes: ['', 'YQ==', 'AAECAwQ='],
  quantity: ['0', '1', '500m', '1Gi', '1.5', '1e3'],
  time: ['2026-01-02T03:04:05Z'],
  microTime: ['2026-01-02T03:04:05.000006Z'],
  duration: ['1m30s', '0s'],
  intOrString: [0, 1, 80, '50%', 'http'],
  any: [{ a: 1 }, { 'b.c': [true, null, 'x'], d: { e: 1.5 } }],
};
const MAX_DEPTH = 6;

/** Sets, replaces or goes into one field. System metadata stays as it is. */
export function vary(schema: ObjectSchema, object: JsonObject, random: Random, depth = 0): void {
  const fields = [...schema.fields.values()].filter(({ name }) => depth > 0 || !['kind', 'apiVersion', 'metadata', 'status'].includes(name));
  if (fields.length === 0) return;
  const field = random.pick(fields);
  const value = object[field.name];
  if (!goInto(field.type, value, random, depth)) object[field.name] = valueOf(field, random, depth + 1);
}

/** Whether there was something to go into, and the way was taken. */
function goInto(type: TypeSchema, value: Json | undefined, random: Random, depth: number): boolean {
  if (value === null || typeof value !== 'object' || random.chance(0.15)) return false;
  if (type.type === 'object') {
    vary(type, value as JsonObject, random, depth + 1);
    return true;
  }
  if (type.type !== 'list' || !Array.isArray(value) || value.length === 0) return false;
  return goInto(type.items, random.pick(value), random, depth);
}

const valueOf = ({ type }: FieldSchema, random: Random, depth: number): Json => valueFor(type, random, depth);

function valueFor(type: TypeSchema, random: Random, depth: number): Json {
  switch (type.type) {
    case 'object':
      return objectFor(type, random, depth);
    case 'list':
      return Array.from({ length: depth > MAX_DEPTH ? 0 : 1 + random.below(2) }, () => valueFor(type.items, random, depth + 1));
    case 'map':
      return Object.fromEntries(WORDS.slice(0, random.below(3)).map((key) => [key, valueFor(type.values, random, depth + 1)]));
    default:
      return type.enum !== undefined ? random.pick(type.enum) : random.pick(SCALARS[type.type]);
  }
}

/** With what is required, and now and then more. */
function objectFor({ fields }: ObjectSchema, random: Random, depth: number): JsonObject {
  const chosen = [...fields.values()].filter(({ required }) => required || (depth < MAX_DEPTH && random.chance(0.2)));
  return Object.fromEntries(chosen.map((field) => [field.name, valueOf(field, random, depth + 1)]));
}
