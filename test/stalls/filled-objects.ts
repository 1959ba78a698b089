import type { ListSchema, MapSchema, ObjectSchema, ScalarSchema, TypeSchema } from '../../src/schema/schema.ts';
import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import { type ExampleKind, freshCopy } from '../kinds/examples.ts';

/** Of what a body may hold (100,000 values), so much is put into one list or map. */
export const FILLED_VALUES = 90_000;
const MAX_BYTES = 2_900_000;
/** Types hold themselves (JSONSchemaProps): deeper ones are not gone into. */
const MAX_DEPTH = 10;

/** The way to a list or map from an object's top: names of fields, lists having one item on the way. */
export type Place = readonly string[];

/** Every list and map of a kind, by the type and field that it is of: types such as the spec of a pod are in many kinds. */
export function placesOf(schema: ObjectSchema): Map<string, Place[]> {
  const places = new Map<string, Map<string, Place>>();
  const visit = (type: TypeSchema, place: Place, above: readonly string[], owner: string): void => {
    if (type.type === 'list' || type.type === 'map') {
      places.set(owner, (places.get(owner) ?? new Map<string, Place>()).set(place.join('.'), place));
      visit(type.type === 'list' ? type.items : type.values, place, above, owner);
    } else if (type.type === 'object' && !above.includes(type.name) && above.length < MAX_DEPTH) {
      for (const field of type.fields.values()) visit(field.type, [...place, field.name], [...above, type.name], `${type.name}.${field.name}`);
    }
  };
  visit(schema, [], [], '');
  return new Map(Array.from(places, ([owner, found]) => [owner, [...found.values()]]));
}

/** The kind's example with the list or map at `place` filled; what is on the way there is made where the example has none. */
export function filled(kind: ExampleKind, place: Place, values = FILLED_VALUES): JsonObject {
  const object = known(kind.schema, freshCopy(kind, kind.examples[0] ?? { metadata: { name: 'filled' } })) as JsonObject;
  let holder: JsonObject = object;
  let type: ObjectSchema = kind.schema;
  for (const [index, name] of place.entries()) {
    const inner = type.fields.get(name)!.type;
    if (index === place.length - 1) {
      holder[name] = many(inner as ListSchema | MapSchema, values);
      return object;
    }
    const { next, element } = stepInto(inner, holder[name]);
    holder[name] = next;
    holder = element;
    type = innermost(inner);
  }
  return object;
}

/** Without fields that the type has not: an applied object with one of them is refused for it, whatever else it holds. */
function known(type: TypeSchema, value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return type.type === 'list' ? value.map((item) => known(type.items, item)) : value;
  const entries = Object.entries(value) as [string, Json][];
  if (type.type === 'map') return Object.fromEntries(entries.map(([key, inner]) => [key, known(type.values, inner)]));
  if (type.type !== 'object') return value;
  return Object.fromEntries(entries.flatMap(([name, inner]) => (type.fields.has(name) ? [[name, known(type.fields.get(name)!.type, inner)]] : [])));
}

const innermost = (type: TypeSchema): ObjectSchema =>
  type.type === 'list' ? innermost(type.items) : type.type === 'map' ? innermost(type.values) : (type as ObjectSchema);

/** The field's value with one object in it at least, and that object. */
function stepInto(type: TypeSchema, present: Json | undefined): { next: Json; element: JsonObject } {
  if (type.type === 'list') {
    const list = Array.isArray(present) ? present : [];
    const { next, element } = stepInto(type.items, list[0]);
    return { next: [next, ...list.slice(1)], element };
  }
  if (type.type === 'map') {
    const { next, element } = stepInto(type.values, undefined);
    return { next: { ...(present as JsonObject | undefined), k: next }, element };
  }
  const element = typeof present === 'object' && present !== null && !Array.isArray(present) ? present : (sample(type, 0, 0) as JsonObject);
  return { next: element, element };
}

/** As many items as the values and the bytes allow. */
function many(type: ListSchema | MapSchema, values: number): Json {
  const inner = type.type === 'list' ? type.items : type.values;
  const keys = type.type === 'list' ? type.listMapKeys : undefined;
  const one = sample(inner, 0, 99_999, keys);
  const count = Math.floor(
    Math.min(values / (countOf(one) + (type.type === 'map' ? 1 : 0)), MAX_BYTES / (JSON.stringify(one).length + (type.type === 'map' ? 10 : 1))),
  );
  if (type.type === 'list') return Array.from({ length: count }, (_, index) => sample(inner, 0, index, keys));
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, sample(inner, 0, index)]));
}

const countOf = (value: Json): number => {
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + Object.values(value).reduce<number>((sum, inner) => sum + countOf(inner as Json), 0);
};

/** Something that the type decodes from; each index gives another, with the fields that tell the items of its list apart. */
function sample(type: TypeSchema, depth: number, index: number, keys: readonly string[] = []): Json {
  switch (type.type) {
    case 'object':
      return objectSample(type, depth, index, keys);
    case 'list':
      return depth > 3 ? [] : [sample(type.items, depth + 1, index, type.listMapKeys)];
    case 'map':
      return { [`k${index}`]: sample(type.values, depth + 1, index) };
    default:
      return scalarSample(type, index);
  }
}

/** With its required fields and its keys, or else its first plain one. */
function objectSample({ fields }: ObjectSchema, depth: number, index: number, keys: readonly string[]): JsonObject {
  const all = [...fields.values()];
  const isPlain = ({ type }: (typeof all)[number]): boolean => !['object', 'list', 'map', 'any'].includes(type.type);
  const wanted = all.filter((field) => keys.includes(field.name) || (field.required && (depth < 3 || isPlain(field))));
  const chosen = wanted.length > 0 ? wanted : all.filter(isPlain).slice(0, 1);
  return Object.fromEntries(chosen.map(({ name, type }) => [name, sample(type, depth + 1, index)]));
}

function scalarSample({ type, enum: values }: ScalarSchema, index: number): Json {
  if (values !== undefined) return values[index % values.length]!;
  switch (type) {
    case 'boolean':
      return true;
    case 'int32':
    case 'int64':
    case 'double':
      return index;
    case 'bytes':
      return 'YQ==';
    case 'quantity':
      return `${index}m`;
    case 'time':
      return '2026-01-02T03:04:05Z';
    case 'microTime':
      return '2026-01-02T03:04:05.000006Z';
    case 'duration':
      return `${index}s`;
    case 'intOrString':
      return index;
    case 'any':
      return { a: index };
    default:
      return `v${index}`;
  }
}
