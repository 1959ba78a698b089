import type { Socket } from 'node:net';
import { DIAL_TIMEOUT_MS, type Dial, hostPort } from '../../net/dial.ts';
import { quote } from '../../util/go-quote.ts';
import { linkSignals } from '../../util/linked-signal.ts';
import { goNetworkError } from '../../net/network-error.ts';
import { onAbort } from '../../util/on-abort.ts';

/** A proxy that opens connections for others when asked by CONNECT (RFC 9110 §9.3.6). */
export interface ConnectProxy {
  /** As errors name it: `10.0.0.1:8131`, or the path of a socket. */
  address: string;
  /** A connection to the proxy itself. */
  open(signal: AbortSignal): Promise<Socket>;
}

export interface DialObserver {
  onStart(): void;
  /** `connect`: the proxy itself was not reached. `proxy`: it did not do as it was asked. */
  onFailure(stage: 'connect' | 'proxy'): void;
  onSuccess(durationMs: number): void;
}

/** As Go's http.DefaultMaxHeaderBytes: what a proxy may say before it has said yes or no. */
const MAX_HEAD_BYTES = 1 << 20;
const HEAD_END = /\r?\n\r?\n/;
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3}(?: [^\r\n]*)?)\r?\n/;

/** Dials through a proxy (apiserver/pkg/server/egressselector, tunnelHTTPConnect). Errors are in upstream's words. */
export const dialThrough =
  (proxy: ConnectProxy, observer: DialObserver, timeoutMs = DIAL_TIMEOUT_MS): Dial =>
  async (host, port, signal) => {
    const startedAtMs = performance.now();
    observer.onStart();
    let stage: 'connect' | 'proxy' = 'connect';
    try {
      const socket = await proxy.open(signal);
      stage = 'proxy';
      await withinTime(timeoutMs, signal, (either) => askFor(socket, hostPort(host, port), proxy.address, either));
      observer.onSuccess(performance.now() - startedAtMs);
      return socket;
    } catch (error) {
      observer.onFailure(stage);
      throw error;
    }
  };

async function withinTime(timeoutMs: number, signal: AbortSignal, ask: (either: AbortSignal) => Promise<void>): Promise<void> {
  const tooLate = new AbortController();
  const timer = setTimeout(() => tooLate.abort(new Error('i/o timeout')), timeoutMs);
  const { signal: either, release } = linkSignals(signal, tooLate.signal);
  try {
    await ask(either);
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** Resolves when the proxy's connection is the target's; ends it otherwise. */
async function askFor(socket: Socket, target: string, proxyAddress: string, signal: AbortSignal): Promise<void> {
  try {
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    const { head, extraBytes } = await answerOf(socket, signal).catch((error: Error) => {
      throw new Error(`reading HTTP response from CONNECT to ${target} via proxy ${proxyAddress} failed: ${goNetworkError(error)}`, { cause: error });
    });
    const status = STATUS_LINE.exec(head)?.[1];
    if (status === undefined) {
      const line = quote(head.split(/\r?\n/, 1)[0]!);
      throw new Error(`reading HTTP response from CONNECT to ${target} via proxy ${proxyAddress} failed: malformed HTTP response ${line}`);
    }
    const code = status.slice(0, 3);
    if (code !== '200') throw new Error(`proxy error from ${proxyAddress} while dialing ${target}, code ${code}: ${status}`);
    if (extraBytes > 0) throw new Error(`unexpected ${extraBytes} bytes of buffered data from CONNECT proxy ${quote(proxyAddress)}`);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

interface ProxyAnswer {
  head: string;
  /** What came behind it: nobody has asked anything of the target so far. */
  extraBytes: number;
}

/** Reads by `readable`, which leaves the socket to its next owner as if nobody had ever read it; `data` would not. */
function answerOf(socket: Socket, signal: AbortSignal): Promise<ProxyAnswer> {
  return new Promise((resolve, reject) => {
    let text = '';
    let stopWaiting: (() => void) | undefined;
    const finish = (): void => {
      stopWaiting?.();
      socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onError);
    };
    const onError = (error: Error): void => {
      finish();
      reject(error);
    };
    const onEnd = (): void => onError(new Error('unexpected EOF'));
    const giveUp = (): void => onError(signal.reason instanceof Error ? signal.reason : new Error('context canceled'));
    const onReadable = (): void => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        const searchFrom = Math.max(0, text.length - 3);
        text += chunk.toString('latin1');
        const end = HEAD_END.exec(text.slice(searchFrom));
        if (end) {
          finish();
          const headLength = searchFrom + end.index + end[0].length;
          return resolve({ head: text.slice(0, headLength), extraBytes: text.length - headLength });
        }
        if (text.length >= MAX_HEAD_BYTES) return onEnd();
      }
    };
    if (signal.aborted) return giveUp();
    stopWaiting = onAbort(signal, giveUp);
    socket.on('readable', onReadable).once('end', onEnd).once('close', onEnd).once('error', onError);
  });
}
