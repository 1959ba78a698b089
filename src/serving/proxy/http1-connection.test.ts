import { type Socket, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { exchangeWith, failureOf, transportTo } from './test-transport.ts';
import type { Transport } from './transport.ts';

/* Backends that say what no well-behaved server says: bytes written by hand. */

interface RawBackend {
  transport: Transport;
  port: number;
  /** Connections that are open. */
  sockets: Set<Socket>;
  /** How many there were. */
  accepted: () => number;
  /** What has come, by connection. */
  received: string[];
}

/** Calls `answer` for every piece that comes; `count` is of the pieces of all connections. */
async function rawBackend(answer: (socket: Socket, text: string, count: number) => void): Promise<RawBackend> {
  const sockets = new Set<Socket>();
  const received: string[] = [];
  let count = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    const index = received.push('') - 1;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', (piece: Buffer) => {
      received[index] += piece.toString('latin1');
      answer(socket, piece.toString('latin1'), ++count);
    });
  });
  return { ...(await transportTo(server, sockets, {})), sockets, accepted: () => received.length, received };
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('answers', () => {
  test.each<[what: string, answer: string, body: string, headers: object]>([
    ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', 'hello', { 'content-length': '5' }],
    ['the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello', 'hello', { 'content-length': '5' }],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3;a="b"\r\nhel\r\n2 \r\nlo\r\n0\r\n\r\n', 'hello', {}],
    ['interim answers', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'ok', {}],
    ['no reason', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', '', {}],
    [
      'fields that come twice',
      'HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\nSet-Cookie: x\r\nSet-Cookie: y\r\nContent-Length: 0\r\n\r\n',
      '',
      { a: '1, 2', 'set-cookie': ['x', 'y'] },
    ],
    [
      'blanks around values, and bytes that look like blanks',
      'HTTP/1.1 200 OK\r\nA: \t \xc3\xa0 \t\r\nB:\r\nContent-Length: 0\r\n\r\n',
      '',
      { a: '\xc3\xa0', b: '' },
    ],
    ['names that objects have', 'HTTP/1.1 200 OK\r\nconstructor: 1\r\nContent-Length: 0\r\n\r\n', '', { constructor: '1' }],
  ])('with %s are read, at once and byte by byte, and the connection is kept', async (_what, answer, body, headers) => {
    const { transport, port, accepted } = await rawBackend((socket, _text, count) => {
      if (count === 1) socket.write(latin1(answer));
      else for (const byte of latin1(answer)) socket.write(Buffer.from([byte]));
    });
    for (let count = 0; count < 2; count++) {
      const got = await exchangeWith(transport, port);
      expect([got.status, got.body]).toEqual([200, body]);
      expect(got.headers).toMatchObject(headers);
    }
    expect(accepted()).toBe(1);
  });

  test('trailers are read', async () => {
    const { transport, port } = await rawBackend((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nTrailer: x-sum\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 7\r\nX-B: 8\r\n\r\n'),
    );
    expect(await exchangeWith(transport, port)).toMatchObject({ body: 'a', trailers: { 'x-sum': '7', 'x-b': '8' } });
  });

  test('HEAD, 204 and 304 have no body, whatever they say of it', async () => {
    const { transport, port, accepted } = await rawBackend((socket, text) => {
      const status = text.startsWith('HEAD') ? '200' : text.slice(5, 8);
      socket.write(`HTTP/1.1 ${status} X\r\nContent-Length: 100\r\n\r\n`);
    });
    expect(await exchangeWith(transport, port, { method: 'HEAD' })).toMatchObject({ status: 200, body: '', headers: { 'content-length': '100' } });
    expect(await exchangeWith(transport, port, { path: '/204' })).toMatchObject({ status: 204, body: '' });
    expect(await exchangeWith(transport, port, { path: '/304' })).toMatchObject({ status: 304, body: '' });
    expect(accepted()).toBe(1);
  });

  test.each(['HTTP/1.0 200 OK\r\n\r\nall of it', 'HTTP/1.1 200 OK\r\n\r\nall of it'])('without a length end with the connection: %j', async (answer) => {
    const { transport, port, accepted } = await rawBackend((socket) => socket.end(answer));
    for (let count = 0; count < 2; count++) expect((await exchangeWith(transport, port)).body).toBe('all of it');
    expect(accepted()).toBe(2);
  });

  test.each(['HTTP/1.1 200 OK\r\nConnection: keep-alive, Close\r\nContent-Length: 2\r\n\r\nok', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'])(
    'after which a connection is not kept: %j',
    async (answer) => {
      const { transport, port, accepted, sockets } = await rawBackend((socket) => socket.write(answer));
      for (let count = 0; count < 2; count++) expect((await exchangeWith(transport, port)).body).toBe('ok');
      expect(accepted()).toBe(2);
      await vi.waitFor(() => expect(sockets.size).toBe(0));
    },
  );

  test('something behind an answer is nobody’s: the connection is not used again', async () => {
    const { transport, port, sockets } = await rawBackend((socket) => socket.write(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`));
    for (let count = 0; count < 3; count++) expect((await exchangeWith(transport, port)).body).toBe('ok');
    await vi.waitFor(() => expect(sockets.size).toBe(0));
  });

  test('something that comes while nothing is asked for ends the connection', async () => {
    const { transport, port, sockets } = await rawBackend((socket) => socket.write(OK));
    await exchangeWith(transport, port);
    for (const socket of sockets) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
    await vi.waitFor(() => expect(sockets.size).toBe(0));
    expect((await exchangeWith(transport, port)).body).toBe('ok');
  });
});

const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const BROKEN = 'net/http: HTTP/1.x transport connection broken: ';

const MALFORMED: readonly [answer: string, said: string][] = [
  ['garbage\r\n\r\n', `${BROKEN}malformed HTTP response "garbage"`],
  ['SSH-2.0-x\r\n', `${BROKEN}malformed HTTP response "SSH-2.0-x"`],
  ['HTTP/2 200 OK\r\n\r\n', 'malformed HTTP response "HTTP/2 200 OK"'],
  ['HTTP/1.1 20 OK\r\n\r\n', 'malformed HTTP response'],
  ['HTTP/1.1  200 OK\r\n\r\n', 'malformed HTTP response'],
  ['HTTP/1.1 200 O\x00K\r\n\r\n', 'malformed HTTP response'],
  ['HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\n', 'malformed HTTP response'],
  [`${HEAD}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`, 'http: message cannot contain multiple Content-Length headers; got ["5" "6"]'],
  [`${HEAD}Content-Length: 5, 5\r\n\r\nhello`, 'bad Content-Length "5, 5"'],
  [`${HEAD}Content-Length: +5\r\n\r\nhello`, 'bad Content-Length'],
  [`${HEAD}Content-Length: -1\r\n\r\n`, 'bad Content-Length'],
  [`${HEAD}Content-Length: 0x5\r\n\r\nhello`, 'bad Content-Length'],
  [`${HEAD}Content-Length:\r\n\r\n`, 'bad Content-Length'],
  [`${HEAD}Content-Length: 99999999999999999999\r\n\r\n`, 'bad Content-Length'],
  [`${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 'unsupported transfer encoding: "chunked"'],
  [`${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 'unsupported transfer encoding: "gzip, chunked"'],
  [`${HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 'unsupported transfer encoding'],
  [`${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 'unsupported transfer encoding'],
  ['HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 'unsupported transfer encoding'],
  [`${HEAD}A: b\r\n folded: c\r\n\r\n`, 'malformed MIME header line: " folded: c"'],
  [`${HEAD}A : b\r\n\r\n`, 'malformed MIME header line'],
  [`${HEAD}nothing\r\n\r\n`, 'malformed MIME header line'],
  [`${HEAD}: b\r\n\r\n`, 'malformed MIME header line'],
  [`${HEAD}A: b\x00c\r\n\r\n`, 'malformed MIME header line'],
  [`${HEAD}A: b\rContent-Length: 5\r\n\r\n`, 'malformed MIME header line'],
  [`${HEAD}A: b\nContent-Length: 5\r\n\r\n`, 'malformed MIME header line'],
  [`${CHUNKED}zz\r\n`, 'invalid chunk size line'],
  [`${CHUNKED}-1\r\n`, 'invalid chunk size line'],
  [`${CHUNKED}\r\n`, 'invalid chunk size line'],
  [`${CHUNKED}fffffffffffffffff\r\n`, 'invalid chunk size line'],
  [`${CHUNKED}1;a\x00\r\n`, 'invalid chunk size line'],
  [`${CHUNKED}1\nx\r\n0\r\n\r\n`, 'malformed chunked encoding'],
  [`${CHUNKED}1\r\nxy\r\n0\r\n\r\n`, 'malformed chunked encoding'],
  [`${CHUNKED}1;${'a'.repeat(5000)}\r\n`, 'header line too long'],
  [CHUNKED + `1;${'a'.repeat(3000)}\r\nx\r\n`.repeat(10), 'chunked encoding contains too much non-data'],
  [`${CHUNKED}0\r\nbad trailer\r\n\r\n`, 'malformed MIME header line'],
  [`${CHUNKED}0\r\nA: ${'b'.repeat(20_000)}`, 'header line too long'],
  [`${HEAD}A: ${'b'.repeat(1 << 20)}`, 'net/http: server response headers exceeded 1048576 bytes; aborted'],
  ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(6), 'net/http: too many 1xx informational responses'],
  ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n', 'backend tried to switch protocol "x" when "" was requested'],
];

test.each(MALFORMED.map(([answer, said]) => [answer.slice(0, 80), answer, said] as const))(
  'a backend that answers %j is told apart, and dropped',
  async (_shown, answer, said) => {
    const { transport, port, sockets } = await rawBackend((socket) => socket.write(latin1(answer)));
    expect(await failureOf(transport, port)).toContain(said);
    await vi.waitFor(() => expect(sockets.size).toBe(0));
  },
);

test.each(['HTTP/1.1 200', `${HEAD}A: b`, `${HEAD}Content-Length: 5\r\n\r\nhell`, 'HTTP/1.1 100 Continue\r\n\r\n'])(
  'a backend that ends in the middle of %j has not answered',
  async (answer) => {
    const { transport, port } = await rawBackend((socket) => socket.end(answer));
    expect(await failureOf(transport, port)).toBe('unexpected EOF');
  },
);

test.each([`${CHUNKED}5\r\nhello\r\n`, `${CHUNKED}5\r\nhel`, `${HEAD}Content-Length: 100000\r\n\r\nhello`])(
  'a body that ends in the middle of %j closes without an end',
  async (answer) => {
    const { transport, port } = await rawBackend((socket) => {
      socket.write(answer);
      setImmediate(() => socket.end());
    });
    expect(await failureOf(transport, port)).toMatch(/^unexpected EOF$|[Pp]remature|aborted/);
  },
);

describe('requests', () => {
  test('are written as they are', async () => {
    const { transport, port, received } = await rawBackend((socket) => socket.write(OK));
    const headers = { accept: 'a', 'x-list': ['1', '2'], 'x-number': 3, 'x-none': undefined, 'content-length': '7' };
    await exchangeWith(transport, port, { path: '/a%20b?c', headers });
    expect(received).toEqual([`GET /a%20b?c HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: a\r\nx-list: 1\r\nx-list: 2\r\nx-number: 3\r\n\r\n`]);
    await exchangeWith(transport, port, { method: 'POST' });
    expect(received[0]).toMatch(/POST \/ HTTP\/1.1\r\nhost: [^\r]*\r\ncontent-length: 0\r\n\r\n$/);
  });

  test.each([
    { headers: { 'x-a': 'b\r\nx-evil: 1' } },
    { headers: { 'x-a': 'b\nc' } },
    { headers: { 'x-a': 'b\0' } },
    { headers: { 'x-a': '\u{1f600}' } },
    { headers: { 'x-a: b\r\nx-evil': '1' } },
    { path: '/ HTTP/1.1\r\nx-evil: 1' },
    { path: '' },
    { method: 'GET / HTTP/1.1\r\nx-evil: 1\r\n\r\nGET' },
  ])('that would be another than they seem are not sent: %j', async (sent) => {
    const { transport, port, received } = await rawBackend((socket) => socket.write(OK));
    expect(await failureOf(transport, port, sent)).toMatch(/invalid/);
    expect(received.join('')).toBe('');
    expect((await exchangeWith(transport, port)).body).toBe('ok');
  });

  test('bodies go in chunks, or in the length that was said', async () => {
    const { transport, port, received, accepted } = await rawBackend((socket, text) => {
      if (/0\r\n\r\n$|abcd$/.test(text)) socket.write(OK);
    });
    await exchangeWith(transport, port, { method: 'POST', body: Readable.from([Buffer.from('hello')]) });
    expect(received[0]).toMatch(/\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/);
    await exchangeWith(transport, port, { method: 'POST', headers: { 'content-length': '4' }, body: Readable.from([Buffer.from('ab'), Buffer.from('cd')]) });
    expect(received[0]).toMatch(/\r\ncontent-length: 4\r\n\r\nabcd$/);
    expect(accepted()).toBe(1);
  });

  test.each(['3', '5'])('a body of 4 bytes that says %s is cut off with its connection', async (length) => {
    const { transport, port, sockets, received } = await rawBackend(() => {});
    const body = Readable.from([Buffer.from('ab'), Buffer.from('cd')]);
    expect(await failureOf(transport, port, { method: 'POST', headers: { 'content-length': length }, body })).toBe('context canceled');
    await vi.waitFor(() => expect(sockets.size).toBe(0));
    expect(received.join('')).not.toContain('abcd\r');
    expect(received.join('').split('\r\n\r\n')[1]!.length).toBeLessThanOrEqual(Number(length));
  });

  test('an answer before the body is over is one; the connection is not used again', async () => {
    const { transport, port, sockets } = await rawBackend((socket, _text, count) => count === 1 && socket.write(OK));
    const body = new Readable({ read() {} });
    body.push('begun');
    expect((await exchangeWith(transport, port, { method: 'POST', body })).body).toBe('ok');
    await vi.waitFor(() => expect(sockets.size).toBe(0));
    expect(body.listenerCount('data')).toBe(0);
  });

  test('a client that breaks off takes its request along', async () => {
    const body = new Readable({ read() {} });
    const { transport, port, sockets } = await rawBackend(() => body.destroy());
    body.push('begun');
    expect(await failureOf(transport, port, { method: 'POST', body })).toBe('context canceled');
    await vi.waitFor(() => expect(sockets.size).toBe(0));
  });
});

describe('connections', () => {
  test('a kept one that has ended is replaced; a new one that ends is not', async () => {
    const { transport, port, accepted } = await rawBackend((socket, _text, count) => void (count === 2 ? socket.destroy() : socket.write(OK)));
    for (let count = 0; count < 2; count++) expect((await exchangeWith(transport, port)).body).toBe('ok');
    expect(accepted()).toBe(2);
    const dead = await rawBackend((socket) => socket.destroy());
    expect(await failureOf(dead.transport, dead.port)).toBe('EOF');
    expect(dead.accepted()).toBe(1);
  });

  test('a reader that does not read stops the backend', async () => {
    let writtenBytes = 0;
    const { transport, port } = await rawBackend((socket) => {
      socket.write(HEAD + '\r\n');
      const write = (): void => {
        for (let hasRoom = true; hasRoom && writtenBytes < 64 << 20; writtenBytes += 64 * 1024) hasRoom = socket.write(Buffer.alloc(64 * 1024));
        if (writtenBytes < 64 << 20) socket.once('drain', write);
        else socket.end();
      };
      write();
    });
    const { body } = await transport.send({ host: '127.0.0.1', port, method: 'GET', path: '/', headers: {} }).response;
    const before = await vi.waitUntil(() => {
      const seen = writtenBytes;
      return new Promise<number>((resolve) => setImmediate(() => setImmediate(() => resolve(seen === writtenBytes && seen > 0 ? seen : 0))));
    });
    expect(before).toBeLessThan(32 << 20);
    let sizeBytes = 0;
    for await (const piece of body as AsyncIterable<Buffer>) sizeBytes += piece.length;
    expect(sizeBytes).toBe(64 << 20);
  });

  test('a request that is cancelled ends its connection, before the answer and within it', async () => {
    for (const answer of ['', CHUNKED]) {
      const { transport, port, sockets } = await rawBackend((socket) => socket.write(answer));
      const call = transport.send({ host: '127.0.0.1', port, method: 'GET', path: '/', headers: {} });
      if (answer === '') {
        await vi.waitFor(() => expect(sockets.size).toBe(1));
        call.cancel();
        await expect(call.response).rejects.toThrow('context canceled');
      } else {
        const { body } = await call.response;
        const closed = new Promise((resolve) => (body as Readable).once('close', resolve));
        call.cancel();
        await closed;
      }
      await vi.waitFor(() => expect(sockets.size).toBe(0));
    }
  });
});
