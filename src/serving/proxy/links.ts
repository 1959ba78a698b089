import { posix } from 'node:path';
import { reencodedPath } from './go-url.ts';

/** Where a proxied answer comes from, and what stands before its paths in the eyes of the client. */
export interface ProxiedPlace {
  /** `/api/v1/namespaces/default/services/web/proxy` */
  prefix: string;
  /** `10.1.2.3:8080`: what was asked. */
  backendHost: string;
  /** The `Host` that the client sent. */
  clientHost: string;
  /** What links to the same host begin with, `https://10.1.2.3:443`; '' where absent. */
  origin?: string;
}

const URL_PARTS = /^([a-zA-Z][a-zA-Z0-9+.-]*:)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s;
/** What Go's url.Parse refuses. */
const UNPARSABLE = /[^\x20-\x7e\x80-\u{10ffff}]|%(?![0-9a-fA-F]{2})/u;

/** What Go leaves as it was written, where a path has nothing else (net/url, validEncoded). */
const WELL_ENCODED = /^[\w.~!$&'()*+,;=:@[\]%/-]*$/;
const keptPath = (path: string): string => (WELL_ENCODED.test(path) ? path : reencodedPath(path));

/** A link to the same host goes through the proxy too; all others stay (apimachinery/pkg/util/proxy/transport.go rewriteURL). */
export function rewrittenLink(link: string, { prefix, backendHost, clientHost, origin = '' }: ProxiedPlace): string {
  const parts = UNPARSABLE.test(link) ? null : URL_PARTS.exec(link);
  if (parts === null) return link;
  const [, scheme = '', host = '', path = '', query = '', fragment = ''] = parts;
  const isElsewhere = host !== '' && host !== backendHost && host !== clientHost;
  if (isElsewhere || !path.startsWith('/')) return link;
  const before = host !== '' && host === clientHost && origin === '' ? `${scheme}//${host}` : origin;
  return before + (path.startsWith(prefix) ? keptPath(path) : reencodedPath(joinPaths(prefix, path))) + query + fragment;
}

/** A slash at the end stays (apimachinery/pkg/util/net, JoinPreservingTrailingSlash). */
export function joinPaths(prefix: string, path: string): string {
  const whole = posix.join(prefix, path);
  return path.endsWith('/') && !whole.endsWith('/') ? `${whole}/` : whole;
}
