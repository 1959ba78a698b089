import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Server, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import { createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';

const authority = createAuthority({ commonName: 'webhook-ca' });
const servers: Server[] = [];

afterAll(() => servers.forEach((server) => server.close().closeAllConnections()));

/** What tests read of an AdmissionReview's request. */
export interface ReviewRequest {
  uid: string;
  kind: { group: string; version: string; kind: string };
  resource: { group: string; version: string; resource: string };
  subResource?: string;
  requestKind: { group: string; version: string; kind: string };
  name?: string;
  namespace?: string;
  operation: string;
  userInfo: { username: string };
  object: Record<string, unknown> | null;
  oldObject: Record<string, unknown> | null;
  dryRun: boolean;
  options: { kind: string } | null;
}

/** Fields of the response, or the whole of the answer's body, or what is to be done instead of answering. */
export type Responder = (request: ReviewRequest) => object | string | ((response: ServerResponse) => void);

export const ALLOWED = { allowed: true };

/** The answer that patches the object. */
export const patched = (...operations: object[]): object => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

/** An admission webhook over TLS, as `hook.web.svc` and 127.0.0.1; what it is asked is kept. */
export class WebhookServer {
  readonly requests: ReviewRequest[] = [];
  readonly bodies: { apiVersion: string }[] = [];
  readonly clientPorts = new Set<number>();
  readonly hosts = new Set<string | undefined>();
  readonly traceparents: unknown[] = [];
  /** Of the URLs that it was called at. */
  readonly paths: string[] = [];
  readonly #server: Server;
  respond: Responder;

  constructor(respond: Responder = () => ALLOWED) {
    const { certPem, keyPem } = signCertificate(authority, { commonName: 'hook', usages: ['server'], hosts: ['hook.web.svc'], ips: ['127.0.0.1'] });
    this.respond = respond;
    this.#server = createServer({ cert: certPem, key: keyPem }, (request, response) => void this.#answer(request, response));
    servers.push(this.#server);
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}/review`;
  }

  /** How configurations name it. */
  get clientConfig(): { url: string; caBundle: string } {
    return { url: this.url, caBundle: CA_BUNDLE };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as { kind: string; apiVersion: string; request: ReviewRequest };
    this.requests.push(review.request);
    this.bodies.push(review);
    this.clientPorts.add(request.socket.remotePort!);
    this.hosts.add(request.headers.host);
    this.paths.push(new URL(request.url!, 'https://hook').pathname);
    this.traceparents.push(request.headers['traceparent']);
    const answer = this.respond(review.request);
    if (typeof answer === 'function') return answer(response);
    const { kind, apiVersion } = review;
    response.setHeader('content-type', 'application/json');
    response.end(
      typeof answer === 'string' || Buffer.isBuffer(answer) ? answer : JSON.stringify({ kind, apiVersion, response: { uid: review.request.uid, ...answer } }),
    );
  }
}

export const CA_BUNDLE = Buffer.from(authority.certPem).toString('base64');
