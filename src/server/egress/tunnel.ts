import { randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import { GrpcChannel, type GrpcStream, type StreamHandler } from '../../grpc/channel.ts';
import { GrpcCode, type GrpcError, codeName } from '../../grpc/status.ts';
import { onAbort } from '../../util/on-abort.ts';
import { type Packet, type PacketId, PacketType, decodePacket, encodeCloseRequest, encodeData, encodeDialClose, encodeDialRequest } from './packets.ts';
import { type Carrier, TunnelSocket } from './tunnel-socket.ts';

/** Why a connection could not be had, as metrics name it. */
export type DialFailureReason = 'unknown' | 'timeout' | 'context' | 'endpoint' | 'dialclosed' | 'tunnelclosed';

export class DialFailure extends Error {
  readonly reason: DialFailureReason;

  constructor(message: string, reason: DialFailureReason) {
    super(message);
    this.reason = reason;
  }
}

/** Told of what goes through tunnels, for metrics. */
export interface TunnelObserver {
  packet(segment: 'from_client' | 'to_client', type: number): void;
  streamFailed(code: string): void;
  /** A tunnel is no longer as it was; undefined: it was not there before, or is no longer. */
  stateChanged(before: TunnelState | undefined, after: TunnelState | undefined): void;
}

export type TunnelState = 'created' | 'dialing' | 'ok';

export interface TunnelOptions {
  observer: TunnelObserver;
  /** The authority that calls name. */
  authority: string;
  hasTls: boolean;
  /** How long the proxy may take to reach the target. */
  dialTimeoutMs: number;
  /** How long it may take to confirm a close. */
  closeTimeoutMs: number;
}

const PROXY_METHOD = '/ProxyService/Proxy';
/** grpc-go's own limit of what is received. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** What of one connection may wait here for a reader. */
const WINDOW_BYTES = 256 * 1024;
/** What is sent in one packet: proxies hold whole ones. */
const MAX_DATA_BYTES = 64 * 1024;
/** Proxies do not take it well to be asked for signs of life (grpc-go's EnforcementPolicy), and upstream's client does not ask. */
const NO_KEEPALIVE_MS = 2 ** 31 - 1;
/** Numbers of dials: any that nobody else on this tunnel has. */
const MAX_RANDOM = 2 ** 47;

/**
 * One connection through a konnectivity proxy, on a gRPC stream and an HTTP/2 connection of its own, as upstream's single-use tunnels have it
 * (konnectivity-client/pkg/client). A reader that does not read stops the stream, and so the proxy; upstream's cuts such a connection after ten seconds.
 */
export class Tunnel implements StreamHandler, Carrier {
  readonly #options: TunnelOptions;
  readonly #channel: GrpcChannel;
  readonly #stream: GrpcStream;
  readonly #random = randomInt(1, MAX_RANDOM);
  #state: TunnelState | undefined;
  #settleDial: ((result: TunnelSocket | DialFailure) => void) | undefined;
  #socket: TunnelSocket | undefined;
  #connectId: PacketId = 0;
  #onRoom: ((error?: Error) => void) | undefined;
  /** The proxy has to read first. */
  #isFull = false;
  #isClosing = false;
  #isDone = false;
  #closeTimer: NodeJS.Timeout | undefined;

  /** `connection` is one to the proxy that stands. */
  constructor(connection: Socket, options: TunnelOptions) {
    this.#options = options;
    const { authority, hasTls } = options;
    this.#channel = new GrpcChannel(
      { authority, hasTls, connect: () => Promise.resolve(connection) },
      { maxMessageBytes: MAX_MESSAGE_BYTES, streamWindowBytes: WINDOW_BYTES, keepaliveTimeMs: NO_KEEPALIVE_MS },
    );
    this.#become('created');
    this.#stream = this.#channel.stream(PROXY_METHOD, this);
  }

  /** To `address` (`host:port`). Called once. Rejects with a DialFailure, and ends the tunnel. */
  dial(address: string, signal: AbortSignal): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const giveUp = (message: string, reason: DialFailureReason): void => {
        this.#send(PacketType.dialCls, encodeDialClose(this.#random));
        this.#options.observer.streamFailed(codeName(GrpcCode.canceled));
        this.#settleDial?.(new DialFailure(message, reason));
      };
      const timer = setTimeout(() => giveUp('dial timeout, backstop', 'timeout'), this.#options.dialTimeoutMs);
      const stopWaiting = onAbort(signal, () => giveUp('dial timeout, context', 'context'));
      this.#settleDial = (result) => {
        this.#settleDial = undefined;
        clearTimeout(timer);
        stopWaiting();
        if (!(result instanceof DialFailure)) return resolve(result.asSocket());
        this.#finish();
        reject(result);
      };
      if (this.#isDone) return this.#settleDial(new DialFailure('tunnel closed', 'tunnelclosed'));
      this.#become('dialing');
      this.#send(PacketType.dialReq, encodeDialRequest(address, this.#random));
      if (signal.aborted) giveUp('dial timeout, context', 'context');
    });
  }

  onMessage(message: Buffer): void {
    if (this.#isDone) return;
    const packet = decodePacket(message);
    this.#options.observer.packet('to_client', packet.type);
    switch (packet.type) {
      case PacketType.dialRsp:
        return this.#onDialResponse(packet);
      case PacketType.dialCls:
        return this.#end(new DialFailure('dial closed', 'dialclosed'));
      case PacketType.data:
        return this.#onDataPacket(packet);
      case PacketType.closeRsp:
        return this.#onCloseResponse(packet);
    }
  }

  onEnd(error: GrpcError | undefined): void {
    if (this.#isDone) return;
    if (error) this.#options.observer.streamFailed(codeName(error.code));
    this.#end(TUNNEL_CLOSED());
  }

  onDrain(): void {
    this.#isFull = false;
    const onRoom = this.#onRoom;
    this.#onRoom = undefined;
    onRoom?.();
  }

  write(bytes: Buffer, done: (error?: Error) => void): void {
    if (this.#isDone || this.#isClosing) return done(TUNNEL_CLOSED());
    let hasRoom = true;
    for (let at = 0; at < bytes.length; at += MAX_DATA_BYTES)
      hasRoom = this.#send(PacketType.data, encodeData(this.#connectId, bytes.subarray(at, at + MAX_DATA_BYTES)));
    if (hasRoom) done();
    else this.#onRoom = done;
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  close(): void {
    if (this.#isClosing || this.#isDone) return;
    this.#isClosing = true;
    // What still comes is not waited for, but must not be in the way of the confirmation.
    this.#stream.resume();
    this.#send(PacketType.closeReq, encodeCloseRequest(this.#connectId));
    this.#closeTimer = setTimeout(() => this.#end(TUNNEL_CLOSED()), this.#options.closeTimeoutMs).unref();
  }

  #onDialResponse({ random, error, connectId }: Packet): void {
    if (!this.#settleDial || random !== this.#random) return this.#end(TUNNEL_CLOSED());
    if (error !== '') return this.#settleDial(new DialFailure(error, 'endpoint'));
    this.#become('ok');
    this.#connectId = connectId;
    this.#socket = new TunnelSocket(this);
    this.#settleDial(this.#socket);
  }

  #onDataPacket({ connectId, data }: Packet): void {
    // One without a connection is dropped.
    if (connectId === 0) return;
    if (!this.#socket || connectId !== this.#connectId) return this.#refuse(connectId);
    // The packet shares its memory with others.
    if (!this.#isClosing && data.length > 0) this.#socket.deliver(Buffer.from(data));
  }

  /** A proxy that sends a lot of what nobody asked for, and does not read, fills no memory with refusals. */
  #refuse(connectId: PacketId): void {
    if (!this.#isFull) this.#send(PacketType.closeReq, encodeCloseRequest(connectId));
  }

  #onCloseResponse({ connectId }: Packet): void {
    if (!this.#socket || connectId !== this.#connectId) return;
    const socket = this.#socket;
    this.#finish();
    socket.finishReading();
  }

  /** For another reason than a close that was agreed on. */
  #end(failure: DialFailure): void {
    if (this.#isDone) return;
    if (this.#settleDial) return this.#settleDial(failure);
    const socket = this.#socket;
    this.#finish();
    socket?.destroy(failure);
  }

  #finish(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    clearTimeout(this.#closeTimer);
    this.#become(undefined);
    this.#onRoom?.(TUNNEL_CLOSED());
    this.#onRoom = undefined;
    this.#stream.cancel();
    this.#channel.finish();
  }

  #send(type: number, packet: Buffer): boolean {
    this.#options.observer.packet('from_client', type);
    const hasRoom = this.#stream.send(packet);
    if (!hasRoom) this.#isFull = true;
    return hasRoom;
  }

  #become(state: TunnelState | undefined): void {
    this.#options.observer.stateChanged(this.#state, state);
    this.#state = state;
  }
}

const TUNNEL_CLOSED = (): DialFailure => new DialFailure('tunnel closed', 'tunnelclosed');
