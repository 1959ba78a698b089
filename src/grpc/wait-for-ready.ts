import { setTimeout as sleep } from 'node:timers/promises';
import type { GrpcChannel } from './channel.ts';
import { GrpcCode, GrpcError } from './status.ts';

/** While there is no connection, a call looks for one so often. */
const CONNECT_RETRY_MS = 100;

export interface WaitOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** A call that waits for a connection until its time is up, as grpc-go's do with WaitForReady. What was sent is not sent again. Throws GrpcError. */
export async function unaryWhenReady(channel: GrpcChannel, path: string, message: Buffer, { timeoutMs, signal }: WaitOptions): Promise<Buffer> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const leftMs = deadlineMs - performance.now();
    try {
      return await channel.unary(path, message, { timeoutMs: Math.max(1, leftMs), ...(signal && { signal }) });
    } catch (error) {
      const isWorthWaiting = error instanceof GrpcError && error.wasNotSent && !channel.isClosed;
      if (!isWorthWaiting) throw error;
      if (leftMs <= CONNECT_RETRY_MS) throw new GrpcError(GrpcCode.deadlineExceeded, `latest balancer error: ${error.details}`);
    }
    // An aborted signal ends the wait early: the call itself then says so.
    await sleep(CONNECT_RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}
