import { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, connect } from 'node:http2';
import { Answer } from './api-client.ts';

/** One HTTP/2 connection with one user's token. */
export class Http2Client {
  readonly session: ClientHttp2Session;
  readonly closed: Promise<void>;
  readonly #token: string;

  constructor({ port, ca, token }: { port: number; ca: string; token: string }) {
    this.session = connect(`https://127.0.0.1:${port}`, { ca });
    this.session.on('error', () => {});
    this.closed = new Promise((resolve) => this.session.once('close', resolve));
    this.#token = token;
  }

  /** Resolves with the head of the answer. */
  async open(path: string, method = 'GET'): Promise<{ stream: ClientHttp2Stream; status: number; headers: IncomingHttpHeaders }> {
    const stream = this.session.request({ ':method': method, ':path': path, authorization: `Bearer ${this.#token}` });
    return new Promise((resolve, reject) => {
      stream.once('error', reject);
      stream.once('response', (headers) => resolve({ stream, status: Number(headers[':status']), headers }));
    });
  }

  async send(path: string, method = 'GET'): Promise<Answer> {
    const { stream, status, headers } = await this.open(path, method);
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return new Answer(status, headers, Buffer.concat(chunks));
  }

  close(): void {
    this.session.destroy();
  }
}

/** Whether a stream came to its proper end (END_STREAM) and was not reset. */
export function endOf(stream: ClientHttp2Stream): Promise<boolean> {
  stream.resume();
  let isEnded = false;
  stream.once('end', () => (isEnded = true));
  stream.on('error', () => {});
  return new Promise((resolve) => stream.once('close', () => resolve(isEnded && stream.rstCode === 0)));
}
