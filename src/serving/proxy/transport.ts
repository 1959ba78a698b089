import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { ResponseHeaders } from '../exchange.ts';
import { type Dial, dialDirectly, hostPort } from '../../net/dial.ts';
import { TlsDialer, type TlsTarget } from '../tls-dialer.ts';
import type { WeakCertificateListener } from '../weak-certificates.ts';
import { linkSignals } from '../../util/linked-signal.ts';
import { Http1Pool } from './http1-pool.ts';
import { Http2Pool } from './http2-pool.ts';
import { StaleConnection } from './stale-connection.ts';

export interface TransportOptions {
  dial?: Dial | undefined;
  /** Absent: HTTP without TLS. */
  tls?: TlsTarget | undefined;
  onWeakCertificate?: WeakCertificateListener | undefined;
  /** The most that a connection that was upgraded carries, each way. 0, or absent: no limit. */
  upgradedBytesPerSecond?: number | undefined;
}

export interface BackendRequest {
  host: string;
  port: number;
  method: string;
  /** Path and query, as they are sent. */
  path: string;
  /** Without `host`; names of any case are sent in lower case. `content-length` counts where there is a body. */
  headers: OutgoingHttpHeaders;
  /** `Host` to send, where it is not the one that is dialled. */
  hostHeader?: string | undefined;
  body?: Readable | undefined;
}

export interface BackendResponse {
  status: number;
  headers: ResponseHeaders;
  /**
   * All of it where it is short and its length was known before, or where it came with the head. Else a stream that ends well, or closes without an end;
   * its errors are listened for, and it is held until someone reads it.
   */
  body: Buffer | Readable;
  /** Known when the body has ended. */
  trailers(): ResponseHeaders | undefined;
}

/** A request under way. */
export interface BackendCall {
  /** Rejects with Node's error where no answer comes. */
  response: Promise<BackendResponse>;
  /** The connection of an HTTP/1.1 request that is not over goes with it. Ignored when all is over. */
  cancel(): void;
}

/**
 * Sends requests to backends that share a TLS configuration, over connections that are kept: HTTP/2 where the backend chooses it in the handshake, HTTP/1.1
 * otherwise. It never follows a redirect. `close` ends all connections and whatever is under way on them.
 */
export class Transport {
  readonly upgradedBytesPerSecond: number;
  readonly #dial: Dial;
  readonly #tlsDialer: TlsDialer | undefined;
  readonly #backends = new Map<string, Backend>();
  readonly #closed = new AbortController();

  constructor({ dial = dialDirectly, tls, onWeakCertificate, upgradedBytesPerSecond = 0 }: TransportOptions) {
    this.upgradedBytesPerSecond = upgradedBytesPerSecond;
    this.#dial = dial;
    this.#tlsDialer = tls && new TlsDialer(dial, tls, onWeakCertificate);
  }

  send(request: BackendRequest): BackendCall {
    let call = this.#sendOnce(request);
    if (request.body) return call;
    // A kept connection may have ended at the other side: once more, on another (as Go's transport).
    const response = call.response.catch((error: unknown) => {
      if (!(error instanceof StaleConnection) || this.#closed.signal.aborted) throw error;
      this.closeIdle();
      call = this.#sendOnce(request);
      return call.response;
    });
    return { response, cancel: () => call.cancel() };
  }

  #sendOnce(request: BackendRequest): BackendCall {
    const authority = hostPort(request.host, request.port);
    const backend = this.#backendOf(authority, request);
    // The usual case needs no waiting: there is a connection, and it has room.
    return sendOn(backend, request) ?? this.#sendLater(backend, request);
  }

  /** A connection of one's own, that speaks HTTP/1.1: for upgrades. */
  async connect(host: string, port: number, signal: AbortSignal): Promise<Socket> {
    const { signal: either, release } = linkSignals(signal, this.#closed.signal);
    try {
      return await (this.#tlsDialer ? this.#tlsDialer.connect(host, port, { protocols: ['http/1.1'], signal: either }) : this.#dial(host, port, either));
    } finally {
      release();
    }
  }

  /** Connections that nobody uses: after a failure, the next request should try a new one. */
  closeIdle(): void {
    for (const { http1, http2 } of this.#backends.values()) {
      http1?.closeIdle();
      http2?.closeIdle();
    }
  }

  /** Nobody sends anything more: every connection ends with what is under way on it. */
  retire(): void {
    for (const { http1, http2 } of this.#backends.values()) {
      http1?.retire();
      http2?.retire();
    }
    this.#backends.clear();
  }

  close(): void {
    this.#closed.abort(new Error('the connection was closed'));
    for (const { http1, http2 } of this.#backends.values()) {
      http1?.close();
      http2?.close();
    }
    this.#backends.clear();
  }

  #backendOf(authority: string, { host, port }: BackendRequest): Backend {
    let backend = this.#backends.get(authority);
    if (!backend) {
      backend = { host, port };
      // Without TLS nobody chooses.
      if (!this.#tlsDialer) backend.http1 = this.#http1Pool(host, port);
      if (this.#backends.size >= MAX_BACKENDS) this.#forgetIdlest();
      this.#backends.set(authority, backend);
    }
    return backend;
  }

  #sendLater(backend: Backend, request: BackendRequest): BackendCall {
    let isCancelled = false;
    let call: BackendCall | undefined;
    const response = (async () => {
      // Those who waited for the same connection may have filled it.
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        await this.#protocolOf(backend);
        if (isCancelled) throw new Error('context canceled');
        call = sendOn(backend, request);
        if (call) return call.response;
      }
      throw Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
    })();
    return {
      response,
      cancel() {
        isCancelled = true;
        call?.cancel();
      },
    };
  }

  /** Opens a connection where there is none with room; all who wait share it, and learn by it which HTTP the backend speaks. */
  #protocolOf(backend: Backend): Promise<void> {
    backend.opening ??= this.#open(backend).finally(() => {
      backend.opening = undefined;
    });
    return backend.opening;
  }

  async #open(backend: Backend): Promise<void> {
    const { host, port } = backend;
    const socket = await this.#tlsDialer!.connect(host, port, { protocols: ['h2', 'http/1.1'], signal: this.#closed.signal });
    if (socket.alpnProtocol === 'h2') {
      backend.http2 ??= new Http2Pool(hostPort(host, port));
      await backend.http2.add(socket);
      return;
    }
    backend.http2 = undefined;
    backend.http1 ??= this.#http1Pool(host, port);
    backend.http1.add(socket);
  }

  #http1Pool(host: string, port: number): Http1Pool {
    return new Http1Pool(hostPort(host, port), () => this.connect(host, port, this.#closed.signal));
  }

  #forgetIdlest(): void {
    const [authority, { http1, http2 }] = this.#backends.entries().next().value!;
    this.#backends.delete(authority);
    http1?.closeIdle();
    http2?.closeIdle();
  }
}

const sendOn = ({ http1, http2 }: Backend, request: BackendRequest): BackendCall | undefined => http2?.send(request) ?? http1?.send(request);

/** Endpoints come and go for as long as the process runs; those that were first known go first. */
const MAX_BACKENDS = 10_000;
const MAX_TRIES = 100;

interface Backend {
  host: string;
  port: number;
  /** Set once the backend has chosen it. */
  http1?: Http1Pool;
  http2?: Http2Pool | undefined;
  opening?: Promise<void> | undefined;
}
