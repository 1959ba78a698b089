import type { JSONSchemaProps } from '../facts/types/apiextensions-v1.ts';
import { schemaIn } from './schema-walk.ts';

/** A field of a schema by a path such as `.spec.labels['a.b']` (apiextensions-apiserver/pkg/apiserver/schema/cel ValidFieldPath). */
export interface FoundField {
  /** `spec.labels[a.b]` */
  path: string;
  /** The path's first name. */
  root: string;
  schema: JSONSchemaProps | undefined;
}

const TOKEN = /'(?:\\[^]|[^'\\])*'|[.[\]]|[^.[\]]+/y;
const ESCAPES: Record<string, string> = { a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', "'": "'", '\\': '\\' };

class PathError extends Error {}

/** The field, or what is wrong with the path. */
export function findField(path: string, schema: JSONSchemaProps, allowsBrackets: boolean): FoundField | { error: string } {
  try {
    return walk(tokensOf(path), schema, allowsBrackets);
  } catch (error) {
    if (!(error instanceof PathError)) throw error;
    return { error: error.message };
  }
}

function tokensOf(path: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(path); match; match = TOKEN.exec(path)) tokens.push(match[0]);
  return tokens;
}

function walk(tokens: readonly string[], schema: JSONSchemaProps, allowsBrackets: boolean): FoundField {
  let found: FoundField = { path: '', root: '', schema };
  for (let index = 0; index < tokens.length;) {
    const token = tokens[index]!;
    if (token === '.') {
      found = step(found, required(tokens[index + 1]));
      index += 2;
    } else if (token === '[') {
      if (!allowsBrackets) throw new PathError('array notation is not allowed');
      found = step(found, unquoted(required(tokens[index + 1])));
      if (required(tokens[index + 2]) !== ']') throw new PathError(`expected ] but got ${tokens[index + 2]}`);
      index += 3;
    } else throw new PathError(`expected [ or . but got: ${token}`);
  }
  return found;
}

function required(token: string | undefined): string {
  if (token === undefined) throw new PathError('unexpected end of JSON path');
  return token;
}

function unquoted(token: string): string {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) throw new PathError(`expected single quoted string but got ${token}`);
  return token.slice(1, -1).replace(/\\([^])/g, (_whole, char: string) => {
    if (!Object.hasOwn(ESCAPES, char)) throw new PathError('invalid string literal: invalid syntax');
    return ESCAPES[char]!;
  });
}

function step({ path, root, schema }: FoundField, name: string): FoundField {
  const properties = schema?.properties;
  if (!properties && schema?.additionalProperties === undefined) throw new PathError('does not refer to a valid field');
  if (!properties) return { path: `${path}[${name}]`, root: root || name, schema: schemaIn(schema!.additionalProperties) };
  if (!Object.hasOwn(properties, name)) throw new PathError('does not refer to a valid field');
  return { path: path === '' ? name : `${path}.${name}`, root: root || name, schema: properties[name] };
}
