import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DIAL_TIMEOUT_MS, type Dial, hostPort } from '../../net/dial.ts';
import type { DialObserver } from '../../serving/egress/http-connect.ts';
import { DialFailure, type DialFailureReason, Tunnel, type TunnelObserver } from './tunnel.ts';

/** A konnectivity proxy: it opens connections for others when asked by gRPC. */
export interface KonnectivityProxy {
  /** As calls name it. */
  authority: string;
  hasTls: boolean;
  /** A connection to the proxy itself, which speaks HTTP/2. */
  open(signal: AbortSignal): Promise<Socket>;
}

export interface KonnectivityObserver extends TunnelObserver {
  dialFailed(reason: DialFailureReason): void;
}

export interface KonnectivityOptions {
  dials: DialObserver;
  tunnels: KonnectivityObserver;
  connectTimeoutMs?: number;
  dialTimeoutMs?: number;
  closeTimeoutMs?: number;
}

const CLOSE_TIMEOUT_MS = 10_000;
/** While the proxy is not there it is looked for again, as grpc-go does: after a second, and 1.6 times as long each time. */
const FIRST_RETRY_MS = 1000;
const RETRY_FACTOR = 1.6;

/** Dials through a proxy, each connection in a tunnel of its own (apiserver/pkg/server/egressselector, udsGRPCConnector). Errors are in upstream's words. */
export function dialKonnectivity(proxy: KonnectivityProxy, options: KonnectivityOptions): Dial {
  const { dials, tunnels, connectTimeoutMs = DIAL_TIMEOUT_MS, dialTimeoutMs = DIAL_TIMEOUT_MS, closeTimeoutMs = CLOSE_TIMEOUT_MS } = options;
  const { authority, hasTls } = proxy;
  return async (host, port, signal) => {
    const startedAtMs = performance.now();
    dials.onStart();
    const connection = await openPersistently(proxy, signal, connectTimeoutMs).catch((error: Error) => {
      dials.onFailure('connect');
      throw error;
    });
    try {
      const tunnel = new Tunnel(connection, { observer: tunnels, authority, hasTls, dialTimeoutMs, closeTimeoutMs });
      const socket = await tunnel.dial(hostPort(host, port), signal);
      dials.onSuccess(performance.now() - startedAtMs);
      return socket;
    } catch (error) {
      tunnels.dialFailed(error instanceof DialFailure ? error.reason : 'unknown');
      dials.onFailure('proxy');
      throw error;
    }
  };
}

const NOT_THERE = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EAGAIN']);

/** A proxy that is being started again is waited for. */
async function openPersistently({ open }: KonnectivityProxy, signal: AbortSignal, timeoutMs: number): Promise<Socket> {
  const deadlineMs = performance.now() + timeoutMs;
  for (let retryMs = FIRST_RETRY_MS; ; retryMs *= RETRY_FACTOR) {
    try {
      return await open(signal);
    } catch (error) {
      if (signal.aborted || !NOT_THERE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) throw new Error(`context deadline exceeded: connection error: desc = ${JSON.stringify(`transport: error while dialing: ${(error as Error).message}`)}`, { cause: error }); // prettier-ignore
      await sleep(Math.min(retryMs, leftMs), undefined, { signal }).catch(() => undefined);
    }
  }
}
