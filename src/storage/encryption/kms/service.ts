import { GrpcChannel } from '../../../grpc/channel.ts';
import { GrpcCode, GrpcError } from '../../../grpc/status.ts';
import type { KmsObserver } from './observer.ts';
import {
  type DecryptRequest,
  type EncryptResponse,
  type KmsStatusResponse,
  decodeDecryptResponse,
  decodeEncryptResponse,
  decodeStatusResponse,
  encodeDecryptRequest,
  encodeEncryptRequest,
} from './messages.ts';

/** A KMS v2 plug-in: it encrypts and decrypts the seeds of keys with a key that never leaves it. Failures are GrpcErrors. */
export interface KmsService {
  status(): Promise<KmsStatusResponse>;
  encrypt(uid: string, plaintext: Buffer): Promise<EncryptResponse>;
  decrypt(request: DecryptRequest): Promise<Buffer>;
  close(): void;
}

interface ServiceOptions {
  provider: string;
  timeoutMs: number;
  observer: KmsObserver;
}

const SERVICE = '/v2.KeyManagementService/';
/** While there is no connection, a call looks for one so often until its time is up (grpc.WaitForReady). */
const CONNECT_RETRY_MS = 100;
/** A seed, a key id and annotations: upstream lets none be large. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** `endpoint`: `unix:///path`, or `unix:///@name` of Linux' abstract names. */
export function connectKms(endpoint: string, { provider, timeoutMs, observer }: ServiceOptions): KmsService {
  const channel = new GrpcChannel({ socketPath: socketPathOf(endpoint) }, { maxMessageBytes: MAX_MESSAGE_BYTES });
  const call = async (method: string, message: Buffer): Promise<Buffer> => {
    const startMs = performance.now();
    const observed = (error?: Error): void => observer.called(provider, SERVICE + method, (performance.now() - startMs) / 1000, error);
    try {
      const answer = await callWhenReady(channel, SERVICE + method, message, startMs + timeoutMs);
      observed();
      return answer;
    } catch (error) {
      observed(error as Error);
      throw error;
    }
  };
  return {
    status: async () => decodeStatusResponse(await call('Status', Buffer.alloc(0))),
    encrypt: async (uid, plaintext) => decodeEncryptResponse(await call('Encrypt', encodeEncryptRequest(plaintext, uid))),
    decrypt: async (request) => decodeDecryptResponse(await call('Decrypt', encodeDecryptRequest(request))),
    close: () => channel.close(),
  };
}

async function callWhenReady(channel: GrpcChannel, path: string, message: Buffer, deadlineMs: number): Promise<Buffer> {
  for (;;) {
    const leftMs = deadlineMs - performance.now();
    try {
      return await channel.unary(path, message, { timeoutMs: Math.max(1, leftMs) });
    } catch (error) {
      const isWorthWaiting = error instanceof GrpcError && error.wasNotSent;
      if (!isWorthWaiting) throw error;
      if (leftMs <= CONNECT_RETRY_MS)
        throw new GrpcError(GrpcCode.deadlineExceeded, `context deadline exceeded while waiting for connections to become ready; ${error.details}`);
    }
    await new Promise<void>((resolve) => setTimeout(resolve, CONNECT_RETRY_MS));
  }
}

function socketPathOf(endpoint: string): string {
  const { pathname } = new URL(endpoint);
  const path = decodeURIComponent(pathname);
  return path.startsWith('/@') ? `\0${path.slice(2)}` : path;
}
