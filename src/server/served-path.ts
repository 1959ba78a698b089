import type { RequestInfo } from '../endpoints/request.ts';

const SLASH = 47;

/**
 * Whether a resource has the path by which it was asked for. Authorization has read the same path: a cluster's resource below a namespace would be
 * allowed by a role of that namespace (CVE-2019-11247), and one behind `/watch/` or `/proxy/` by the right to that verb, whatever the method does.
 * The paths that there are: apiserver/pkg/endpoints/installer.go.
 */
export function servesPath(isNamespaced: boolean, { path, apiPrefix, verb, parts, subresource }: RequestInfo): boolean {
  // Before the resource stand the group-version, a verb (one segment), a namespace (two), or both.
  const before = countSegments(path) - parts.length - (apiPrefix === 'api' ? 2 : 3);
  const isBelowNamespace = before >= 2;
  const isBelowVerb = before % 2 === 1;
  if (path.charCodeAt(0) !== SLASH || path.charCodeAt(1) === SLASH) return false;
  if (isBelowVerb && (verb !== 'watch' || parts.length > 2)) return false;
  if (parts.length > 3 && subresource !== 'proxy') return false;
  return isNamespaced ? isBelowNamespace || parts.length === 1 : !isBelowNamespace;
}

/** Between slashes; those at the end do not count. */
function countSegments(path: string): number {
  let end = path.length;
  while (end > 0 && path.charCodeAt(end - 1) === SLASH) end--;
  let count = 0;
  for (let at = 0; at < end; at++) if (path.charCodeAt(at) === SLASH) count++;
  return count;
}
