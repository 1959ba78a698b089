import { type Socket, connect } from 'node:net';
import { onAbort } from '../util/on-abort.ts';

/** Opens a connection to a host and port; the signal gives it up. Rejects with Node's error. Egress rules put another in the place of `dialDirectly`. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

/** As Go's dialer has it. */
export const DIAL_TIMEOUT_MS = 30_000;

export const dialDirectly: Dial = (host, port, signal) =>
  whenReady(connect({ host, port, noDelay: true, keepAlive: true }), 'connect', {
    signal,
    timeoutMs: DIAL_TIMEOUT_MS,
    timeoutMessage: `dial tcp ${hostPort(host, port)}: i/o timeout`,
  });

/** The same to a socket in the file system. */
export const dialUnix = (path: string, signal: AbortSignal): Promise<Socket> =>
  whenReady(connect({ path }), 'connect', { signal, timeoutMs: DIAL_TIMEOUT_MS, timeoutMessage: `dial unix ${path}: i/o timeout` });

/** `[::1]:443`, `example.com:443` */
export const hostPort = (host: string, port: number | string): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

export interface ReadyOptions {
  signal: AbortSignal;
  timeoutMs: number;
  timeoutMessage: string;
}

/** Waits for a socket's event (`connect`, `secureConnect`); destroys it where that does not come. */
export function whenReady<S extends Socket>(socket: S, event: string, { signal, timeoutMs, timeoutMessage }: ReadyOptions): Promise<S> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      finish();
      socket.destroy();
      reject(error);
    };
    const giveUp = (): void => fail(signal.reason instanceof Error ? signal.reason : new Error('context canceled'));
    const onClose = (): void => fail(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
    let stopWaiting: (() => void) | undefined;
    const timer = setTimeout(() => fail(new Error(timeoutMessage)), timeoutMs);
    const finish = (): void => {
      clearTimeout(timer);
      stopWaiting?.();
      socket.off('error', fail).off('close', onClose);
      // An error may come once more, or before the new owner listens: its close tells all there is to know.
      socket.on('error', () => {});
    };
    if (signal.aborted) return giveUp();
    stopWaiting = onAbort(signal, giveUp);
    socket.once('error', fail).once('close', onClose);
    socket.once(event, () => {
      finish();
      resolve(socket);
    });
  });
}
