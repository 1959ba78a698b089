import { quote } from '../util/go-quote.ts';
import { isJsonObject } from '../encoding/json.ts';
import type { DuplicateKeys } from '../encoding/json-parser.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { decode } from './decode.ts';
import type { FieldSchema, ObjectSchema, TypeSchema } from './schema.ts';

/* Configuration files of the server itself (apiserver.config.k8s.io): their types are few, so they are written as tables in the code that reads them. */

/** A field that may be absent, where an empty value is not the same as none. */
interface OptionalType {
  optional: TypeSchema;
}

export const TEXT: TypeSchema = { type: 'string' };
export const FLAG: TypeSchema = { type: 'boolean' };
export const DURATION: TypeSchema = { type: 'duration' };
export const optional = (type: TypeSchema): OptionalType => ({ optional: type });
export const listOf = (items: TypeSchema): TypeSchema => ({ type: 'list', items });

/** `name` is Go's, for errors: `v1.Issuer`. */
export const structOf = (name: string, fields: Readonly<Record<string, TypeSchema | OptionalType>>): ObjectSchema => ({
  type: 'object',
  name: `io.k8s.apiserver.pkg.apis.apiserver.${name}`,
  kinds: [],
  fields: new Map(Object.entries(fields).map(([fieldName, type]) => [fieldName, fieldOf(fieldName, type)])),
});

const fieldOf = (name: string, type: TypeSchema | OptionalType): FieldSchema => ({
  name,
  type: 'optional' in type ? type.optional : type,
  required: false,
  whenEmpty: 'omit',
  pointer: 'optional' in type,
});

export interface ConfigurationType {
  kind: string;
  apiVersions: readonly string[];
  schema: ObjectSchema;
}

const MAX_SHOWN_CHARACTERS = 200;

/** Reads YAML or JSON strictly: an unknown field or a repeated one is an error. Throws an Error in upstream's words. */
export async function decodeConfiguration(text: string, { kind, apiVersions, schema }: ConfigurationType): Promise<JsonObject> {
  // Slow to load, and most servers have no such file.
  const { parseYaml } = await import('../encoding/yaml.ts');
  const duplicates: DuplicateKeys = new Map();
  const value = parseYaml(text, duplicates);
  const shown = text.slice(0, MAX_SHOWN_CHARACTERS).trim().replaceAll('\n', '\\n');
  if (!isJsonObject(value)) throw new Error(`couldn't get version/kind; json parse error: not an object: '${shown}'`);
  if (!value.kind) throw new Error(`Object 'Kind' is missing in '${shown}'`);
  if (!value.apiVersion) throw new Error(`Object 'apiVersion' is missing in '${shown}'`);
  if (value.kind !== kind || !apiVersions.includes(String(value.apiVersion)))
    throw new Error(
      `no kind ${quote(String(value.kind))} is registered for version ${quote(String(value.apiVersion))}; expected ${kind} of ${apiVersions.join(', ')}`,
    );
  const strict = { duplicates, errors: [] as string[] };
  const decoded = decode(schema, value, strict);
  if (strict.errors.length > 0) throw new Error(`strict decoding error: ${strict.errors.join(', ')}`);
  return decoded;
}
