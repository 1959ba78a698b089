import type { Authorizer } from '../registry/authorizer.ts';
import type { StepObserver } from '../registry/step-observer.ts';
import type { Exchange } from '../serving/exchange.ts';
import type { User } from '../api/user.ts';
import { withAuthorization } from './filters/authorization.ts';
import type { Filter, RequestHandler } from './filters/filter.ts';
import { type FilterName, chainFilters } from './filters/order.ts';
import type { ServerMetrics } from './metrics/server-metrics.ts';
import { IncomingRequest } from './server-request.ts';

/** A request that one of the server's own handlers makes, to see what would come of it. */
export interface Rehearsal {
  /** Who asks: somebody who is known already. */
  user: User;
  observer: StepObserver;
  /** Asked in place of the server's own. */
  authorizer: Authorizer;
  /** Asked about a request that is allowed: whether it may be carried out. It is the caller's to make sure that it is a dry run. */
  mayGoOn(request: IncomingRequest): boolean;
}

/** Sends a request through the filters and the chain; settles when it is over, whether or not it was answered. */
export type Rehearse = (exchange: Exchange, rehearsal: Rehearsal) => Promise<void>;

/**
 * What the request that asks for the rehearsal has passed already: it has its seat, and would wait for another one for ever where it has the last; it is counted,
 * recorded and traced.
 */
const PASSED: readonly FilterName[] = ['requestRecord', 'consoleRecord', 'httpLog', 'goaway', 'waitGroup', 'console', 'tracing', 'concurrencyLimit'];

export function rehearser(filters: Partial<Record<FilterName, Filter>>, metrics: ServerMetrics, handler: RequestHandler): Rehearse {
  const others = Object.fromEntries(Object.entries(filters).filter(([name]) => !PASSED.includes(name as FilterName)));
  return async (exchange, { user, observer, authorizer, mayGoOn }) => {
    const chain = chainFilters(
      {
        ...others,
        authentication: (next) => (request) => {
          request.user = user;
          request.clientName = user.name;
          request.observer = observer;
          return next(request);
        },
        authorization: (next) => withAuthorization({ authorizer, metrics })((request) => (mayGoOn(request) ? next(request) : undefined)),
      },
      handler,
    );
    await chain(new IncomingRequest(exchange));
  };
}
