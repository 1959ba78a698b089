import { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream, createServer } from 'node:http2';

/* A gRPC server for tests of clients, on Node's own HTTP/2: real calls over a real socket. */

const FRAME_BYTES = 5;

/** Ends a call with a status of its own; any other error is `Unknown`. */
export class TestStatus extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class UnaryTestServer {
  readonly #server: Http2Server = createServer();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #answer: (method: string, message: Buffer) => Promise<Buffer> | Buffer;

  /** `answer` is given the last part of the path: `Sign`. */
  constructor(answer: (method: string, message: Buffer) => Promise<Buffer> | Buffer) {
    this.#answer = answer;
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
    });
    this.#server.on('stream', (stream, headers) => void this.#serve(stream, String(headers[':path'])));
  }

  async listen(socketPath: string): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(socketPath, resolve));
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(stream: ServerHttp2Stream, path: string): Promise<void> {
    stream.on('error', () => undefined);
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const message = Buffer.concat(chunks).subarray(FRAME_BYTES);
    try {
      finish(stream, await this.#answer(path.slice(path.lastIndexOf('/') + 1), message));
    } catch (error) {
      finish(stream, undefined, error as Error);
    }
  }
}

function finish(stream: ServerHttp2Stream, answer: Buffer | undefined, failure?: Error): void {
  if (stream.destroyed) return;
  const code = failure instanceof TestStatus ? failure.code : 2;
  stream.on('wantTrailers', () =>
    stream.sendTrailers(failure ? { 'grpc-status': String(code), 'grpc-message': encodeURIComponent(failure.message) } : { 'grpc-status': '0' }),
  );
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  if (answer) {
    const frame = Buffer.alloc(FRAME_BYTES);
    frame.writeUInt32BE(answer.length, 1);
    stream.write(Buffer.concat([frame, answer]));
  }
  stream.end();
}
