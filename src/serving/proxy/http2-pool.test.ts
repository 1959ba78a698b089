import { Readable } from 'node:stream';
import { type TLSSocket, createServer } from 'node:tls';
import { describe, expect, test, vi } from 'vitest';
import { FrameFlag, type Frame, Http2FrameReader, FrameType, PREFACE, frame, numberFrame, settingsFrame } from '../../http2/frames.ts';
import { BlockWriter, type HeaderFields, HeaderReader } from '../../http2/hpack.ts';
import { createAuthority, signCertificate } from '../certificates/create.ts';
import { exchangeWith, failureOf, transportTo } from './test-transport.ts';
import type { Transport } from './transport.ts';

/* Backends that say what no well-behaved server of HTTP/2 says: frames written by hand. */

const authority = createAuthority({ commonName: 'backend-ca' });
const { certPem: cert, keyPem: key } = signCertificate(authority, { commonName: 'x', usages: ['server'], hosts: [], ips: ['127.0.0.1'] });

interface FrameBackend {
  transport: Transport;
  port: number;
  sockets: Set<TLSSocket>;
  /** How many connections there were. */
  accepted: () => number;
  /** All frames that came. */
  frames: Frame[];
}

/** Calls `answer` for every frame; `connection` counts them from 1. */
async function frameBackend(answer: (received: Frame, socket: TLSSocket, connection: number) => void, settings = settingsFrame([])): Promise<FrameBackend> {
  const sockets = new Set<TLSSocket>();
  const frames: Frame[] = [];
  let accepted = 0;
  const server = createServer({ cert, key, ALPNProtocols: ['h2'] }, (socket) => {
    const connection = ++accepted;
    const reader = new Http2FrameReader();
    let skipped = 0;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.write(settings);
    socket.on('data', (piece: Buffer) => {
      const rest = piece.subarray(Math.min(PREFACE.length - skipped, piece.length));
      skipped += piece.length - rest.length;
      reader.add(rest);
      for (let received = reader.next(); received; received = reader.next()) {
        frames.push(received);
        answer(received, socket, connection);
      }
    });
  });
  return { ...(await transportTo(server, sockets, { tls: { caPem: authority.certPem } })), sockets, accepted: () => accepted, frames };
}

const blockOf = (fields: HeaderFields): Buffer => {
  const writer = new BlockWriter();
  for (let index = 0; index < fields.length; index += 2) writer.add(fields[index]!, fields[index + 1]!);
  return writer.take();
};
const headers = (id: number, fields: HeaderFields, isLast = false): Buffer =>
  frame(FrameType.headers, FrameFlag.endHeaders | (isLast ? FrameFlag.endStream : 0), id, blockOf(fields));
const data = (id: number, text: string | Buffer, isLast = true): Buffer => frame(FrameType.data, isLast ? FrameFlag.endStream : 0, id, Buffer.from(text));
const OK: HeaderFields = [':status', '200'];
const answerOk = (id: number): Buffer => Buffer.concat([headers(id, OK), data(id, 'ok')]);
const isRequest = ({ type }: Frame): boolean => type === FrameType.headers;
const goaway = (lastId: number): Buffer => {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(lastId);
  return frame(FrameType.goaway, 0, 0, payload);
};

