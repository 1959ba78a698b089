import type { Exchange } from '../serving/exchange.ts';
import type { RequestContext } from '../registry/request-context.ts';
import type { ObjectMeta } from '../api/api-object.ts';
import type { Status } from '../api/errors.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { User } from '../api/user.ts';

/** What a request's path and method say, before anyone looks at what is installed (apiserver/pkg/endpoints/request). */
export interface RequestInfo {
  isResourceRequest: boolean;
  /** Without the query, still percent-encoded as sent. */
  path: string;
  /** get, list, watch, create, update, patch, delete, deletecollection, proxy; for others the method in lower case. */
  verb: string;
  /** `api` or `apis`. */
  apiPrefix: string;
  apiGroup: string;
  apiVersion: string;
  namespace: string;
  resource: string;
  subresource: string;
  name: string;
  /** Path segments from the resource on, decoded. */
  parts: string[];
}

/** One request on its way through filters, chain and verb. Filters fill it in; nobody reads a field before its filter has run. */
export interface ServerRequest extends RequestContext {
  readonly exchange: Exchange;
  /** Parsed on first use. */
  readonly query: URLSearchParams;
  info: RequestInfo;
  user: User;
  auditId: string;
  readonly receivedAtMs: number;
  /** Headers that go along with whatever answer leaves (audit id, cache control, warnings, …): the exchange adds them itself; an answer's own win. */
  readonly responseHeaders: Record<string, string | string[]>;
  /** The texts given to `warn`; their header is among the response headers. */
  readonly warnings: readonly string[];
  /** Absolute, in the clock of performance.now(); undefined for long-running requests. */
  deadlineMs: number | undefined;
  /** Set once a resource's handler has the request: what upstream's router refuses is not counted, and what it routes is counted by its route. */
  route?: 'built-in' | 'custom' | undefined;
  /** Whether errors may be told in CBOR: from when the resource's handler has taken the request over from filters and router, which have no CBOR. */
  mayFailInCbor?: boolean;
  /** What its client was told, where it was told of an error. */
  errorMessage?: string;
  /** Set by handlers that know no protobuf: errors are not written in it either. */
  failsWithoutProtobuf?: boolean;
  /** Set by a fault of a test: a read that takes what is at hand is answered as of this revision, where the store still has it. */
  asOf?: number | undefined;
  /** Absent where nothing of the request is recorded. */
  readonly audit?: AuditRecorder | undefined;
}

/**
 * Takes down what a request holds and is answered with, as far as its audit level wants it (apiserver/pkg/audit). Functions given are called at once
 * or never.
 */
export interface AuditRecorder {
  /** The body's object. Its metadata says what the request is about where the path does not; `shown` makes what the event shows of it. */
  requestObject(metadata: ObjectMeta | undefined, shown: () => JsonObject): void;
  /** Whether `requestObject` is going to ask for it. */
  readonly keepsRequest?: boolean;
  /** The body of a patch, as it was sent. */
  requestPatch(patch: Buffer): Promise<void> | void;
  /** The answer, where that is a Status. */
  responseStatus(status: Status): void;
  /** Whether the answer is to be told, where it is no Status. */
  readonly keepsResponse?: boolean;
  /** The answer as JSON, whatever the client is sent, in pieces. It leaves when this is done with them. */
  responseObject(json: readonly Buffer[]): Promise<void> | void;
}

/** Answers the request, or throws. What is thrown becomes a Status. */
export type Handler = (request: ServerRequest) => Promise<void> | void;
