import { encodeCbor } from '../schema/cbor-encode.ts';
import { normalize } from '../schema/normalize.ts';
import { encodeProtobufObject } from '../schema/protobuf.ts';
import type { Status, StatusDetails } from '../api/errors.ts';
import { stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { CBOR_TYPE, JSON_TYPE, type MediaType, type OutputForm, PROTOBUF_TYPE } from './negotiation.ts';
import type { ServerRequest } from './request.ts';
import { respond, transformed } from './respond.ts';
import { type EndpointEnvironment, metaSchema } from './target.ts';

export const successStatus = (details: StatusDetails): Status => ({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });

/** Protobuf with its envelope, CBOR with its tag, or JSON, from which `respond` makes the rest. */
export function encodeStatus(environment: EndpointEnvironment, mediaType: MediaType, status: Status): Buffer {
  if (mediaType === CBOR_TYPE) return encodeCbor(status as unknown as JsonObject, undefined);
  if (mediaType !== PROTOBUF_TYPE) return Buffer.from(stringifyJson(status));
  const schema = metaSchema(environment, 'v1', 'Status');
  return encodeProtobufObject(schema, { ...normalize(schema, status as unknown as JsonObject), kind: 'Status', apiVersion: 'v1' });
}

export function respondStatus(request: ServerRequest, environment: EndpointEnvironment, code: number, form: OutputForm, status: Status): void | Promise<void> {
  request.audit?.responseStatus(status);
  const encoded = transformed(request, () => encodeStatus(environment, form.mediaType, status));
  return respond(request, code, form, encoded, () => encodeStatus(environment, JSON_TYPE, status));
}
