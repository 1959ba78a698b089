import { ApiError } from '../../util/errors.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { Filter } from './filter.ts';
import { type ErrorWriter, asApiError, writeJsonError } from './write-error.ts';

export interface PanicGuardOptions {
  writeError: ErrorWriter;
  /** Told of every failure that is not an ApiError: a fault of ours. Never told of headers or bodies. */
  onFault: (fault: Fault) => void;
}

export interface Fault {
  error: unknown;
  auditId: string;
  method: string;
  target: string;
}

/**
 * Turns whatever is thrown into an answer, and says when the request is over. One request's failure stays that request's: nothing thrown or rejected
 * passes this filter. An answer that had begun is cut off, so that the client does not take it for whole.
 */
export function withPanicGuard({ writeError, onFault }: PanicGuardOptions): Filter {
  const report = ({ auditId, exchange }: IncomingRequest, error: unknown): void => onFault({ error, auditId, method: exchange.method, target: exchange.target });

  /** The negotiated writer itself failed: what it left open is answered or cut off. */
  const failAgain = (request: IncomingRequest, error: unknown): void => {
    report(request, error);
    if (request.exchange.isAnswered) cutOff(request);
    else writeJsonError(request, asApiError(error));
    finish(request);
  };
  const fail = (request: IncomingRequest, error: unknown): Promise<void> | void => {
    if (!(error instanceof ApiError)) report(request, error);
    try {
      const pending = request.exchange.isAnswered ? cutOff(request) : writeError(request, asApiError(error));
      if (pending === undefined) return finish(request);
      return pending.then(
        () => finish(request),
        (again: unknown) => failAgain(request, again),
      );
    } catch (again) {
      failAgain(request, again);
    }
  };

  return (next) => (request) => {
    try {
      const pending = next(request);
      if (pending === undefined) return finish(request);
      return pending.then(
        () => finish(request),
        (error: unknown) => fail(request, error),
      );
    } catch (error) {
      return fail(request, error);
    }
  };
}

function cutOff({ exchange }: IncomingRequest): void {
  if (!exchange.isClosed) exchange.stream?.destroy();
}

/** A handler may return while its watch goes on; the request is over when the answer is. */
function finish(request: IncomingRequest): void {
  const { exchange } = request;
  if (request.isLongRunning && exchange.isAnswered && !exchange.isClosed) exchange.onClose(() => request.finish());
  else request.finish();
}
