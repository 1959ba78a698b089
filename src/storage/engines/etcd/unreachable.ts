import { StorageMisconfigured, StorageUnavailable } from '../../engine.ts';

/** What a failure to connect means to whoever gave the address. `isFinal`: it is no matter of waiting. */
interface Diagnosis {
  readonly pattern: RegExp;
  readonly meaning: string;
  readonly isFinal?: true;
}

/** The words are those of Node, OpenSSL and this project's HTTP/2; the first that fits counts. */
const DIAGNOSES: readonly Diagnosis[] = [
  {
    pattern: /the other side speaks HTTP\/1/,
    meaning: 'an HTTP/1 server answers there, which etcd is not: is this the address and port of etcd for clients?',
    isFinal: true,
  },
  {
    pattern: /protocol error/,
    meaning: 'what answers there does not speak HTTP/2, as etcd does: is this the address and port of etcd for clients?',
    isFinal: true,
  },
  {
    pattern: /no application protocol|ALPN/i,
    meaning: 'a server with TLS answers there that does not speak HTTP/2, as etcd does: is this the address and port of etcd for clients?',
    isFinal: true,
  },
  {
    pattern: /wrong version number|packet length too long/,
    meaning: 'what answers there does not speak TLS: write http:// in place of https://',
    isFinal: true,
  },
  { pattern: /transport is closing|ECONNRESET/, meaning: 'the connection was closed at once: if etcd serves TLS there, write https:// in place of http://' },
  { pattern: /certificate required|bad certificate|handshake failure/, meaning: 'it wants a client certificate: give --etcd-certfile and --etcd-keyfile' },
  { pattern: /unknown authority|self.signed|unable to (get|verify)/i, meaning: 'its certificate is not trusted: give its authority with --etcd-cafile' },
  { pattern: /ECONNREFUSED/, meaning: 'nothing listens there: is etcd running, and is this its address and port?' },
  { pattern: /ENOTFOUND|EAI_AGAIN/, meaning: 'its name cannot be resolved' },
  { pattern: /EHOSTUNREACH|ENETUNREACH/, meaning: 'there is no way to it from this machine' },
  { pattern: /DeadlineExceeded|ETIMEDOUT/, meaning: 'it does not answer in time' },
];

/** Why none of the members could be asked, in one line that says what to do; with what was heard on the wire behind it. */
export function unreachable(endpoints: readonly string[], reasons: readonly Error[]): StorageUnavailable {
  const found = reasons.map(({ message }) => DIAGNOSES.find(({ pattern }) => pattern.test(message)));
  const { message } = reasons[0]!;
  const why = found[0] === undefined ? oneLine(message) : `${found[0].meaning} (${oneLine(message)})`;
  const text = `etcd cannot be reached at ${endpoints.join(', ')}: ${why}`;
  return found.every((diagnosis) => diagnosis?.isFinal) ? new StorageMisconfigured(text) : new StorageUnavailable(text);
}

/** gRPC's frame around the reason says nothing to an operator, and OpenSSL ends its lines. */
function oneLine(message: string): string {
  const reason = /^rpc error: code = \w+ desc = (?:connection error: desc = "(.*?)\\?n?"?$|(.*)$)/s.exec(message);
  const text = (reason?.[1] ?? reason?.[2] ?? message).replaceAll(/\s+/g, ' ').trim();
  // OpenSSL: a number, its source file and line stand around what it has to say.
  return /error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/.exec(text)?.[1] ?? text;
}
