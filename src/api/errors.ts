import { type FieldError, summarize } from './field-errors.ts';
import { quote } from '../util/go-quote.ts';
import { type GroupResource, qualifiedResource } from './api-object.ts';

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** meta/v1 Status: what a client is told instead of, or in place of, an object. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { continue?: string };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/**
 * The one error that reaches a client as it is. Everything thrown that is not an ApiError becomes a 500 without its message's details.
 * Made only by the constructors below, which word errors as upstream does (apimachinery/pkg/api/errors).
 */
export class ApiError extends Error {
  readonly status: Status;
  readonly code: number;
  constructor(code: number, reason: string | undefined, message: string, details?: StatusDetails) {
    super(message);
    this.code = code;
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason !== undefined && { reason }),
      ...(details && { details }),
      code,
    };
  }
  get reason(): string | undefined {
    return this.status.reason;
  }
}

export const isApiError = (error: unknown, reason?: string): error is ApiError =>
  error instanceof ApiError && (reason === undefined || error.reason === reason);

const named = ({ group, resource }: GroupResource, name: string, more?: Partial<StatusDetails>): StatusDetails => ({
  ...(name !== '' && { name }),
  ...(group !== '' && { group }),
  ...(resource !== '' && { kind: resource }),
  ...more,
});

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);
export const unauthorized = (message = 'Unauthorized'): ApiError => new ApiError(401, 'Unauthorized', message);
export const forbidden = (resource: GroupResource, name: string, why: string): ApiError => {
  const subject =
    resource.resource === ''
      ? 'forbidden: '
      : name === ''
        ? `${qualifiedResource(resource)} is forbidden: `
        : `${qualifiedResource(resource)} ${quote(name)} is forbidden: `;
  return new ApiError(403, 'Forbidden', subject + why, named(resource, name));
};
export const notFound = (resource: GroupResource, name: string): ApiError =>
  new ApiError(404, 'NotFound', `${qualifiedResource(resource)} ${quote(name)} not found`, named(resource, name));
/** The path leads nowhere: upstream's generic 404, with empty details. */
export const genericNotFound = (): ApiError => new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});
export const methodNotSupported = (resource: GroupResource, action: string): ApiError =>
  new ApiError(405, 'MethodNotAllowed', `${action} is not supported on resources of kind ${JSON.stringify(qualifiedResource(resource))}`, named(resource, ''));
/** The path is known but not with this method: upstream's generic 405, with empty details. */
export const genericMethodNotAllowed = (): ApiError =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
export const notAcceptable = (message: string): ApiError => new ApiError(406, 'NotAcceptable', message);
/** What upstream's router says before negotiation: as notAcceptable, with empty details. */
export const genericNotAcceptable = (message: string): ApiError => new ApiError(406, 'NotAcceptable', message, {});
export const alreadyExists = (resource: GroupResource, name: string): ApiError =>
  new ApiError(409, 'AlreadyExists', `${qualifiedResource(resource)} ${quote(name)} already exists`, named(resource, name));
export const generateNameConflict = (resource: GroupResource, name: string): ApiError =>
  new ApiError(
    409,
    'AlreadyExists',
    `${qualifiedResource(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`,
    named(resource, name, { retryAfterSeconds: 1 }),
  );
export const conflict = (resource: GroupResource, name: string, why: string): ApiError =>
  new ApiError(409, 'Conflict', `Operation cannot be fulfilled on ${qualifiedResource(resource)} ${quote(name)}: ${why}`, named(resource, name));
/**
 * A webhook's no, with the Status that came with it, if any (apiserver/pkg/admission/plugin/webhook/errors ToStatusErr). Of what was sent, only what a Status
 * has is taken.
 */
export function webhookDenied(webhookName: string, sent: Readonly<Record<string, unknown>> = {}): ApiError {
  const { code, reason, message, details } = sent;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const why = text(message) || text(reason);
  const denied = `admission webhook ${quote(webhookName)} denied the request`;
  const isRefusal = typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 999;
  const given = typeof details === 'object' && details !== null ? (details as StatusDetails) : undefined;
  return new ApiError(
    isRefusal ? code : 400,
    text(reason) || undefined,
    why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    given && knownDetails(given),
  );
}

const knownDetails = ({ name, group, kind, uid, causes, retryAfterSeconds }: StatusDetails): StatusDetails => ({
  ...(typeof name === 'string' && { name }),
  ...(typeof group === 'string' && { group }),
  ...(typeof kind === 'string' && { kind }),
  ...(typeof uid === 'string' && { uid }),
  ...(Array.isArray(causes) && { causes }),
  ...(Number.isInteger(retryAfterSeconds) && { retryAfterSeconds }),
});

