import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream, createServer } from 'node:http2';
import { ProtobufReader, ProtobufWriter, tagOf, WIRE_BYTES } from '../../../encoding/protobuf-wire.ts';

/* A KMS v2 plug-in for tests: real gRPC on a real socket, keys in memory. */

const FRAME_BYTES = 5;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class KmsPlugin {
  /** Which of `keys` Encrypt uses and Status tells. */
  keyId = 'key-1';
  /** What Status tells instead, where they are to differ. */
  statusKeyId: string | undefined;
  healthz: string | Buffer = 'ok';
  version = 'v2';
  /** While set, every call fails with this message. */
  failure: string | undefined;
  annotation: [string, Buffer] | undefined = ['version.plugin.example.com', Buffer.from('1')];
  /** How often each method was called. */
  readonly calls = { Status: 0, Encrypt: 0, Decrypt: 0 };
  /** Where set, Decrypt waits for it. */
  holds: Promise<void> | undefined;
  readonly #keys = new Map<string, Buffer>();
  readonly #server: Http2Server = createServer();
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor() {
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
    });
    this.#server.on('stream', (stream, headers) => void this.#serve(stream, String(headers[':path'])));
  }

  async listen(socketPath: string): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(socketPath, resolve));
    return this;
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
      const answer = await this.#answer(path.slice(path.lastIndexOf('/') + 1), message);
      finish(stream, answer);
    } catch (error) {
      finish(stream, undefined, (error as Error).message);
    }
  }

  async #answer(method: string, message: Buffer): Promise<Buffer> {
    this.calls[method as keyof typeof this.calls]++;
    if (this.failure !== undefined) throw new Error(this.failure);
    if (method === 'Status') return fields([this.version, this.healthz, this.statusKeyId ?? this.keyId]);
    const [data, , keyId] = read(message);
    if (method === 'Encrypt') return fields([this.#encrypt(data!), this.keyId, ...(this.annotation ? [mapEntry(...this.annotation)] : [])]);
    await this.holds;
    return fields([this.#decrypt(data!, keyId!.toString())]);
  }

  #encrypt(plaintext: Buffer): Buffer {
    const key = this.#keys.get(this.keyId) ?? randomBytes(32);
    this.#keys.set(this.keyId, key);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  }

  #decrypt(ciphertext: Buffer, keyId: string): Buffer {
    const key = this.#keys.get(keyId);
    if (!key) throw new Error(`no key ${keyId}`);
    const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(ciphertext.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(ciphertext.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  }
}

function finish(stream: ServerHttp2Stream, answer: Buffer | undefined, failure?: string): void {
  if (stream.destroyed) return;
  stream.on('wantTrailers', () =>
    stream.sendTrailers(failure === undefined ? { 'grpc-status': '0' } : { 'grpc-status': '2', 'grpc-message': encodeURIComponent(failure) }),
  );
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  if (answer) {
    const frame = Buffer.alloc(FRAME_BYTES);
    frame.writeUInt32BE(answer.length, 1);
    stream.write(Buffer.concat([frame, answer]));
  }
  stream.end();
}

/** Fields 1, 2, … of a message. */
function fields(values: readonly (string | Buffer)[]): Buffer {
  const writer = new ProtobufWriter();
  for (let i = values.length - 1; i >= 0; i--) {
    writer.bytes(Buffer.from(values[i]!));
    writer.varint(tagOf(i + 1, WIRE_BYTES));
  }
  return writer.finish();
}

const mapEntry = (key: string, value: Buffer): Buffer => fields([key, value]);

/** Fields 1, 2, … of a message, all of bytes. */
function read(message: Buffer): Buffer[] {
  const values: Buffer[] = [];
  const reader = new ProtobufReader(message);
  while (!reader.done) {
    const tag = reader.varint();
    values[Math.floor(tag / 8) - 1] = reader.bytes();
  }
  return values;
}
