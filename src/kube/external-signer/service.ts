import { ProtobufError } from '../../encoding/protobuf-wire.ts';
import { GrpcChannel } from '../../grpc/channel.ts';
import { GrpcCode, GrpcError } from '../../grpc/status.ts';
import { type WaitOptions, unaryWhenReady } from '../../grpc/wait-for-ready.ts';
import {
  type FetchKeysResponse,
  type SignResponse,
  decodeFetchKeysResponse,
  decodeMetadataResponse,
  decodeSignResponse,
  encodeSignRequest,
} from './messages.ts';
import type { SignerObserver } from './observer.ts';

/** The service that signs tokens with keys that this server never sees. Failures are GrpcErrors. */
export interface SignerService {
  sign(claims: string, options: WaitOptions): Promise<SignResponse>;
  fetchKeys(options: WaitOptions): Promise<FetchKeysResponse>;
  metadata(options: WaitOptions): Promise<{ maxTokenExpirationSeconds: number | bigint }>;
  close(): void;
}

const SERVICE = '/v1.ExternalJWTSigner/';
/** grpc-go's own limit of what is received. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** `endpoint`: the path of a socket, or `@name` of Linux' abstract names. Calls wait for a connection until their time is up. */
export function connectSigner(endpoint: string, observer: SignerObserver): SignerService {
  const socketPath = endpoint.startsWith('@') ? `\0${endpoint.slice(1)}` : endpoint;
  const channel = new GrpcChannel({ socketPath }, { maxMessageBytes: MAX_MESSAGE_BYTES });
  const call = async <T>(method: string, message: Buffer, decode: (answer: Buffer) => T, options: WaitOptions): Promise<T> => {
    const startMs = performance.now();
    const observed = (error?: Error): void => observer.called(SERVICE + method, (performance.now() - startMs) / 1000, error);
    try {
      const answer = decoded(await unaryWhenReady(channel, SERVICE + method, message, options), decode);
      observed();
      return answer;
    } catch (error) {
      observed(error as Error);
      throw error;
    }
  };
  return {
    sign: (claims, options) => call('Sign', encodeSignRequest(claims), decodeSignResponse, options),
    fetchKeys: (options) => call('FetchKeys', Buffer.alloc(0), decodeFetchKeysResponse, options),
    metadata: (options) => call('Metadata', Buffer.alloc(0), decodeMetadataResponse, options),
    close: () => channel.close(),
  };
}

function decoded<T>(answer: Buffer, decode: (answer: Buffer) => T): T {
  try {
    return decode(answer);
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new GrpcError(GrpcCode.internal, 'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data');
  }
}
