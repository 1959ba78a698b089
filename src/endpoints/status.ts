import { normalize } from '../schema/normalize.ts';
import { encodeProtobufObject } from '../schema/protobuf.ts';
import type { Status, StatusDetails } from '../util/errors.ts';
import { prettyJson, stringifyJson } from '../util/json.ts';
import type { JsonObject } from '../util/json-types.ts';
import { JSON_TYPE, type MediaType, type OutputForm, PROTOBUF_TYPE, YAML_TYPE, isPretty, negotiateOutput } from './negotiation.ts';
import type { ServerRequest } from './request.ts';
import { respond } from './respond.ts';
import { type EndpointEnvironment, metaSchema } from './target.ts';

export const successStatus = (details: StatusDetails): Status => ({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });

/** Protobuf where the form is, else JSON. */
export function encodeStatus(environment: EndpointEnvironment, mediaType: MediaType, status: Status): Buffer {
  if (mediaType !== PROTOBUF_TYPE) return Buffer.from(stringifyJson(status));
  const schema = metaSchema(environment, 'v1', 'Status');
  return encodeProtobufObject(schema, { ...normalize(schema, status as unknown as JsonObject), kind: 'Status', apiVersion: 'v1' });
}

export function respondStatus(request: ServerRequest, environment: EndpointEnvironment, code: number, form: OutputForm, status: Status): void | Promise<void> {
  return respond(request, code, form, encodeStatus(environment, form.mediaType, status));
}

/**
 * An error's Status in the form that the request accepts, for whoever answers errors. A client that accepts nothing this server speaks is
 * told so in JSON. YAML, whose printer is loaded on demand, is not spoken here.
 */
export function encodeErrorStatus(environment: EndpointEnvironment, request: ServerRequest, status: Status): { contentType: string; body: Buffer } {
  const form = acceptedForm(request);
  if (form === undefined) return { contentType: JSON_TYPE, body: Buffer.from(prettyJson(status)) };
  const mediaType = form.mediaType === YAML_TYPE ? JSON_TYPE : form.mediaType;
  if (mediaType === JSON_TYPE) return { contentType: JSON_TYPE, body: Buffer.from(isPretty(request, form) ? prettyJson(status) : `${stringifyJson(status)}\n`) };
  return { contentType: mediaType, body: encodeStatus(environment, mediaType, status) };
}

function acceptedForm(request: ServerRequest): OutputForm | undefined {
  try {
    return negotiateOutput(request.exchange.headers.accept, { isResource: false, isCustom: false, mayStream: false });
  } catch {
    return undefined;
  }
}
