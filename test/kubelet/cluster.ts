import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SecureContext, createSecureContext } from 'node:tls';
import { afterAll } from 'vitest';
import { startServer as startServerHere } from '../../src/index.ts';
import { ApiClient } from '../support/api-client.ts';
import { type ServerProcess, startServer, temporaryFolder } from '../support/server.ts';
import { KubeletCertificates, TestKubelet } from './kubelet.ts';
import { RawClient } from './raw-client.ts';

/** How a client reaches the API server and who it is. */
interface Access {
  port: number;
  ca: string;
  token?: string;
  cert?: string;
  key?: string;
}

/** An API server with nodes whose kubelets answer. */
export class TestCluster {
  readonly client: ApiClient;
  readonly certificates: KubeletCertificates;
  readonly #access: Access;
  readonly #secureContext: SecureContext;
  #nodes = 0;
  #pods = 0;

  private constructor(access: Access, certificates: KubeletCertificates) {
    this.#access = access;
    // Reading keys costs more than a handshake: once is enough for a thousand connections.
    const { ca, cert, key } = access;
    this.#secureContext = createSecureContext({ ca, ...(cert !== undefined && key !== undefined && { cert, key }) });
    this.client = new ApiClient(access);
    this.certificates = certificates;
    afterAll(() => this.client.close());
  }

  /** The server is a process of its own. */
  static async start(flags: readonly string[] = []): Promise<{ cluster: TestCluster; server: ServerProcess }> {
    const certificates = new KubeletCertificates();
    const server = await startServer({ flags: ['--disable-admission-plugins=ServiceAccount', ...kubeletFlags(certificates), ...flags] });
    return { server, cluster: new TestCluster({ port: server.port, ca: server.ca, token: 'admin-token' }, certificates) };
  }

  /** The server is in this process, where what it leaves behind can be seen. */
  static async startHere(): Promise<TestCluster> {
    const certificates = new KubeletCertificates();
    const server = await startServerHere({ flags: ['--controllers=', '--disable-admission-plugins=ServiceAccount', ...kubeletFlags(certificates)] });
    afterAll(() => server.stop());
    const field = (name: string): string => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(server.kubeconfig)![1]!, 'base64').toString();
    const access = { port: Number(new URL(server.url).port), ca: server.caCertificate };
    return new TestCluster({ ...access, cert: field('client-certificate-data'), key: field('client-key-data') }, certificates);
  }

  /** A request of the administrator, or of another, on a connection of its own. */
  open(method: string, path: string, headers: Record<string, string> = {}, token = this.#access.token): RawClient {
    const client = new RawClient({ port: this.#access.port, secureContext: this.#secureContext });
    return client.request(method, path, { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers });
  }

  /** A node with a kubelet of its own, which ends with the test file. */
  async node(features: readonly string[] = [], options: { http2?: boolean } = {}): Promise<{ kubelet: TestKubelet; name: string }> {
    const kubelet = await new TestKubelet(this.certificates, options).listen();
    afterAll(() => kubelet.stop());
    return { kubelet, name: await this.nodeAt('127.0.0.1', kubelet.port, features) };
  }

  async nodeAt(address: string, port: number, declaredFeatures: readonly string[] = []): Promise<string> {
    const name = `node-${++this.#nodes}`;
    await this.client.create('/api/v1/nodes', { metadata: { name } });
    const status = {
      addresses: [{ type: 'InternalIP', address }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
      ...(declaredFeatures.length > 0 && { declaredFeatures }),
    };
    const headers = { 'content-type': 'application/merge-patch+json' };
    await this.client.expect(200, { method: 'PATCH', path: `/api/v1/nodes/${name}/status`, headers, body: { status } });
    return name;
  }

  /** A pod that runs on a node, as far as the API server knows. */
  async pod(nodeName: string, containers: readonly string[] = ['main']): Promise<string> {
    const name = `pod-${++this.#pods}`;
    const spec = { nodeName, containers: containers.map((container) => ({ name: container, image: 'image' })), automountServiceAccountToken: false };
    await this.client.create(POD_PATH, { metadata: { name }, spec });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], containerStatuses: containers.map((one) => statusOf(one)) };
    const headers = { 'content-type': 'application/merge-patch+json' };
    await this.client.expect(200, { method: 'PATCH', path: `${POD_PATH}/${name}/status`, headers, body: { status } });
    return name;
  }
}

const statusOf = (name: string): object => ({
  name,
  ready: true,
  started: true,
  restartCount: 0,
  image: 'image',
  imageID: 'image',
  containerID: `containerd://${name}`,
  state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
});

export const POD_PATH = '/api/v1/namespaces/default/pods';

function kubeletFlags({ authority, client }: KubeletCertificates): string[] {
  const folder = temporaryFolder();
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  return [
    `--kubelet-certificate-authority=${write('ca.crt', authority.certPem)}`,
    `--kubelet-client-certificate=${write('client.crt', client.certPem)}`,
    `--kubelet-client-key=${write('client.key', client.keyPem)}`,
  ];
}
