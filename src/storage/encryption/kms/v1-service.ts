import { GrpcChannel } from '../../../grpc/channel.ts';
import { unaryWhenReady } from '../../../grpc/wait-for-ready.ts';
import { decodeFirstBytes, decodeFirstText, encodeV1Request, encodeV1VersionRequest } from './messages.ts';
import { MAX_MESSAGE_BYTES, socketPathOf } from './service.ts';

/** A KMS v1 plug-in: it encrypts and decrypts the key of each value. Failures are GrpcErrors, or have one as their cause. */
export interface KmsV1Service {
  encrypt(plaintext: Buffer): Promise<Buffer>;
  decrypt(ciphertext: Buffer): Promise<Buffer>;
  close(): void;
}

const SERVICE = '/v1beta1.KeyManagementService/';
const API_VERSION = 'v1beta1';

/** `timeoutMs` is that of one call, with the question for the plug-in's version that stands before the first one. */
export function connectKmsV1(endpoint: string, timeoutMs: number): KmsV1Service {
  const channel = new GrpcChannel({ socketPath: socketPathOf(endpoint) }, { maxMessageBytes: MAX_MESSAGE_BYTES });
  const version = new VersionCheck(channel);
  const call = async (method: string, data: Buffer): Promise<Buffer> => {
    const deadlineMs = performance.now() + timeoutMs;
    await version.check(timeoutMs);
    const leftMs = Math.max(1, deadlineMs - performance.now());
    return decodeFirstBytes(await unaryWhenReady(channel, SERVICE + method, encodeV1Request(API_VERSION, data), { timeoutMs: leftMs }));
  };
  return {
    encrypt: (plaintext) => call('Encrypt', plaintext),
    decrypt: (ciphertext) => call('Decrypt', ciphertext),
    close: () => channel.close(),
  };
}

/** Asked until the plug-in has told once that it speaks v1beta1; never again after that. */
class VersionCheck {
  readonly #channel: GrpcChannel;
  #isKnown = false;
  #asked: Promise<void> | undefined;

  constructor(channel: GrpcChannel) {
    this.#channel = channel;
  }

  /** Calls that begin at the same time share one question. */
  async check(timeoutMs: number): Promise<void> {
    if (this.#isKnown) return;
    await (this.#asked ??= this.#ask(timeoutMs).finally(() => (this.#asked = undefined)));
  }

  async #ask(timeoutMs: number): Promise<void> {
    let told: string;
    try {
      told = decodeFirstText(await unaryWhenReady(this.#channel, `${SERVICE}Version`, encodeV1VersionRequest(API_VERSION), { timeoutMs }));
    } catch (error) {
      throw new Error(`failed get version from remote KMS provider: ${(error as Error).message}`, { cause: error });
    }
    if (told !== API_VERSION) throw new Error(`KMS provider api version ${told} is not supported, only ${API_VERSION} is supported now`);
    this.#isKnown = true;
  }
}
