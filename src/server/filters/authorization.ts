import type { Authorizer } from '../../registry/authorizer.ts';
import type { AuthorizationAttributes, Decision } from '../../api/authorization.ts';
import type { RequestInfo } from '../../endpoints/request.ts';
import { type ApiError, forbidden } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import { type FieldSelector, parseFieldSelector } from '../../api/field-selector.ts';
import { type LabelSelector, parseLabelSelector } from '../../api/label-selector.ts';
import type { User } from '../../api/user.ts';
import { hasPathVerb } from '../request-info.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { Filter, RequestHandler } from './filter.ts';
import { forbidSniffing, writeTextError } from './write-error.ts';

export interface AuthorizationFilterOptions {
  authorizer: Authorizer;
  metrics: ServerMetrics;
  /** Told of authorizers that failed; the client sees no more than that they did. */
  onFailure?: (error: string, auditId: string) => void;
}

/** Lets through what the authorizer allows; the rest is answered 403, or 500 where the authorizer failed. */
export function withAuthorization({ authorizer, metrics, onFailure }: AuthorizationFilterOptions): Filter {
  const decide = (next: RequestHandler, request: IncomingRequest, startMs: number, { decision, reason, error }: Decision): Promise<void> | void => {
    const nowMs = performance.now();
    const durationMs = nowMs - startMs;
    metrics.recordFilter('authorization', request, nowMs);
    metrics.recordAuthorization(decision, error !== undefined, durationMs);
    request.noteLatency('authorization', durationMs);
    if (decision === 'allow') {
      annotate(request, 'allow', reason);
      return next(request);
    }
    if (error !== undefined) {
      request.annotateAudit('authorization.k8s.io/reason', 'internal error');
      onFailure?.(error, request.auditId);
      writeTextError(request, 500, sanitize(`Internal Server Error: ${quote(request.exchange.target)}: ${error}`));
      return;
    }
    annotate(request, 'forbid', reason);
    forbidSniffing(request);
    throw forbiddenError(request.user, request.info, reason);
  };
  const decideLater = async (next: RequestHandler, request: IncomingRequest, startMs: number, pending: Promise<Decision>): Promise<void> =>
    decide(next, request, startMs, await pending);
  return (next) => (request) => {
    const startMs = performance.now();
    if (!request.isLongRunning || request.info.verb === 'watch') metrics.recordFilter('priorityandfairness', request, startMs);
    else request.filterStartMs = startMs;
    const decision = authorizer.authorize(new RequestAttributes(request));
    return decision instanceof Promise ? decideLater(next, request, startMs, decision) : decide(next, request, startMs, decision);
  };
}

function annotate(request: IncomingRequest, decision: 'allow' | 'forbid', reason: string): void {
  request.annotateAudit('authorization.k8s.io/decision', decision);
  request.annotateAudit('authorization.k8s.io/reason', reason);
}

const VERBS_WITH_SELECTORS = new Set(['list', 'watch', 'deletecollection']);

/** What a request asks for. Its selectors are parsed only for the authorizer that looks at them; one that does not parse is as if it were not there. */
export class RequestAttributes implements AuthorizationAttributes {
  readonly user: User;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly #request: IncomingRequest;

  constructor(request: IncomingRequest) {
    const { info } = request;
    this.user = request.user;
    this.verb = info.verb;
    this.isResourceRequest = info.isResourceRequest;
    this.apiGroup = info.apiGroup;
    this.apiVersion = info.apiVersion;
    this.resource = info.resource;
    this.subresource = info.subresource;
    this.namespace = info.namespace;
    this.name = info.name;
    this.path = info.path;
    this.#request = request;
  }

  get fieldSelector(): FieldSelector | undefined {
    return this.#selector('fieldSelector', parseFieldSelector);
  }

  get labelSelector(): LabelSelector | undefined {
    return this.#selector('labelSelector', parseLabelSelector);
  }

  #selector<T extends { readonly isEmpty: boolean }>(parameter: string, parse: (text: string) => T): T | undefined {
    const { info } = this.#request;
    // The deprecated /watch/ paths do not honour selectors for single objects, so they do not count there (requestinfo.go).
    if (!info.isResourceRequest || !VERBS_WITH_SELECTORS.has(info.verb) || hasPathVerb(info.path)) return undefined;
    const text = this.#request.queryValue(parameter);
    if (text === undefined || text === '') return undefined;
    try {
      const selector = parse(text);
      return selector.isEmpty ? undefined : selector;
    } catch {
      return undefined;
    }
  }
}

/** The 403 in upstream's words (apiserver/pkg/endpoints/handlers/responsewriters/errors.go); the reason follows a colon. */
export function forbiddenError(user: User, info: RequestInfo, reason: string): ApiError {
  const message = sanitize(forbiddenMessage(user, info));
  return forbidden({ group: info.apiGroup, resource: info.resource }, info.name, reason === '' ? message : `${message}: ${reason}`);
}

function forbiddenMessage(user: User, info: RequestInfo): string {
  const who = `User ${quote(user.name)} cannot ${info.verb}`;
  if (!info.isResourceRequest) return `${who} path ${quote(info.path)}`;
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(info.namespace)}`;
  return `${who} resource ${quote(resource)} in API group ${quote(info.apiGroup)} ${where}`;
}

const HTML: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** No answer shall look like HTML to a browser. */
export const sanitize = (text: string): string => text.replace(/[&<>]/g, (char) => HTML[char]!);
