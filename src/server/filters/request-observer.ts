import type { IncomingRequest } from '../server-request.ts';
import type { Filter } from './filter.ts';

/** What is told of one request. */
export interface ObservedRequest {
  /** A watch was answered, and goes on for as long as its client likes. */
  streams(request: IncomingRequest): void;
  /** It is over; the request is not to be kept, since it holds its connection. */
  ended(request: IncomingRequest): void;
}

/** Asked about each request when it comes, before anybody knows whose it is. Undefined: nothing of it is to be told. */
export type RequestObserver = (request: IncomingRequest) => ObservedRequest | undefined;

/** For those who record requests: a test, and the console. */
export function withRequestObserver(observe: RequestObserver): Filter {
  return (next) => (request) => {
    const observed = observe(request);
    if (observed) follow(request, observed);
    return next(request);
  };
}

function follow(request: IncomingRequest, observed: ObservedRequest): void {
  request.onFinish((finished) => observed.ended(finished));
  if (request.info.verb !== 'watch') return;
  const { exchange } = request;
  const { wrapStream } = exchange;
  exchange.wrapStream = (stream) => {
    observed.streams(request);
    return wrapStream?.(stream) ?? stream;
  };
}
