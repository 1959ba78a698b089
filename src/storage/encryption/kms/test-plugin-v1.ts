import { UnaryTestServer } from '../../../grpc/test-unary-server.ts';
import { bytesFields, readBytesFields } from './test-plugin.ts';

/* A KMS v1 plug-in for tests: real gRPC on a real socket. What it "encrypts" is inverted, so that no test takes a key for its ciphertext. */

export class KmsV1Plugin {
  version = 'v1beta1';
  /** While set, every call fails with this message. */
  failure: string | undefined;
  /** What Decrypt answers instead. */
  plain: Buffer | undefined;
  /** How many bytes longer ciphertexts are than they need be. */
  padding = 0;
  /** How often each method was called. */
  readonly calls = { Version: 0, Encrypt: 0, Decrypt: 0 };
  /** Where set, Decrypt waits for it. */
  holds: Promise<void> | undefined;
  /** How many Decrypts were under way at once, at most. */
  mostDecrypts = 0;
  #decrypts = 0;
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
    if (method === 'Version') return bytesFields([this.version, 'test', '1.0.0']);
    const data = readBytesFields(message)[1]!;
    if (method === 'Encrypt') return bytesFields([Buffer.concat([inverted(data), Buffer.alloc(this.padding)])]);
    this.mostDecrypts = Math.max(this.mostDecrypts, ++this.#decrypts);
    await this.holds;
    this.#decrypts--;
    return bytesFields([this.plain ?? inverted(data)]);
  }
}

const inverted = (data: Buffer): Buffer => Buffer.from(data.map((byte) => byte ^ 0xff));
