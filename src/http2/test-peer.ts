import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { FakeClock } from '../storage/fake-clock.ts';
import { UnsentAnswers, type UnsentLimits } from '../serving/unsent-answers.ts';
import type { MonotonicClock, Timer } from '../util/clock.ts';
import type { Requester } from '../net/unsent-answers.ts';
import { ErrorCode, FrameFlag, type Frame, Http2FrameReader, FrameType, PREFACE, frame, goawayFrame, numberFrame, settingsFrame } from './frames.ts';
import { BlockWriter } from './hpack.ts';
import type { Http2RequestHead } from './request-head.ts';
import { ServerConnection, type ServerConnectionOptions, type ServerStream } from './server-connection.ts';

/* For tests: our end of HTTP/2 on a socket of the loopback, and a client that sends any frames it likes. */

const LIMITS: Omit<ServerConnectionOptions, 'clock' | 'unsent'> = {
  headerTimeoutMs: 32_000,
  idleTimeoutMs: 90_000,
  headerBytes: 64 * 1024,
  headerCount: 200,
  streamsPerConnection: 100,
  streamWindowBytes: 256 * 1024,
  unansweredResetsPerSecond: 400,
  resetsPerSecond: 1_000,
  controlFramesPerSecond: 500,
  unsentBytesPerConnection: 64 * 1024 * 1024,
  maxUnsentBytesPerConnection: 64 * 1024 * 1024,
};

const UNSENT_LIMITS: UnsentLimits = { unreadTimeoutMs: 30_000, unsentBytesPerUser: 128 * 1024 * 1024, unsentBytesInAll: 512 * 1024 * 1024 };

/** Knows how many timers wait. */
export class CountingClock extends FakeClock {
  readonly #waiting = new Set<Timer>();

  get openTimers(): number {
    return this.#waiting.size;
  }

  /** For those whose timer may wait a little longer than what it looks after. */
  readonly uncounted: MonotonicClock = { nowMs: () => this.now(), after: (delayMs, callback) => super.after(delayMs, callback) };

  override after(delayMs: number, callback: () => void): Timer {
    const forget = (): unknown => this.#waiting.delete(timer);
    const inner = super.after(delayMs, () => {
      forget();
      callback();
    });
    const timer = {
      cancel(): void {
        forget();
        inner.cancel();
      },
    };
    this.#waiting.add(timer);
    return timer;
  }
}

/** A request as a test's handler sees it, to be answered by hand. */
export class TestRequest {
  readonly chunks: Buffer[] = [];
  isWhole = false;
  isOver = false;
  drains = 0;
  onWhole: (() => void) | undefined;
  /** Whose request it is, where a test sets it before it answers. */
  requester: Requester | undefined;
  readonly connection: ServerConnection;
  readonly stream: ServerStream;
  readonly head: Http2RequestHead;

  constructor(connection: ServerConnection, stream: ServerStream, head: Http2RequestHead) {
    this.connection = connection;
    this.stream = stream;
    this.head = head;
  }

  /** Takes in what comes. */
  listen(): void {
    const requester = (): Requester | undefined => this.requester;
    this.stream.events = {
      get requester() {
        return requester();
      },
      onData: (piece) => {
        this.chunks.push(piece);
        this.connection.release(this.stream, piece.length);
      },
      onBodyEnd: () => {
        this.isWhole = true;
        this.onWhole?.();
      },
      onDrain: () => void this.drains++,
      onOver: () => void (this.isOver = true),
    };
  }

  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }

  start(headers: Record<string, string> = {}, isLast = false): void {
    const writer = new BlockWriter();
    writer.add(':status', '200');
    for (const [name, value] of Object.entries(headers)) writer.add(name, value);
    this.connection.answer(this.stream, writer, isLast);
  }

  answer(body: Buffer | string): void {
    const bytes = Buffer.from(body);
    this.start({}, bytes.length === 0);
    if (bytes.length > 0) this.connection.sendAll(this.stream, [bytes], bytes.length);
  }
}

type Handler = (request: TestRequest) => void;

/** `/hold` waits, `/echo` answers with the body once it is whole, everything else is answered at once. */
const plainHandler: Handler = (request) => {
  if (request.head.target === '/hold') return;
  if (request.head.target === '/echo') request.onWhole = () => request.answer(request.body);
  else request.answer('ok');
};

export class TestServer {
  readonly clock = new CountingClock();
  readonly unsent: UnsentAnswers;
  readonly requests: TestRequest[] = [];
  readonly problems: string[] = [];
  readonly connections: ServerConnection[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(handler: Handler, limits: Partial<ServerConnectionOptions & UnsentLimits>, keepsRequests: boolean) {
    this.unsent = new UnsentAnswers({ ...UNSENT_LIMITS, ...limits }, this.clock.uncounted);
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#sockets.add(socket.once('close', () => this.#sockets.delete(socket)));
      const connection: ServerConnection = new ServerConnection(
        socket,
        { ...LIMITS, clock: this.clock, unsent: this.unsent, ...limits },
        {
          onRequest: (stream, head) => {
            const request = this.#take(connection, stream, head);
            if (keepsRequests) this.requests.push(request);
            handler(request);
          },
          onOversizedHead: (stream) => this.#take(connection, stream, { method: 'GET', target: '/', headers: {}, contentLength: undefined }).answer('431'),
          onAbuse: (message) => this.problems.push(`abuse: ${message}`),
          onUnread: (message) => this.problems.push(`unread: ${message}`),
          onViolation: (message) => this.problems.push(message),
        },
      );
      this.connections.push(connection);
    });
  }

  static async start(handler: Handler = plainHandler, limits: Partial<ServerConnectionOptions & UnsentLimits> = {}, keepsRequests = true): Promise<TestServer> {
    const server = new TestServer(handler, limits, keepsRequests);
    await once(server.#server.listen(0, '127.0.0.1'), 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await this.untilGone();
  }

  async untilGone(): Promise<void> {
    while (this.#sockets.size > 0) await new Promise(setImmediate);
  }

  #take(connection: ServerConnection, stream: ServerStream, head: Http2RequestHead): TestRequest {
    const request = new TestRequest(connection, stream, head);
    request.listen();
    return request;
  }
}

