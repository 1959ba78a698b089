import { stringifyJson } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { zeroOf } from '../decode-plan.ts';
import type { FieldSchema, ListSchema, MapSchema, ObjectSchema, ScalarSchema, TypeSchema } from '../schema.ts';
import { type PathElement, compareText, fieldElement } from './path-element.ts';

/**
 * A type as ownership sees it: what is owned as a whole, and what item by item. Made from a TypeSchema once, by the rules by which upstream turns its
 * OpenAPI documents into structured-merge-diff's schemas (kube-openapi/pkg/schemaconv).
 */
export type TypePlan = ScalarPlan | ListPlan | MapPlan | AnyPlan;

export interface ScalarPlan {
  readonly kind: 'scalar';
  readonly expects: 'string' | 'numeric' | 'boolean' | 'any';
}

export interface ListPlan {
  readonly kind: 'list';
  /** `set`: items are their own keys; `map`: items have keys; `atomic`: owned as a whole. */
  readonly relation: 'atomic' | 'set' | 'map';
  /** In the order of their names. */
  readonly keys: readonly ListKey[];
  readonly items: TypePlan;
}

export interface ListKey {
  readonly name: string;
  /** `"name":` */
  readonly prefix: string;
  /** What an item without it counts as having; undefined for nothing. */
  readonly default: Json | undefined;
}

export interface MapPlan {
  readonly kind: 'map';
  readonly isAtomic: boolean;
  /** In the order of their names; none where every key is a client's. */
  readonly fields: readonly OwnedFieldPlan[];
  readonly byName: ReadonlyMap<string, OwnedFieldPlan>;
  /** Of keys that are no fields; undefined where there may be none. */
  readonly values: TypePlan | undefined;
}

export interface OwnedFieldPlan {
  readonly name: string;
  readonly element: PathElement;
  /** Of one character, but in a plan of too many fields; no other field has it, and no text that is written beside it begins so: see `shapeOf`. */
  readonly mark: string;
  readonly plan: TypePlan;
}

/** Whatever the value is decides. */
export interface AnyPlan {
  readonly kind: 'any';
  readonly scalar: ScalarPlan;
  readonly list: ListPlan;
  readonly map: MapPlan;
}

const NO_FIELDS: ReadonlyMap<string, OwnedFieldPlan> = new Map();
const ANY_SCALAR: ScalarPlan = { kind: 'scalar', expects: 'any' };

