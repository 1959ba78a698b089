import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, createServer as createHttpServer } from 'node:http';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { TLSSocket, type TlsOptions, createServer as createTlsServer } from 'node:tls';
import { serveGrpc } from '../../grpc/server.ts';
import { removeLeftSocket } from '../../net/unix-socket.ts';
import { type Clock, systemClock } from '../../util/clock.ts';
import { Compacted } from '../engine.ts';
import type { LocalEngine } from '../engines/local-engine.ts';
import { LeaseTable } from './leases.ts';
import { ETCD_VERSION, etcdService } from './service.ts';

/** Certificate and key, which may change: connections that come later are given the new ones. */
export interface ServerTls {
  readonly current: TlsOptions;
  onChange(listener: () => void): void;
}

export interface EtcdServerOptions {
  engine: LocalEngine;
  /** `http://127.0.0.1:2379`, `https://…`, `unix:///path`. */
  listenUrls: readonly string[];
  /** For `https://` and `unixs://`. */
  tls?: ServerTls;
  /** Throws for a client of `tls` that is not to be served. */
  checkClient?: ((socket: TLSSocket) => void) | undefined;
  /** Of one request; etcd's --max-request-bytes. */
  maxRequestBytes?: number;
  /** For a file as large as the store while a snapshot is made of it. Default: the system's for temporary files. */
  snapshotFolder?: string;
  clock?: Clock;
  onViolation?: (message: string) => void;
}

export interface EtcdServer {
  /** With the ports that were given for 0. */
  readonly urls: readonly string[];
  /** Takes no more calls, ends open ones, and resolves when all connections are closed. The engine stays open. */
  close(): Promise<void>;
}

/** etcd's default, and what it leaves for everything but the value. */
const MAX_REQUEST_BYTES = 1.5 * 1024 * 1024;
const REQUEST_OVERHEAD_BYTES = 512 * 1024;
const DEFAULT_PORT = 2379;
/**
 * What a socket holds before its clients' watches stop. Node's own 16 KiB are less than what one turn publishes at many writes a second, which the kernel takes at
 * once: watches were stopped and resumed with every batch.
 */
const SOCKET_BYTES = 256 * 1024;
/** An HTTP/2 client begins with `PRI * HTTP/2.0`; no method of HTTP/1.1 that is answered here begins so. */
const HTTP2_START = 'PRI';

