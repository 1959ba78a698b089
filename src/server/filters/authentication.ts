import type { IncomingHttpHeaders } from 'node:http';
import type { Authentication, Authenticator } from '../authenticator.ts';
import { ALL_UNAUTHENTICATED, ANONYMOUS, type User } from '../../api/user.ts';
import { unauthorized } from '../../api/errors.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { Filter, RequestHandler } from './filter.ts';

export interface AuthenticationFilterOptions {
  authenticator: Authenticator;
  metrics: ServerMetrics;
  /** `--api-audiences`: what a token must be for, where it says what it is for. */
  audiences?: readonly string[];
  /** Lower-case names of the front proxy's headers besides the standard ones; `prefixes` end in a dash. */
  proxyHeaders?: { names: readonly string[]; prefixes: readonly string[] };
  /** Whether clients without a name keep their HTTP/2 connections (UnauthenticatedHTTP2DOSMitigation is off). */
  keepsUnknownClients?: boolean;
  /** Called for a request that is about to be refused, with its credentials still on it. */
  onRefused?: (request: IncomingRequest) => void;
  /** Told why a request was refused; the client is not. */
  onFailure?: (error: unknown, auditId: string) => void;
}

const STANDARD_PROXY_HEADERS = ['x-remote-user', 'x-remote-uid', 'x-remote-group'];
const STANDARD_PROXY_PREFIXES = ['x-remote-extra-'];

/** Finds out who asks, or answers 401. What proved it is taken off the request, so that nothing behind can log or forward it. */
export function withAuthentication(options: AuthenticationFilterOptions): Filter {
  const { authenticator, metrics, audiences = [], onFailure, onRefused } = options;
  const isCredential = credentialTest(options.proxyHeaders);
  const limit = options.keepsUnknownClients ? (): void => {} : limitToThisRequest;

  const refuse = (request: IncomingRequest, startMs: number, error: unknown): never => {
    metrics.recordAuthentication(error === undefined ? 'failure' : 'error', performance.now() - startMs);
    if (error !== undefined) onFailure?.(error, request.auditId);
    limit(request);
    onRefused?.(request);
    throw unauthorized();
  };
  const accept = (next: RequestHandler, request: IncomingRequest, startMs: number, found: Authentication | undefined): Promise<void> | void => {
    if (found === undefined) return refuse(request, startMs, undefined);
    if (!areAcceptable(audiences, found.audiences)) return refuse(request, startMs, new Error('the token is for another audience'));
    const nowMs = performance.now();
    const durationMs = nowMs - startMs;
    metrics.recordFilter('authentication', request, nowMs);
    metrics.recordAuthentication('success', durationMs, found.user.name);
    request.noteLatency('authentication', durationMs);
    removeCredentials(request.exchange.headers, isCredential);
    request.user = found.user;
    request.clientName = found.user.name;
    if (isAnonymous(found.user)) limit(request);
    return next(request);
  };
  const acceptLater = async (next: RequestHandler, request: IncomingRequest, startMs: number, pending: Promise<Authentication | undefined>): Promise<void> => {
    let found: Authentication | undefined;
    try {
      found = await pending;
    } catch (error) {
      return refuse(request, startMs, error);
    }
    return accept(next, request, startMs, found);
  };

  return (next) => (request) => {
    const startMs = performance.now();
    request.filterStartMs = startMs;
    let found: Authentication | undefined | Promise<Authentication | undefined>;
    try {
      found = authenticator.authenticate(request);
    } catch (error) {
      return refuse(request, startMs, error);
    }
    return found instanceof Promise ? acceptLater(next, request, startMs, found) : accept(next, request, startMs, found);
  };
}

/** HTTP/2 is costly and was abused (CVE-2023-44487, CVE-2023-39325): clients without a name do not keep such connections. */
function limitToThisRequest({ exchange }: IncomingRequest): void {
  if (exchange.httpVersion === '2.0') exchange.connection.requestClose();
}

const isAnonymous = (user: User): boolean => user === ANONYMOUS || user.name === ANONYMOUS.name || user.groups.includes(ALL_UNAUTHENTICATED);

const areAcceptable = (wanted: readonly string[], given: readonly string[] | undefined): boolean =>
  wanted.length === 0 || given === undefined || given.length === 0 || given.some((audience) => wanted.includes(audience));

/** Most headers are let go by their first letter: this looks at every one of every request. */
function credentialTest(custom: AuthenticationFilterOptions['proxyHeaders']): (name: string) => boolean {
  const names = new Set(['authorization', ...STANDARD_PROXY_HEADERS, ...(custom?.names ?? [])]);
  const prefixes = [...STANDARD_PROXY_PREFIXES, ...(custom?.prefixes ?? [])];
  const firstLetters = new Set([...names, ...prefixes].map((text) => text.charCodeAt(0)));
  return (name) => firstLetters.has(name.charCodeAt(0)) && (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix)));
}

function removeCredentials(headers: IncomingHttpHeaders, isCredential: (name: string) => boolean): void {
  for (const name in headers) if (isCredential(name)) headers[name] = undefined;
}
