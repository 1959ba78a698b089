import type { TLSSocket } from 'node:tls';
import { ClientConnection } from '../../http2/client-connection.ts';
import { BlockWriter } from '../../http2/hpack.ts';
import { systemClock } from '../../util/clock.ts';
import { checkRequestLine, declaredLength, eachLine, sendable } from './fields.ts';
import { Http2Call } from './http2-call.ts';
import type { BackendCall, BackendRequest } from './transport.ts';

const SETTINGS_TIMEOUT_MS = 10_000;
const MAX_STREAMS = 1_000;

const OPTIONS = {
  clock: systemClock,
  connectTimeoutMs: SETTINGS_TIMEOUT_MS,
  // As client-go sets Go's transport (apimachinery/pkg/util/net): a connection that is silent for so long is asked whether it lives.
  keepaliveTimeMs: 30_000,
  keepaliveTimeoutMs: 15_000,
  // What one answer may hold in our memory while its client is slow. The connection's window has room for all: no client stops another.
  streamWindowBytes: 256 * 1024,
  idleTimeoutMs: 90_000,
};

interface Pooled {
  http2: ClientConnection;
  isUsed: boolean;
}

/** HTTP/2 connections to one backend. Each takes as many requests at a time as the backend allows. */
export class Http2Pool {
  readonly #authority: string;
  readonly #open: Pooled[] = [];
  /** Those that take no more, and have requests under way, among them. */
  readonly #all = new Set<ClientConnection>();
  readonly #writer = new BlockWriter();

  constructor(authority: string) {
    this.#authority = authority;
  }

  /** Resolves when the backend has said how much it takes. */
  add(socket: TLSSocket): Promise<void> {
    return new Promise((resolve, reject) => {
      let isReady = false;
      const timer = setTimeout(() => http2.destroy('http2: timeout awaiting settings'), SETTINGS_TIMEOUT_MS);
      const http2: ClientConnection = new ClientConnection(() => Promise.resolve(socket), OPTIONS, {
        onSettings: () => {
          if (isReady) return;
          isReady = true;
          clearTimeout(timer);
          if (!http2.hasRoom) return http2.destroy('http2: the server takes no streams');
          this.#open.push({ http2, isUsed: false });
          resolve();
        },
        onEnd: () => {
          clearTimeout(timer);
          this.#forget(http2);
          reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
        },
      });
      this.#all.add(http2);
      socket.once('close', () => this.#all.delete(http2));
    });
  }

  /** Undefined where no connection has room. */
  send(request: BackendRequest): BackendCall | undefined {
    const pooled = this.#open.find(({ http2 }) => http2.hasRoom && http2.openStreams < MAX_STREAMS);
    if (!pooled) return undefined;
    let block: Buffer;
    try {
      block = this.#blockOf(request);
    } catch (error) {
      return { response: Promise.reject(error as Error), cancel() {} };
    }
    const isReused = pooled.isUsed;
    pooled.isUsed = true;
    return new Http2Call(pooled.http2, isReused, block, request);
  }

  closeIdle(): void {
    for (const { http2 } of [...this.#open]) if (http2.openStreams === 0) http2.finish();
  }

  retire(): void {
    for (const { http2 } of [...this.#open]) http2.finish();
  }

  close(): void {
    for (const http2 of this.#all) http2.destroy('the connection was closed');
  }

  #forget(http2: ClientConnection): void {
    const at = this.#open.findIndex((pooled) => pooled.http2 === http2);
    if (at >= 0) this.#open.splice(at, 1);
  }

  #blockOf({ method, path, headers, hostHeader, body }: BackendRequest): Buffer {
    const writer = this.#writer;
    checkRequestLine(method, path);
    writer.clear();
    writer.add(':method', method);
    writer.add(':scheme', 'https');
    writer.add(':authority', sendable(':authority', hostHeader ?? this.#authority));
    writer.add(':path', path);
    const length = body ? declaredLength(headers) : undefined;
    eachLine(headers, (name, value) => {
      if (name !== 'host' && name !== 'content-length') writer.add(name, value);
    });
    if (length !== undefined) writer.add('content-length', String(length));
    return writer.take();
  }
}
