import type { ApiError } from '../../api/errors.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { Filter } from './filter.ts';
import { type ErrorWriter, asApiError, writeJsonError } from './write-error.ts';

export interface PanicGuardOptions {
  writeError: ErrorWriter;
  /** Told of every failure that is not a client's own: a fault of ours. Never told of headers or bodies. */
  onFault: (fault: RequestFault) => void;
}

export interface RequestFault {
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
  const report = ({ auditId, exchange }: IncomingRequest, error: unknown): void =>
    onFault({ error, auditId, method: exchange.method, target: exchange.target });

  /** A handler may return while its watch goes on; the request is over when the answer is. */
  const finish = (request: IncomingRequest): void => {
    const { exchange } = request;
    const over = (): void => request.finish((error) => report(request, error));
    if (request.isLongRunning && exchange.isAnswered && !exchange.isClosed) exchange.onClose(over);
    else over();
  };
  /** The error writer failed itself: what it left open is answered plainly, or cut off. */
  const failTwice = (request: IncomingRequest, error: ApiError, second: unknown): void => {
    report(request, second);
    if (request.exchange.isAnswered) cutOff(request);
    else writeJsonError(request, error);
    finish(request);
  };
  const fail = (request: IncomingRequest, thrown: unknown): Promise<void> | void => {
    const error = asApiError(thrown, request.auditId);
    if (error.code === 500) report(request, thrown);
    try {
      const pending = request.exchange.isAnswered ? cutOff(request) : writeError(request, error);
      if (pending === undefined) return finish(request);
      return pending.then(
        () => finish(request),
        (second: unknown) => failTwice(request, error, second),
      );
    } catch (second) {
      failTwice(request, error, second);
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
