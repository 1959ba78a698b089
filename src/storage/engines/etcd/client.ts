import { setTimeout as delay } from 'node:timers/promises';
import type { Dial } from '../../../net/dial.ts';
import {
  type CallOptions,
  GrpcChannel,
  type GrpcChannelOptions,
  type GrpcStream,
  type GrpcTarget,
  type GrpcTls,
  type StreamHandler,
} from '../../../grpc/channel.ts';
import { GrpcCode, GrpcError } from '../../../grpc/status.ts';
import { StorageMisconfigured } from '../../engine.ts';
import { isTransient } from './errors.ts';
import type { CallObserver, EtcdObserver } from './observer.ts';

export interface EtcdClientOptions {
  /** `https://10.0.0.1:2379`, one or more members of one cluster. */
  endpoints: readonly string[];
  tls?: GrpcTls | undefined;
  /** The way to members; absent: directly. */
  dial?: Dial | undefined;
  /** Default: 6 s of silence, then 3 s for a sign of life. */
  keepalive?: Pick<GrpcChannelOptions, 'keepaliveTimeMs' | 'keepaliveTimeoutMs'>;
  observer?: Pick<EtcdObserver, 'call'>;
  /** Which member is spoken to first: servers that start together spread over the members. */
  random?: () => number;
}

/** As etcd's client (clientv3 options.go): so often, with such a pause. */
const MAX_ATTEMPTS = 100;
const RETRY_PAUSE_MS = 25;
/** clientv3 defaultMaxCallSendMsgSize; etcd itself takes less, unless told otherwise. */
const MAX_SEND_BYTES = 2 * 1024 * 1024;
/** No call is left waiting for longer: upstream's requests have this deadline. */
const CALL_TIMEOUT_MS = 60_000;
/** etcd takes a ping every 5 s, and not more (--grpc-keepalive-min-time). Upstream takes 30 s and 10 s to give up a member that has stopped. */
const KEEPALIVE = { keepaliveTimeMs: 6_000, keepaliveTimeoutMs: 3_000 };

/**
 * Calls to an etcd cluster. All go to one member, until it cannot be reached or says that it has no leader; then to the next.
 */
export class EtcdClient {
  readonly endpoints: readonly string[];
  readonly #channels: readonly GrpcChannel[];
  readonly #begin: EtcdObserver['call'];
  #current: number;
  #isClosed = false;

  constructor({ endpoints, tls, dial, observer, keepalive = KEEPALIVE, random = Math.random }: EtcdClientOptions) {
    this.endpoints = endpoints;
    this.#begin = observer?.call;
    this.#channels = endpoints.map((endpoint) => new GrpcChannel(targetOf(endpoint, tls), { ...keepalive, dial }));
    this.#current = Math.floor(random() * endpoints.length);
  }

  /** A call that may be made twice: repeated for as long as no member answers it. Throws GrpcError. */
  async read(path: string, message: Buffer, options?: CallOptions): Promise<Buffer> {
    return this.#call(path, message, isTransient, options);
  }

  /** A call that must not be made twice: repeated only while it has certainly not reached a member. */
  async write(path: string, message: Buffer): Promise<Buffer> {
    if (message.length > MAX_SEND_BYTES) {
      throw new GrpcError(GrpcCode.resourceExhausted, `trying to send message larger than max (${message.length} vs. ${MAX_SEND_BYTES})`, true);
    }
    return this.#call(path, message, (error) => error instanceof GrpcError && error.wasNotSent, {});
  }

  /** To one member, of those in `endpoints`. */
  askMember(index: number, path: string, message: Buffer, timeoutMs: number): Promise<Buffer> {
    return this.#unary(this.#channels[index]!, path, message, { timeoutMs });
  }

