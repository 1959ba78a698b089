import { isJsonObject } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import type { SlicedWork } from '../../util/time-slice.ts';

/**
 * A document of OpenAPI v3 from one of v2, as far as that says (kube-openapi/pkg/openapiconv): for servers that have only the old one. Nothing that is given
 * is changed.
 */
export function* convertToV3(document: JsonObject): SlicedWork<JsonObject> {
  const shared = objectIn(document, 'parameters');
  return {
    openapi: '3.0.0',
    ...pick(document, ['info', 'externalDocs']),
    paths: yield* mapInSteps(objectIn(document, 'paths'), (item) => pathItem(item, shared)),
    components: {
      schemas: yield* mapInSteps(objectIn(document, 'definitions'), schemaV3),
      securitySchemes: objectIn(document, 'securityDefinitions'),
    },
  };
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

function pathItem(item: Json, shared: JsonObject): JsonObject {
  if (!isJsonObject(item)) return {};
  const operations = METHODS.flatMap((method): [string, JsonObject][] => {
    const operation = item[method];
    return isJsonObject(operation) ? [[method, operationV3(operation, shared)]] : [];
  });
  const parameters = parametersOf(item, shared).map(parameterV3);
  return { ...Object.fromEntries(operations), ...(parameters.length > 0 && { parameters }) };
}

function operationV3(operation: JsonObject, shared: JsonObject): JsonObject {
  const all = parametersOf(operation, shared);
  const body = all.find(({ in: place }) => place === 'body');
  const parameters = all.filter(({ in: place }) => place !== 'body').map(parameterV3);
  const extensions = Object.keys(operation).filter((key) => key.startsWith('x-'));
  return {
    ...pick(operation, ['tags', 'summary', 'description', 'externalDocs', 'operationId', 'deprecated', ...extensions]),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { ...pick(body, ['description', 'required']), content: contentOf(operation['consumes'], body['schema']) } }),
    responses: mapValues(objectIn(operation, 'responses'), (response) => responseV3(response, operation['produces'])),
  };
}

/** With those that are told once for the whole document in their place. */
function parametersOf(holder: JsonObject, shared: JsonObject): JsonObject[] {
  const listed = holder['parameters'];
  if (!Array.isArray(listed)) return [];
  return listed.filter(isJsonObject).map((parameter) => {
    const { $ref } = parameter;
    const known = typeof $ref === 'string' ? shared[$ref.slice('#/parameters/'.length)] : undefined;
    return isJsonObject(known) ? known : parameter;
  });
}

const OF_PARAMETER = ['name', 'in', 'description', 'required'];

/** What v2 says of the value beside the parameter, v3 says in a schema. */
function parameterV3(parameter: JsonObject): JsonObject {
  const schema = Object.fromEntries(Object.entries(parameter).filter(([key]) => !OF_PARAMETER.includes(key) && key !== 'allowEmptyValue'));
  return { ...pick(parameter, OF_PARAMETER), schema: schemaV3(schema) };
}

function responseV3(response: Json, produces: Json | undefined): JsonObject {
  if (!isJsonObject(response)) return { description: '' };
  const { schema } = response;
  return {
    description: typeof response['description'] === 'string' ? response['description'] : '',
    ...(schema !== undefined && { content: contentOf(produces, schema) }),
  };
}

function contentOf(mediaTypes: Json | undefined, schema: Json | undefined): JsonObject {
  const types = Array.isArray(mediaTypes) ? mediaTypes.filter((type) => typeof type === 'string') : [];
  return Object.fromEntries(types.map((type) => [type, { schema: schemaV3(schema ?? {}) }]));
}

/** Schemas are the same but for where they refer to. */
function schemaV3(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(schemaV3);
  if (!isJsonObject(schema)) return schema;
  return mapValues(schema, (value, key) =>
    key === '$ref' && typeof value === 'string' ? value.replace(/^#\/definitions\//, '#/components/schemas/') : schemaV3(value),
  );
}

const objectIn = (holder: JsonObject, key: string): JsonObject => {
  const value = holder[key];
  return isJsonObject(value) ? value : {};
};
const pick = (from: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]));
const mapValues = (object: JsonObject, map: (value: Json, key: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value!, key)]));

function* mapInSteps(object: JsonObject, change: (value: Json) => Json): SlicedWork<JsonObject> {
  const entries: [string, Json][] = [];
  for (const [key, value] of Object.entries(object)) {
    entries.push([key, change(value!)]);
    yield;
  }
  return Object.fromEntries(entries);
}
