/** What the API server said of a request that it did not do. */
export class ApiError extends Error {
  /** The HTTP status: 404, 409, 422, … */
  readonly code: number;
  /** `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, … */
  readonly reason: string;
  constructor(request: string, code: number, text: string) {
    const status = parsedStatus(text);
    super(`${request}: ${status?.message ?? `${code} ${text.slice(0, 500)}`}`);
    this.name = 'ApiError';
    this.code = code;
    this.reason = status?.reason ?? '';
  }
}

function parsedStatus(text: string): { message?: string; reason?: string } | undefined {
  try {
    return JSON.parse(text) as { message?: string; reason?: string };
  } catch {
    return undefined;
  }
}
