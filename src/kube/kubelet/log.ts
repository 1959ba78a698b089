import type { Readable } from 'node:stream';
import type { Exchange, ResponseStream } from '../../serving/exchange.ts';
import { hostPort } from '../../net/dial.ts';
import { streamOf } from '../../serving/proxy/answer.ts';
import { StaleConnection } from '../../serving/proxy/stale-connection.ts';
import type { BackendCall, BackendResponse, Transport } from '../../serving/proxy/transport.ts';
import { messageStream } from '../../serving/websocket/connection.ts';
import { acceptWebSocket, isWebSocketRequest } from '../../serving/websocket/handshake.ts';
import { badRequest, genericServerResponse, internalError, unknownError } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import { goNetworkError } from '../../net/network-error.ts';

export interface LogRequest {
  transport: Transport;
  host: string;
  port: number;
  path: string;
  podName: string;
}

/** Of a refusal, what is shown of its reason. */
const MAX_REASON_BYTES = 50_000;

/**
 * Reads a log from a kubelet and answers with it as it comes, at the client's pace; the kubelet's request ends when the client goes. Resolves when the answer has begun.
 * A kubelet that refuses, or cannot be reached, is thrown (apiserver/pkg/registry/generic/rest/streamer.go).
 */
export async function answerLog(exchange: Exchange, request: LogRequest): Promise<void> {
  const { transport, host, port, path } = request;
  const call = transport.send({ host, port, method: 'GET', path, headers: { 'user-agent': 'kube-apiserver (binnacle)' } });
  exchange.onClose(() => call.cancel());
  const response = await answerOf(call, request);
  if (exchange.isClosed) return;
  const stream = openStream(exchange);
  if (stream) pump(streamOf(response.body), stream);
  else call.cancel();
}

async function answerOf(call: BackendCall, { host, port, path, podName }: LogRequest): Promise<BackendResponse> {
  const url = `https://${hostPort(host, port)}${path}`;
  let response: BackendResponse;
  try {
    response = await call.response;
  } catch (error) {
    const cause = error instanceof StaleConnection ? error.cause : (error as Error);
    throw unknownError(`Get ${quote(url)}: ${goNetworkError(cause)}`);
  }
  const location = String(response.headers['location'] ?? '');
  if (isRedirect(response.status) && location !== '') {
    call.cancel();
    throw unknownError(`Get ${quote(location)}: redirects forbidden`);
  }
  if (response.status < 200 || response.status > 206) throw refusal(response.status, podName, await reasonIn(streamOf(response.body), call));
  return response;
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

function refusal(status: number, podName: string, reason: string): Error {
  if (status === 500) return internalError(reason);
  if (status === 400) return badRequest(reason);
  return genericServerResponse(status, 'pods/log', podName, reason);
}

/** The beginning of a body, as text. */
async function reasonIn(body: Readable, call: BackendCall): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes >= MAX_REASON_BYTES) break;
    }
  } catch {
    // What came before it broke off is all that is known.
  }
  call.cancel();
  return Buffer.concat(chunks).toString('utf8', 0, MAX_REASON_BYTES);
}

const READER_PROTOCOLS = new Set(['', 'binary.k8s.io', 'base64.binary.k8s.io']);

/** The answer, begun. Browsers read logs over WebSockets too (k8s.io/streaming/pkg/httpstream/wsstream, Reader); undefined where such a one was refused. */
function openStream(exchange: Exchange): ResponseStream | undefined {
  if (!isWebSocketRequest(exchange)) return exchange.startStream(200, { 'content-type': 'text/plain' });
  const connection = acceptWebSocket(exchange, (offered) =>
    offered.length === 0 ? '' : (offered.find((one) => READER_PROTOCOLS.has(one)) ?? { status: 403, message: '' }),
  );
  if (!connection) return undefined;
  const isBase64 = connection.protocol === 'base64.binary.k8s.io';
  const stream = messageStream(connection, isBase64);
  stream.write(Buffer.alloc(0)); // says that the log is open
  if (!isBase64) return stream;
  const write = stream.write.bind(stream);
  return Object.assign(stream, { write: (chunk: Buffer): boolean => write(Buffer.from(chunk.toString('base64'))) });
}

/** However the kubelet ends, the client's answer ends properly: that is how upstream has it, and what clients that follow a log expect when a node restarts. */
function pump(body: Readable, stream: ResponseStream): void {
  body.on('data', (chunk: Buffer) => {
    if (stream.write(chunk)) return;
    body.pause();
    stream.onDrain(() => body.resume());
  });
  body.on('error', () => {});
  body.once('close', () => stream.end());
}
