import { isIP } from 'node:net';
import { type PeerCertificate, type SecureContext, type TLSSocket, checkServerIdentity, connect as connectTls, createSecureContext } from 'node:tls';
import { type Dial, whenReady } from '../../util/dial.ts';

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

/** As Go's transport has it. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** A TLS client for one kind of backend. Its keys are read once. */
export class TlsDialer {
  readonly #dial: Dial;
  readonly #target: TlsTarget;
  #context: SecureContext | undefined;

  constructor(dial: Dial, target: TlsTarget) {
    this.#dial = dial;
    this.#target = target;
  }

  /** Rejects where the backend is not who it should be. `protocols`: offered by ALPN, if any. */
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
      ...(protocols.length > 0 && { ALPNProtocols: protocols }),
      rejectUnauthorized: !isUnverified,
      // The name in the handshake is never an address (RFC 6066 §3).
      servername: isIP(serverName) === 0 ? serverName : '',
      checkServerIdentity: (_host, certificate) => checkName(serverName, certificate),
    });
    return whenReady(secure, 'secureConnect', { signal, timeoutMs: HANDSHAKE_TIMEOUT_MS, timeoutMessage: 'net/http: TLS handshake timeout' });
  }
}

/** As Go's crypto/x509, which takes no common name for a host's. */
function checkName(name: string, certificate: PeerCertificate): Error | undefined {
  if (certificate.subjectaltname === undefined)
    return new Error('tls: failed to verify certificate: x509: certificate relies on legacy Common Name field, use SANs instead');
  return checkServerIdentity(name, certificate);
}
