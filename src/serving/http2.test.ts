import { constants } from 'node:http2';
import { afterEach, describe, expect, test } from 'vitest';
import type { Exchange } from './exchange.ts';
import type { Listener } from './listener.ts';
import { Gate, connectRaw, connectSession, readToEnd, requestOn, startListener } from './test-server.ts';

let listener: Listener;
afterEach(() => listener.close({ graceMs: 0 }));

const answer = (exchange: Exchange): void => exchange.respond(200, {}, 'ok');
const closed = (emitter: { once(event: 'close', listener: () => void): unknown }): Promise<void> => new Promise((resolve) => emitter.once('close', resolve));

/* Frames by hand (RFC 9113 §4.1), for clients that no library would be. */
const [HEADERS, RST_STREAM, SETTINGS] = [1, 3, 4];
const [END_STREAM, END_HEADERS] = [1, 4];
const CANCEL = Buffer.from([0, 0, 0, 8]);
/** HPACK: GET, https, /, and the authority `a`. */
const GET_SLASH = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x61]);

function frame(type: number, flags: number, streamId: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

describe('HTTP/2', () => {
  test('requests that are taken back faster than they are answered end the connection, and only that (CVE-2023-44487)', async () => {
    const problems: string[] = [];
    let seen = 0;
    listener = await startListener((exchange) => void (exchange.target === '/ok' ? answer(exchange) : seen++), {
      limits: { unansweredResetsPerSecond: 50 },
      onProblem: ({ kind, message }) => problems.push(`${kind}: ${message}`),
    });
    const good = connectSession(listener);
    const bad = await connectRaw(listener, { ALPNProtocols: ['h2'] });
    const isOver = readToEnd(bad);
    bad.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    bad.write(frame(SETTINGS, 0, 0));
    for (let id = 1; id < 2000; id += 2) bad.write(Buffer.concat([frame(HEADERS, END_STREAM | END_HEADERS, id, GET_SLASH), frame(RST_STREAM, 0, id, CANCEL)]));
    await isOver;
    expect(problems).toContain('http2-abuse: too many streams reset');
    expect(seen).toBeLessThan(1000);
    expect((await requestOn(good, { path: '/ok' })).body.toString()).toBe('ok');
    expect(listener.openExchanges).toBe(0);
    good.destroy();
  });

  test('pings without end end the connection (CVE-2019-9512)', async () => {
    const problems: string[] = [];
    listener = await startListener(answer, { limits: { controlFramesPerSecond: 50 }, onProblem: ({ message }) => problems.push(message) });
    const session = connectSession(listener);
    const isOver = closed(session);
    const flood = (): void => {
      while (!session.destroyed && !session.closed && session.ping(() => {}));
      if (!session.destroyed && !session.closed) setImmediate(flood);
    };
    session.once('connect', flood);
    await isOver;
    expect(problems).toContain('too many control frames');
  });

  test('settings without end end the connection (CVE-2019-9515)', async () => {
    const problems: string[] = [];
    listener = await startListener(answer, { limits: { controlFramesPerSecond: 50 }, onProblem: ({ message }) => problems.push(message) });
    const session = connectSession(listener);
    const isOver = closed(session);
    let window = 100_000;
    const flood = (): void => {
      if (session.destroyed || session.closed) return;
      session.settings({ initialWindowSize: window++ }, () => setImmediate(flood));
    };
    session.once('connect', flood);
    await isOver;
    expect(problems).toContain('too many control frames');
  });

  test('more streams than are allowed wait; the allowance is announced', async () => {
    const open: Exchange[] = [];
    const full = new Gate();
    listener = await startListener((exchange) => void (open.push(exchange) === 3 && full.open()), { limits: { streamsPerConnection: 3 } });
    const session = connectSession(listener);
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    const answers = Array.from({ length: 5 }, () => requestOn(session));
    await full.opened;
    expect(session.remoteSettings.maxConcurrentStreams).toBe(3);
    expect(open).toHaveLength(3);
    for (let i = 0; i < 5; i++) {
      while (!open[i]) await new Promise((resolve) => setImmediate(resolve));
      answer(open[i]!);
    }
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    session.destroy();
  });

  test('a head that is too large is answered as such, and the connection lives on', async () => {
    listener = await startListener(answer, { limits: { headerBytes: 4096, headerCount: 50 } });
    const session = connectSession(listener);
    const large = await requestOn(session, { headers: { x: 'x'.repeat(3900), y: 'y'.repeat(300) } });
    expect([large.status, large.body.toString()]).toEqual([431, '<h1>HTTP Error 431</h1><p>Request Header Field(s) Too Large</p>']);
    const many = await requestOn(session, { headers: Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`x-${index}`, ''])) });
    expect(many.status).toBe(431);
    expect((await requestOn(session)).status).toBe(200);
    session.destroy();
  });

  test('requestClose sends GOAWAY; what is open goes on to its end', async () => {
    listener = await startListener((exchange) => {
      exchange.connection.requestClose();
      setImmediate(() => answer(exchange));
    });
    const session = connectSession(listener);
    const goaway = new Promise<number>((resolve) => session.once('goaway', resolve));
    const isOver = closed(session);
    expect((await requestOn(session)).body.toString()).toBe('ok');
    expect(await goaway).toBe(constants.NGHTTP2_NO_ERROR);
    await isOver;
  });

  test('an idle connection ends, a watched one does not', async () => {
    listener = await startListener((exchange) => void exchange.startStream(200, {}).write(Buffer.from('x')), { limits: { idleTimeoutMs: 30 } });
    const idle = connectSession(listener);
    const watching = connectSession(listener);
    const stream = watching.request({ ':path': '/' });
    await new Promise((resolve) => stream.once('data', resolve));
    await closed(idle);
    expect(watching.destroyed).toBe(false);
    watching.destroy();
  });

  test('a client that waits to be asked for its body is asked when somebody reads it, and not before', async () => {
    listener = await startListener((exchange) => {
      if (exchange.target === '/unread') return answer(exchange);
      void exchange.readBody(100).then((body) => exchange.respond(200, {}, body));
    });
    const session = connectSession(listener);
    for (const [path, isAsked] of [
      ['/unread', false],
      ['/read', true],
    ] as const) {
      const stream = session.request({ ':method': 'POST', ':path': path, expect: '100-continue' });
      let wasAsked = false;
      stream.once('continue', () => {
        wasAsked = true;
        stream.end('body');
      });
      stream.resume();
      await closed(stream);
      expect(wasAsked).toBe(isAsked);
    }
    session.destroy();
  });

  test('an answer with a header that cannot be written fails alone', async () => {
    listener = await startListener((exchange) =>
      exchange.target === '/bad' ? exchange.respond(200, { good: 'x', bad: undefined as never }) : answer(exchange),
    );
    const session = connectSession(listener);
    await expect(requestOn(session, { path: '/bad' })).rejects.toThrow('INTERNAL_ERROR');
    const { status, headers, body } = await requestOn(session);
    expect([status, headers['good'], body.toString()]).toEqual([200, undefined, 'ok']);
    expect(listener.openExchanges).toBe(0);
    session.destroy();
  });

  test('a body that nobody reads stops its client at the window', async () => {
    listener = await startListener(() => {}, { limits: { streamWindowBytes: 100_000 } });
    const session = connectSession(listener);
    const stream = session.request({ ':method': 'POST', ':path': '/' });
    stream.on('error', () => {});
    let isWritten = false;
    stream.write(Buffer.alloc(1_000_000), () => (isWritten = true));
    for (let count = 0; count < 3; count++) await new Promise((resolve) => session.ping(Buffer.alloc(8), resolve));
    expect(isWritten).toBe(false);
    session.destroy();
  });

  test.each([
    ['HTTP/1.1 where HTTP/2 was agreed on', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['garbage', '\0\x01\x02garbage'],
    ['a preface and garbage', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + '\xff'.repeat(100)],
  ])('%s within TLS ends the connection', async (_, text) => {
    listener = await startListener(answer);
    const socket = await connectRaw(listener, { ALPNProtocols: ['h2'] });
    const isOver = readToEnd(socket);
    socket.write(Buffer.from(text, 'latin1'));
    await isOver;
    expect(listener.openExchanges).toBe(0);
  });

  test('an upgrade is not to be had', async () => {
    listener = await startListener((exchange) => exchange.respond(200, {}, String(exchange.upgrade())));
    const session = connectSession(listener);
    expect((await requestOn(session)).body.toString()).toBe('undefined');
    session.destroy();
  });
});
