import { rmSync } from 'node:fs';
import { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream, createServer } from 'node:http2';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { GrpcChannel, type GrpcChannelOptions, type GrpcTarget } from './channel.ts';
import { MessageAssembler, framed } from './message-assembler.ts';
import { GrpcCode, type GrpcError } from './status.ts';

type Answer = (call: { stream: ServerHttp2Stream; path: string; headers: Record<string, unknown>; message: Buffer }) => void;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close();
});

interface TestServer {
  server: Http2Server;
  target: GrpcTarget;
  sessions: ServerHttp2Session[];
}

/** A gRPC server that calls back with each message. */
async function serve(answer: Answer, listenOn: { port: number } | { path: string } = { port: 0 }): Promise<TestServer> {
  const sessions: ServerHttp2Session[] = [];
  const server = createServer();
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    const assembler = new MessageAssembler();
    stream.on('data', (piece: Buffer) => assembler.push(piece, (message) => answer({ stream, path: headers[':path']!, headers, message })));
  });
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', ...listenOn }, () => resolve()));
  closers.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const target = 'path' in listenOn ? { socketPath: listenOn.path } : { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  return { server, target, sessions };
}

function channelTo(target: GrpcTarget, options?: GrpcChannelOptions): GrpcChannel {
  const channel = new GrpcChannel(target, options);
  closers.push(() => channel.close());
  return channel;
}

