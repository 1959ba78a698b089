import type { JsonObject } from '../../encoding/json-types.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import {
  any,
  choice,
  constraintsFrom,
  chosenFlag,
  type Encode,
  encodeDocument,
  type MessageFields,
  flag,
  isReference,
  message,
  methodsFrom,
  named,
  nested,
  only,
  repeated,
  text,
} from './gnostic.ts';

/** gnostic's openapi.v2.Document: the messages that a Kubernetes document is made of. Numbers are those of OpenAPIv2.proto. */

const schemaField = nested(() => schema);
const operation = nested(() => operationMessage);

const additionalProperties = choice((value) => (typeof value === 'boolean' ? [2, chosenFlag] : [1, schemaField]));

const schema: Encode = message(
  {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    ...constraintsFrom(6),
    additionalProperties: [21, nested(() => additionalProperties)],
    type: [22, nested(() => only(1, text))],
    items: [23, nested(() => only(1, schemaField))],
    allOf: [24, repeated(schemaField)],
    properties: [25, nested(() => only(1, named(schemaField)))],
  },
  31,
);

const bodyParameter = message({ description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, schemaField] });
const pathParameter = message({ required: [1, flag], in: [2, text], description: [3, text], name: [4, text], type: [5, text], uniqueItems: [19, flag] });
const queryParameter = message({ required: [1, flag], in: [2, text], description: [3, text], name: [4, text], type: [6, text], uniqueItems: [20, flag] });

const placeOf = (value: unknown): unknown => (value as JsonObject)['in'];
const nonBodyParameter = choice((value) => (placeOf(value) === 'path' ? [4, nested(() => pathParameter)] : [3, nested(() => queryParameter)]));
const parameter = choice((value) => (placeOf(value) === 'body' ? [1, nested(() => bodyParameter)] : [2, nested(() => nonBodyParameter)]));
const reference = message({ $ref: [1, text], description: [2, text] });
const parametersItem = choice((value) => (isReference(value) ? [2, nested(() => reference)] : [1, nested(() => parameter)]));
const parameters = repeated(nested(() => parametersItem));

const response = message({ description: [1, text], schema: [2, nested(() => only(1, schemaField))] });
const responseValue = only(
  1,
  nested(() => response),
);
const responses = only(1, named(nested(() => responseValue)));

const operationMessage = message(
  {
    tags: [1, repeated(text)],
    description: [3, text],
    operationId: [5, text],
    produces: [6, repeated(text)],
    consumes: [7, repeated(text)],
    parameters: [8, parameters],
    responses: [9, nested(() => responses)],
    schemes: [10, repeated(text)],
  },
  13,
);

const pathItem = message({
  ...methodsFrom(2, operation),
  parameters: [9, parameters],
});

const apiKeySecurity = message({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] });
const securityDefinition = only(
  2,
  nested(() => apiKeySecurity),
);
const securityRequirement = only(1, named(nested(() => only(1, repeated(text)))));

const fields: MessageFields = {
  swagger: [1, text],
  info: [2, nested(() => message({ title: [1, text], version: [2, text] }))],
  parameters: [10, nested(() => only(1, named(nested(() => parameter))))],
  security: [12, repeated(nested(() => securityRequirement))],
  securityDefinitions: [13, nested(() => only(1, named(nested(() => securityDefinition))))],
};

const maps: Record<string, [number: number, encode: Encode]> = {
  paths: [8, only(2, named(nested(() => pathItem)))],
  definitions: [9, only(1, named(schemaField))],
};

export const encodeDocumentV2 = (value: JsonObject): SlicedWork<Buffer> => encodeDocument(fields, maps, value);
