import type { OutgoingHttpHeaders } from 'node:http';
import type { HostAndPort } from '../client/service-address.ts';
import type { ServerRequest } from '../endpoints/request.ts';
import { hostPort } from '../net/dial.ts';
import type { Exchange } from '../serving/exchange.ts';
import { type ForwardOptions, type ProxyTarget, forward } from '../serving/proxy/forward.ts';
import { reencodedPath, sortedQuery } from '../serving/proxy/go-url.ts';
import { joinPaths } from '../serving/proxy/links.ts';
import { rewriteLinks } from '../serving/proxy/rewrite-links.ts';
import type { Transport } from '../serving/proxy/transport.ts';
import { isUpgradeRequest, tunnel } from '../serving/proxy/upgrade.ts';
import { identityHeaders } from './identity-headers.ts';

/** A server that trusts our client certificate, and so the identity in our headers. */
export interface TrustingServer extends HostAndPort {
  transport: Transport;
}

export interface ProxyRequestOptions {
  sendsUid: boolean;
  rejectsRedirects: boolean;
  /** Beside those that name the user. */
  headers?: OutgoingHttpHeaders;
  /** Until when all of an answer must have come; absent: the request's own deadline counts. */
  timeoutMs?: number;
  /** Called with the answer's status code. */
  onStatus?: (status: number) => void;
}

/** Sends a request on to another API server as its user's (apimachinery/pkg/util/proxy, NewUpgradeAwareHandler). Rejects where no answer comes. */
export async function proxyRequest(request: ServerRequest, { transport, host, port }: TrustingServer, options: ProxyRequestOptions): Promise<void> {
  const { exchange, user, auditId } = request;
  const headers = { ...options.headers, ...identityHeaders(user, options.sendsUid) };
  if (auditId !== '') headers['audit-id'] = auditId;
  if (request.traceparent !== undefined) headers['traceparent'] = request.traceparent;
  const [path, query] = sentTarget(exchange.target);
  const target = { transport, host, port, path: query === '' ? path : `${path}?${query}` };
  if (isUpgradeRequest(exchange)) return tunnel(exchange, target, { headers, signal: request.signal, onStatus: options.onStatus });
  const authority = hostPort(host, port);
  const isLongRunning = request.deadlineMs === undefined;
  const forwardOptions: ForwardOptions = {
    headers,
    forwarded: { uri: joinPaths('', path), host: authority, proto: 'https' },
    rewrite(response) {
      options.onStatus?.(response.status);
      return rewriteLinks(response, { prefix: '', backendHost: authority, clientHost: authority, origin: `https://${authority}` });
    },
    rejectsRedirects: options.rejectsRedirects,
    isLongRunning,
    // A request with a deadline is answered when that passes, and so cancelled. Making a signal costs more than it seems.
    signal: isLongRunning ? request.signal : undefined,
  };
  await (options.timeoutMs === undefined ? forward(exchange, target, forwardOptions) : forwardInTime(exchange, target, forwardOptions, options.timeoutMs));
}

/** What a request asks for, as Go's proxy writes it anew. */
function sentTarget(target: string): [path: string, query: string] {
  const at = target.indexOf('?');
  return at === -1 ? [reencodedPath(target), ''] : [reencodedPath(target.slice(0, at)), sortedQuery(target.slice(at + 1))];
}

async function forwardInTime(exchange: Exchange, target: ProxyTarget, options: ForwardOptions, timeoutMs: number): Promise<void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('context deadline exceeded')), timeoutMs);
  try {
    await forward(exchange, target, { ...options, signal: late.signal });
  } finally {
    clearTimeout(timer);
  }
}