describe('answers', () => {
  test('are read with interim ones before them and trailers behind, however they arrive', async () => {
    const { transport, port, accepted } = await frameBackend((received, socket) => {
      if (!isRequest(received)) return;
      const { streamId: id } = received;
      const bytes = Buffer.concat([
        headers(id, [':status', '103', 'link', 'x']),
        headers(id, [...OK, 'a', '1', 'a', '2', 'set-cookie', 'x', 'set-cookie', 'y', 'trailer', 'x-sum']),
        data(id, 'hel', false),
        data(id, '', false),
        data(id, 'lo', false),
        headers(id, ['x-sum', '7'], true),
      ]);
      if (id === 1) socket.write(bytes);
      else for (const byte of bytes) socket.write(Buffer.from([byte]));
    });
    for (let count = 0; count < 2; count++) {
      const got = await exchangeWith(transport, port);
      expect(got).toMatchObject({ status: 200, body: 'hello', trailers: { 'x-sum': '7' }, headers: { a: '1, 2', 'set-cookie': ['x', 'y'] } });
    }
    expect(accepted()).toBe(1);
  });

  test.each<[what: string, answer: (id: number) => Buffer]>([
    ['no status', (id) => headers(id, ['a', 'b'], true)],
    ['a status that is none', (id) => headers(id, [':status', 'ok'], true)],
    ['101', (id) => headers(id, [':status', '101'])],
    ['interim answers without end', (id) => Buffer.concat(Array.from({ length: 6 }, () => headers(id, [':status', '100'])))],
    ['names in upper case', (id) => headers(id, [...OK, 'X-A', 'b'], true)],
    ['names that are none', (id) => headers(id, [...OK, 'a b', 'c'], true)],
    ['an empty name', (id) => headers(id, [...OK, '', 'c'], true)],
    ['a second line in a value', (id) => headers(id, [...OK, 'a', 'b\r\nset-cookie: evil'], true)],
    ['a zero byte in a value', (id) => headers(id, [...OK, 'a', 'b\0c'], true)],
    ['fields of a connection', (id) => headers(id, [...OK, 'transfer-encoding', 'chunked'], true)],
    ['HTTP/2’s own fields behind others', (id) => headers(id, [...OK, 'a', 'b', ':status', '201'], true)],
    ['two lengths', (id) => Buffer.concat([headers(id, [...OK, 'content-length', '2', 'content-length', '3']), data(id, 'ok')])],
    ['a length that is none', (id) => Buffer.concat([headers(id, [...OK, 'content-length', '+2']), data(id, 'ok')])],
    ['more than its length', (id) => Buffer.concat([headers(id, [...OK, 'content-length', '2']), data(id, 'more')])],
    ['data before headers', (id) => data(id, 'ok')],
  ])('with %s are refused; the connection goes on', async (_what, answer) => {
    const { transport, port, accepted } = await frameBackend((received, socket) => {
      if (isRequest(received)) socket.write(received.streamId === 1 ? answer(1) : answerOk(received.streamId));
    });
    expect(await failureOf(transport, port)).toBe('stream error: stream ID 1; code PROTOCOL_ERROR');
    expect((await exchangeWith(transport, port)).body).toBe('ok');
    expect(accepted()).toBe(1);
  });

  test.each<[what: string, answer: (id: number) => Buffer]>([
    ['less than their length', (id) => Buffer.concat([headers(id, [...OK, 'content-length', '3']), data(id, 'ok')])],
    ['an end before their head', (id) => headers(id, [':status', '100'], true)],
    [
      'a reset in the body',
      (id) => Buffer.concat([headers(id, [...OK, 'content-length', '3']), data(id, 'ok', false), numberFrame(FrameType.rstStream, id, 2)]),
    ],
  ])('with %s are none', async (_what, answer) => {
    const { transport, port } = await frameBackend((received, socket) => void (isRequest(received) && socket.write(answer(received.streamId))));
    expect(await failureOf(transport, port)).toBe('unexpected EOF');
  });

  test('a body that is out already and breaks a rule closes without an end', async () => {
    let release = (): void => {};
    const wrongs: ((id: number) => Buffer)[] = [
      (id) => Buffer.concat([headers(id, ['x-sum', '7']), data(id, 'more')]),
      (id) => headers(id, [':status', '200'], true),
      (id) => numberFrame(FrameType.rstStream, id, 0),
    ];
    for (const wrong of wrongs) {
      const { transport, port } = await frameBackend((received, socket) => {
        if (!isRequest(received)) return;
        socket.write(Buffer.concat([headers(received.streamId, OK), data(received.streamId, 'begun', false)]));
        release = () => socket.write(wrong(received.streamId));
      });
      const { body } = await transport.send({ host: '127.0.0.1', port, method: 'GET', path: '/', headers: {} }).response;
      const ended = vi.fn<() => void>();
      const closed = new Promise((resolve) => (body as Readable).on('data', release).on('end', ended).on('close', resolve));
      await closed;
      expect(ended).not.toHaveBeenCalled();
    }
  });
});