const HEADERS = { ':status': 200, 'content-type': 'application/grpc' };
function finish(stream: ServerHttp2Stream, message: Buffer | undefined, trailers: Record<string, string> = { 'grpc-status': '0' }): void {
  stream.respond(HEADERS, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(message && framed(message));
}
const echo: Answer = ({ stream, message }) => finish(stream, message);

const failureOf = (call: Promise<unknown>): Promise<GrpcError> =>
  call.then(
    () => expect.fail('no failure'),
    (error) => error as GrpcError,
  );

describe('a unary call', () => {
  test('takes a message there and one back, on a port and on a socket, many at once on one connection', async () => {
    const socketPath = join(tmpdir(), `binnacle-grpc-${process.pid}.sock`);
    rmSync(socketPath, { force: true });
    for (const { target, sessions } of [await serve(echo), await serve(echo, { path: socketPath })]) {
      const channel = channelTo(target);
      const messages = Array.from({ length: 50 }, (_, i) => Buffer.from(`message ${i}`));
      expect(await Promise.all(messages.map((message) => channel.unary('/s/Echo', message)))).toEqual(messages);
      expect((await channel.unary('/s/Echo', Buffer.alloc(0))).length).toBe(0);
      expect(sessions).toHaveLength(1);
    }
  });

  test('takes messages far beyond a window, both ways', async () => {
    const { target } = await serve(echo);
    const large = Buffer.alloc(20 * 1024 * 1024, 'abc');
    expect((await channelTo(target).unary('/s/Echo', large)).equals(large)).toBe(true);
  });

  test('an answer larger than allowed is refused', async () => {
    const { target } = await serve(echo);
    const failure = await failureOf(channelTo(target, { maxMessageBytes: 10 }).unary('/s/Echo', Buffer.alloc(11)));
    expect(failure).toMatchObject({ code: GrpcCode.resourceExhausted, details: 'received message larger than max (11 vs. 10)' });
  });

  test('carries metadata and the deadline', async () => {
    const seen: Record<string, unknown>[] = [];
    const { target } = await serve((call) => {
      seen.push(call.headers);
      echo(call);
    });
    await channelTo(target).unary('/s/M', Buffer.from('x'), { timeoutMs: 1_500, metadata: { hasleader: 'true' } });
    expect(seen[0]).toMatchObject({ ':path': '/s/M', 'grpc-timeout': '1500m', hasleader: 'true', te: 'trailers', 'content-type': 'application/grpc' });
  });

  test('a status other than OK is an error, in trailers or in headers alone, its message decoded', async () => {
    const { target } = await serve(({ stream, path }) => {
      const status = { 'grpc-status': '11', 'grpc-message': 'no 100%25 %C3%A4' };
      if (path === '/s/Trailers') finish(stream, undefined, status);
      else stream.respond({ ...HEADERS, ...status }, { endStream: true });
    });
    const channel = channelTo(target);
    for (const path of ['/s/Trailers', '/s/Headers']) {
      const failure = await failureOf(channel.unary(path, Buffer.from('x')));
      expect(failure).toMatchObject({ code: 11, details: 'no 100% ä', wasNotSent: false, message: 'rpc error: code = OutOfRange desc = no 100% ä' });
    }
  });

  test('an HTTP status other than 200, an end without a status or within a message: errors all', async () => {
    const { target } = await serve(({ stream, path, message }) => {
      if (path === '/s/Http') stream.respond({ ':status': 503 }, { endStream: true });
      else if (path === '/s/Reset') stream.close(2);
      else if (path === '/s/Nothing') finish(stream, undefined);
      else {
        stream.respond(HEADERS, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(framed(message).subarray(0, 6));
      }
    });
    const channel = channelTo(target);
    expect(await failureOf(channel.unary('/s/Http', Buffer.from('x')))).toMatchObject({ code: GrpcCode.unavailable });
    expect(await failureOf(channel.unary('/s/Reset', Buffer.from('x')))).toMatchObject({ code: GrpcCode.unavailable, wasNotSent: false });
    expect(await failureOf(channel.unary('/s/Nothing', Buffer.from('x')))).toMatchObject({ code: GrpcCode.internal });
    expect(await failureOf(channel.unary('/s/Half', Buffer.from('xyz')))).toMatchObject({ code: GrpcCode.internal });
    // None of it cost the connection.
    expect(await failureOf(channel.unary('/s/Http', Buffer.from('x')))).toMatchObject({ code: GrpcCode.unavailable });
  });

  test('ends at its deadline, and when its signal says so', async () => {
    const { target } = await serve(() => undefined);
    const channel = channelTo(target);
    expect(await failureOf(channel.unary('/s/Never', Buffer.from('x'), { timeoutMs: 30 }))).toMatchObject({ code: GrpcCode.deadlineExceeded });
    const abort = new AbortController();
    const call = failureOf(channel.unary('/s/Never', Buffer.from('x'), { signal: abort.signal }));
    abort.abort();
    expect(await call).toMatchObject({ code: GrpcCode.canceled });
    expect(await failureOf(channel.unary('/s/Never', Buffer.from('x'), { signal: abort.signal }))).toMatchObject({ code: GrpcCode.canceled });
  });
});

describe('a stream', () => {
  test('takes messages both ways until the server ends it', async () => {
    let opened: ServerHttp2Stream | undefined;
    const { target } = await serve(({ stream, message }) => {
      if (opened !== stream) {
        opened = stream;
        stream.respond(HEADERS, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      }
      if (message.toString() === 'end') stream.end();
      else stream.write(Buffer.concat([framed(message), framed(message)]));
    });
    const received: string[] = [];
    const ended = new Promise<GrpcError | undefined>((resolve) => {
      const stream = channelTo(target).stream('/s/Stream', { onMessage: (message) => received.push(message.toString()), onEnd: resolve });
      stream.send(Buffer.from('a'));
      stream.send(Buffer.from('b'));
      stream.send(Buffer.from('end'));
    });
    expect(await ended).toBeUndefined();
    expect(received).toEqual(['a', 'a', 'b', 'b']);
  });

  test('says nothing after it was cancelled', async () => {
    const { target } = await serve(({ stream, message }) => {
      stream.respond(HEADERS);
      stream.write(Buffer.concat([framed(message), framed(message), framed(message)]));
    });
    const received: string[] = [];
    const channel = channelTo(target);
    await new Promise<void>((resolve) => {
      const stream = channel.stream('/s/Stream', {
        onMessage(message) {
          received.push(message.toString());
          stream.cancel();
          resolve();
        },
        onEnd: () => received.push('end'),
      });
      stream.send(Buffer.from('a'));
    });
    await failureOf(channel.unary('/s/After', Buffer.from('x'), { timeoutMs: 30 }));
    expect(received).toEqual(['a']);
  });
});

describe('the connection', () => {
  test('is made anew after it broke; calls under way fail, and may have been seen', async () => {
    const { target, sessions } = await serve(({ stream, path, message }) => {
      if (path === '/s/Echo') finish(stream, message);
      else sessions.at(-1)!.destroy();
    });
    const channel = channelTo(target);
    expect(await failureOf(channel.unary('/s/Break', Buffer.from('x')))).toMatchObject({ code: GrpcCode.unavailable, wasNotSent: false });
    expect((await channel.unary('/s/Echo', Buffer.from('x'))).toString()).toBe('x');
    expect(sessions).toHaveLength(2);
  });

  test('after GOAWAY calls under way end as they would, and new ones take a new connection', async () => {
    let held: ServerHttp2Stream | undefined;
    const { target, sessions } = await serve(({ stream, path, message }) => {
      if (path === '/s/Hold') {
        held = stream;
        sessions[0]!.goaway();
      } else finish(stream, message);
    });
    const channel = channelTo(target);
    const first = channel.unary('/s/Hold', Buffer.from('x'));
    await vi.waitFor(async () => {
      await channel.unary('/s/Echo', Buffer.from('x'));
      expect(sessions).toHaveLength(2);
    });
    finish(held!, Buffer.from('late'));
    expect((await first).toString()).toBe('late');
  });

  test('that cannot be made fails calls with the reason, at once while it waits to be tried again', async () => {
    const { server, target } = await serve(echo);
    await new Promise((resolve) => server.close(resolve));
    const channel = channelTo(target);
    const first = await failureOf(channel.unary('/s/Echo', Buffer.from('x')));
    expect(first).toMatchObject({ code: GrpcCode.unavailable, wasNotSent: true });
    expect(first.details).toContain('ECONNREFUSED');
    expect(channel.isUsable).toBe(false);
    expect((await failureOf(channel.unary('/s/Echo', Buffer.from('x')))).details).toContain('ECONNREFUSED');
    await vi.waitFor(() => expect(channel.isUsable).toBe(true));
  });

  test('that has gone quiet with a call under way is given up', async () => {
    const deaf = createSocketServer((socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    closers.push(() => deaf.close());
    const channel = channelTo({ host: '127.0.0.1', port: (deaf.address() as AddressInfo).port }, { keepaliveTimeMs: 40, keepaliveTimeoutMs: 40 });
    const failure = await failureOf(channel.unary('/s/Never', Buffer.from('x')));
    expect(failure).toMatchObject({ code: GrpcCode.unavailable, details: 'keepalive ping failed to receive ACK within timeout' });
  });

  test('a closed channel refuses', async () => {
    const { target } = await serve(() => undefined);
    const channel = channelTo(target);
    const call = failureOf(channel.unary('/s/Never', Buffer.from('x')));
    channel.close();
    expect(await call).toMatchObject({ code: GrpcCode.unavailable });
    expect(await failureOf(channel.unary('/s/Never', Buffer.from('x')))).toMatchObject({ details: 'the channel is closed', wasNotSent: true });
  });
});
