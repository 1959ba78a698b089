import { ApiError, conflict, resourceExpired, serviceUnavailable, timeout, tooManyRequests } from '../api/errors.ts';
import type { Filter } from '../server/filters/filter.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import { delay } from '../util/delay.ts';
import type { FaultInjector, TakenFault } from './injector.ts';
import type { FaultRule } from './rule.ts';
import { disturbedStream } from './watch-stream.ts';

/** The requests of whoever adds the rules are not to meet them: a client with this agent is served as ever. */
export const EXEMPT_AGENT = 'binnacle-testing';

/** Lets requests meet the faults that rules say. It stands behind authentication, so that rules can name users. */
export function withFaults(faults: FaultInjector): Filter {
  return (next) => (request) => {
    if (request.userAgent === EXEMPT_AGENT) return next(request);
    const fault = faults.take(request);
    return fault === undefined ? next(request) : inject(fault, request, next);
  };
}

async function inject({ rule, asOf }: TakenFault, request: IncomingRequest, next: ReturnType<Filter>): Promise<void> {
  if (rule.delay !== undefined) await delay(rule.delay, request.signal);
  if (rule.error !== undefined) throw errorOf(rule, request);
  if (rule.reset === 'before') return cut(request);
  if (rule.reset === 'after') cutInsteadOfAnswer(request);
  if (rule.read === 'stale') request.asOf = asOf;
  if (rule.watch !== undefined) disturbWatch(rule, request);
  return next(request);
}

function errorOf({ error, retryAfter = 0 }: FaultRule, { info }: IncomingRequest): ApiError {
  const resource = { group: info.apiGroup, resource: info.resource };
  switch (error) {
    case 409:
      return conflict(resource, info.name, 'the object has been modified; please apply your changes to the latest version and try again');
    case 410:
      return resourceExpired(EXPIRED);
    case 429:
      return tooManyRequests('Too many requests, please try again later.', retryAfter);
    case 503:
      return serviceUnavailable('the server is currently unable to handle the request', retryAfter);
    case 504:
      return timeout('request did not complete within the allotted timeout', retryAfter);
    default:
      return new ApiError(500, 'InternalError', 'Internal error occurred: an injected fault', { ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }) });
  }
}

/** As upstream says it of a watch that begins before what is kept (client-go finds the reason, not the words). */
const EXPIRED = 'The resourceVersion for the provided watch is too old.';

/** Settles when the connection is closed. */
function cut({ exchange }: IncomingRequest): Promise<void> {
  exchange.connection.destroy();
  return new Promise((resolve) => exchange.onClose(resolve));
}

/** The request is done; the client does not learn it. */
function cutInsteadOfAnswer({ exchange }: IncomingRequest): void {
  const { beforeAnswer } = exchange;
  exchange.beforeAnswer = async (isWhole) => {
    exchange.connection.destroy();
    await beforeAnswer?.(isWhole);
    await new Promise<void>((resolve) => exchange.onClose(resolve));
  };
}

function disturbWatch(rule: FaultRule, request: IncomingRequest): void {
  const stop = (): void => request.abort(rule.watch === 'expire' ? resourceExpired(EXPIRED) : new Error('an injected fault ends this watch'));
  const { wrapStream } = request.exchange;
  request.exchange.wrapStream = (inner) => disturbedStream(wrapStream?.(inner) ?? inner, rule, { isStopped: () => request.signal.aborted, stop });
}
