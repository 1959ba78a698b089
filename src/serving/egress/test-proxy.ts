import { type Server, type Socket, connect, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createAuthority, signCertificate } from '../certificates/create.ts';

/* For tests: a proxy that opens connections for others by CONNECT, over TLS with client certificates or on a socket in the file system. */

export const proxyAuthority = createAuthority({ commonName: 'egress-ca' });
export const proxyClient = signCertificate(proxyAuthority, { commonName: 'kube-apiserver', usages: ['client'] });
const { certPem, keyPem } = signCertificate(proxyAuthority, { commonName: 'proxy', usages: ['server'], hosts: ['egress.example.com'], ips: ['127.0.0.1'] });

/** What a misbehaving proxy does with a connection once it was asked. */
export type Answer = (client: Socket) => void;

export class TestProxy {
  /** What was asked for, as `host:port`, in order. */
  readonly targets: string[] = [];
  readonly sockets = new Set<Socket>();
  /** Where targets really are; others are where they say. */
  readonly places = new Map<string, { host: string; port: number }>();
  answer: Answer | undefined;
  readonly #server: Server;

  constructor({ hasTls = false } = {}) {
    const tls = { cert: certPem, key: keyPem, ca: proxyAuthority.certPem, requestCert: true, rejectUnauthorized: true };
    this.#server = hasTls ? createTlsServer(tls, (client) => this.#serve(client)) : createServer((client) => this.#serve(client));
  }

  /** At a path, or at any free port. */
  listen(path?: string): Promise<this> {
    return new Promise((resolve) => {
      const onListening = (): void => resolve(this);
      if (path === undefined) this.#server.listen(0, '127.0.0.1', onListening);
      else this.#server.listen(path, onListening);
    });
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  #keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.sockets.delete(socket));
  }

  #serve(client: Socket): void {
    this.#keep(client);
    client.once('data', (request: Buffer) => {
      const target = /^CONNECT (\S+) HTTP\/1\.1\r\nHost: 127\.0\.0\.1\r\n\r\n$/.exec(request.toString())?.[1];
      if (target === undefined) return client.destroy();
      this.targets.push(target);
      if (this.answer) return this.answer(client);
      this.#tunnel(client, target);
    });
  }

  #tunnel(client: Socket, target: string): void {
    const { hostname, port } = new URL(`http://${target}`);
    const { host, port: placePort } = this.places.get(target) ?? { host: hostname, port: Number(port) || 80 };
    const server = connect(placePort, host, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      client.pipe(server).pipe(client);
    });
    this.#keep(server);
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
  }
}