/** A list whose every field is one byte on the wire. */
const BOMB = Buffer.concat([blockOf(OK), Buffer.alloc(8000, 0x80 | 61)]);

describe('connections', () => {
  test.each<[what: string, wrong: (id: number) => Buffer]>([
    ['pushes', (id) => frame(FrameType.pushPromise, FrameFlag.endHeaders, id, Buffer.concat([Buffer.from([0, 0, 0, 2]), blockOf([':method', 'GET'])]))],
    ['continues what has not begun', (id) => frame(FrameType.continuation, FrameFlag.endHeaders, id, blockOf(OK))],
    [
      'continues another stream',
      (id) => Buffer.concat([frame(FrameType.headers, 0, id, blockOf(OK)), frame(FrameType.continuation, FrameFlag.endHeaders, 0, Buffer.alloc(0))]),
    ],
    ['comes between header frames', (id) => Buffer.concat([frame(FrameType.headers, 0, id, blockOf(OK)), data(id, 'x')])],
    [
      'continues without end',
      (id) =>
        Buffer.concat([
          frame(FrameType.headers, 0, id, blockOf(OK)),
          ...Array.from({ length: 100 }, () => frame(FrameType.continuation, 0, id, Buffer.alloc(0))),
        ]),
    ],
    [
      'sends headers without end',
      (id) =>
        Buffer.concat([
          frame(FrameType.headers, 0, id, blockOf(OK)),
          ...Array.from({ length: 20 }, () => frame(FrameType.continuation, 0, id, Buffer.alloc(16_384))),
        ]),
    ],
    ['sends a list that is too long', (id) => frame(FrameType.headers, FrameFlag.endHeaders, id, BOMB)],
    ['uses a table that it was not given', (id) => frame(FrameType.headers, FrameFlag.endHeaders, id, Buffer.from([0xbe]))],
    ['makes itself a table', (id) => frame(FrameType.headers, FrameFlag.endHeaders, id, Buffer.from([0x3f, 0xe1, 0x1f]))],
    ['speaks of a stream that nobody has opened', () => data(99, 'x')],
    ['opens a stream', () => headers(2, OK)],
    ['sends data to the connection', () => data(0, 'x')],
    ['widens a window beyond all', () => numberFrame(FrameType.windowUpdate, 0, 2 ** 31 - 1)],
    ['widens a window by nothing', () => numberFrame(FrameType.windowUpdate, 0, 0)],
    ['sets a window beyond all', () => settingsFrame([[4, 2 ** 32 - 1]])],
    ['sends a frame that is too long', (id) => Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0, 0]), Buffer.from([0, 0, 0, id])])],
    ['sends half a ping', () => frame(FrameType.ping, 0, 0, Buffer.alloc(4))],
    ['sends half a reset', (id) => frame(FrameType.rstStream, 0, id, Buffer.alloc(2))],
  ])('a backend that %s is dropped, and dialled anew', async (_what, wrong) => {
    const { transport, port, sockets, accepted } = await frameBackend((received, socket, connection) => {
      if (isRequest(received)) socket.write(connection === 1 ? wrong(received.streamId) : answerOk(received.streamId));
    });
    expect(await failureOf(transport, port)).toBe('EOF');
    await vi.waitFor(() => expect(sockets.size).toBe(0));
    expect((await exchangeWith(transport, port)).body).toBe('ok');
    expect(accepted()).toBe(2);
  });

  test('a stream with more data than its window is reset, and no more', async () => {
    let sentBytes = 0;
    const { transport, port, frames, accepted } = await frameBackend((received, socket) => {
      if (!isRequest(received)) return;
      const { streamId: id } = received;
      if (id !== 1) return void socket.write(answerOk(id));
      socket.write(headers(id, OK));
      for (; sentBytes < 400 * 1024; sentBytes += 16_384) socket.write(data(id, Buffer.alloc(16_384), false));
    });
    const { body } = await transport.send({ host: '127.0.0.1', port, method: 'GET', path: '/', headers: {} }).response;
    await new Promise((resolve) => (body as Readable).once('close', resolve));
    await vi.waitFor(() => expect(frames.find(({ type }) => type === FrameType.rstStream)?.payload.readUInt32BE()).toBe(3));
    expect((await exchangeWith(transport, port)).body).toBe('ok');
    expect(accepted()).toBe(1);
  });

  test('a reader gives the window back as it reads', async () => {
    const { transport, port } = await frameBackend((received, socket) => {
      if (isRequest(received)) {
        socket.write(headers(received.streamId, OK));
        for (let count = 0; count < 16; count++) socket.write(data(received.streamId, Buffer.alloc(16_384), false));
      } else if (received.type === FrameType.windowUpdate && received.streamId > 0) socket.write(data(received.streamId, 'more'));
    });
    expect((await exchangeWith(transport, port)).body.length).toBe(16 * 16_384 + 4);
  });

  test('pings that nobody reads the answers of do not fill memory', async () => {
    const pings = Buffer.concat(Array.from({ length: 4000 }, () => frame(FrameType.ping, 0, 0, Buffer.alloc(8))));
    const { transport, port, sockets } = await frameBackend((received, socket) => {
      if (!isRequest(received)) return;
      socket.pause();
      const flood = (): void => {
        while (!socket.destroyed && socket.write(pings));
        if (!socket.destroyed) socket.once('drain', flood);
      };
      flood();
    });
    expect(await failureOf(transport, port)).toBe('EOF');
    for (const socket of sockets) socket.destroy();
  });

  test('a reset is told by its code; a refused stream is tried again', async () => {
    const codes = [2, 7, 99];
    const { transport, port } = await frameBackend((received, socket) => {
      if (!isRequest(received)) return;
      const code = codes.shift();
      socket.write(code === undefined ? answerOk(received.streamId) : numberFrame(FrameType.rstStream, received.streamId, code));
    });
    expect(await failureOf(transport, port)).toBe('stream error: stream ID 1; code INTERNAL_ERROR');
    expect(await failureOf(transport, port)).toBe('stream error: stream ID 1; code unknown error code 0x63');
    expect(await failureOf(transport, port)).toBe('ok: 200 ok');
  });

  test('a GOAWAY lets what was seen end, and what was not go elsewhere', async () => {
    const { transport, port, accepted, sockets } = await frameBackend((received, socket, connection) => {
      if (!isRequest(received)) return;
      if (connection > 1) return void socket.write(answerOk(received.streamId));
      if (received.streamId === 3) socket.write(Buffer.concat([goaway(1), answerOk(1)]));
    });
    const answers = await Promise.all([exchangeWith(transport, port), exchangeWith(transport, port)]);
    expect(answers.map(({ body }) => body)).toEqual(['ok', 'ok']);
    expect(accepted()).toBe(2);
    await vi.waitFor(() => expect(sockets.size).toBe(1));
  });

  test('a connection that ends under a request is replaced if it was used before, and not otherwise', async () => {
    const { transport, port, accepted } = await frameBackend((received, socket, connection) => {
      if (!isRequest(received)) return;
      if (connection === 1 && received.streamId === 3) socket.destroy();
      else socket.write(answerOk(received.streamId));
    });
    for (let count = 0; count < 2; count++) expect((await exchangeWith(transport, port)).body).toBe('ok');
    expect(accepted()).toBe(2);
    const dead = await frameBackend((received, socket) => void (isRequest(received) && socket.destroy()));
    expect(await failureOf(dead.transport, dead.port)).toBe('EOF');
    expect(dead.accepted()).toBe(1);
  });

  test('a backend that takes no streams is not dialled again and again', async () => {
    const { transport, port, accepted, sockets } = await frameBackend(() => {}, settingsFrame([[3, 0]]));
    expect(await failureOf(transport, port)).toBe('EOF');
    expect(accepted()).toBe(1);
    await vi.waitFor(() => expect(sockets.size).toBe(0));
  });
});

