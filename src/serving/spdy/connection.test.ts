import { setImmediate } from 'node:timers/promises';
import { buffer, text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { socketPair } from '../test-sockets.ts';
import { SpdyConnection, type SpdyOptions } from './connection.ts';
import { HEADER_DICTIONARY, HEADER_DICTIONARY_ID } from './dictionary.ts';
import { controlFrame, CONTROL } from './frames.ts';
import { SpdyHeaderReader, HeaderWriter, type SpdyHeaders } from './header-block.ts';
import type { SpdyStream } from './stream.ts';

async function connections(onStream: (stream: SpdyStream) => void, options: Partial<SpdyOptions> = {}): Promise<[SpdyConnection, SpdyConnection]> {
  const [client, server] = await socketPair();
  const none = Buffer.alloc(0);
  return [new SpdyConnection(client, none, { role: 'client', ...options }), new SpdyConnection(server, none, { role: 'server', onStream })];
}

function adler32(bytes: Buffer): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return b * 65_536 + a;
}

test('the dictionary is the one that its number says', () => {
  expect(HEADER_DICTIONARY).toHaveLength(1423);
  expect(adler32(HEADER_DICTIONARY)).toBe(HEADER_DICTIONARY_ID);
});

test('header blocks come back, one after another', () => {
  const [writer, reader] = [new HeaderWriter(), new SpdyHeaderReader()];
  const all: SpdyHeaders[] = [{ streamtype: 'error' }, {}, { streamtype: 'data', port: '80', requestid: '0' }, { constructor: '1' }];
  for (const headers of all) expect({ ...reader.read(writer.write(headers)) }).toEqual(headers);
});

test("header blocks that Go's compressor wrote are read", () => {
  // Two SYN_REPLY blocks without headers, as github.com/moby/spdystream sends them.
  const reader = new SpdyHeaderReader();
  expect({ ...reader.read(Buffer.from('78bbe3c6a7c26260606000000000ffff', 'hex')) }).toEqual({});
});

test('streams carry bytes both ways and end by halves', async () => {
  const seen: string[] = [];
  const [client] = await connections((stream) => {
    seen.push(stream.headers.streamtype!);
    stream.pipe(stream);
  });
  const stream = await client.open({ streamtype: 'stdin' });
  const other = await client.open({ streamtype: 'stdout' });
  expect(seen).toEqual(['stdin', 'stdout']);
  stream.write('one ');
  stream.end('two');
  other.end();
  expect(await text(stream)).toBe('one two');
  expect(await text(other)).toBe('');
});

test('a stream that is not read stops the sender', async () => {
  let sent = 0;
  const [client] = await connections((stream) => {
    const chunk = Buffer.alloc(64 * 1024);
    const pump = (): void => {
      while (sent < 64 * 1024 * 1024) {
        sent += chunk.length;
        if (!stream.write(chunk)) return void stream.once('drain', pump);
      }
      stream.end();
    };
    pump();
  });
  const stream = await client.open({});
  let last = -1;
  // Nothing is read: the kernel's buffers fill, and then it stands still.
  for (let same = 0; same < 50; same = sent === last ? same + 1 : 0) {
    last = sent;
    await setImmediate();
  }
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  expect(await buffer(stream)).toHaveLength(64 * 1024 * 1024);
});

test('a refused stream fails, and the others go on', async () => {
  const [client] = await connections((stream) => void (stream.headers.name === 'bad' ? stream.destroy() : stream.end('hello')));
  await expect(client.open({ name: 'bad' })).rejects.toThrow('Stream reset');
  expect(await text(await client.open({ name: 'good' }))).toBe('hello');
});

test('a stream that nobody accepts fails after its time', async () => {
  const [client] = await socketPair();
  const connection = new SpdyConnection(client, Buffer.alloc(0), { role: 'client', openTimeoutMs: 5 });
  await expect(connection.open({})).rejects.toThrow('Timeout occurred');
});

test('when the connection ends, so do its streams and what was to be opened', async () => {
  const [client, server] = await connections(() => {});
  const stream = await client.open({});
  const ended = text(stream);
  const closed = new Promise<void>((resolve) => client.onClose(resolve));
  server.close();
  await closed;
  expect(await ended).toBe('');
  await expect(client.open({})).rejects.toThrow('closed');
});

test('what is no SPDY ends the connection', async () => {
  const bad = [
    Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 0]),
    controlFrame(99, 0, 1),
    controlFrame(CONTROL.SYN_REPLY, 0, 1, Buffer.from('nonsense')),
    Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff]),
    controlFrame(CONTROL.RST_STREAM, 0),
  ];
  for (const bytes of bad) {
    const [client, server] = await socketPair();
    const connection = new SpdyConnection(client, Buffer.alloc(0), { role: 'client' });
    const closed = new Promise<void>((resolve) => connection.onClose(resolve));
    server.write(bytes);
    await closed;
    server.resume();
  }
});

test('pings are sent and answered', async () => {
  const [client, server] = await socketPair();
  const connection = new SpdyConnection(client, Buffer.alloc(0), { role: 'client', pingPeriodMs: 1 });
  const seen: Buffer[] = [];
  await new Promise<void>((resolve) => {
    server.on('data', (chunk: Buffer) => {
      seen.push(chunk);
      if ([1, 2].every((id) => Buffer.concat(seen).includes(controlFrame(CONTROL.PING, 0, id)))) resolve();
    });
    server.write(controlFrame(CONTROL.PING, 0, 2));
  });
  connection.close();
});

test('made-up frames end the connection, or nothing', async () => {
  let seed = 1;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 300; round++) {
    const [client, server] = await socketPair();
    const connection = new SpdyConnection(client, Buffer.alloc(0), { role: round % 2 === 0 ? 'client' : 'server', onStream: (stream) => void stream.resume() });
    const payload = Buffer.from(Array.from({ length: random(60) }, () => random(256)));
    const closed = new Promise<void>((resolve) => connection.onClose(resolve));
    server.resume().end(Buffer.concat([controlFrame(1 + random(9), random(4), random(8), payload), payload]));
    await closed;
  }
});
