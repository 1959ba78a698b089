import { CBOR_TYPE, type MediaType, type OutputForm, PROTOBUF_TYPE, JSON_TYPE, negotiateOutput } from '../../endpoints/negotiation.ts';
import type { ServerRequest } from '../../endpoints/request.ts';
import { respond } from '../../endpoints/respond.ts';
import { ApiError, type Status, internalError, invalid, requestEntityTooLarge, unknownError } from '../../api/errors.ts';
import { TooManyFieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { prettyJson } from '../../encoding/json.ts';
import { InputTooLarge } from '../../encoding/json-parser.ts';
import { StorageUnavailable } from '../../storage/engine.ts';

/** Answers with an error's Status in the form that the client accepts. Never throws or rejects for what the client sent. */
export type ErrorWriter = (request: ServerRequest, error: ApiError) => Promise<void> | void;

const ERROR_OFFER = { isResource: false, isCustom: false, mayStream: false };
const JSON_FORM: OutputForm = { mediaType: JSON_TYPE, isPretty: false, transform: undefined };

/** `encode` makes the Status of clients that ask for protobuf or CBOR; without it they get JSON. */
export function errorWriter(encode?: (mediaType: MediaType, status: Status) => Buffer): ErrorWriter {
  return (request, error) => {
    const form = formOf(request);
    request.errorMessage = error.status.message ?? '';
    setRetryAfter(request, error);
    if (form === undefined) return request.exchange.respond(error.code, { 'content-type': JSON_TYPE }, prettyJson(error.status));
    request.audit?.responseStatus(error.status);
    if (form.mediaType !== PROTOBUF_TYPE && form.mediaType !== CBOR_TYPE) return respond(request, error.code, form, jsonOf(error));
    if (encode === undefined) return respond(request, error.code, JSON_FORM, jsonOf(error));
    return respond(request, error.code, form, encode(form.mediaType, error.status), () => jsonOf(error));
  };
}

/**
 * Undefined where a client accepts nothing that we have: it is still told of its error, as JSON, but the audit log of its code alone
 * (responsewriters.WriteObjectNegotiated).
 */
function formOf(request: ServerRequest): OutputForm | undefined {
  try {
    return negotiateOutput(request.exchange.headers.accept, {
      ...ERROR_OFFER,
      isCustom: request.failsWithoutProtobuf === true,
      hasCbor: request.mayFailInCbor,
    });
  } catch {
    return undefined;
  }
}

const jsonOf = (error: ApiError): Buffer => Buffer.from(JSON.stringify(error.status));

function setRetryAfter(request: ServerRequest, { status }: ApiError): void {
  const seconds = status.details?.retryAfterSeconds ?? 0;
  if (seconds > 0) request.responseHeaders['retry-after'] = String(seconds);
}

/** For the few errors that upstream writes as JSON whatever the client accepts. */
export function writeJsonError(request: ServerRequest, error: ApiError): void {
  request.errorMessage = error.status.message ?? '';
  setRetryAfter(request, error);
  request.audit?.responseStatus(error.status);
  request.exchange.respond(error.code, { 'content-type': JSON_TYPE, 'x-content-type-options': 'nosniff' }, `${JSON.stringify(error.status)}\n`);
}

/** For refusals that say what the client sent: no browser shall take the answer for a page. To be called before the refusal is thrown. */
export function forbidSniffing(request: ServerRequest): void {
  request.responseHeaders['x-content-type-options'] = 'nosniff';
}

/** A plain-text error with a line end, for what upstream answers without a Status (Go's http.Error). */
export function writeTextError(request: ServerRequest, code: number, text: string): void {
  request.exchange.respond(code, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }, `${text}\n`);
}

/**
 * What a client is told of a failure that is not its own: that the store is away or full, as upstream tells it in etcd's words; else nothing of what happened,
 * but which line of the log says it.
 */
export function asApiError(error: unknown, auditId: string): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof InputTooLarge) return requestEntityTooLarge(error.limit);
  if (error instanceof TooManyFieldErrors) return invalid({ group: '', kind: '' }, '', error.list);
  if (error instanceof StorageUnavailable) return unknownError(error.message);
  return internalError(`the server failed to handle the request; its log says more: look for the audit ID ${quote(auditId)}`);
}
