import type { FieldPath } from '../yaml/object-text.ts';

/** What is read of an OpenAPI v3 schema. */
export interface JsonSchema {
  $ref?: string;
  allOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  required?: string[];
  minimum?: number;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
}

export interface OpenApiDocument {
  components?: { schemas?: Record<string, JsonSchema> };
}

/** What is told of a field. */
export interface FieldDocs {
  path: FieldPath;
  type: string;
  description: string;
  isRequired: boolean;
  values: readonly string[];
}

const REFERENCE = '#/components/schemas/';

/** The types of one group and version. */
export class SchemaDocument {
  readonly #schemas: Readonly<Record<string, JsonSchema>>;

  constructor({ components }: OpenApiDocument) {
    this.#schemas = components?.schemas ?? {};
  }

  ofKind(group: string, version: string, kind: string): JsonSchema | undefined {
    const isKind = (schema: JsonSchema): boolean =>
      schema['x-kubernetes-group-version-kind']?.some((gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind) ?? false;
    return Object.values(this.#schemas).find((schema) => schema.type === 'object' && isKind(schema));
  }

  /** The type behind a reference, under the description that stands at it. */
  resolve(schema: JsonSchema): JsonSchema {
    const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]!.$ref : undefined);
    const target = reference === undefined ? undefined : this.#schemas[reference.slice(REFERENCE.length)];
    if (target === undefined) return schema;
    return {
      ...target,
      ...(schema.description !== undefined && { description: schema.description }),
      ...(schema.default !== undefined && { default: schema.default }),
    };
  }

  /** The name of the type that a schema refers to: `io.k8s.api.core.v1.Container`. */
  nameOf(schema: JsonSchema): string {
    return (schema.$ref ?? schema.allOf?.[0]?.$ref ?? '').slice(REFERENCE.length);
  }

  docsAt(root: JsonSchema, path: FieldPath): FieldDocs | undefined {
    let schema = this.resolve(root);
    let isRequired = false;
    for (const step of path) {
      const next = typeof step === 'number' ? schema.items : (schema.properties?.[step] ?? valuesOf(schema));
      if (next === undefined) return undefined;
      isRequired = typeof step === 'string' && (schema.required?.includes(step) ?? false);
      schema = this.resolve(next);
    }
    return { path, type: this.typeName(schema), description: schema.description ?? '', isRequired, values: (schema.enum ?? []).map(String) };
  }

  typeName(schema: JsonSchema): string {
    const resolved = this.resolve(schema);
    if (resolved['x-kubernetes-int-or-string'] || resolved.format === 'int-or-string' || resolved.oneOf?.length === 2) return 'integer or string';
    if (resolved.type === 'array') return `list of ${resolved.items === undefined ? 'anything' : this.typeName(resolved.items)}`;
    if (resolved.type === 'object' && valuesOf(resolved) !== undefined) return `map of ${this.typeName(valuesOf(resolved)!)}`;
    const name = this.nameOf(schema).split('.').at(-1) ?? '';
    return name !== '' ? name : (resolved.type ?? 'anything');
  }
}

const valuesOf = ({ additionalProperties }: JsonSchema): JsonSchema | undefined =>
  typeof additionalProperties === 'object' ? additionalProperties : undefined;
