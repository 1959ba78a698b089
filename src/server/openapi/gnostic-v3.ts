import type { JsonObject } from '../../encoding/json-types.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import {
  any,
  choice,
  constraintsFrom,
  chosenDouble,
  chosenFlag,
  chosenText,
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

/** gnostic's openapi.v3.Document: the messages that a Kubernetes document is made of. Numbers are those of OpenAPIv3.proto. */

const reference = nested(() => message({ $ref: [1, text], summary: [2, text], description: [3, text] }));
/** Many messages have such a twin: the thing itself is field 1, a reference field 2. */
const orReference = (encode: () => Encode) => nested(() => choice((value) => (isReference(value) ? [2, reference] : [1, nested(encode)])));

const schemaOrReference = orReference(() => schema);
const operation = nested(() => operationMessage);

const additionalProperties = choice((value) => (typeof value === 'boolean' ? [2, chosenFlag] : [1, schemaOrReference]));
/** Other defaults than these have no form: the message stays empty. */
const defaultType: Encode = (writer, value) => {
  if (typeof value === 'number' || typeof value === 'bigint') chosenDouble(writer, 1, value);
  if (typeof value === 'boolean') chosenFlag(writer, 2, value);
  if (typeof value === 'string') chosenText(writer, 3, value);
};

const schema: Encode = message(
  {
    nullable: [1, flag],
    readOnly: [3, flag],
    writeOnly: [4, flag],
    example: [7, any],
    deprecated: [8, flag],
    title: [9, text],
    ...constraintsFrom(10),
    type: [25, text],
    allOf: [26, repeated(schemaOrReference)],
    oneOf: [27, repeated(schemaOrReference)],
    anyOf: [28, repeated(schemaOrReference)],
    not: [29, nested(() => schema)],
    items: [30, nested(() => only(1, schemaOrReference))],
    properties: [31, nested(() => only(1, named(schemaOrReference)))],
    additionalProperties: [32, nested(() => additionalProperties)],
    default: [33, nested(() => defaultType)],
    description: [34, text],
    format: [35, text],
  },
  36,
);

const mediaType = message({ schema: [1, schemaOrReference] });
const content = nested(() => only(1, named(nested(() => mediaType))));
const parameter = message({ name: [1, text], in: [2, text], description: [3, text], required: [4, flag], schema: [10, schemaOrReference] });
const parameters = repeated(orReference(() => parameter));
const requestBody = message({ description: [1, text], content: [2, content], required: [3, flag] });
const response = message({ description: [1, text], content: [3, content] });
const responses = only(2, named(orReference(() => response)));

const operationMessage = message(
  {
    tags: [1, repeated(text)],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, parameters],
    requestBody: [7, orReference(() => requestBody)],
    responses: [8, nested(() => responses)],
  },
  13,
);

const pathItem = message({
  ...methodsFrom(4, operation),
  parameters: [13, parameters],
});

const securityScheme = message({ type: [1, text], description: [2, text], name: [3, text], in: [4, text] });
const components = message({
  schemas: [1, nested(() => only(1, named(schemaOrReference)))],
  securitySchemes: [7, nested(() => only(1, named(orReference(() => securityScheme))))],
});

const fields: MessageFields = {
  openapi: [1, text],
  info: [2, nested(() => message({ title: [1, text], version: [6, text] }))],
  components: [5, nested(() => components)],
};

export const encodeDocumentV3 = (value: JsonObject): SlicedWork<Buffer> =>
  encodeDocument(fields, { paths: [4, only(1, named(nested(() => pathItem)))] }, value);
