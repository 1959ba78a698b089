/** A request that the server got; those of the `server` object's own methods are not among them. */
export interface RecordedRequest {
  readonly at: Date;
  readonly user: string;
  readonly userAgent: string;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; of paths that are no resources, the method in lower case. */
  readonly verb: string;
  /** `pods`, `deployments.apps`, `pods/status`; empty for paths that are no resources. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** With the query. */
  readonly path: string;
  /** The status; 0 while there is no answer, and where the connection went without one. */
  readonly code: number;
  /** Milliseconds until it was over; undefined while it is under way, as a watch is. */
  readonly durationMs: number | undefined;
}

/** Which requests are meant: those with all of the values that are given, or those that a function is true for. */
export type RequestMatch =
  | Partial<Pick<RecordedRequest, 'user' | 'userAgent' | 'verb' | 'resource' | 'namespace' | 'name' | 'code'>>
  | ((request: RecordedRequest) => boolean);

/** What the server was asked, the newest last: the last ten thousand requests. */
export interface RequestLog {
  all(): readonly RecordedRequest[];
  filter(match: RequestMatch): RecordedRequest[];
  /** The first request that matches, of those there were and those to come. Milliseconds; default: 10,000. */
  waitFor(match: RequestMatch, options?: { timeout?: number }): Promise<RecordedRequest>;
  /** Throws an error that shows them where requests (that match) were answered with 400 or more, or not at all. */
  assertNoneFailed(match?: RequestMatch): void;
  /** The last requests (that match), a line each, for the message of a test that failed. */
  report(count?: number, match?: RequestMatch): string;
  clear(): void;
}
