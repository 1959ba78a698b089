import type { Exchange } from '../../serving/exchange.ts';
import { hostPort } from '../../net/dial.ts';
import { linkSignals } from '../../util/linked-signal.ts';
import type { ProxyTarget } from '../../serving/proxy/forward.ts';
import { requestHeaders } from '../../serving/proxy/headers.ts';
import { joinStreams, passRefusal, upgradeBackend } from '../../serving/proxy/upgrade.ts';
import { WebSocketByteStream } from '../../serving/websocket/byte-stream.ts';
import { acceptWebSocket, isWebSocketRequest, offeredProtocols } from '../../serving/websocket/handshake.ts';

const PREFIX = 'SPDY/3.1+';
const SUFFIX = '.k8s.io';

const tunnelledProtocols = (offered: readonly string[]): string[] => offered.filter((protocol) => protocol.startsWith(PREFIX) && protocol.endsWith(SUFFIX));

/** Whether a client speaks SPDY inside a WebSocket. */
export const isTunnellingWebSocket = (exchange: Exchange): boolean =>
  isWebSocketRequest(exchange) && tunnelledProtocols(offeredProtocols(exchange.headers)).length > 0;

/**
 * Forwards ports for a client that speaks SPDY inside a WebSocket to a kubelet that speaks plain SPDY (apiserver/pkg/util/proxy/streamtunnel.go): the SPDY inside is passed on
 * as it is. The kubelet comes first, and its refusal is the client's answer. Resolves with the status that it is counted under, when the tunnel stands or was refused.
 */
export async function tunnelPortForward(exchange: Exchange, target: ProxyTarget, closing: AbortSignal): Promise<number> {
  const gone = new AbortController();
  const { signal, release } = linkSignals(gone.signal, closing);
  exchange.onClose(() => {
    gone.abort(new Error('context canceled'));
    release();
  });
  const protocols = tunnelledProtocols(offeredProtocols(exchange.headers));
  const outcome = await upgradeBackend(target, { method: 'POST', headers: headersFor(exchange, target, protocols) }, signal);
  if ('refusal' in outcome) {
    await passRefusal(exchange, outcome.refusal);
    return outcome.refusal.statusCode ?? 500;
  }
  const { response, connection: kubelet, head } = outcome;
  const isSpdy = response.headers.upgrade?.toLowerCase().includes('spdy/3.1');
  if (!isSpdy) exchange.respond(500, { 'content-type': 'text/plain; charset=utf-8' }, 'unable to upgrade: missing upgrade headers in response\n');
  const agreed = PREFIX + String(response.headers['x-stream-protocol-version']);
  const client = isSpdy && acceptWebSocket(exchange, (offered) => (offered.includes(agreed) ? agreed : ''));
  if (!client) {
    kubelet.destroy();
    return 500;
  }
  const bytes = new WebSocketByteStream(client);
  if (head.length > 0) bytes.write(head);
  joinStreams(bytes, kubelet);
  return 101;
}

/** The client's request, as one for plain SPDY. */
function headersFor(exchange: Exchange, { host, port }: ProxyTarget, protocols: readonly string[]): ReturnType<typeof requestHeaders> {
  const headers = requestHeaders(exchange);
  for (const name of Object.keys(headers)) if (name.startsWith('sec-websocket-')) delete headers[name];
  return {
    ...headers,
    host: hostPort(host, port),
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': protocols.map((protocol) => protocol.slice(PREFIX.length)),
    'content-length': 0,
  };
}