describe('requests', () => {
  test('carry their fields, in as many frames as they need', async () => {
    const long = 'x'.repeat(40_000);
    const { transport, port, frames } = await frameBackend((received, socket) => {
      if (received.flags & FrameFlag.endHeaders && received.type !== FrameType.settings) socket.write(answerOk(received.streamId));
    });
    await exchangeWith(transport, port, { path: '/a?b', headers: { 'x-list': ['1', '2'], 'X-Case': 'y', long, 'content-length': '5', host: 'z' } });
    const block = Buffer.concat(frames.filter(({ type }) => type === FrameType.headers || type === FrameType.continuation).map(({ payload }) => payload));
    expect(new HeaderReader({ tableBytes: 0, listBytes: 65_536, fieldCount: 100 }).read(block)).toEqual(
      [
        [':method', 'GET'],
        [':scheme', 'https'],
        [':authority', `127.0.0.1:${port}`],
        [':path', '/a?b'],
        ['x-list', '1'],
        ['x-list', '2'],
        ['x-case', 'y'],
        ['long', long],
      ].flat(),
    );
  });

  test.each([{ headers: { 'x-a': 'b\r\nx-evil: 1' } }, { headers: { 'a b': '1' } }, { path: '/ x' }, { method: 'G T' }])(
    'that would be another than they seem are not sent: %j',
    async (sent) => {
      const { transport, port, frames } = await frameBackend((received, socket) => void (isRequest(received) && socket.write(answerOk(received.streamId))));
      expect(await failureOf(transport, port, sent)).toMatch(/invalid/);
      expect(frames.filter(isRequest)).toEqual([]);
      expect((await exchangeWith(transport, port)).body).toBe('ok');
    },
  );

  test('bodies keep to the windows of stream and connection, also when those shrink', async () => {
    let receivedBytes = 0;
    const { transport, port } = await frameBackend((received, socket) => {
      if (isRequest(received)) socket.write(settingsFrame([[4, 1000]]));
      if (received.type !== FrameType.data) return;
      receivedBytes += received.payload.length;
      if (received.flags & FrameFlag.endStream) return void socket.write(answerOk(received.streamId));
      socket.write(numberFrame(FrameType.windowUpdate, received.streamId, Math.max(received.payload.length, 1)));
      socket.write(numberFrame(FrameType.windowUpdate, 0, Math.max(received.payload.length, 1)));
    });
    const body = Readable.from([Buffer.alloc(100_000), Buffer.alloc(50_000)]);
    expect((await exchangeWith(transport, port, { method: 'POST', body })).body).toBe('ok');
    expect(receivedBytes).toBe(150_000);
  });

  test('a backend that opens no window holds the client, not our memory', async () => {
    let readBytes = 0;
    const { transport, port } = await frameBackend(() => {}, settingsFrame([[4, 0]]));
    const body = new Readable({
      read() {
        readBytes += 16_384;
        setImmediate(() => this.push(Buffer.alloc(16_384)));
      },
    });
    const call = transport.send({ host: '127.0.0.1', port, method: 'POST', path: '/', headers: {}, body });
    await vi.waitFor(() => expect(body.isPaused()).toBe(true));
    expect(readBytes).toBeLessThan(1 << 20);
    call.cancel();
    await expect(call.response).rejects.toThrow('context canceled');
    body.destroy();
  });

  test('an answer before the body is over is one, and the rest is not sent', async () => {
    const { transport, port, frames } = await frameBackend((received, socket) => void (isRequest(received) && socket.write(answerOk(received.streamId))));
    const body = new Readable({ read() {} });
    body.push('begun');
    expect((await exchangeWith(transport, port, { method: 'POST', body })).body).toBe('ok');
    await vi.waitFor(() => expect(frames.find(({ type }) => type === FrameType.rstStream)?.payload.readUInt32BE()).toBe(8));
    expect(body.listenerCount('data')).toBe(0);
  });
});
