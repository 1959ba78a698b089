import type { RequestInfo } from '../../endpoints/request.ts';
import type { IncomingRequest } from '../server-request.ts';
import { SPAN_KIND } from '../tracing/span.ts';
import { type TraceContext, parseTraceparent } from '../tracing/trace-context.ts';
import type { Tracer } from '../tracing/tracer.ts';
import type { Filter } from './filter.ts';

/** Whoever is in one of these may say that a request is sampled; the traces of others only lead to ours (apiserver/pkg/endpoints/filters/traces.go). */
const TRUSTED_GROUPS = ['system:masters', 'system:monitoring'];

/** A span for each request. */
export function withTracing(tracer: Tracer): Filter {
  return (next) => (request) => {
    const remote = parseTraceparent(request.exchange.headers['traceparent'] as string | undefined);
    const isTrusted = remote !== undefined && TRUSTED_GROUPS.some((group) => request.user.groups.includes(group));
    const context = tracer.begin(isTrusted ? remote : undefined);
    request.trace = tracer.traceOf(context);
    if (context.isSampled) request.onFinish((finished) => recordRequest(tracer, finished, context, remote, isTrusted));
    return next(request);
  };
}

function recordRequest(tracer: Tracer, request: IncomingRequest, context: TraceContext, remote: TraceContext | undefined, isPart: boolean): void {
  const { exchange, info, userAgent, auditId, receivedAtMs, finishedAtMs } = request;
  tracer.record({
    context,
    parentSpanId: isPart ? remote!.spanId : '',
    name: spanName(exchange.method, info),
    kind: SPAN_KIND.SERVER,
    startMs: receivedAtMs,
    endMs: finishedAtMs,
    attributes: {
      'http.request.method': exchange.method,
      'http.target': exchange.target,
      'url.path': info.path,
      'http.response.status_code': exchange.status,
      'client.address': exchange.remoteAddress,
      'network.protocol.version': exchange.httpVersion,
      'user_agent.original': userAgent,
      'audit-id': auditId,
    },
    hasFailed: exchange.status >= 500,
    link: isPart ? undefined : remote,
  });
}

/** Without names, so that like requests are called alike. */
function spanName(method: string, { isResourceRequest, apiPrefix, apiGroup, apiVersion, namespace, resource, name, subresource }: RequestInfo): string {
  if (!isResourceRequest) return method;
  const scope = namespace === '' ? [] : ['namespaces', '{:namespace}'];
  const parts = [apiPrefix, apiGroup, apiVersion, ...scope, resource, name && '{:name}', subresource];
  return `${method} ${parts.map((part) => (part === '' ? '' : `/${part}`)).join('')}`;
}