/** Serves the engine as etcd does, with the health and version pages of its client port. */
export async function startEtcdServer(options: EtcdServerOptions): Promise<EtcdServer> {
  const { engine, clock = systemClock, maxRequestBytes = MAX_REQUEST_BYTES } = options;
  await beginWithOwnRevision(engine, clock);
  const leases = await LeaseTable.open(engine, clock);
  const clientUrls: string[] = [];
  const service = etcdService({ engine, leases, clock, clientUrls, snapshotFolder: options.snapshotFolder ?? tmpdir(), maxRequestBytes });
  const pages = createHttpServer((request, response) => void answerPage(engine, request, response));
  const connections = new Map<Socket, { finish(): void } | undefined>();
  const grpc = { maxMessageBytes: maxRequestBytes + REQUEST_OVERHEAD_BYTES, clock, ...(options.onViolation && { onViolation: options.onViolation }) };
  const begin = (socket: Socket, isHttp2: boolean): void => {
    if (!isHttp2) pages.emit('connection', socket);
    else connections.set(socket, serveGrpc(socket, service, grpc));
  };
  const accept = (socket: Socket): void => {
    connections.set(socket, undefined);
    socket.once('close', () => connections.delete(socket));
    socket.on('error', () => undefined);
    const protocol = (socket as TLSSocket).alpnProtocol;
    if (socket instanceof TLSSocket && !isWelcome(socket, options)) socket.destroy();
    else if (typeof protocol === 'string') begin(socket, protocol === 'h2');
    else peek(socket, begin);
  };
  const servers: Server[] = [];
  const close = async (): Promise<void> => {
    leases.close();
    const closed = servers.map((server) => once(server, 'close'));
    for (const server of servers) server.close();
    for (const [socket, connection] of connections) {
      connection?.finish();
      socket.destroySoon();
    }
    await Promise.all(closed);
  };
  try {
    for (const url of options.listenUrls) {
      const { server, url: bound } = await listen(url, options.tls, accept);
      servers.push(server);
      clientUrls.push(bound);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { urls: clientUrls, close };
}

/** Written whenever a store is opened again. */
const OPENED_KEY = 'binnacle/opened';

/**
 * The change of the last revision of a store that was closed is not known any more, so that no watch could begin with it; but clients of etcd watch from the
 * current revision on (kube-apiserver its compactions). So the current one becomes one whose change is known.
 */
async function beginWithOwnRevision(engine: LocalEngine, clock: Clock): Promise<void> {
  try {
    engine.watch(OPENED_KEY, engine.publishedRevision, () => undefined).close();
  } catch (error) {
    if (!(error instanceof Compacted)) throw error;
    const expected = (await engine.get(OPENED_KEY))?.revision ?? 0;
    await engine.commit({ type: 'put', key: OPENED_KEY, value: Buffer.from(new Date(clock.now()).toISOString()), expected });
  }
}

function isWelcome(socket: TLSSocket, { checkClient, onViolation }: EtcdServerOptions): boolean {
  try {
    checkClient?.(socket);
    return true;
  } catch (error) {
    onViolation?.(`${socket.remoteAddress ?? 'a client'}: ${(error as Error).message}`);
    return false;
  }
}

/** Which protocol a client without TLS speaks shows in its first bytes. */
function peek(socket: Socket, begin: (socket: Socket, isHttp2: boolean) => void): void {
  socket.once('data', (first: Buffer) => {
    socket.pause();
    socket.unshift(first);
    begin(socket, HTTP2_START.startsWith(first.toString('latin1', 0, HTTP2_START.length)));
    socket.resume();
  });
}

interface Listening {
  server: Server;
  url: string;
}

async function listen(url: string, tls: ServerTls | undefined, accept: (socket: Socket) => void): Promise<Listening> {
  const [, scheme, rest] = /^(https?|unixs?):\/\/(.+)$/.exec(url) ?? [];
  const isSocket = scheme?.startsWith('unix') === true;
  if (scheme === undefined || rest === undefined || (!isSocket && !URL.canParse(`http://${rest}`)))
    throw new Error(`${JSON.stringify(url)} is no address to listen on: one looks like http://127.0.0.1:2379 or unix:///run/store.sock`);
  const isSecure = scheme.endsWith('s');
  if (isSecure && !tls) throw new Error(`${url} needs --cert-file and --key-file`);
  if (isSocket) await removeLeftSocket(rest);
  const server = isSecure && tls ? createSecureServer(tls, accept) : createServer({ noDelay: true, highWaterMark: SOCKET_BYTES }, accept);
  const { hostname, port } = new URL(isSocket ? 'http://localhost' : `http://${rest}`);
  try {
    const ready = once(server, 'listening');
    server.listen(isSocket ? { path: rest } : { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || DEFAULT_PORT) });
    await ready;
  } catch (error) {
    throw new Error(`cannot listen on ${url}: ${(error as Error).message}`, { cause: error });
  }
  if (!isSocket) return { server, url: `${scheme}://${hostname}:${(server.address() as AddressInfo).port}` };
  // Whoever may open it may read and write all that there is.
  await chmod(rest, 0o600);
  return { server, url };
}

function createSecureServer(tls: ServerTls, accept: (socket: Socket) => void): Server {
  const server = createTlsServer({ ...tls.current, ALPNProtocols: ['h2', 'http/1.1'] }, accept);
  tls.onChange(() => server.setSecureContext(tls.current));
  return server;
}

/** The pages of etcd's client port that probes ask for (server/etcdserver/api/etcdhttp). */
async function answerPage(engine: LocalEngine, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url?.split('?', 1)[0];
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
  };
  if (path === '/version') return send(200, { etcdserver: ETCD_VERSION, etcdcluster: `${ETCD_VERSION.split('.', 2).join('.')}.0` });
  if (path !== '/health' && path !== '/livez' && path !== '/readyz') return send(404, { error: `there is no page ${path}` });
  const error = await engine.checkHealth().then(
    () => undefined,
    (failure: Error) => failure,
  );
  send(error ? 503 : 200, { health: String(!error), reason: error?.message ?? '' });
}