/** Fields that others own, one cause each (errors.NewApplyConflict). */
export const applyConflict = (causes: StatusCause[], message: string): ApiError => new ApiError(409, 'Conflict', message, { causes });
/** `continueToken`: what to go on with, where the client may; it travels in the Status' metadata. */
export function resourceExpired(message: string, continueToken?: string): ApiError {
  const error = new ApiError(410, 'Expired', message);
  if (continueToken !== undefined) error.status.metadata.continue = continueToken;
  return error;
}
export const requestEntityTooLarge = (message: string): ApiError => new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);
/** Upstream has no words for it: Go's server closes connections whose head is too large. */
export const uriTooLong = (limit: number): ApiError => new ApiError(414, 'RequestEntityTooLarge', `Request URI too long: limit is ${limit} characters`);
export const unsupportedMediaType = (message: string): ApiError => new ApiError(415, 'UnsupportedMediaType', message);
/** What upstream's router says of a content type that no route consumes: as unsupportedMediaType, with empty details. */
export const genericUnsupportedMediaType = (): ApiError => new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
export const invalid = (kind: { group: string; kind: string }, name: string, errors: readonly FieldError[]): ApiError => {
  const causes = errors.map((e) => ({ reason: e.type, message: e.body, field: e.field }));
  const subject = `${kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`} ${quote(name)} is invalid`;
  return new ApiError(
    422,
    'Invalid',
    errors.length === 0 ? subject : `${subject}: ${summarize(errors)}`,
    named({ group: kind.group, resource: kind.kind }, name, { causes }),
  );
};
/** A patch or body that the server could not apply: upstream's generic 422, with empty details. */
export const genericInvalid = (): ApiError => new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError => new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds });
/** Without a time to wait for (errors.NewTooManyRequestsError). */
export const rateLimited = (message: string): ApiError => new ApiError(429, 'TooManyRequests', `Too many requests: ${message}`);
/** An eviction that a disruption budget does not allow now; `retryAfterSeconds` 0 where nobody knows when it will. */
export const disruptionBudgetExceeded = (cause: string, retryAfterSeconds: number): ApiError =>
  new ApiError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: cause }],
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  });
export const internalError = (message: string): ApiError =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
/** A failure that upstream answers as 500 with its bare message and no reason. */
export const unknownError = (message: string): ApiError => new ApiError(500, undefined, message);
const TOO_LARGE_FOR_STORE = 'etcdserver: request is too large';
/** The object is bigger than the store takes, in etcd's words. */
export const tooLargeForStore = (): ApiError => unknownError(TOO_LARGE_FOR_STORE);
export const isTooLargeForStore = (error: unknown): boolean => error instanceof Error && error.message === TOO_LARGE_FOR_STORE;
/** What another server's answer is to a client of ours, by its code (NewGenericServerResponse); `null` where that server's own words are kept. */
const ANSWERS: Readonly<Record<number, readonly [reason: string, message: string | null]>> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  403: ['Forbidden', null],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  406: ['NotAcceptable', null],
  409: ['Conflict', 'the server reported a conflict'],
  415: ['UnsupportedMediaType', null],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'the server was unable to return a response in the time allotted, but may still be processing the request'],
};
/** An answer of another server that is no success. `resource` and `name` are what it was asked for. */
export function genericServerResponse(code: number, resource: string, name: string, serverMessage: string): ApiError {
  const [reason, known] = ANSWERS[code] ?? [code >= 500 ? 'InternalError' : undefined, undefined];
  const other =
    code >= 500
      ? `an error on the server (${quote(serverMessage)}) has prevented the request from succeeding`
      : `the server responded with the status code ${code} but did not return more information`;
  const message = known === null ? serverMessage : (known ?? other);
  return new ApiError(code, reason, `${message} ( ${resource} ${name})`, { name, kind: resource });
}
export const serviceUnavailable = (message: string, retryAfterSeconds?: number): ApiError =>
  new ApiError(503, 'ServiceUnavailable', message, retryAfterSeconds === undefined ? undefined : { retryAfterSeconds });
export const timeout = (message: string, retryAfterSeconds = 0): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: ${message}`, retryAfterSeconds === 0 ? {} : { retryAfterSeconds });
/** The client asked for a version that this server has not reached (storage.NewTooLargeResourceVersionError). */
export const tooLargeResourceVersion = (wanted: number | string, current: number, retryAfterSeconds = 1): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  });
