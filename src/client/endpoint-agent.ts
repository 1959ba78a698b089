import { Agent as HttpAgent, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { type Dial, dialDirectly } from '../net/dial.ts';
import { TlsDialer } from '../serving/tls-dialer.ts';
import type { WeakCertificateListener } from '../serving/weak-certificates.ts';
import type { RemoteEndpoint } from './kubeconfig.ts';

interface EndpointAgentOptions {
  /** The way to the server; absent: directly. */
  dial?: Dial | undefined;
  onWeakCertificate?: WeakCertificateListener | undefined;
  maxConnections?: number;
}

const MAX_CONNECTIONS = 100;

/** Keeps connections to one server, which is verified as `TlsDialer` says. `closed` ends those that are being made. */
export function endpointAgent(
  { url, caPem, serverName, isTlsUnverified, address, clientCertificate }: RemoteEndpoint,
  closed: AbortSignal,
  { dial = dialDirectly, onWeakCertificate, maxConnections = MAX_CONNECTIONS }: EndpointAgentOptions = {},
): HttpAgent {
  const pool = { keepAlive: true, maxSockets: maxConnections };
  const route = routed(dial, address);
  if (url.protocol === 'http:') return new DialledHttpAgent(pool, (host, port) => route(host, port, closed));
  const dialer = new TlsDialer(route, { caPem, serverName, isUnverified: isTlsUnverified, clientCertificate }, onWeakCertificate);
  return new DialledHttpsAgent(pool, (host, port) => dialer.connect(host, port, { protocols: ['http/1.1'], signal: closed }));
}

/** `address`: where to connect to, where it is not what URLs name. Certificates are still held against the URL's host. */
const routed =
  (dial: Dial, address: RemoteEndpoint['address']): Dial =>
  async (host, port, signal) => {
    const target = address?.() ?? { host, port };
    return dial(target.host, target.port, signal);
  };

/** Opens a connection for a request to a host and port. */
type Connect = (host: string, port: number) => Promise<Duplex>;
type Connected = (error: Error | null, socket?: Duplex) => void;

interface ConnectionOptions {
  host?: string;
  port?: number | string;
}

/** As agents want to be told of a connection. */
async function tell(connect: Connect, { host = '', port = 0 }: ConnectionOptions, done: Connected): Promise<void> {
  let socket: Duplex | undefined;
  try {
    socket = await connect(host, Number(port));
  } catch (error) {
    return done(error as Error);
  }
  done(null, socket);
}

class DialledHttpAgent extends HttpAgent {
  readonly #connect: Connect;

  constructor(options: AgentOptions, connect: Connect) {
    super(options);
    this.#connect = connect;
  }

  override createConnection(options: ConnectionOptions, done?: (error: Error | null, socket: Duplex) => void): undefined {
    void tell(this.#connect, options, done as Connected);
  }
}

/** Node's own would let OpenSSL decide on certificates, and resume sessions. */
class DialledHttpsAgent extends HttpsAgent {
  readonly #connect: Connect;

  constructor(options: AgentOptions, connect: Connect) {
    super(options);
    this.#connect = connect;
  }

  /** Part of Node's documented interface of agents, but not of its types' one for HTTPS. */
  override createConnection(options: ConnectionOptions, done: Connected): undefined {
    void tell(this.#connect, options, done);
  }
}
