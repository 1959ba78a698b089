import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';

/* Structural schemas of custom resources, and values that fit them. */

export interface CustomSchema extends JsonObject {
  type?: string;
}

const MAX_DEPTH = 3;
const FORMATS = ['date-time', 'date', 'uuid', 'ipv4', 'cidr', 'email', 'hostname', 'uri', 'byte', 'duration', 'int32', 'unknown-format'];
const RULES: Record<string, readonly string[]> = {
  string: ["self != 'forbidden'", 'self.size() < 9', "self.startsWith('a') || self.size() == 0", 'self == oldSelf', "self.matches('^[a-z]*$')"],
  integer: ['self >= 0', 'self < 100', 'self >= oldSelf', 'self % 2 == 0'],
  number: ['self >= 0.5', 'self <= oldSelf'],
  boolean: ['self || !self', 'self == oldSelf'],
  array: ['self.size() < 4', 'self.all(x, x == x)', 'oldSelf.all(x, x in self)'],
  object: ['!has(self.a) || self.a != self.a || true', 'self == oldSelf', 'has(self.a)'],
};

/** A schema of any type. What it says is structural, but now and then not. */
export function makeSchema(random: Random, depth = 0): CustomSchema {
  const types =
    depth >= MAX_DEPTH
      ? ['string', 'integer', 'boolean']
      : ['string', 'string', 'integer', 'number', 'boolean', 'array', 'array', 'object', 'object', 'map', 'intOrString', 'any'];
  const type = random.pick(types);
  const schema = schemaOfType(type, random, depth);
  if (random.chance(0.1)) schema['nullable'] = true;
  if (random.chance(0.1)) schema['description'] = `what ${type} is for`;
  if (schema.type !== undefined && random.chance(0.15)) schema['x-kubernetes-validations'] = [makeRule(schema.type, random)];
  if (random.chance(0.2)) {
    const value = makeValue(schema, random);
    if (value !== null) schema['default'] = value;
  }
  return schema;
}

function schemaOfType(type: string, random: Random, depth: number): CustomSchema {
  switch (type) {
    case 'string':
      return stringSchema(random);
    case 'integer':
    case 'number':
      return {
        type,
        ...(random.chance(0.2) && { minimum: random.pick([0, 1, -5]) }),
        ...(random.chance(0.2) && { maximum: random.pick([10, 100]) }),
        ...(random.chance(0.05) && { multipleOf: 2 }),
        ...(random.chance(0.1) && { exclusiveMinimum: true, minimum: 0 }),
        ...(random.chance(0.1) && { format: type === 'integer' ? random.pick(['int32', 'int64']) : random.pick(['float', 'double']) }),
      };
    case 'array':
      return arraySchema(random, depth);
    case 'object':
      return objectSchema(random, depth);
    case 'map':
      return { type: 'object', additionalProperties: makeSchema(random, depth + 1), ...(random.chance(0.2) && { maxProperties: 2 }) };
    case 'intOrString':
      return { 'x-kubernetes-int-or-string': true };
    case 'any':
      return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...(random.chance(0.2) && { 'x-kubernetes-embedded-resource': true }) };
    default:
      return { type };
  }
}

function stringSchema(random: Random): CustomSchema {
  return {
    type: 'string',
    ...(random.chance(0.15) && { maxLength: random.pick([1, 5, 64]) }),
    ...(random.chance(0.1) && { minLength: 1 }),
    ...(random.chance(0.15) && { enum: ['a', 'b', 'c'] }),
    ...(random.chance(0.1) && { pattern: random.pick(['^[a-z]+$', '^a', '[0-9]{2}']) }),
    ...(random.chance(0.1) && { format: random.pick(FORMATS) }),
  };
}

function arraySchema(random: Random, depth: number): CustomSchema {
  const limits = { ...(random.chance(0.2) && { maxItems: 2 }), ...(random.chance(0.1) && { minItems: 1 }) };
  const kind = random.below(4);
  if (kind === 0) return { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', ...limits };
  if (kind > 1) return { type: 'array', items: makeSchema(random, depth + 1), ...(random.chance(0.3) && { 'x-kubernetes-list-type': 'atomic' }), ...limits };
  const items = objectSchema(random, depth + 1);
  items['properties'] = { name: { type: 'string' }, ...(items['properties'] as JsonObject) };
  items['required'] = ['name'];
  return { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], ...limits };
}

