import { createHash } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { peerCertificatesOf } from './peer.ts';

/** Of all intermediates together; a chain has two or three, of a kilobyte each. */
const MAX_BYTES = 4 * 1024 * 1024;
/** What an entry takes beside its certificates. */
const ENTRY_BYTES = 256;

/**
 * The certificates of clients, whole for resumed sessions too. A session ticket of OpenSSL holds the client's leaf certificate and not what was sent along
 * with it (SSL_SESSION, ssl_asn1.c), so the intermediates are kept here, by leaf, from the handshake in which they came. When there are too many, all are
 * forgotten and `revokeTickets` must make every ticket useless: clients that come with one then make a full handshake and send their chain again.
 */
export class ResumedChains {
  readonly #intermediates = new Map<string, readonly Buffer[]>();
  readonly #revokeTickets: () => void;
  readonly #maxBytes: number;
  #sizeBytes = 0;

  constructor(revokeTickets: () => void, maxBytes = MAX_BYTES) {
    this.#revokeTickets = revokeTickets;
    this.#maxBytes = maxBytes;
  }

  /** What the client sent in this handshake, or in the one whose session it resumes. To be asked once per connection, as soon as its handshake is done. */
  chainOf(socket: TLSSocket): readonly Buffer[] {
    const [leaf, ...sent] = peerCertificatesOf(socket);
    if (!leaf) return [];
    if (socket.isSessionReused()) return [leaf, ...(this.#intermediates.get(nameOf(leaf)) ?? [])];
    if (sent.length > 0) this.#remember(leaf, sent);
    return [leaf, ...sent];
  }

  #remember(leaf: Buffer, sent: readonly Buffer[]): void {
    const name = nameOf(leaf);
    const before = this.#intermediates.get(name);
    if (before?.length === sent.length && before.every((certificate, index) => certificate.equals(sent[index]!))) return;
    const sizeBytes = sizeOf(sent);
    // A leaf that now comes with other intermediates has tickets of both handshakes, which cannot be told apart.
    if (before || this.#sizeBytes + sizeBytes > this.#maxBytes) this.forget();
    this.#intermediates.set(name, sent);
    this.#sizeBytes += sizeBytes;
  }

  /** With them go all tickets. */
  forget(): void {
    this.#intermediates.clear();
    this.#sizeBytes = 0;
    this.#revokeTickets();
  }
}

const nameOf = (leaf: Buffer): string => createHash('sha256').update(leaf).digest('base64');
const sizeOf = (certificates: readonly Buffer[]): number => certificates.reduce((sum, { length }) => sum + length, ENTRY_BYTES);
