import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Exchange, ResponseHeaders } from '../exchange.ts';
import { hostPort } from '../../net/dial.ts';
import { linkSignals } from '../../util/linked-signal.ts';
import { goNetworkError } from '../../net/network-error.ts';
import { type ProxyTarget, passOn } from './forward.ts';
import { cleanResponseHeaders, requestHeaders } from './headers.ts';
import { ThrottledConnection } from './throttle.ts';
import { onAbort } from '../../util/on-abort.ts';

export interface TunnelOptions {
  /** Put in place of the client's: who it is, audit id, … Lower-case names. */
  headers?: OutgoingHttpHeaders;
  /** `Host` to send, where it is not the target's. */
  hostHeader?: string;
  signal?: AbortSignal | undefined;
  /** Called with the backend's status code. */
  onStatus?: ((status: number) => void) | undefined;
}

const SWITCHING_PROTOCOLS = 101;
/** How long a backend that refused may take to say why. */
const REFUSAL_MS = 10_000;
const MAX_HEAD_BYTES = 1 << 20;

/** Whether a client asks for another protocol on its connection. */
export const isUpgradeRequest = ({ headers }: Pick<Exchange, 'headers'>): boolean => headers.connection?.toLowerCase().includes('upgrade') ?? false;

/**
 * Sends an upgrade request to a backend over a connection of its own. If the backend says 101, its answer goes to the client and the two connections are
 * one from then on: the end of either is the end of both. If not, the client gets the backend's refusal and both end too: nothing may ever ride on a
 * connection whose upgrade has failed (CVE-2018-1002105), and redirects are not followed (CVE-2020-8559). Resolves when the tunnel stands or the refusal
 * has left. Throws an Error in upstream's words where there is neither; how that reaches the client is the caller's to say.
 */
export async function tunnel(exchange: Exchange, target: ProxyTarget, { headers, hostHeader, signal, onStatus }: TunnelOptions = {}): Promise<void> {
  const gone = new AbortController();
  const { signal: either, release } = linkSignals(gone.signal, ...(signal ? [signal] : []));
  exchange.onClose(() => {
    gone.abort(new Error('context canceled'));
    release();
  });
  const { upgrade } = exchange.headers;
  // A client may say `Connection: upgrade` and not to what: that it asks for nothing is the backend's to answer.
  const ours = { ...headers, host: hostHeader ?? hostPort(target.host, target.port), ...(upgrade !== undefined && { upgrade }) };
  try {
    const outcome = await upgradeBackend(target, { method: exchange.method, headers: { ...requestHeaders(exchange), ...ours } }, either);
    onStatus?.('connection' in outcome ? SWITCHING_PROTOCOLS : outcome.refusal.statusCode!);
    if ('connection' in outcome) join(exchange, outcome);
    else await passRefusal(exchange, outcome.refusal);
  } catch (error) {
    if (!exchange.isAnswered && !exchange.isClosed) throw error;
  }
}

export interface UpgradeRequest {
  method: string;
  /** Lower-case names, `upgrade` and `host` among them. */
  headers: OutgoingHttpHeaders;
}

/**
 * Sends an upgrade request to a backend over a connection of its own, which ends when the signal aborts. The answer is the backend's connection if it said 101, or its
 * refusal, whose connection ends with it. Throws an Error in upstream's words where there is neither.
 */
export async function upgradeBackend(target: ProxyTarget, { method, headers }: UpgradeRequest, signal: AbortSignal): Promise<UpgradeOutcome> {
  const socket = await dialBackend(target, signal);
  const options = { createConnection: () => socket, method, path: target.path, headers: { ...headers, connection: 'Upgrade' }, setHost: false };
  socket.once(
    'close',
    onAbort(signal, () => socket.destroy()),
  );
  try {
    // A header that Node refuses to send is an error of this call, which must not leave the socket behind.
    const request = httpRequest({ ...options, maxHeaderSize: MAX_HEAD_BYTES });
    return throttled(await outcomeOf(request), target.transport.upgradedBytesPerSecond);
  } catch (error) {
    socket.destroy();
    // As Go's http.ReadResponse says of an answer that never came.
    const isCutOff = (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    throw new Error(isCutOff ? 'unexpected EOF' : goNetworkError(error as Error), { cause: error });
  }
}

async function dialBackend({ transport, host, port }: ProxyTarget, signal: AbortSignal): Promise<Socket> {
  try {
    return await transport.connect(host, port, signal);
  } catch (error) {
    throw new Error(`error dialing backend: ${goNetworkError(error as Error)}`, { cause: error });
  }
}

const throttled = (outcome: UpgradeOutcome, bytesPerSecond: number): UpgradeOutcome =>
  'connection' in outcome && bytesPerSecond > 0 ? { ...outcome, connection: new ThrottledConnection(outcome.connection, bytesPerSecond) } : outcome;

export type UpgradeOutcome = { response: IncomingMessage; connection: Duplex; head: Buffer } | { refusal: IncomingMessage };

function outcomeOf(request: ClientRequest): Promise<UpgradeOutcome> {
  return new Promise((resolve, reject) => {
    request.once('upgrade', (response, connection, head) => resolve({ response, connection, head }));
    request.once('response', (refusal) => resolve({ refusal }));
    request.on('error', reject);
    request.end();
  });
}

function join(exchange: Exchange, { response, connection: backend, head }: Extract<UpgradeOutcome, { connection: Duplex }>): void {
  const client = exchange.upgrade();
  if (!client) {
    backend.destroy();
    if (!exchange.isClosed) throw new Error('request connection cannot be hijacked: the client speaks HTTP/2');
    return;
  }
  client.socket.write(headOf(response));
  if (head.length > 0) client.socket.write(head);
  if (client.head.length > 0) backend.write(client.head);
  joinStreams(client.socket, backend);
}

function headOf({ statusMessage = '', rawHeaders }: IncomingMessage): Buffer {
  let text = `HTTP/1.1 101 ${statusMessage || 'Switching Protocols'}\r\n`;
  for (let index = 0; index < rawHeaders.length; index += 2) text += `${rawHeaders[index]}: ${rawHeaders[index + 1]}\r\n`;
  return Buffer.from(`${text}\r\n`, 'latin1');
}

/** Both ways, each at the speed of its reader, until either side ends. What was read by then is still delivered. */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => from.destroy());
    from.pipe(to);
    from.once('end', () => from.destroy());
    from.once('close', () => endSoon(to));
  }
}

/** Ends a stream behind what is still to be written; a reader that takes nothing more is not waited for. */
function endSoon(stream: Duplex): void {
  if (stream.destroyed) return;
  const timer = setTimeout(() => stream.destroy(), REFUSAL_MS);
  stream.once('close', () => clearTimeout(timer));
  stream.end(() => stream.destroy());
}

/** Answers with a backend's refusal. Throws where it is none: neither an upgrade nor an error. */
export async function passRefusal(exchange: Exchange, refusal: IncomingMessage): Promise<void> {
  const { socket, statusCode: status = 0 } = refusal;
  refusal.on('error', () => {}); // its close tells all there is to know
  const timer = setTimeout(() => socket.destroy(), REFUSAL_MS);
  refusal.once('close', () => {
    clearTimeout(timer);
    socket.destroy();
  });
  if (status < 400) {
    refusal.destroy();
    throw new Error(`invalid upgrade response: status code ${status}`);
  }
  await passOn(exchange, {
    status,
    headers: cleanResponseHeaders(refusal.headers as ResponseHeaders, exchange.ownHeaders),
    body: refusal,
    trailers: () => undefined,
  });
}
