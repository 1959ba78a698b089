import { afterAll } from 'vitest';
import { ApiClient, type ApiRequest, type Answer } from '../../../test/support/api-client.ts';
import { type StartedServer, startServer } from '../../index.ts';

/** For tests: a server in this process, spoken to over HTTP as its administrator. It ends with the test file. */
export class TestServer {
  readonly #server: StartedServer;
  readonly #admin: ApiClient;
  #count = 0;

  private constructor(server: StartedServer) {
    this.#server = server;
    const field = (name: string): string => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(server.kubeconfig)![1]!, 'base64').toString();
    this.#admin = new ApiClient({ ...this.#address, cert: field('client-certificate-data'), key: field('client-key-data') });
  }

  static async start(flags: readonly string[] = []): Promise<TestServer> {
    // Tests make what controllers would.
    const server = await startServer({ flags: ['--controllers=', ...flags] });
    const test = new TestServer(server);
    afterAll(async () => {
      test.#admin.close();
      await server.stop();
    });
    return test;
  }

  get #address(): { port: number; ca: string } {
    return { port: Number(new URL(this.#server.url).port), ca: this.#server.caCertificate };
  }

  async send(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer> {
    const request: ApiRequest = { method, path, ...(body && { body }), ...(headers && { headers }) };
    return this.#admin.send(request);
  }

  /** One request as whoever the token belongs to. */
  async sendAs(token: string, method: string, path: string, body?: object): Promise<Answer> {
    const client = new ApiClient({ ...this.#address, token });
    try {
      return await client.send({ method, path, ...(body && { body }) });
    } finally {
      client.close();
    }
  }

  /** A namespace of its own, with its default service account. */
  async namespace(): Promise<string> {
    const name = `test-${++this.#count}`;
    await this.#admin.create('/api/v1/namespaces', { metadata: { name } });
    await this.#admin.create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
    return `/api/v1/namespaces/${name}`;
  }

  async pod(namespace: string, name: string, spec: object = {}, labels: Record<string, string> = {}): Promise<void> {
    await this.#admin.create(`${namespace}/pods`, { metadata: { name, labels }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
  }

  /** Sets a part of an object's status. */
  async status(path: string, status: object): Promise<void> {
    await this.#admin.expect(200, { method: 'PATCH', path: `${path}/status`, body: { status }, headers: { 'content-type': 'application/merge-patch+json' } });
  }

  get<T>(path: string): Promise<T> {
    return this.#admin.get<T>(path);
  }

  create(path: string, body: object): Promise<unknown> {
    return this.#admin.create(path, body);
  }
}
