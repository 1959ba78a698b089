import { isIP } from 'node:net';
import { type SecureContext, type TLSSocket, connect as connectTls, createSecureContext } from 'node:tls';
import { type Dial, whenReady } from '../net/dial.ts';
import { peerCertificatesOf } from './certificates/peer.ts';
import { type CertificatePool, poolOfPem, systemPool } from './certificates/pool.ts';
import { verifyServerChain } from './certificates/verify.ts';
import { type WeakCertificateListener, weaknessesOf, weaknessesRefused } from './weak-certificates.ts';

/** How a server proves who it is, and who we are to it. */
export interface TlsTarget {
  /** Absent: the authorities that Node trusts. */
  caPem?: string | undefined;
  /** The name that the server's certificate must have; absent: the host that is dialled. */
  serverName?: string | undefined;
  /** No certificate is asked for. */
  isUnverified?: boolean | undefined;
  clientCertificate?: { certPem: string; keyPem: string } | undefined;
}

export interface TlsDialOptions {
  /** Offered by ALPN, if any. */
  protocols: readonly string[];
  signal: AbortSignal;
  handshakeTimeoutMs?: number;
  timeoutMessage?: string;
}

/** As Go's transport has it. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
const TIMEOUT_MESSAGE = 'net/http: TLS handshake timeout';

/**
 * A TLS client for one kind of server: every connection of ours that has TLS is made here. OpenSSL does the handshake, and our own verifier decides on the
 * server's certificate (as crypto/x509 would) before anyone can write a byte. Sessions are never resumed, so every connection is verified. Keys and
 * authorities are read once.
 */
export class TlsDialer {
  readonly #dial: Dial;
  readonly #target: TlsTarget;
  readonly #onWeakCertificate: WeakCertificateListener | undefined;
  #context: SecureContext | undefined;
  #roots: CertificatePool | undefined;

  constructor(dial: Dial, target: TlsTarget, onWeakCertificate?: WeakCertificateListener) {
    this.#onWeakCertificate = onWeakCertificate;
    this.#dial = dial;
    this.#target = target;
  }

  /** Rejects where the server is not who it should be. */
  async connect(host: string, port: number, { protocols, signal, handshakeTimeoutMs, timeoutMessage }: TlsDialOptions): Promise<TLSSocket> {
    const { clientCertificate, serverName = host } = this.#target;
    this.#context ??= createSecureContext({
      minVersion: 'TLSv1.2',
      // Not undefined: that would load the system's roots, milliseconds for what OpenSSL is not asked.
      ca: [],
      ...(clientCertificate && { cert: clientCertificate.certPem, key: clientCertificate.keyPem }),
    });
    const socket = await this.#dial(host, port, signal);
    const secure = connectTls({
      socket,
      secureContext: this.#context,
      ...(protocols.length > 0 && { ALPNProtocols: [...protocols] }),
      // The name in the handshake is never an address (RFC 6066 §3).
      servername: isIP(serverName) === 0 ? serverName : '',
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    });
    await whenReady(secure, 'secureConnect', {
      signal,
      timeoutMs: handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS,
      timeoutMessage: timeoutMessage ?? TIMEOUT_MESSAGE,
    });
    try {
      const chain = this.#verify(secure, serverName);
      if (this.#onWeakCertificate) for (const weakness of weaknessesOf(chain)) this.#onWeakCertificate(weakness, serverName);
    } catch (error) {
      secure.destroy();
      if (this.#onWeakCertificate) for (const weakness of weaknessesRefused((error as Error).message)) this.#onWeakCertificate(weakness, serverName);
      throw error;
    }
    return secure;
  }

  #verify(socket: TLSSocket, host: string): ReturnType<typeof verifyServerChain> {
    const { caPem, isUnverified = false } = this.#target;
    const chain = peerCertificatesOf(socket);
    if (isUnverified) return verifyServerChain(chain, { host });
    this.#roots ??= caPem === undefined ? systemPool() : poolOfPem([caPem]);
    return verifyServerChain(chain, { roots: this.#roots, host });
  }
}
