import { hostPort } from './dial.ts';
import { quote } from '../util/go-quote.ts';

/** What Node tells of a failure beside its code. */
interface NetworkError extends Error {
  code?: string;
  address?: string;
  port?: number;
  hostname?: string;
  /** What Node's parser of HTTP could not read. */
  rawPacket?: Buffer;
}

/** By the codes of Node and OpenSSL, what Go says. */
const GO_WORDS: Readonly<Record<string, (error: NetworkError) => string>> = {
  ECONNREFUSED: ({ address = '', port }) => `dial ${port === undefined ? `unix ${address}` : `tcp ${hostPort(address, port)}`}: connect: connection refused`,
  ENOENT: ({ address, message }) => (address === undefined ? message : `dial unix ${address}: connect: no such file or directory`),
  ENOTFOUND: ({ hostname }) => `dial tcp: lookup ${hostname}: no such host`,
  ECONNRESET: () => 'EOF',
  ERR_SSL_WRONG_VERSION_NUMBER: () => 'tls: first record does not look like a TLS handshake',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: () => 'tls: first record does not look like a TLS handshake',
};

const MAX_SHOWN_BYTES = 200;

function malformed({ rawPacket }: NetworkError): string {
  const line = rawPacket?.toString('latin1', 0, MAX_SHOWN_BYTES).split(/\r?\n/, 1)[0];
  return `net/http: HTTP/1.x transport connection broken: malformed HTTP response${line === undefined ? '' : ` ${quote(line)}`}`;
}

/** The failure of a connection in the words of Go's net and crypto/tls, which clients of upstream know. */
export function goNetworkError(error: Error): string {
  // Where a name has several addresses, Node tries them all, and Go tells of the first.
  const failure: NetworkError = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  const { message } = failure;
  const code = typeof failure.code === 'string' ? failure.code : '';
  return GO_WORDS[code]?.(failure) ?? (code.startsWith('HPE_') ? malformed(failure) : message);
}
