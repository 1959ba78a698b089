import type { ObjectSchema, TypeSchema } from '../../schema/schema.ts';
import type { GroupVersionKind } from '../../api/api-object.ts';
import { operationIdOf, operationTag } from './operation-id.ts';
import type { Parameter } from './parameters.ts';

/** Types by name and by kind: what documents are made from beside the installed versions. */
export interface OpenApiTypes {
  schemaOf(name: string): ObjectSchema;
  schemaOfKind(group: string, version: string, kind: string): ObjectSchema;
}

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

/** One operation, before it is written in the words of OpenAPI v2 or v3. */
export interface Route {
  path: string;
  method: Method;
  operationId: string;
  description: string;
  tag: string;
  /** Absent where the path is no resource's. */
  resource?: { action: string; kind: GroupVersionKind };
  parameters: readonly Parameter[];
  body?: { type: TypeSchema; isRequired: boolean };
  consumes: readonly string[];
  produces: readonly string[];
  /** By status; 401 goes without saying. */
  responses: ReadonlyMap<number, TypeSchema>;
}

export const CUSTOM_OBJECT_TYPES = ['application/json', 'application/yaml'];
export const OBJECT_TYPES = [...CUSTOM_OBJECT_TYPES, 'application/vnd.kubernetes.protobuf'];

export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

export const rootPathOf = (group: string, version: string): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);

/** A discovery document, or another path that takes nothing. */
export function indexRoute(
  path: string,
  [operation, description]: readonly [operation: string, description: string],
  answer: TypeSchema,
  produces: readonly string[] = OBJECT_TYPES,
  consumes = produces,
): Route {
  const named = { operationId: operationIdOf(operation, path), description, tag: operationTag(path) };
  return { path, method: 'get', ...named, parameters: [], consumes, produces, responses: new Map([[200, answer]]) };
}