/** Plans may hold themselves: what is inside one is asked for when it is needed. */
class LazyList implements ListPlan {
  readonly kind = 'list';
  readonly relation: ListPlan['relation'];
  readonly keys: readonly ListKey[];
  readonly #makeItems: () => TypePlan;
  #items: TypePlan | undefined;
  constructor(relation: ListPlan['relation'], keys: readonly ListKey[], items: () => TypePlan) {
    this.relation = relation;
    this.keys = keys;
    this.#makeItems = items;
  }
  get items(): TypePlan {
    return (this.#items ??= this.#makeItems());
  }
}

class LazyMap implements MapPlan {
  readonly kind = 'map';
  readonly isAtomic: boolean;
  readonly #fields: () => readonly OwnedFieldPlan[];
  readonly #makeValues: (() => TypePlan) | undefined;
  #values: TypePlan | undefined;
  #made: { fields: readonly OwnedFieldPlan[]; byName: ReadonlyMap<string, OwnedFieldPlan> } | undefined;
  constructor(isAtomic: boolean, fields: () => readonly OwnedFieldPlan[], values: (() => TypePlan) | undefined) {
    this.isAtomic = isAtomic;
    this.#fields = fields;
    this.#makeValues = values;
  }
  get fields(): readonly OwnedFieldPlan[] {
    return this.#make().fields;
  }
  get byName(): ReadonlyMap<string, OwnedFieldPlan> {
    return this.#make().byName;
  }
  get values(): TypePlan | undefined {
    return (this.#values ??= this.#makeValues?.());
  }
  #make(): { fields: readonly OwnedFieldPlan[]; byName: ReadonlyMap<string, OwnedFieldPlan> } {
    if (this.#made !== undefined) return this.#made;
    const fields = this.#fields();
    return (this.#made = { fields, byName: fields.length === 0 ? NO_FIELDS : new Map(fields.map((field) => [field.name, field])) });
  }
}

/** Anything, owned as a whole (upstream's `__untyped_atomic_`). */
const UNTYPED: AnyPlan = {
  kind: 'any',
  scalar: ANY_SCALAR,
  list: new LazyList('atomic', [], () => UNTYPED),
  map: new LazyMap(
    true,
    () => [],
    () => UNTYPED,
  ),
};

/** Anything; the keys of maps are owned one by one (upstream's `__untyped_deduced_`). */
const DEDUCED: AnyPlan = {
  kind: 'any',
  scalar: ANY_SCALAR,
  list: UNTYPED.list,
  map: new LazyMap(
    false,
    () => [],
    () => DEDUCED,
  ),
};

const RAW_EXTENSION = 'io.k8s.apimachinery.pkg.runtime.RawExtension';

/** The plan for the value at hand. */
export function resolvePlan(plan: TypePlan, value: Json): ScalarPlan | ListPlan | MapPlan {
  if (plan.kind !== 'any') return plan;
  if (Array.isArray(value)) return plan.list;
  return typeof value === 'object' ? plan.map : plan.scalar;
}

const plans = new WeakMap<TypeSchema, TypePlan>();
const overriddenPlans = new WeakMap<FieldSchema, TypePlan>();

/** Always the same for the same schema. */
export function typePlanOf(schema: TypeSchema): TypePlan {
  let plan = plans.get(schema);
  if (plan === undefined) plans.set(schema, (plan = makePlan(schema)));
  return plan;
}

function makePlan(schema: TypeSchema): TypePlan {
  switch (schema.type) {
    case 'object':
      return objectPlan(schema, schema.mapType);
    case 'list':
      return listPlan(schema);
    case 'map':
      return mapPlan(schema);
    default:
      return scalarPlan(schema);
  }
}

/** An object without fields may hold anything, as OpenAPI has it. */
function objectPlan(schema: ObjectSchema, mapType: ObjectSchema['mapType']): MapPlan {
  const { additional } = schema;
  const fields = (): OwnedFieldPlan[] =>
    [...schema.fields.values()].map((field, index) => fieldPlan(field, index)).toSorted((a, b) => compareText(a.name, b.name));
  return new LazyMap(mapType === 'atomic', fields, additional ? () => typePlanOf(additional) : schema.fields.size === 0 ? () => DEDUCED : undefined);
}

/** Beyond ASCII, and short of surrogates. */
const FIRST_MARK = 0x100;
const MARKS = 0xd000;

function fieldPlan(field: FieldSchema, index: number): OwnedFieldPlan {
  const { name, type, mapType } = field;
  const element = fieldElement(name);
  const mark = index < MARKS ? String.fromCharCode(FIRST_MARK + index) : element;
  return { name, element, mark, plan: type.type === 'object' && mapType !== undefined ? overriddenPlan(field, type) : typePlanOf(type) };
}

function overriddenPlan(field: FieldSchema, type: ObjectSchema): TypePlan {
  let plan = overriddenPlans.get(field);
  if (plan === undefined) overriddenPlans.set(field, (plan = objectPlan(type, field.mapType)));
  return plan;
}

function listPlan(schema: ListSchema): ListPlan {
  const { items, listType = 'atomic', listMapKeys = [] } = schema;
  const keys = listType === 'map' ? listMapKeys.toSorted(compareText).map((name) => listKey(name, items)) : [];
  return new LazyList(listType, keys, () => typePlanOf(items));
}

/** A key that is always written has its zero value where it was left out, as OpenAPI's defaults say. */
function listKey(name: string, items: TypeSchema): ListKey {
  const field = items.type === 'object' ? items.fields.get(name) : undefined;
  const isAlwaysWritten = field !== undefined && field.whenEmpty === 'zero' && field.type.type !== 'object';
  return { name, prefix: `${stringifyJson(name)}:`, default: field?.default ?? (isAlwaysWritten ? zeroOf(field.type) : undefined) };
}

const mapPlan = ({ values, mapType }: MapSchema): MapPlan =>
  new LazyMap(
    mapType === 'atomic',
    () => [],
    () => typePlanOf(values),
  );

const SCALARS: Readonly<Record<string, ScalarPlan>> = {
  string: { kind: 'scalar', expects: 'string' },
  bytes: { kind: 'scalar', expects: 'string' },
  duration: { kind: 'scalar', expects: 'string' },
  boolean: { kind: 'scalar', expects: 'boolean' },
  int32: { kind: 'scalar', expects: 'numeric' },
  int64: { kind: 'scalar', expects: 'numeric' },
  double: { kind: 'scalar', expects: 'numeric' },
  quantity: ANY_SCALAR,
  time: ANY_SCALAR,
  microTime: ANY_SCALAR,
};

/** What is left is `any` and `intOrString`, which OpenAPI gives no type. */
function scalarPlan({ type, name }: ScalarSchema): TypePlan {
  return SCALARS[type] ?? (name === RAW_EXTENSION ? UNTYPED : DEDUCED);
}
