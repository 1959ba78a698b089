import type { Authorizer } from '../../registry/authorizer.ts';
import type { User } from '../../api/user.ts';
import { readImpersonation } from '../impersonation/headers.ts';
import { type Impersonation, impersonatorOf } from '../impersonation/modes.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { IncomingRequest } from '../server-request.ts';
import { RequestAttributes } from './authorization.ts';
import type { Filter, RequestHandler } from './filter.ts';
import { forbidSniffing } from './write-error.ts';

/** A request with Impersonate-* headers goes on as the user that they name, if who sent it may (KEP-5284; `kubectl --as`). */
export function withImpersonation(authorizer: Authorizer, isConstrainable: boolean, metrics: ServerMetrics): Filter {
  const impersonate = impersonatorOf(authorizer, isConstrainable, metrics.impersonation);
  const goOnAs = async (next: RequestHandler, request: IncomingRequest, impersonation: Promise<Impersonation>): Promise<void> => {
    const startMs = performance.now();
    const { user, constraint } = await unlessRefused(request, impersonation, () => metrics.impersonation.attempted('', false, performance.now() - startMs));
    const nowMs = performance.now();
    metrics.impersonation.attempted(constraint.replace(/^impersonate:/, '') || 'legacy', true, nowMs - startMs);
    request.noteLatency('impersonation', nowMs - startMs);
    metrics.recordFilter('constrainedimpersonation', request, nowMs);
    request.user = user;
    request.audit?.impersonated(user, constraint);
    return next(request);
  };
  return (next) => (request) => {
    const startMs = performance.now();
    metrics.recordFilter('audit', request, startMs);
    const wanted = wantedBy(request, isConstrainable);
    if (wanted) return goOnAs(next, request, impersonate(wanted, new RequestAttributes(request)));
    // To look for the headers takes less than the clock tells.
    metrics.recordFilter('constrainedimpersonation', request, startMs);
    return next(request);
  };
}

function wantedBy(request: IncomingRequest, isConstrainable: boolean): User | undefined {
  const { exchange } = request;
  try {
    return readImpersonation({ headers: exchange.headers, headerValues: (name) => exchange.headerValues(name) }, isConstrainable);
  } catch (error) {
    forbidSniffing(request);
    throw error;
  }
}

async function unlessRefused(request: IncomingRequest, impersonation: Promise<Impersonation>, onRefused: () => void): Promise<Impersonation> {
  try {
    return await impersonation;
  } catch (error) {
    onRefused();
    forbidSniffing(request);
    throw error;
  }
}
