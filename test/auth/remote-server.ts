import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type Server, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Authority, signCertificate } from '../../src/serving/certificates/create.ts';

export interface RemoteRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Of the client's certificate; undefined where it has none. */
  clientName: string | undefined;
}

export interface RemoteReply {
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON, text as it is. */
  body?: object | string;
  /** Cuts the connection off instead. */
  isCut?: boolean;
}

/** Something that a server under test calls, on loopback with TLS; its certificate is from `authority`. */
export class RemoteServer {
  readonly requests: RemoteRequest[] = [];
  readonly #server: Server;
  readonly #answer: (request: RemoteRequest) => RemoteReply | Promise<RemoteReply>;

  constructor(authority: Authority, answer: (request: RemoteRequest) => RemoteReply | Promise<RemoteReply>, clientAuthority?: Authority) {
    const { certPem, keyPem } = signCertificate(authority, { commonName: 'remote', usages: ['server'], ips: ['127.0.0.1'], hosts: ['localhost'] });
    const trust = clientAuthority ? { requestCert: true, rejectUnauthorized: true, ca: clientAuthority.certPem } : {};
    this.#answer = answer;
    this.#server = createServer({ cert: certPem, key: keyPem, ...trust }, (request, response) => {
      void this.#reply(request, response);
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #reply(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const certificate = (incoming.socket as TLSSocket).getPeerCertificate();
    const request: RemoteRequest = {
      method: incoming.method!,
      path: incoming.url!,
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
      clientName: certificate?.subject?.CN?.toString(),
    };
    this.requests.push(request);
    const { status = 200, headers = {}, body = '', isCut = false } = await this.#answer(request);
    if (isCut) return void response.destroy();
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }
}

/** A kubeconfig for it, with the certificates inside. */
export function kubeconfigOf(url: string, authority: Authority, client?: { certPem: string; keyPem: string }): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return JSON.stringify({
    kind: 'Config',
    apiVersion: 'v1',
    clusters: [{ name: 'remote', cluster: { server: url, 'certificate-authority-data': base64(authority.certPem) } }],
    users: [{ name: 'us', user: client ? { 'client-certificate-data': base64(client.certPem), 'client-key-data': base64(client.keyPem) } : {} }],
    contexts: [{ name: 'here', context: { cluster: 'remote', user: 'us' } }],
    'current-context': 'here',
  });
}
