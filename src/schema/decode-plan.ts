import type { Json, JsonObject } from '../encoding/json-types.ts';
import type { FieldSchema, ObjectSchema, TypeSchema } from './schema.ts';

/** An ObjectSchema made ready for decoding: looked up by name, written in order. */
export interface ObjectPlan {
  /** `PodSpec`: the Go struct. */
  readonly structName: string;
  readonly fields: readonly FieldPlan[];
  readonly byName: ReadonlyMap<string, FieldPlan>;
}

export interface FieldPlan {
  readonly name: string;
  /** Its place among the plan's fields, which is the order of encoding. */
  readonly index: number;
  readonly type: TypeSchema;
  readonly pointer: boolean;
  readonly whenEmpty: FieldSchema['whenEmpty'];
  /** `VolumeSource.csi`: the name with those of the embedded structs that it is promoted from, as Go's errors spell it. */
  readonly goPath: string;
  readonly structName: string;
}

const plans = new WeakMap<ObjectSchema, ObjectPlan>();

export function planOf(schema: ObjectSchema): ObjectPlan {
  const known = plans.get(schema);
  if (known !== undefined) return known;
  const plan = makePlan(schema);
  plans.set(schema, plan);
  return plan;
}

function makePlan(schema: ObjectSchema): ObjectPlan {
  const structName = lastSegment(schema.name);
  const promoted = promotedPaths(schema);
  const fields = [...schema.fields.values()].map((field, index) => ({
    name: field.name,
    index,
    type: field.type,
    pointer: field.pointer,
    whenEmpty: field.whenEmpty,
    goPath: promoted.get(field.name) ?? field.name,
    structName,
  }));
  return { structName, fields, byName: new Map(fields.map((field) => [field.name, field])) };
}

/** What every kind embeds. */
const TYPE_META = ['kind', 'apiVersion'].map((name): [string, string] => [name, `TypeMeta.${name}`]);

/** `csi` → `VolumeSource.csi`, through any number of embedded structs. */
function promotedPaths(schema: ObjectSchema): Map<string, string> {
  const paths = new Map<string, string>(schema.kinds.length > 0 ? TYPE_META : []);
  for (const { schema: embedded } of schema.inlined ?? []) {
    const deeper = promotedPaths(embedded);
    for (const name of embedded.fields.keys()) paths.set(name, `${lastSegment(embedded.name)}.${deeper.get(name) ?? name}`);
  }
  return paths;
}

const lastSegment = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** What Go's encoder writes for a value that was never set. */
export function zeroOf(type: TypeSchema): Json {
  switch (type.type) {
    case 'string':
    case 'bytes':
      return '';
    case 'boolean':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    case 'duration':
      return '0s';
    case 'object':
      return assemble(planOf(type));
    default:
      return null;
  }
}

/** The object in the order of its struct, with what Go writes for the fields that have no value: those of field 0, 1, … are in `values` from `base` on. */
export function assemble(plan: ObjectPlan, values: readonly (Json | undefined)[] = [], base = 0): JsonObject {
  const object: JsonObject = {};
  const { fields } = plan;
  for (let index = 0; index < fields.length; index++) {
    const value = values[base + index];
    const field = fields[index]!;
    if (value !== undefined) object[field.name] = value;
    else if (field.whenEmpty !== 'omit') object[field.name] = field.whenEmpty === 'null' ? null : zeroOf(field.type);
  }
  return object;
}
