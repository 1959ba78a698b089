import { type Socket, connect, isIP } from 'node:net';
import { type PeerCertificate, type SecureContext, type TLSSocket, checkServerIdentity, connect as connectTls, createSecureContext } from 'node:tls';

/** Opens a connection to a host and port; the signal gives it up. Rejects with Node's error. Egress rules put another in the place of `dialDirectly`. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

/** How a backend proves who it is, and who we are to it. */
export interface TlsTarget {
  /** Absent: the authorities that Node trusts. */
  caPem?: string | undefined;
  /** The name that the backend's certificate must have; absent: the host that is dialled. */
  serverName?: string | undefined;
  /** No certificate is asked for. */
  isUnverified?: boolean | undefined;
  clientCertificate?: { certPem: string; keyPem: string } | undefined;
}

/** As Go's dialer and transport have them. */
const DIAL_TIMEOUT_MS = 30_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;

export const dialDirectly: Dial = (host, port, signal) =>
  settled(connect({ host, port, noDelay: true, keepAlive: true }), 'connect', signal, DIAL_TIMEOUT_MS, `dial tcp ${hostPort(host, port)}: i/o timeout`);

/** `[::1]:443`, `example.com:443` */
export const hostPort = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

/** A TLS client for one kind of backend. Its keys are read once. */
export class TlsDialer {
  readonly #dial: Dial;
  readonly #target: TlsTarget;
  #context: SecureContext | undefined;

  constructor(dial: Dial, target: TlsTarget) {
    this.#dial = dial;
    this.#target = target;
  }

  /** Rejects where the backend is not who it should be. `protocols`: offered by ALPN. */
  async connect(host: string, port: number, protocols: string[], signal: AbortSignal): Promise<TLSSocket> {
    const { caPem, clientCertificate, serverName = host, isUnverified = false } = this.#target;
    this.#context ??= createSecureContext({
      minVersion: 'TLSv1.2',
      ...(caPem !== undefined && { ca: caPem }),
      ...(clientCertificate && { cert: clientCertificate.certPem, key: clientCertificate.keyPem }),
    });
    const socket = await this.#dial(host, port, signal);
    const secure = connectTls({
      socket,
      secureContext: this.#context,
      ALPNProtocols: protocols,
      rejectUnauthorized: !isUnverified,
      // The name in the handshake is never an address (RFC 6066 §3).
      servername: isIP(serverName) === 0 ? serverName : '',
      checkServerIdentity: (_host, certificate) => checkName(serverName, certificate),
    });
    return settled(secure, 'secureConnect', signal, HANDSHAKE_TIMEOUT_MS, 'net/http: TLS handshake timeout');
  }
}

/** As Go's crypto/x509, which takes no common name for a host's. */
function checkName(name: string, certificate: PeerCertificate): Error | undefined {
  if (certificate.subjectaltname === undefined)
    return new Error('tls: failed to verify certificate: x509: certificate relies on legacy Common Name field, use SANs instead');
  return checkServerIdentity(name, certificate);
}

/** Waits for a socket's event; destroys it where that does not come. */
function settled<S extends Socket>(socket: S, event: string, signal: AbortSignal, timeoutMs: number, timeoutMessage: string): Promise<S> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      finish();
      // Destroying may report once more what is known.
      socket.on('error', () => {});
      socket.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(signal.reason instanceof Error ? signal.reason : new Error('context canceled'));
    const onClose = (): void => fail(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
    const timer = setTimeout(() => fail(new Error(timeoutMessage)), timeoutMs);
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off('error', fail).off('close', onClose);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', fail).once('close', onClose);
    socket.once(event, () => {
      finish();
      resolve(socket);
    });
  });
}
