import type { FieldSchema, ObjectSchema, ScalarSchema, TypeSchema } from '../../schema/schema.ts';
import type { GroupVersionKind } from '../../api/api-object.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import type { Descriptions } from './descriptions.ts';
import { customListOf } from './custom-list.ts';
import { PARTIAL_METADATA, PARTIAL_METADATA_LIST, customListSchema, customSchema } from './custom-schema.ts';
import { compareText } from './parameters.ts';

/** What OpenAPI v2 and v3 write differently. */
interface Dialect {
  referencePrefix: string;
  /** v3 forbids siblings beside `$ref`, so that a reference with a default or a description stands in allOf; v2 has no defaults at all. */
  isV3: boolean;
}

export interface SchemaOptions {
  dialect: Dialect;
  descriptions: Descriptions;
  /** Whether the values that a field may have are listed; true where absent. */
  tellsEnums?: boolean | undefined;
  /** The kinds under which a type is registered, as this document lists them. */
  kindsOf(schema: ObjectSchema): readonly GroupVersionKind[];
  /** Whether only the types of custom resources are defined; those that they refer to are `outside`. */
  isCustomOnly?: boolean | undefined;
}

const NUMBERS: Partial<Record<TypeSchema['type'], JsonObject>> = {
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

/** Shown as the default of what is always written. */
const ZEROS: Partial<Record<TypeSchema['type'], Json>> = { string: '', boolean: false, int32: 0, int64: 0, object: {} };

const DATE_TIME = { type: 'string', format: 'date-time' };
const NAMED_SCALARS: Partial<Record<TypeSchema['type'], { v2: JsonObject; v3: JsonObject }>> = {
  time: { v2: DATE_TIME, v3: DATE_TIME },
  microTime: { v2: DATE_TIME, v3: DATE_TIME },
  quantity: { v2: { type: 'string' }, v3: { oneOf: [{ type: 'string' }, { type: 'number' }] } },
  intOrString: { v2: { type: 'string', format: 'int-or-string' }, v3: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] } },
};
/** Of the named types that are left as they are, those that need not be objects: apiextensions' JSON, JSONSchemaPropsOrBool, … */
const ANY_VALUE = /\.JSON(SchemaPropsOr\w+)?$/;

/** A type that documents define under its name. */
export type NamedType = ObjectSchema | (ScalarSchema & { name: string });

/** Collects the definitions that a document refers to, each with all that it refers to in turn. */
export class SchemaCollection {
  readonly #options: SchemaOptions;
  readonly #definitions = new Map<string, JsonObject>();
  readonly #outside = new Map<string, NamedType>();
  /** Schemas of custom resources, which may be of ten thousand fields: they are made last, and take turns. */
  readonly #unmade: [name: string, schema: SlicedWork<JsonObject>][] = [];

  constructor(options: SchemaOptions) {
    this.#options = options;
  }

