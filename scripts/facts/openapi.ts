import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of an OpenAPI v3 document that the tables are made from. Descriptions are read past, never kept. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, unknown>>;
  components?: { schemas?: Record<string, OpenApiSchema> };
}

export interface OpenApiSchema {
  type?: string;
  format?: string;
  $ref?: string;
  allOf?: [OpenApiSchema];
  items?: OpenApiSchema;
  additionalProperties?: OpenApiSchema;
  properties?: Record<string, OpenApiSchema>;
  required?: string[];
  enum?: string[];
  default?: unknown;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  'x-kubernetes-unions'?: { discriminator?: string; 'fields-to-discriminateBy': Record<string, string> }[];
}

export interface ProtoField {
  number: number;
  type?: string;
  repeated?: boolean;
  map?: [string, string];
}
export type ProtoMessages = Partial<Record<string, Record<string, ProtoField>>>;

/** `encoding.json`: what neither OpenAPI nor protobuf tells about upstream's structs. `npm run facts:record` reads it off the sources (tree/encoding.ts). */
export interface EncodingFacts {
  /** Package → API group. */
  groups: Record<string, string>;
  /** Group-version → [groupPriorityMinimum, versionPriority]. */
  priorities: Record<string, [number, number]>;
  /**
   * Type → its fields in order. `name` then `*` pointer, `?` omitempty, `!` omitzero, `=protoName` where that differs, then Go's type where its name
   * does not follow from OpenAPI's: `restartPolicy? v1.RestartPolicy`.
   * `...TypeMeta` and `...protoName:Type` are structs that JSON inlines.
   */
  types: Record<string, string[]>;
}

export const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

/** Every document of a folder, by its path with `/` for the file name's `__`. */
export function readFolder<T>(folder: string): Map<string, T> {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted();
  return new Map(files.map((file) => [file.slice(0, -'.json'.length).replaceAll('__', '/'), readJson<T>(join(folder, file))]));
}

/** Name → schema over all documents, which agree on everything but the kinds of DeleteOptions and WatchEvent. */
export function allSchemas(documents: Iterable<OpenApiDocument>): Map<string, OpenApiSchema> {
  const schemas = new Map<string, OpenApiSchema>();
  for (const document of documents) {
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
      if (!schemas.has(name)) schemas.set(name, schema);
    }
  }
  return schemas;
}

const REFERENCE = '#/components/schemas/';

/** The name that a property refers to: bare, or wrapped in allOf so that it may have siblings. */
export function referenceOf(schema: OpenApiSchema): string | undefined {
  const reference = schema.$ref ?? schema.allOf?.[0].$ref;
  return reference?.slice(REFERENCE.length);
}
