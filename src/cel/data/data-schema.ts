/** What expressions see of the schema of some data: the part of an OpenAPI schema that gives values their types and sizes. */
export interface DataSchema {
  /** Undefined only with `isIntOrString` or `preservesUnknownFields`. */
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean';
  readonly format?: string;
  readonly isNullable?: boolean;
  readonly isIntOrString?: boolean;
  /** Has type and object metadata, declared or not. */
  readonly isEmbeddedResource?: boolean;
  readonly preservesUnknownFields?: boolean;
  /** By the names that data has. */
  readonly properties?: ReadonlyMap<string, DataSchema>;
  readonly required?: readonly string[];
  readonly additionalProperties?: DataSchema;
  readonly items?: DataSchema;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly maxLength?: number;
  readonly enumValues?: readonly unknown[];
  readonly hasDefault?: boolean;
}

const TEXT: DataSchema = { type: 'string' };

/** The schema with `apiVersion`, `kind`, `metadata.name` and `metadata.generateName`, which rules at the root of a resource can always see. */
export function withObjectMeta(schema: DataSchema): DataSchema {
  if (declaresObjectMeta(schema)) return schema;
  const metadata: DataSchema = {
    type: 'object',
    properties: new Map([
      ['name', TEXT],
      ['generateName', TEXT],
    ]),
  };
  return { ...schema, properties: new Map([...(schema.properties ?? []), ['kind', TEXT], ['apiVersion', TEXT], ['metadata', metadata]]) };
}

const declaresObjectMeta = ({ properties }: DataSchema): boolean =>
  isText(properties?.get('kind')) &&
  isText(properties?.get('apiVersion')) &&
  isText(properties?.get('metadata')?.properties?.get('name')) &&
  isText(properties?.get('metadata')?.properties?.get('generateName'));

const isText = (schema: DataSchema | undefined): boolean => schema?.type === 'string';
