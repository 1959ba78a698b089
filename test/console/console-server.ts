import { mkdirSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll } from 'vitest';
import { type EmbeddedServer, startEmbedded } from '../../src/compose/embedded.ts';
import type { FactorySettings } from '../../src/compose/start.ts';
import { signCertificate } from '../../src/serving/certificates/create.ts';
import { temporaryFolder } from '../support/server.ts';

export interface ConsoleAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of all kinds
  json: any;
}

export interface SendOptions {
  headers?: Record<string, string>;
  /** Sent as JSON, where it is no text. */
  body?: unknown;
  /** Whose client certificate the connection has; none where absent. */
  as?: Identity | undefined;
  session?: SignedIn | undefined;
}

export interface Identity {
  certPem: string;
  keyPem: string;
}

export interface SignedIn {
  cookie: string;
  csrfToken: string;
  expiresAt: string;
  user: { username: string; groups: string[] };
  server: { version: string; storage: string; hasHistory: boolean };
}

export const SCRIPT = `console.log(${JSON.stringify('x'.repeat(2_000))})`;

/** A page as a build leaves it. */
export function pageFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Console</title>');
  writeFileSync(join(folder, 'assets', 'app-1a2b3c.js'), SCRIPT);
  writeFileSync(join(folder, 'assets', 'app-1a2b3c.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'assets', 'app-1a2b3c.js.gz'), gzipSync(SCRIPT));
  return folder;
}

const servers: ConsoleServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
});

/** A server in this process, with `--console`. */
export async function startConsole(flags: readonly string[] = [], settings: FactorySettings = {}): Promise<ConsoleServer> {
  const server = new ConsoleServer(await startEmbedded({ flags: ['--console', ...flags] }, undefined, { consoleFolder: pageFolder(), ...settings }));
  servers.push(server);
  return server;
}

export class ConsoleServer {
  readonly server: EmbeddedServer;
  readonly #agents = new Map<Identity | undefined, Agent>();

  constructor(server: EmbeddedServer) {
    this.server = server;
  }

  get admin(): Identity {
    return this.server.cluster.admin;
  }

  user(name: string, groups: string[] = [], notAfter?: Date): Identity {
    return signCertificate(this.server.cluster.authority, { commonName: name, organizations: groups, usages: ['client'], ...(notAfter && { notAfter }) });
  }

  async send(method: string, path: string, options: SendOptions = {}): Promise<ConsoleAnswer> {
    const response = await this.open(path, { ...options, method });
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    return { status: response.statusCode!, headers: response.headers, body: bytes, text: bytes.toString(), json: jsonOf(bytes) };
  }

  /** An answer whose body is still to come. */
  open(path: string, { method = 'GET', headers = {}, body, as, session }: SendOptions & { method?: string } = {}): Promise<IncomingMessage> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const all = {
      ...(text !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
      ...(session && { cookie: session.cookie, 'x-binnacle-csrf': session.csrfToken }),
      ...headers,
    };
    const { hostname, port } = new URL(this.server.url);
    return new Promise((resolve, reject) => {
      // The path as it is: a URL would take its dots away.
      const request = httpsRequest({ hostname, port, path, method, headers: all, agent: this.#agentOf(as) }, resolve);
      request.once('error', reject);
      request.end(text);
    });
  }

  async signIn(body: object, options: SendOptions = {}): Promise<SignedIn> {
    const answer = await this.send('POST', '/console/session', { ...options, body });
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
    return { ...answer.json, cookie: answer.headers['set-cookie']![0]!.split(';', 1)[0]! };
  }

  /** By client certificate. */
  signInAs(identity: Identity): Promise<SignedIn> {
    return this.signIn({}, { as: identity });
  }

  newCode(): string {
    return new URL(this.server.consoleLink!()).hash.replace('#code=', '');
  }

  async stop(): Promise<void> {
    for (const agent of this.#agents.values()) agent.destroy();
    await this.server.stop();
  }

  #agentOf(identity: Identity | undefined): Agent {
    let agent = this.#agents.get(identity);
    if (!agent) {
      agent = new Agent({ ca: this.server.caCertificate, keepAlive: true, ...(identity && { cert: identity.certPem, key: identity.keyPem }) });
      this.#agents.set(identity, agent);
    }
    return agent;
  }
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
