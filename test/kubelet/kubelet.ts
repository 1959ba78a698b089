import type { ChildProcess } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { type Server, createServer } from 'node:https';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { type Duplex, PassThrough, Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type Authority, createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import type { Exchange } from '../../src/serving/exchange.ts';
import { SpdyConnection } from '../../src/serving/spdy/connection.ts';
import type { SpdyStream } from '../../src/serving/spdy/stream.ts';
import { WebSocketByteStream } from '../../src/serving/websocket/byte-stream.ts';
import type { WebSocketConnection } from '../../src/serving/websocket/connection.ts';
import { acceptWebSocket } from '../../src/serving/websocket/handshake.ts';
import { ContainerLog } from './container-log.ts';
import { type ProcessStreams, runProcess } from './remote-process.ts';

const COMMAND_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io'];
/** Finds out that the other side has gone, where what it sent is not read. */
const PING_PERIOD_MS = 1000;
const FORWARD_PROTOCOLS = ['portforward.k8s.io'];

/** Certificates of one made-up cluster: the kubelet's own, and the API server's for kubelets. */
export class KubeletCertificates {
  readonly authority: Authority = createAuthority({ commonName: 'kubelet-ca' });
  readonly serving = signCertificate(this.authority, { commonName: 'node', usages: ['server'], hosts: ['localhost'], ips: ['127.0.0.1'] });
  readonly client = signCertificate(this.authority, { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'], usages: ['client'] });
}

/** What the API server asked. */
export interface SeenRequest {
  method: string;
  url: string;
  clientName: string;
  headers: IncomingMessage['headers'];
}

/**
 * A kubelet as far as API servers see one: TLS with client certificates, the paths of its API, and the real protocols behind them (SPDY/3.1, and WebSocket too where it says so).
 * Commands are real processes of this machine, forwarded ports real connections.
 */
export class TestKubelet {
  readonly requests: SeenRequest[] = [];
  readonly sockets = new Set<Socket>();
  readonly children = new Set<ChildProcess>();
  /** Does something else with a request, where it answers true. */
  misbehave: (request: IncomingMessage, socket: Duplex) => boolean = () => false;
  /** What `attach` finds running. */
  mainCommand = ['sh', '-c', 'while read line; do echo "got $line"; done'];
  readonly #logs = new Map<string, ContainerLog>();
  readonly #server: Server;

  /** With `http2`, as real ones: HTTP/2 for who offers it, and HTTP/1.1 for upgrades. Without, misbehaving has the whole of a connection to itself. */
  constructor({ authority, serving }: KubeletCertificates, { http2 = false } = {}) {
    const options = { cert: serving.certPem, key: serving.keyPem, ca: authority.certPem, requestCert: true, rejectUnauthorized: true };
    this.#server = http2 ? (createSecureServer({ ...options, allowHTTP1: true }) as unknown as Server) : createServer(options);
    this.#server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.#server.on('tlsClientError', () => {});
    this.#server.on('request', (request, response) => this.#answer(request, response));
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => this.#upgrade(request, socket, head));
  }

  listen(): Promise<this> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', () => resolve(this)));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Dies: connections are cut, processes killed. */
  stop(): void {
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
    for (const child of this.children) child.kill('SIGKILL');
  }

  /** The log of a container, by namespace/pod/container. */
  log(path: string): ContainerLog {
    const log = this.#logs.get(path) ?? new ContainerLog();
    this.#logs.set(path, log);
    return log;
  }

  #see(request: IncomingMessage): URL {
    const clientName = /CN=(.*)/.exec((request.socket as TLSSocket).getPeerX509Certificate()?.subject ?? '')?.[1] ?? '';
    this.requests.push({ method: request.method!, url: request.url!, clientName, headers: request.headers });
    return new URL(request.url!, 'https://kubelet');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = this.#see(request);
    if (this.misbehave(request, request.socket)) return;
    const [, kind, ...rest] = url.pathname.split('/');
    if (kind === 'containerLogs') this.#answerLog(rest.join('/'), url.searchParams, response);
    else if (kind === 'pods') response.end(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', items: [] }));
    else if (kind === 'metrics') response.end('kubelet_running_pods 1\n');
    else response.writeHead(404).end('404 page not found\n');
  }

  #answerLog(path: string, query: URLSearchParams, response: ServerResponse): void {
    const log = this.#logs.get(path);
    if (!log || query.has('previous'))
      return void response.writeHead(400).end(`previous terminated container "${path.split('/').at(-1)}" in pod "${path.split('/')[1]}" not found`);
    response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders();
    const stop = log.read(query, (text) => void response.write(text));
    if (query.has('follow')) response.once('close', stop);
    else response.end();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = this.#see(request);
    socket.on('error', () => socket.destroy());
    if (this.misbehave(request, socket)) return;
    const isForward = url.pathname.startsWith('/portForward/');
    if (request.headers.upgrade?.toLowerCase() === 'websocket') return this.#upgradeToWebSocket(request, url, socket, head);
    const protocols = new Set((request.headers['x-stream-protocol-version'] as string).split(',').map((protocol) => protocol.trim()));
    const protocol = (isForward ? FORWARD_PROTOCOLS : COMMAND_PROTOCOLS).find((one) => protocols.has(one));
    if (request.method !== 'POST' || !protocol) return void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`);
    if (isForward) serveForward(socket, head);
    else this.#serveCommand(url, socket, head);
  }

  #serveCommand(url: URL, socket: Duplex, head: Buffer): void {
    const query = url.searchParams;
    const streams = new Map<string, SpdyStream>();
    const wanted = ['error', ...wantedStreams(query), ...(query.has('tty') ? ['resize'] : [])];
    const connection = new SpdyConnection(socket, head, {
      role: 'server',
      pingPeriodMs: PING_PERIOD_MS,
      onStream: (stream) => {
        streams.set(stream.headers.streamtype!, stream);
        if (wanted.some((name) => !streams.has(name))) return;
        streams.get('resize')?.resume();
        const [stdin, stdout, stderr, error] = ['stdin', 'stdout', 'stderr', 'error'].map((name) => streams.get(name));
        // Nothing comes on these; but their ends are to be seen.
        for (const output of [stdout, stderr, error]) output?.resume();
        this.#run(url, { stdin, stdout, stderr, error: error! });
      },
    });
    connection.onClose(() => {
      for (const stream of streams.values()) stream.destroy();
    });
  }

  #run(url: URL, streams: ProcessStreams): void {
    const query = url.searchParams;
    const command = url.pathname.startsWith('/exec/') ? query.getAll('command') : this.mainCommand;
    const child = runProcess(command, query.has('tty'), streams);
    this.children.add(child);
    child.once('close', () => this.children.delete(child));
  }

  /** What kubelets do that declare ExtendWebSocketsToKubelet. */
  #upgradeToWebSocket({ method, headers }: IncomingMessage, url: URL, socket: Duplex, head: Buffer): void {
    const exchange = { method, headers, upgrade: () => ({ socket, head }), respond: () => socket.destroy() } as unknown as Exchange;
    const connection = acceptWebSocket(exchange, ([first]) => first ?? '');
    if (!connection) return;
    if (url.pathname.startsWith('/portForward/')) serveForward(new WebSocketByteStream(connection), Buffer.alloc(0));
    else this.#run(url, channels(connection, url.searchParams));
  }
}

const wantedStreams = (query: URLSearchParams): string[] =>
  [
    ['input', 'stdin'],
    ['output', 'stdout'],
    ['error', query.has('tty') ? '' : 'stderr'],
  ].flatMap(([parameter, name]) => (query.has(parameter!) && name ? [name] : []));

/** The channels of v5.channel.k8s.io as streams. */
function channels(connection: WebSocketConnection, query: URLSearchParams): ProcessStreams {
  const stdin = new PassThrough();
  connection.listen((bytes) => {
    if (bytes[0] === 0) stdin.write(bytes.subarray(1));
    else if (bytes[0] === 255 && bytes[1] === 0) stdin.end();
  });
  const output = (channel: number): Writable =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => void (connection.sendTo(channel, chunk) ? done() : connection.onDrain(done)),
      final: (done) => {
        if (channel === 3) connection.close();
        done();
      },
    });
  const error = output(3);
  connection.onClose(() => error.destroy());
  return { stdin: query.has('input') ? stdin : undefined, stdout: output(1), stderr: output(2), error };
}

const serveForward = (socket: Duplex, head: Buffer): SpdyConnection =>
  new SpdyConnection(socket, head, { role: 'server', pingPeriodMs: PING_PERIOD_MS, onStream: forwarder() });

/** Pairs the data and error streams of each request, and connects them to the port that they name. */
function forwarder(): (stream: SpdyStream) => void {
  const errors = new Map<string, SpdyStream>();
  return (stream) => {
    const { streamtype, port, requestid } = stream.headers;
    if (streamtype === 'error') {
      stream.resume();
      errors.set(requestid!, stream);
      return;
    }
    const error = errors.get(requestid!);
    errors.delete(requestid!);
    const target = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true });
    target.on('error', (failure) => {
      error?.end(`failed to connect to localhost:${port} inside namespace: ${failure.message}`);
      stream.destroy();
    });
    stream.on('close', () => target.destroy());
    stream.pipe(target).on('end', () => error?.end());
    target.pipe(stream);
  };
}