  stream(path: string, handler: StreamHandler, metadata: Readonly<Record<string, string>>): GrpcStream {
    const channel = this.#pick();
    const call = this.#begin?.(path, 'bidi_stream');
    const stream = channel.stream(
      path,
      {
        onMessage: (message) => {
          call?.received();
          handler.onMessage(message);
        },
        onEnd: (error) => {
          call?.ended(error);
          if (error) this.#leave(channel);
          handler.onEnd(error);
        },
      },
      { metadata },
    );
    return call ? observedStream(stream, call) : stream;
  }

  close(): void {
    this.#isClosed = true;
    for (const channel of this.#channels) channel.close();
  }

  async #call(
    path: string,
    message: Buffer,
    mayRepeat: (error: unknown) => boolean,
    { timeoutMs = CALL_TIMEOUT_MS, signal }: CallOptions = {},
  ): Promise<Buffer> {
    const deadlineMs = performance.now() + timeoutMs;
    for (let attempt = 1; ; attempt++) {
      const channel = this.#pick();
      try {
        const leftMs = attempt === 1 ? timeoutMs : Math.max(Math.ceil(deadlineMs - performance.now()), 1);
        return await this.#unary(channel, path, message, signal ? { timeoutMs: leftMs, signal } : { timeoutMs: leftMs });
      } catch (error) {
        if (isTransient(error)) this.#leave(channel);
        if (this.#isClosed || !mayRepeat(error) || attempt >= MAX_ATTEMPTS || performance.now() + RETRY_PAUSE_MS > deadlineMs) throw error;
      }
      // The first time another member is asked at once.
      if (attempt >= this.#channels.length) await delay(RETRY_PAUSE_MS);
    }
  }

  async #unary(channel: GrpcChannel, path: string, message: Buffer, options: CallOptions): Promise<Buffer> {
    if (!this.#begin) return channel.unary(path, message, options);
    const call = this.#begin(path, 'unary');
    call.sent();
    try {
      const answer = await channel.unary(path, message, options);
      call.received();
      call.ended();
      return answer;
    } catch (error) {
      call.ended(error as Error);
      throw error;
    }
  }

  #pick(): GrpcChannel {
    for (let i = 0; i < this.#channels.length; i++) {
      const index = (this.#current + i) % this.#channels.length;
      if (!this.#channels[index]!.isUsable) continue;
      this.#current = index;
      break;
    }
    return this.#channels[this.#current]!;
  }

  /** The member failed a call; unless another call has gone on already, the next is tried. */
  #leave(channel: GrpcChannel): void {
    if (this.#channels[this.#current] === channel) this.#current = (this.#current + 1) % this.#channels.length;
  }
}

/** Whoever cancels it is told nothing more, so that its end is counted then. */
const observedStream = (stream: GrpcStream, call: CallObserver): GrpcStream => ({
  send(message) {
    call.sent();
    return stream.send(message);
  },
  pause: () => stream.pause(),
  resume: () => stream.resume(),
  cancel() {
    call.ended(CANCELED);
    stream.cancel();
  },
});

const CANCELED = new GrpcError(GrpcCode.canceled, 'context canceled');
const DEFAULT_PORT = 2379;

/** Where `http://host:port`, `https://host:port`, `unix://path` or plain `host:port` leads. Throws StorageMisconfigured. */
function targetOf(endpoint: string, tls: GrpcTls | undefined): GrpcTarget {
  const socketPath = /^unixs?:\/\/(.+)$/.exec(endpoint)?.[1];
  if (socketPath !== undefined) return { socketPath };
  const hasScheme = endpoint.includes('://');
  const text = hasScheme ? endpoint : `http://${endpoint}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '' || !['http:', 'https:'].includes(url.protocol)) {
    throw new StorageMisconfigured(`${JSON.stringify(endpoint)} is not the address of an etcd server: one looks like https://10.0.0.1:2379`);
  }
  // As etcd's own client: certificates make every connection secure, but for an endpoint that says http.
  const isSecure = url.protocol === 'https:' || (!hasScheme && tls !== undefined);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
  return isSecure ? { host, port, tls: tls ?? {} } : { host, port };
}