const codeNames = new Map<number, string>(Object.entries(ErrorCode).map(([name, code]) => [code, name]));
const codeAt = (payload: Buffer, at: number): string => codeNames.get(payload.readUInt32BE(at)) ?? 'another code';

/** What a frame means to a client; undefined where it says nothing of a request. */
function meaningOf({ type, flags, streamId, payload }: Frame): string | undefined {
  const end = flags & FrameFlag.endStream ? ' end' : '';
  if (type === FrameType.headers) return `answer ${streamId}${end}`;
  if (type === FrameType.data) return `data ${streamId}${end}`;
  if (type === FrameType.rstStream) return `reset ${streamId} ${codeAt(payload, 0)}`;
  if (type === FrameType.goaway) return `goaway ${codeAt(payload, 4)}`;
  return undefined;
}

/** A client by hand. What came waits in `frames`. */
export class TestPeer {
  readonly frames: Frame[] = [];
  isClosed = false;
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #wake = (): void => {};
  #pings = 0;

  constructor(port: number) {
    const reader = new Http2FrameReader();
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('data', (piece: Buffer) => {
      reader.add(piece);
      for (let received = reader.next(); received; received = reader.next()) this.frames.push(received);
      this.#wake();
    });
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) =>
      this.socket.once('close', () => {
        this.isClosed = true;
        this.#wake();
        resolve();
      }),
    );
  }

  /** One that has begun as it must. */
  static greet(port: number, settings: readonly (readonly [number, number])[] = []): TestPeer {
    return new TestPeer(port).send(PREFACE, settingsFrame(settings));
  }

  send(...bytes: Buffer[]): this {
    this.socket.write(Buffer.concat(bytes));
    return this;
  }

  /** Waits until `isThere` or the connection is over. */
  async until(isThere: () => boolean): Promise<void> {
    while (!isThere() && !this.isClosed) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  /** Waits until the other end has looked at all that was sent, or has closed: what it made of it, without what was told before. */
  async reaction(): Promise<string[]> {
    const payload = Buffer.alloc(8);
    payload.writeUInt32BE(++this.#pings, 4);
    const isPong = ({ type, flags, payload: received }: Frame): boolean => type === FrameType.ping && flags === FrameFlag.ack && received.equals(payload);
    this.send(frame(FrameType.ping, 0, 0, payload));
    await this.until(() => this.frames.some(isPong));
    const told = this.frames.splice(0).flatMap((received) => meaningOf(received) ?? []);
    return this.isClosed ? [...told, 'closed'] : told;
  }

  /** The bytes of a stream's body so far. */
  bodyOf(streamId: number): Buffer {
    return Buffer.concat(this.frames.filter((one) => one.type === FrameType.data && one.streamId === streamId).map(({ payload }) => payload));
  }

  hasEnded(streamId: number): boolean {
    return this.frames.some((one) => one.streamId === streamId && one.type <= FrameType.headers && (one.flags & FrameFlag.endStream) !== 0);
  }
}

/** Fields in the order in which they are given, each a literal. */
export function blockOf(fields: readonly (readonly [string, string])[]): Buffer {
  const writer = new BlockWriter();
  for (const [name, value] of fields) writer.add(name, value);
  return writer.take();
}

export const requestBlock = (path: string, method = 'GET', more: readonly (readonly [string, string])[] = []): Buffer =>
  blockOf([[':method', method], [':scheme', 'https'], [':path', path], [':authority', 'a'], ...more]);

export const headers = (streamId: number, block: Buffer, flags: number = FrameFlag.endStream | FrameFlag.endHeaders): Buffer =>
  frame(FrameType.headers, flags, streamId, block);
/** A request without a body. */
export const get = (streamId: number, path = '/'): Buffer => headers(streamId, requestBlock(path));
/** The beginning of one that has a body. */
export const post = (streamId: number, path = '/echo', more: readonly (readonly [string, string])[] = []): Buffer =>
  headers(streamId, requestBlock(path, 'POST', more), FrameFlag.endHeaders);
export const data = (streamId: number, bytes: Buffer | string, isLast = false): Buffer =>
  frame(FrameType.data, isLast ? FrameFlag.endStream : 0, streamId, Buffer.from(bytes));
export const reset = (streamId: number): Buffer => numberFrame(FrameType.rstStream, streamId, ErrorCode.cancel);
export const widen = (streamId: number, sizeBytes: number): Buffer => numberFrame(FrameType.windowUpdate, streamId, sizeBytes);
export const goaway = (): Buffer => goawayFrame(0, ErrorCode.noError, '');
