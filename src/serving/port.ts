import { type AddressInfo, type ListenOptions as NetListenOptions, type Server, type Socket, createServer } from 'node:net';

export interface PortOptions {
  /** `--bind-address`. An unspecified one (empty, 0.0.0.0, ::) means every interface and both address families. */
  host?: string;
  /** 0: any free port. */
  port: number;
  /** `--permit-port-sharing`: other processes may listen on the same port. */
  permitPortSharing?: boolean;
  /** Nothing is read from connections: they are handed to another process as they are. */
  forOtherProcess?: boolean;
}

export interface PortAddress {
  host: string;
  port: number;
}

/** Where connections come from. Those that come before the start wait. */
export interface ConnectionSource {
  readonly address: PortAddress;
  start(onConnection: (socket: Socket) => void): void;
  /** Resolves when no more can come. May be called again. */
  stop(): Promise<void>;
}

/** Why a port could not be had. `code` is the system's (EADDRINUSE, EACCES, …). */
export class ListenError extends Error {
  readonly code: string;
  readonly address: string;
  readonly port: number;
  constructor(code: string, reason: string, address: string, port: number) {
    super(`failed to create listener: failed to listen on ${address.includes(':') ? `[${address}]` : address}:${port}: ${reason}`);
    this.code = code;
    this.address = address;
    this.port = port;
  }
}

/** TCP keep-alive finds clients that went without a word; upstream's period. */
const KEEP_ALIVE_MS = 3 * 60_000;

/** Listens. Rejects with ListenError when the port cannot be had. */
export async function openPort(options: PortOptions): Promise<ConnectionSource> {
  const early: Socket[] = [];
  let take = (socket: Socket): void => void early.push(socket);
  const server = createServer(
    { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, pauseOnConnect: options.forOtherProcess ?? false },
    (socket) => take(socket),
  );
  await bind(server, options);
  const stopped = new Promise<void>((resolve) => server.once('close', resolve));
  const { address, port } = server.address() as AddressInfo;
  return {
    address: { host: address, port },
    start(onConnection) {
      take = onConnection;
      early.splice(0).forEach(onConnection);
    },
    stop() {
      server.close();
      return stopped;
    },
  };
}

const isUnspecified = (host: string): boolean => host === '' || host === '0.0.0.0' || host === '::';

function bind(server: Server, { host = '', port, permitPortSharing }: PortOptions): Promise<void> {
  if (permitPortSharing && !nodeOffersReusePort()) {
    return Promise.reject(new ListenError('ERR_FEATURE_UNAVAILABLE', `--permit-port-sharing needs Node 23.1 or newer, this is ${process.version}`, host, port));
  }
  // Without a host, Node takes :: for both families, or 0.0.0.0 on a machine without IPv6: what Go does for an unspecified address.
  const where: NetListenOptions & { reusePort?: boolean } = isUnspecified(host) ? { port } : { port, host };
  if (permitPortSharing) where.reusePort = true;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new ListenError(error.code ?? '', describe(error), host || '0.0.0.0', port)));
    server.listen(where, () => {
      // From here on, an error is one of accepting (no file descriptors left): clients wait in the backlog, the process lives.
      server.removeAllListeners('error').on('error', () => {});
      resolve();
    });
  });
}

const describe = (error: NodeJS.ErrnoException): string =>
  error.code === 'EADDRINUSE' ? 'bind: address already in use' : error.code === 'EACCES' ? 'bind: permission denied' : error.message;

function nodeOffersReusePort(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 1);
}
