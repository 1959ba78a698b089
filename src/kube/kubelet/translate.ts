import type { Readable } from 'node:stream';
import type { Exchange } from '../../serving/exchange.ts';
import type { ProxyTarget } from '../../serving/proxy/forward.ts';
import type { WebSocketConnection } from '../../serving/websocket/connection.ts';
import { acceptWebSocket, isWebSocketRequest, offeredProtocols } from '../../serving/websocket/handshake.ts';
import { internalError } from '../../api/errors.ts';
import { linkSignals } from '../../util/linked-signal.ts';
import { type CommandResult, type CommandStreams, type RemoteCommand, resultOf, startCommand } from './remote-command.ts';

const V5 = 'v5.channel.k8s.io';
const CHANNEL = { STDIN: 0, STDOUT: 1, STDERR: 2, ERROR: 3, RESIZE: 4, CLOSE: 255 } as const;
/** Upstream's: the same as kubelets have. */
const IDLE_TIMEOUT_MS = 4 * 60 * 60 * 1000;

/** Whether a client speaks the version of the channels that can say that one of them is at its end. */
export const isCommandWebSocket = (exchange: Exchange): boolean => isWebSocketRequest(exchange) && offeredProtocols(exchange.headers).includes(V5);

/**
 * Runs a command for a client that speaks WebSocket at a kubelet that speaks SPDY (apiserver/pkg/util/proxy/streamtranslator.go). The WebSocket stands before the kubelet
 * is asked, so whatever fails after that is told on its error channel. The end of either side is the end of both. Resolves with the code that it is counted under, when all is over.
 */
export async function translateCommand(exchange: Exchange, target: ProxyTarget, wanted: CommandStreams, closing: AbortSignal): Promise<number> {
  const client = acceptWebSocket(exchange, (offered) => (offered.includes(V5) ? V5 : { status: 403, message: '' }));
  if (!client) return 400;
  client.setIdleTimeout(IDLE_TIMEOUT_MS);
  // Tells the client that it is connected.
  client.sendTo(wanted.stdout ? CHANNEL.STDOUT : wanted.stderr ? CHANNEL.STDERR : CHANNEL.ERROR, Buffer.alloc(0));
  const gone = new AbortController();
  client.onClose(() => gone.abort(new Error('context canceled')));
  const { signal, release } = linkSignals(gone.signal, closing);
  try {
    const result = await run(client, target, wanted, signal);
    client.sendTo(CHANNEL.ERROR, Buffer.from(JSON.stringify(statusOf(result))));
    return result.kind === 'error' ? 500 : 200;
  } finally {
    client.close();
    release();
  }
}

async function run(client: WebSocketConnection, target: ProxyTarget, wanted: CommandStreams, signal: AbortSignal): Promise<CommandResult> {
  let command: RemoteCommand;
  try {
    command = await startCommand(target, wanted, signal);
  } catch (error) {
    return { kind: 'error', message: (error as Error).message };
  }
  client.onClose(() => command.connection.close());
  try {
    passInput(client, command);
    const result = resultOf(command);
    await Promise.all([passOutput(command.stdout, client, CHANNEL.STDOUT), passOutput(command.stderr, client, CHANNEL.STDERR)]);
    return await result;
  } finally {
    command.connection.close();
  }
}

/** What the client sends, to the stream that it is for. Its first byte names the channel; 255 says that the channel behind it is at its end. */
function passInput(client: WebSocketConnection, { stdin, resize }: RemoteCommand): void {
  // The kubelet ends stdin when the command does not read it any more; what it may say on it is nothing to anybody.
  stdin?.resume();
  resize?.resume();
  const streams = new Map([
    [CHANNEL.STDIN, stdin],
    [CHANNEL.RESIZE, resize],
  ] as [number, typeof stdin][]);
  for (const stream of [stdin, resize]) for (const event of ['drain', 'close']) stream?.on(event, () => client.resume());
  let channel: number | undefined;
  let hasClosed = false;
  client.listen((bytes, isStart, isEnd) => {
    if (isStart) [channel, hasClosed] = [undefined, false];
    let data = bytes;
    if (channel === undefined && data.length > 0) {
      channel = data[0]!;
      data = data.subarray(1);
    }
    if (channel === CHANNEL.CLOSE) {
      for (const closed of data) {
        if (hasClosed || closed > CHANNEL.RESIZE) return client.close();
        hasClosed = true;
        streams.get(closed)?.end();
      }
      if (isEnd && !hasClosed) client.close();
      return;
    }
    const stream = channel === undefined ? undefined : streams.get(channel);
    if (!stream || data.length === 0 || stream.writableEnded || stream.destroyed || stream.write(data)) return;
    client.pause();
  });
}

/** Resolves at the stream's end, however that came. */
function passOutput(from: Readable | undefined, client: WebSocketConnection, channel: number): Promise<void> {
  if (!from) return Promise.resolve();
  from.on('data', (chunk: Buffer) => {
    if (client.sendTo(channel, chunk)) return;
    from.pause();
    client.onDrain(() => from.resume());
  });
  return new Promise((resolve) => {
    from.once('end', resolve).once('close', resolve).once('error', resolve);
  });
}

/** What the error channel says at the end (a meta/v1 Status). */
function statusOf(result: CommandResult): object {
  if (result.kind === 'success') return { metadata: {}, status: 'Success' };
  if (result.kind === 'error') {
    const { kind: _kind, apiVersion: _apiVersion, ...status } = internalError(result.message).status;
    return status;
  }
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${result.code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(result.code) }] },
  };
}
