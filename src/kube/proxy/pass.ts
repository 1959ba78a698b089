import type { ConnectCall } from '../../registry/definition.ts';
import type { Exchange } from '../../serving/exchange.ts';
import { type ProxyTarget, forward } from '../../serving/proxy/forward.ts';
import { escapedPath } from '../../serving/proxy/go-url.ts';
import { type ProxiedPlace, joinPaths } from '../../serving/proxy/links.ts';
import { rewriteLinks } from '../../serving/proxy/rewrite-links.ts';
import type { Transport } from '../../serving/proxy/transport.ts';
import { isUpgradeRequest, tunnel } from '../../serving/proxy/upgrade.ts';
import { hostPort } from '../../net/dial.ts';
import { unknownError } from '../../api/errors.ts';

/** What a proxy's name stands for. */
export interface ProxiedBackend {
  host: string;
  port: number;
  transport: Transport;
}

/** Sends a request below `…/proxy` on to a backend (apimachinery/pkg/util/proxy/upgradeaware.go). */
export async function passToBackend({ exchange, options }: ConnectCall, { host, port, transport }: ProxiedBackend): Promise<void> {
  const path = cleanPath((options['path'] as string | undefined) ?? '');
  const [asked, query = ''] = splitOnce(exchange.target, '?');
  const hostHeader = exchange.headers.host ?? hostPort(host, port);
  const target = { transport, host, port, path: escapedPath(path === '' ? '/' : path) };
  if (isUpgradeRequest(exchange)) return upgradeTo(exchange, target, hostHeader);
  const search = query === '' ? '' : `?${query}`;
  // The links of a page are relative to a folder, not to the last word of our own path (kubernetes/kubernetes#4958).
  if (path === '' && (exchange.method === 'GET' || exchange.method === 'HEAD')) {
    exchange.respond(301, { location: `${asked}/${search}` });
    return;
  }
  const whole = decodeURIComponent(asked);
  const prefix = whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : whole;
  const place: ProxiedPlace = { prefix, backendHost: hostPort(host, port), clientHost: hostHeader };
  await forward(
    exchange,
    { ...target, path: target.path + search },
    { hostHeader, headers: { 'x-forwarded-uri': joinPaths(prefix, target.path) }, rewrite: (response) => rewriteLinks(response, place) },
  );
}

/** What goes wrong before the backend has answered is told in upstream's words. */
async function upgradeTo(exchange: Exchange, target: ProxyTarget, hostHeader: string): Promise<void> {
  try {
    await tunnel(exchange, target, { hostHeader });
  } catch (error) {
    throw unknownError((error as Error).message);
  }
}

/** As Go's path.Join makes it, which upstream puts every path through: nobody climbs out of a backend's root, and no slash is doubled. */
const cleanPath = (path: string): string => (path === '' ? '' : joinPaths('/', path));

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
