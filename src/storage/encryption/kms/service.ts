import { GrpcChannel } from '../../../grpc/channel.ts';
import { unaryWhenReady } from '../../../grpc/wait-for-ready.ts';
import type { KmsObserver } from './observer.ts';
import {
  type DecryptRequest,
  type EncryptResponse,
  type KmsStatusResponse,
  decodeFirstBytes,
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
/** A seed, a key id and annotations: upstream lets none be large. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** `endpoint`: `unix:///path`, or `unix:///@name` of Linux' abstract names. */
export function connectKms(endpoint: string, { provider, timeoutMs, observer }: ServiceOptions): KmsService {
  const channel = new GrpcChannel({ socketPath: socketPathOf(endpoint) }, { maxMessageBytes: MAX_MESSAGE_BYTES });
  const call = async (method: string, message: Buffer): Promise<Buffer> => {
    const startMs = performance.now();
    const observed = (error?: Error): void => observer.called(provider, SERVICE + method, (performance.now() - startMs) / 1000, error);
    try {
      const answer = await unaryWhenReady(channel, SERVICE + method, message, { timeoutMs });
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
    decrypt: async (request) => decodeFirstBytes(await call('Decrypt', encodeDecryptRequest(request))),
    close: () => channel.close(),
  };
}

export function socketPathOf(endpoint: string): string {
  const { pathname } = new URL(endpoint);
  const path = decodeURIComponent(pathname);
  return path.startsWith('/@') ? `\0${path.slice(2)}` : path;
}
