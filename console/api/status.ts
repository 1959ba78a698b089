/** What the API server answers where it does not do what it was asked. */
export interface Status {
  kind: 'Status';
  message?: string;
  reason?: string;
  code?: number;
}

/** One rule of a Role or ClusterRole. */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/** A request that was answered with an error. */
export class ApiError extends Error {
  readonly code: number;
  readonly status: Status;
  readonly method: string;
  readonly path: string;

  constructor(code: number, status: Status, method: string, path: string) {
    super(status.message ?? `${method} ${path} was answered with ${code}`);
    this.name = 'ApiError';
    this.code = code;
    this.status = status;
    this.method = method;
    this.path = path;
  }
}

export const isForbidden = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 403;
export const isNotFound = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 404;
export const isConflict = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 409 && error.status.reason === 'Conflict';
export const isAborted = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A proxy or a broken connection may answer with what is no Status. */
export function statusOf(code: number, text: string): Status {
  try {
    const parsed = JSON.parse(text) as Status;
    if (parsed.kind === 'Status') return parsed;
  } catch {
    // The text says it itself.
  }
  return { kind: 'Status', code, message: text.slice(0, 1_000) || `The server answered with ${code}.` };
}