function objectSchema(random: Random, depth: number): CustomSchema {
  const names = ['a', 'b', 'c', 'd-e', 'type'].filter(() => random.chance(0.5));
  const properties = Object.fromEntries(names.map((name) => [name, makeSchema(random, depth + 1)]));
  return {
    type: 'object',
    properties,
    ...(names.length > 0 && random.chance(0.25) && { required: [random.pick(names)] }),
    ...(random.chance(0.1) && { 'x-kubernetes-preserve-unknown-fields': true }),
    ...(random.chance(0.1) && { 'x-kubernetes-map-type': 'atomic' }),
    ...(names.length > 1 && random.chance(0.08) && { oneOf: names.slice(0, 2).map((name) => ({ required: [name] })) }),
    ...(names.length > 0 && random.chance(0.05) && { not: { required: [names[0]!, 'nothing'] } }),
    ...(names.length > 0 && random.chance(0.05) && { anyOf: [{ properties: { [names[0]!]: {} } }, { required: names }] }),
  };
}

function makeRule(type: string, random: Random): JsonObject {
  const rule = random.chance(0.03) ? random.pick(['self.nothing', '1', 'self +', 'true', "'x'"]) : random.pick(RULES[type] ?? ['true']);
  return {
    rule,
    ...(random.chance(0.4) && { message: 'must be right' }),
    ...(random.chance(0.15) && { messageExpression: random.pick(["'it is ' + string(self)", "'always'", 'self']) }),
    ...(random.chance(0.2) && { reason: random.pick(['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate', 'Nothing']) }),
    ...(random.chance(0.1) && { fieldPath: random.pick(['.a', '.nothing', 'a']) }),
    ...(rule.includes('oldSelf') && random.chance(0.2) && { optionalOldSelf: random.chance(0.5) }),
  };
}

const TEXTS = ['', 'a', 'b', 'abc', 'forbidden', 'Z9', '12', 'a-long-text-of-some-size', '2020-01-01T00:00:00Z', '10.0.0.0/8', '1h', 'YQ=='];

/** A value that mostly fits. */
export function makeValue(schema: JsonObject, random: Random): Json {
  if (schema['nullable'] === true && random.chance(0.2)) return null;
  if (Array.isArray(schema['enum']) && random.chance(0.9)) return random.pick(schema['enum']);
  if (schema['x-kubernetes-int-or-string'] === true) return random.pick<Json>([1, '50%', 0]);
  switch (schema['type']) {
    case 'string':
      return random.pick(TEXTS);
    case 'integer':
      return random.pick([0, 1, 2, 4, 10, 50]);
    case 'number':
      return random.pick([0.5, 1, 2.25, 10]);
    case 'boolean':
      return random.chance(0.5);
    case 'array':
      return listFor(schema, random);
    default:
      return objectFor(schema, random);
  }
}

function listFor(schema: JsonObject, random: Random): Json[] {
  const items = Array.from({ length: random.below(3) }, () => makeValue(schema['items'] as JsonObject, random));
  if (schema['x-kubernetes-list-type'] === 'map')
    for (const [index, item] of items.entries()) (item as JsonObject)['name'] = random.chance(0.95) ? `item-${index}` : 'item-0';
  return schema['x-kubernetes-list-type'] === 'set' && random.chance(0.95) ? [...new Set(items)] : items;
}

function objectFor(schema: JsonObject, random: Random): JsonObject {
  const properties = schema['properties'] as Record<string, JsonObject> | undefined;
  const additional = schema['additionalProperties'] as JsonObject | undefined;
  if (schema['x-kubernetes-embedded-resource'] === true) return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inner' }, data: { a: 'b' } };
  if (additional) return Object.fromEntries(['k', 'l'].slice(0, random.below(3)).map((key) => [key, makeValue(additional, random)]));
  if (!properties) return random.pick<JsonObject>([{}, { a: 1 }, { x: { y: [1, 'z'] } }]);
  const required = (schema['required'] ?? []) as string[];
  const names = Object.keys(properties).filter((name) => random.chance(required.includes(name) ? 0.97 : 0.6));
  return { ...Object.fromEntries(names.map((name) => [name, makeValue(properties[name]!, random)])), ...(random.chance(0.1) && { unknownField: 1 }) };
}
