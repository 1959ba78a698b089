import { afterEach, describe, expect, test } from 'vitest';
import type { ConnectionInfo, Exchange } from './exchange.ts';
import type { Listener } from './listener.ts';
import type { ServingProblem } from './limits.ts';
import { Gate, connectRaw, readToEnd, startListener } from './test-server.ts';

let listener: Listener;
afterEach(() => listener.close({ graceMs: 0 }));

const echo = (exchange: Exchange): void => exchange.respond(exchange.method === 'FOO' ? 405 : 200, {}, `${exchange.method} ${exchange.target}`);

async function converse(text: string): Promise<string> {
  const socket = await connectRaw(listener);
  const answer = readToEnd(socket);
  socket.write(text, 'latin1');
  return answer;
}

describe('HTTP/1.1', () => {
  test('any token is a method; the answer to one that the parser does not know is the last', async () => {
    listener = await startListener(echo);
    expect(await converse('FOO /api/v1?x=1 HTTP/1.1\r\nHost: a\r\nX-Y: z\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 405 Method Not Allowed\r\n[^]*Connection: close\r\n\r\nFOO \/api\/v1\?x=1$/,
    );
    const socket = await connectRaw(listener);
    const answers = readToEnd(socket);
    socket.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write('FOO /second HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await answers).toMatch(/GET \/firstHTTP\/1\.1 405 Method Not Allowed\r\n[^]*FOO \/second$/);
    await expect.poll(() => listener.openExchanges, { interval: 5 }).toBe(0);
  });

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', '400 Bad Request'],
    ['a bad version', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n', '505 HTTP Version Not Supported: unsupported protocol version'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', '400 Bad Request: missing required Host header'],
    ['a blank in a header name', 'GET / HTTP/1.1\r\nHost: a\r\nA B: c\r\n\r\n', '400 Bad Request'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', '400 Bad Request'],
    ['a length and chunks', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', '400 Bad Request'],
    ['a NUL', 'GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n', '400 Bad Request'],
  ])('%s is refused in Go’s words, and the server lives', async (_, text, reason) => {
    const problems: ServingProblem[] = [];
    listener = await startListener(echo, { onProblem: (problem) => problems.push(problem) });
    expect(await converse(text)).toBe(`HTTP/1.1 ${reason}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${reason}`);
    expect(await converse('GET /alive HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toContain('GET /alive');
    expect(problems).toEqual([{ kind: 'bad-request', remoteAddress: '127.0.0.1', message: expect.any(String) }]);
  });

  test('an encoding that is not ours, and an expectation', async () => {
    listener = await startListener(echo);
    expect(await converse('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 501 Not Implemented\r\n[^]*\r\n\r\nUnsupported transfer encoding$/,
    );
    expect(await converse('POST / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nContent-Length: 5\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 417 Expectation Failed\r\n[^]*Connection: close\r\n/,
    );
  });

  test('too many header bytes are a 431, and so are too many lines', async () => {
    listener = await startListener(echo, { limits: { headerBytes: 4096, headerCount: 10 } });
    expect(await converse(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(5000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await converse(`GET / HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(10)}\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('a head that trickles in is cut off in time, and so is a silent client', async () => {
    const problems: ServingProblem[] = [];
    listener = await startListener(echo, { limits: { headerTimeoutMs: 50 }, onProblem: (problem) => problems.push(problem) });
    const trickling = connectRaw(listener).then((socket) => (socket.write('GET / HTTP/1.1\r\nHost: a\r\n'), readToEnd(socket)));
    const silent = connectRaw(listener).then(readToEnd);
    expect(await Promise.all([trickling, silent])).toEqual(['', '']);
    await expect.poll(() => listener.openConnections, { interval: 5 }).toBe(0);
  });

  test('an idle connection ends', async () => {
    listener = await startListener(echo, { limits: { idleTimeoutMs: 30 } });
    expect(await converse('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*GET \/x$/);
  });

  test('a body that is still awaited when the answer is complete is awaited no longer', async () => {
    const told = new Gate();
    let message = '';
    listener = await startListener((exchange) => {
      exchange.readBody(100).catch((error: Error) => {
        message = error.message;
        told.open();
      });
      exchange.respond(504, {}, 'too late');
    });
    (await connectRaw(listener)).write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nhalf');
    await told.opened;
    expect(message).toContain('unexpected EOF');
  });

  test('an upgrade is handed over with what came behind it', async () => {
    listener = await startListener((exchange) => {
      const taken = exchange.upgrade();
      expect(exchange.headers.upgrade).toBe('SPDY/3.1');
      taken!.socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n[${taken!.head.toString()}]`);
      taken!.socket.on('data', (chunk: Buffer) => taken!.socket.end(`echo ${chunk.toString()}`));
    });
    const socket = await connectRaw(listener);
    const answer = readToEnd(socket);
    socket.write('POST /exec HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nfirst');
    await new Promise((resolve) => socket.once('data', resolve));
    expect(listener.openExchanges).toBe(1);
    socket.write('second');
    expect(await answer).toMatch(/\r\n\r\n\[first\]echo second$/);
    await expect.poll(() => listener.openExchanges, { interval: 5 }).toBe(0);
  });

  test('an upgrade that is answered normally is a normal answer, and the last', async () => {
    listener = await startListener(echo);
    expect(await converse('GET /exec HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[^]*Connection: close[^]*\r\n\r\nGET \/exec$/,
    );
    expect(await converse('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('a request behind another is given out when that one’s answer has left', async () => {
    const waiting: Exchange[] = [];
    const first = new Gate();
    listener = await startListener((exchange) => {
      if (waiting.push(exchange) === 1) return first.open();
      expect(waiting[0]!.isClosed).toBe(true);
      const stream = exchange.startStream(200, {});
      stream.write(Buffer.from('two'));
      stream.end();
    });
    const answers = converse('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await first.opened;
    expect([waiting.length, listener.openExchanges]).toEqual([1, 1]);
    waiting[0]!.respond(200, {}, 'one');
    expect(await answers).toMatch(/one[^]*HTTP\/1\.1 200 OK[^]*\r\n3\r\ntwo\r\n0\r\n\r\n$/);
  });

  test('HTTP/1.0 gets no chunks, and the end of the stream is the end of the connection', async () => {
    listener = await startListener((exchange) => {
      const stream = exchange.startStream(200, {});
      stream.write(Buffer.from(exchange.httpVersion));
      stream.end();
    });
    expect(await converse('GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n1\.0$/);
  });

  test('a connection that is held back is read on when it may be, in order', async () => {
    const targets: string[] = [];
    const first = new Gate();
    let connection: ConnectionInfo;
    listener = await startListener((exchange) => {
      targets.push(exchange.target);
      if (exchange.target === '/1') {
        ({ connection } = exchange);
        expect([connection.pauseReading(), connection.pauseReading()]).toEqual([true, false]);
        exchange.onClose(first.open);
      }
      echo(exchange);
    });
    const answers = converse('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await first.opened;
    await expect.poll(() => targets, { interval: 5 }).toEqual(['/1']);
    connection!.resumeReading();
    expect(await answers).toMatch(/GET \/1HTTP[^]*GET \/2HTTP[^]*GET \/3$/);
    // It has gone by now.
    connection!.pauseReading();
    connection!.resumeReading();
  });

  test('requestClose: this answer says close', async () => {
    listener = await startListener((exchange) => {
      exchange.connection.requestClose();
      echo(exchange);
    });
    expect(await converse('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/Connection: close\r\n[^]*GET \/x$/);
  });

  test('an absolute target is its path', async () => {
    listener = await startListener(echo);
    expect(await converse('GET https://a:6443/api?x=/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toContain('GET /api?x=/');
  });
});
