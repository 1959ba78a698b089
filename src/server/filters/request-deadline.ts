import { badRequest } from '../../util/errors.ts';
import { DurationError, parseDuration } from '../../util/duration.ts';
import type { Filter } from './filter.ts';

/**
 * Gives every request that is not long-running a deadline: `--request-timeout`, or less where the client's `timeout` asks for less; 0 asks for nothing
 * (apiserver/pkg/endpoints/filters/request_deadline.go).
 */
export function withRequestDeadline(requestTimeoutMs: number): Filter {
  return (next) => (request) => {
    if (!request.isLongRunning) {
      const wantedMs = parseTimeoutMs(request.queryValue('timeout'));
      const timeoutMs = wantedMs > 0 && wantedMs < requestTimeoutMs ? wantedMs : requestTimeoutMs;
      request.deadlineMs = request.receivedAtMs + timeoutMs;
    }
    return next(request);
  };
}

function parseTimeoutMs(value: string | undefined): number {
  if (value === undefined || value === '') return 0;
  try {
    return parseDuration(value);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
  }
}
