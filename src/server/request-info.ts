import type { RequestInfo } from '../endpoints/request.ts';
import { badRequest, unknownError, uriTooLong } from '../api/errors.ts';
import { quote } from '../util/go-quote.ts';
import { parseFieldSelector } from '../api/field-selector.ts';
import { parseLabelSelector } from '../api/label-selector.ts';
import { LIMITS } from '../util/limits.ts';
import { pathSegmentErrors } from '../api/names.ts';
import { firstQueryValue, splitTarget } from './request-target.ts';

/** Verbs that may stand in a path before the resource: `/api/v1/watch/pods`, `/api/v1/proxy/nodes/x`. */
const PATH_VERBS = new Set(['proxy', 'watch']);

const VERB_OF_METHOD = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

/** A request of which nothing is known but its path. */
export const emptyRequestInfo = (path: string): RequestInfo => ({
  isResourceRequest: false,
  path,
  verb: '',
  apiPrefix: '',
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
});

/**
 * Says what a request is about from its method and target alone. Where a path segment is percent-encoded it is decoded by itself, so an
 * encoded slash never makes a new segment (CVE-2015-5305). Rules: apiserver/pkg/endpoints/request/requestinfo.go.
 *
 * Throws uriTooLong; badRequest for a malformed escape, a slash inside a namespace or name, or a query of too many parameters; a 500 for `/api/v1/watch` with nothing behind it, as upstream.
 */
export function parseRequestInfo(method: string, target: string): RequestInfo {
  if (target.length > LIMITS.urlCharacters) throw uriTooLong(LIMITS.urlCharacters);
  const { path, query } = splitTarget(target);
  const maxParameters = LIMITS.queryParameters;
  if (query.length > maxParameters && countParameters(query) > maxParameters) throw badRequest(`the query has more than ${maxParameters} parameters`);
  const info = emptyRequestInfo(path);
  const segments = splitPath(path);
  const resourceAt = readGroupVersion(info, segments);
  if (resourceAt < 0) {
    info.verb = method.toLowerCase();
    return info;
  }
  readResource(info, method, segments, resourceAt);
  if (info.name === '') refineCollectionVerb(info, query);
  return info;
}

/** Queries are searched for several names, before anyone knows who asks (CVE-2025-61726). */
function countParameters(query: string): number {
  let count = 1;
  for (let at = query.indexOf('&'); at >= 0; at = query.indexOf('&', at + 1)) count++;
  return count;
}

/** Fills in prefix, group and version; answers where the resource begins, or -1 for what is no resource path. */
function readGroupVersion(info: RequestInfo, segments: string[]): number {
  if (segments.length < 3) return -1;
  const prefix = segments[0]!;
  if (prefix === 'api') {
    info.apiPrefix = prefix;
    info.apiVersion = segments[1]!;
  } else if (prefix === 'apis') {
    info.apiPrefix = prefix;
    if (segments.length < 4) return -1;
    info.apiGroup = segments[1]!;
    info.apiVersion = segments[2]!;
  } else {
    return -1;
  }
  info.isResourceRequest = true;
  return prefix === 'api' ? 2 : 3;
}

/** Whether the verb stands in the path, `/api/v1/watch/pods`, however it is escaped. */
export function hasPathVerb(path: string): boolean {
  const segments = splitPath(path);
  return PATH_VERBS.has(segments[segments[0] === 'api' ? 2 : 3] ?? '');
}

function readResource(info: RequestInfo, method: string, segments: string[], resourceAt: number): void {
  let at = resourceAt;
  if (PATH_VERBS.has(segments[at]!)) {
    if (segments.length - at < 2) throw unknownError(`failed to create RequestInfo: unable to determine kind and namespace from url, ${info.path}`);
    info.verb = segments[at]!;
    at++;
  } else {
    info.verb = VERB_OF_METHOD.get(method) ?? '';
  }
  if (segments[at] === 'namespaces' && segments.length > at + 1) {
    info.namespace = withoutSlash('Namespace', segments[at + 1]!);
    if (segments.length > at + 2 && !isNamespaceSubresource(segments[at + 2]!)) at += 2;
  }
  info.parts = at === 0 ? segments : segments.slice(at);
  info.resource = info.parts[0]!;
  if (info.parts.length > 1) info.name = withoutSlash('Name', info.parts[1]!);
  if (info.parts.length > 2 && info.verb !== 'proxy') info.subresource = info.parts[2]!;
}

/** Tells `namespaces/x/status` from `namespaces/x/pods`. */
const isNamespaceSubresource = (segment: string): boolean => segment === 'status' || segment === 'finalize';

/** A get or delete without a name is of the whole collection; a list of one name counts as naming it. */
function refineCollectionVerb(info: RequestInfo, query: string): void {
  if (info.verb === 'delete') info.verb = 'deletecollection';
  if (info.verb !== 'get') return;
  info.verb = 'list';
  if (query === '') return;
  if (isTrue(firstQueryValue(query, 'watch'))) info.verb = 'watch';
  info.name = nameFromFieldSelector(query);
}

/** Absent, `false` and `0` are false, all else is true (apimachinery/pkg/runtime/conversion.go). */
const isTrue = (value: string | undefined): boolean => value !== undefined && value !== '0' && value.toLowerCase() !== 'false';

/** The name that `fieldSelector=metadata.name=x` asks for; none where the list's options are not well-formed as a whole. */
function nameFromFieldSelector(query: string): string {
  const text = firstQueryValue(query, 'fieldSelector');
  // Most selectors name no object: what is in them need not be known before it is known who asks.
  if (text === undefined || !text.includes('metadata.name')) return '';
  if (!isInteger(firstQueryValue(query, 'limit')) || !isInteger(firstQueryValue(query, 'timeoutSeconds'))) return '';
  try {
    const name = parseFieldSelector(text).exactMatch('metadata.name') ?? '';
    if (name === '' || pathSegmentErrors(name).length > 0) return '';
    parseLabelSelector(firstQueryValue(query, 'labelSelector') ?? '');
    return name;
  } catch {
    return '';
  }
}

const isInteger = (value: string | undefined): boolean => value === undefined || /^[-+]?\d{1,19}$/.test(value);

function withoutSlash(what: 'Name' | 'Namespace', segment: string): string {
  if (segment.includes('/')) throw badRequest(`${what} parameter invalid: ${quote(segment)}: may not contain '/'`);
  return segment;
}

/** The segments between the outer slashes, decoded one by one. */
function splitPath(path: string): string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === SLASH) start++;
  while (end > start && path.charCodeAt(end - 1) === SLASH) end--;
  if (start === end) return [];
  const segments = path.slice(start, end).split('/');
  return path.includes('%') ? segments.map(decodeSegment) : segments;
}

const SLASH = 47;

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`invalid URL escape in ${quote(segment)}`);
  }
}
