import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { UnaryTestServer } from '../../../grpc/test-unary-server.ts';
import { ProtobufReader, ProtobufWriter, tagOf, WIRE_BYTES } from '../../../encoding/protobuf-wire.ts';

/* A KMS v2 plug-in for tests: real gRPC on a real socket, keys in memory. */

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
  readonly #server = new UnaryTestServer((method, message) => this.#answer(method, message));

  async listen(socketPath: string): Promise<this> {
    await this.#server.listen(socketPath);
    return this;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #answer(method: string, message: Buffer): Promise<Buffer> {
    this.calls[method as keyof typeof this.calls]++;
    if (this.failure !== undefined) throw new Error(this.failure);
    if (method === 'Status') return bytesFields([this.version, this.healthz, this.statusKeyId ?? this.keyId]);
    const [data, , keyId] = readBytesFields(message);
    if (method === 'Encrypt') return bytesFields([this.#encrypt(data!), this.keyId, ...(this.annotation ? [mapEntry(...this.annotation)] : [])]);
    await this.holds;
    return bytesFields([this.#decrypt(data!, keyId!.toString())]);
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

/** Fields 1, 2, … of a message. */
export function bytesFields(values: readonly (string | Buffer)[]): Buffer {
  const writer = new ProtobufWriter();
  for (let i = values.length - 1; i >= 0; i--) {
    writer.bytes(Buffer.from(values[i]!));
    writer.varint(tagOf(i + 1, WIRE_BYTES));
  }
  return writer.finish();
}

const mapEntry = (key: string, value: Buffer): Buffer => bytesFields([key, value]);

/** Fields 1, 2, … of a message, all of bytes. */
export function readBytesFields(message: Buffer): Buffer[] {
  const values: Buffer[] = [];
  const reader = new ProtobufReader(message);
  while (!reader.done) {
    const tag = reader.varint();
    values[Math.floor(tag / 8) - 1] = reader.bytes();
  }
  return values;
}
