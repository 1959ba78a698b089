import { type KeyObject, generateKeyPairSync, sign } from 'node:crypto';
import { ProtobufReader, ProtobufWriter, tagOf, WIRE_BYTES, WIRE_VARINT } from '../../encoding/protobuf-wire.ts';
import { UnaryTestServer } from '../../grpc/test-unary-server.ts';

/* An external signer for tests: real gRPC on a real socket, keys in memory. */

export interface TestSignerKey {
  id: string;
  publicKey: KeyObject | Buffer;
  isUnlisted?: boolean;
}

export const makeSignerKey = (): { privateKey: KeyObject; publicKey: KeyObject } => generateKeyPairSync('ec', { namedCurve: 'P-256' });

export class TestSigner {
  /** What it signs with. */
  keyId = 'key-1';
  privateKey: KeyObject;
  /** What it tells of its keys. */
  keys: TestSignerKey[];
  timestamp: { seconds: number; nanos: number } | undefined = { seconds: 1_700_000_000, nanos: 500_000_000 };
  refreshHintSeconds = 3600;
  maxTokenExpirationSeconds = 3600 * 24;
  /** Takes the place of the header that it would make. */
  header: string | object | undefined;
  /** Takes the place of the signature that it would make. */
  signature: string | undefined;
  /** While set, calls of these methods fail with it. */
  failures = new Map<string, Error>();
  /** Takes the place of whole answers. */
  answers = new Map<string, Buffer>();
  /** Where set, Sign waits for it. */
  holds: Promise<unknown> | undefined;
  readonly calls = { Sign: 0, FetchKeys: 0, Metadata: 0 };
  readonly #waiting: { method: string; count: number; resolve(): void }[] = [];
  #server = this.#newServer();

  constructor() {
    const { privateKey, publicKey } = makeSignerKey();
    this.privateKey = privateKey;
    this.keys = [{ id: this.keyId, publicKey }];
  }

  async listen(socketPath: string): Promise<this> {
    await this.#server.listen(socketPath);
    return this;
  }

  /** Cuts all connections. It may listen again. */
  async close(): Promise<void> {
    await this.#server.close();
    this.#server = this.#newServer();
  }

  /** Resolves once a method was called so often in all. */
  called(method: keyof TestSigner['calls'], count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ method, count, resolve });
      this.#tell();
    });
  }

  #newServer(): UnaryTestServer {
    return new UnaryTestServer((method, message) => this.#answer(method, message));
  }

  async #answer(method: string, message: Buffer): Promise<Buffer> {
    this.calls[method as keyof typeof this.calls]++;
    this.#tell();
    if (method === 'Sign') await this.holds;
    const failure = this.failures.get(method);
    if (failure) throw failure;
    const answer = this.answers.get(method);
    if (answer) return answer;
    if (method === 'FetchKeys') return this.#keySet();
    if (method === 'Metadata') return messageOf((writer) => number(writer, 1, this.maxTokenExpirationSeconds));
    return this.#sign(claimsOf(message));
  }

  #tell(): void {
    for (const { method, count, resolve } of this.#waiting) if (this.calls[method as keyof typeof this.calls] >= count) resolve();
  }

  #sign(claims: string): Buffer {
    const chosen = this.header ?? { alg: 'ES256', kid: this.keyId, typ: 'JWT' };
    const header = typeof chosen === 'string' ? chosen : Buffer.from(JSON.stringify(chosen)).toString('base64url');
    const made = sign('sha256', Buffer.from(`${header}.${claims}`), { key: this.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
    return messageOf((writer) => {
      bytes(writer, 2, Buffer.from(this.signature ?? made));
      bytes(writer, 1, Buffer.from(header));
    });
  }

  #keySet(): Buffer {
    return messageOf((writer) => {
      number(writer, 3, this.refreshHintSeconds);
      const { timestamp } = this;
      if (timestamp)
        bytes(
          writer,
          2,
          messageOf((part) => {
            number(part, 2, timestamp.nanos);
            number(part, 1, timestamp.seconds);
          }),
        );
      for (const key of this.keys.toReversed()) bytes(writer, 1, keyMessage(key));
    });
  }
}

const keyMessage = ({ id, publicKey, isUnlisted = false }: TestSignerKey): Buffer =>
  messageOf((writer) => {
    number(writer, 3, isUnlisted ? 1 : 0);
    bytes(writer, 2, Buffer.isBuffer(publicKey) ? publicKey : publicKey.export({ type: 'spki', format: 'der' }));
    bytes(writer, 1, Buffer.from(id));
  });

/** Written from the last field to the first. */
function messageOf(write: (writer: ProtobufWriter) => void): Buffer {
  const writer = new ProtobufWriter();
  write(writer);
  return writer.finish();
}

function bytes(writer: ProtobufWriter, field: number, value: Buffer): void {
  writer.bytes(value);
  writer.varint(tagOf(field, WIRE_BYTES));
}

function number(writer: ProtobufWriter, field: number, value: number): void {
  if (value === 0) return;
  if (value < 0) writer.raw(negativeVarint(value));
  else writer.varint(value);
  writer.varint(tagOf(field, WIRE_VARINT));
}

/** Ten bytes, as protobuf has negative integers. */
function negativeVarint(value: number): Buffer {
  let left = BigInt.asUintN(64, BigInt(value));
  const digits: number[] = [];
  for (; left > 0x7fn; left >>= 7n) digits.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...digits, Number(left)]);
}

function claimsOf(message: Buffer): string {
  const reader = new ProtobufReader(message);
  reader.varint();
  return reader.string();
}
