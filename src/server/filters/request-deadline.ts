import { badRequest } from '../../api/errors.ts';
import { DurationError, parseDuration } from '../../util/duration.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { Filter } from './filter.ts';

/**
 * Gives every request that is not long-running a deadline: `--request-timeout`, or less where the client's `timeout` asks for less; 0 asks for nothing
 * (apiserver/pkg/endpoints/filters/request_deadline.go). `onRefused` is told of a request whose timeout cannot be read.
 */
export function withRequestDeadline(requestTimeoutMs: number, onRefused?: (request: IncomingRequest) => void): Filter {
  return (next) => (request) => {
    if (!request.isLongRunning) {
      const wantedMs = parseTimeoutMs(request.queryValue('timeout'), () => onRefused?.(request));
      const timeoutMs = wantedMs > 0 && wantedMs < requestTimeoutMs ? wantedMs : requestTimeoutMs;
      request.deadlineMs = request.receivedAtMs + timeoutMs;
    }
    return next(request);
  };
}

function parseTimeoutMs(value: string | undefined, onInvalid: () => void): number {
  if (value === undefined || value === '') return 0;
  try {
    return parseDuration(value);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    onInvalid();
    throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
  }
}