  get #tellsEnums(): boolean {
    return this.#options.tellsEnums ?? true;
  }

  /** Types that were referred to and are to be defined by whoever puts the document together. */
  get outside(): NamedType[] {
    return [...this.#outside.values()];
  }

  /** Sorted by name, when all that refers to them is there. */
  *definitions(): SlicedWork<JsonObject> {
    for (const [name, schema] of this.#unmade.splice(0)) this.#definitions.set(name, yield* schema);
    return Object.fromEntries([...this.#definitions].toSorted(([a], [b]) => compareText(a, b)));
  }

  /** How a value of this type is described where it stands; named types are added to the definitions. */
  use(type: TypeSchema): JsonObject {
    if (type.type === 'list') return this.#list(type.items, type);
    if (type.type === 'map')
      return { type: 'object', additionalProperties: this.#item(type.values), ...(type.mapType && { 'x-kubernetes-map-type': type.mapType }) };
    if (type.type === 'object' && type.name === '') return this.#object(type);
    if (type.name !== undefined) return this.#reference(type as NamedType);
    const scalar = type as ScalarSchema;
    return {
      ...(NUMBERS[scalar.type] ?? (scalar.type === 'any' ? {} : { type: scalar.type })),
      ...(scalar.enum && this.#tellsEnums && { enum: [...scalar.enum] }),
      ...(scalar.listType && { 'x-kubernetes-list-type': scalar.listType }),
    };
  }

  #list(items: TypeSchema, { listType, listMapKeys, patchMergeKey }: TypeSchema & { type: 'list' }): JsonObject {
    return {
      type: 'array',
      items: this.#item(items),
      ...(listMapKeys && { 'x-kubernetes-list-map-keys': [...listMapKeys] }),
      ...(listType && { 'x-kubernetes-list-type': listType }),
      ...(patchMergeKey !== undefined && { 'x-kubernetes-patch-merge-key': patchMergeKey }),
    };
  }

  /** Items are values: never null, so that their zero is a default. */
  #item(type: TypeSchema): JsonObject {
    return this.#decorate(this.use(type), '', ZEROS[type.type], {});
  }

  #field({ type, whenEmpty, pointer, default: declared, patchStrategy, mapType }: FieldSchema, description: string): JsonObject {
    const strategy = patchStrategy ?? (type.type === 'list' || type.type === 'map' ? type.patchStrategy : undefined);
    const zero = whenEmpty === 'zero' && !pointer ? ZEROS[type.type] : undefined;
    return this.#decorate(this.use(type), description, declared ?? zero, {
      ...(mapType && { 'x-kubernetes-map-type': mapType }),
      ...(strategy && { 'x-kubernetes-patch-strategy': strategy }),
    });
  }

  /** Keys stand in the order in which upstream's encoder writes them. */
  #decorate(schema: JsonObject, description: string, defaultValue: Json | undefined, extensions: JsonObject): JsonObject {
    const { isV3 } = this.#options.dialect;
    const told = description === '' ? {} : { description };
    const defaults = isV3 && defaultValue !== undefined ? { default: defaultValue } : {};
    if (schema['$ref'] !== undefined) {
      if (!isV3) return { ...told, ...schema, ...extensions };
      const siblings = { ...told, ...defaults };
      return Object.keys(siblings).length + Object.keys(extensions).length === 0 ? schema : { ...siblings, allOf: [schema], ...extensions };
    }
    const { type, format, ...rest } = schema;
    return { ...told, ...(type !== undefined && { type }), ...(format !== undefined && { format }), ...defaults, ...rest, ...extensions };
  }

  #reference(type: NamedType): JsonObject {
    const { name } = type;
    if (this.#options.isCustomOnly === true && !isCustomType(type)) this.#outside.set(name, type);
    else if (!this.#definitions.has(name)) {
      // Claimed before it is made: types may hold themselves.
      this.#definitions.set(name, {});
      this.#definitions.set(name, type.type === 'object' ? this.#named(type) : this.#namedScalar(type));
    }
    return { $ref: this.#options.dialect.referencePrefix + name };
  }

  #namedScalar({ type, name }: ScalarSchema & { name: string }): JsonObject {
    const description = this.#options.descriptions.ofType(name);
    const forms = NAMED_SCALARS[type];
    const form = forms ? (this.#options.dialect.isV3 ? forms.v3 : forms.v2) : ANY_VALUE.test(name) ? {} : { type: 'object' };
    return { ...(description !== '' && { description }), ...form };
  }

  #named(type: ObjectSchema): JsonObject {
    const list = customListOf(type);
    if (list === undefined && type.custom === undefined) return this.#object(type);
    const { descriptions, dialect } = this.#options;
    const metadata = type.custom?.metadata ?? type.fields.get('metadata')!;
    const options = {
      isV3: dialect.isV3,
      metadata: this.#field(metadata, descriptions.ofField(list ? PARTIAL_METADATA_LIST : PARTIAL_METADATA, 'metadata')),
      descriptions,
    };
    if (list) return customListSchema(list, type, { ...options, items: this.use(list.item) });
    this.#unmade.push([type.name, customSchema(type, options)]);
    return {};
  }

  #object(schema: ObjectSchema): JsonObject {
    const description = this.#options.descriptions.ofType(schema.name);
    const fields = [...schema.fields.values()];
    const required = fields.filter((field) => field.required).map(({ name }) => name);
    const properties = fields
      .toSorted((a, b) => compareText(a.name, b.name))
      .map((field): [string, JsonObject] => [field.name, this.#field(field, this.#options.descriptions.ofField(schema.name, field.name))]);
    const kinds = this.#options.kindsOf(schema);
    return {
      ...(description !== '' && { description }),
      type: 'object',
      ...(required.length > 0 && { required }),
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
      ...(kinds.length > 0 && { 'x-kubernetes-group-version-kind': kinds.map(({ group, version, kind }) => ({ group, kind, version })) }),
      ...(schema.mapType && { 'x-kubernetes-map-type': schema.mapType }),
      ...(schema.unions && { 'x-kubernetes-unions': unionsOf(schema.unions) }),
    };
  }
}

const isCustomType = (type: NamedType): boolean => type.type === 'object' && (type.custom !== undefined || customListOf(type) !== undefined);

const unionsOf = (unions: NonNullable<ObjectSchema['unions']>): JsonObject[] =>
  unions.map(({ discriminator, fields }) => ({ ...(discriminator !== undefined && { discriminator }), 'fields-to-discriminateBy': { ...fields } }));
