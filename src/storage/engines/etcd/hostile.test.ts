import { once } from 'node:events';
import { type ServerHttp2Session, type ServerHttp2Stream, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { framed } from '../../../grpc/message-assembler.ts';
import { GrpcError } from '../../../grpc/status.ts';
import { ProtobufWriter, WIRE_BYTES, WIRE_VARINT, tagOf } from '../../../encoding/protobuf-wire.ts';
import { ApiError } from '../../../api/errors.ts';
import { Random } from '../../../util/test-random.ts';
import { type EtcdEngine, openEtcdEngine } from './engine.ts';
import { RANGE, STATUS, TXN, WATCH, decodeLease, decodeRange, decodeStatus, decodeTxn, decodeWatch } from './messages.ts';

/* A member that answers nonsense, lies or never ends: every call fails in bounded time, as the server's own fault, and nothing wrong is believed. */

type Field = [number: number, value: number | bigint | Buffer];

/** A message of the fields given. */
function message(...fields: Field[]): Buffer {
  const writer = new ProtobufWriter();
  for (const [number, value] of fields.toReversed()) {
    if (Buffer.isBuffer(value)) writer.bytes(value);
    else writer.int64(value);
    writer.varint(tagOf(number, Buffer.isBuffer(value) ? WIRE_BYTES : WIRE_VARINT));
  }
  return writer.finish();
}
const header = (revision: number | bigint): Field => [1, message([3, revision])];
const item = (key: string, revision: number | bigint, value = 'v'): Buffer => message([1, Buffer.from(key)], [3, revision], [4, 1], [5, Buffer.from(value)]);
const STATUS_ANSWER = message([2, Buffer.from('3.6.0')], [3, 1000]);

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type Answers = Partial<Record<string, (stream: ServerHttp2Stream, call: number) => void>>;

/** Answers each call as told; status is answered as a good member does. */
async function hostile(answers: Answers): Promise<{ engine: EtcdEngine; calls: string[] }> {
  const calls: string[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => sessions.add(session.on('error', () => {})));
  server.on('stream', (stream, headers) => {
    const path = headers[':path']!;
    calls.push(path);
    stream.on('error', () => {}).resume();
    const answer = answers[path];
    if (answer) answer(stream, calls.filter((called) => called === path).length);
    else if (path === STATUS) finish(stream, STATUS_ANSWER);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closers.push(async () => {
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const engine = await openEtcdEngine({ endpoints: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`] });
  closers.push(() => engine.close());
  return { engine, calls };
}

function begin(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
}
function finish(stream: ServerHttp2Stream, ...messages: Buffer[]): void {
  begin(stream);
  stream.end(Buffer.concat(messages.map(framed)));
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: unknown) => (error instanceof ApiError ? error.status.code : (error as Error).message),
  );

describe('messages', () => {
  const decoders = { decodeRange, decodeTxn, decodeLease, decodeStatus, decodeWatch };
  const seeds = [
    message(header(7), [2, item('/a', 5)], [2, item('/b', 6)], [4, 2n]),
    message(header(7), [2, 1], [3, message([1, message([2, item('/a', 5)])])]),
    message(header(7), [3, 0], [11, message([1, 0], [2, item('/a', 7)], [3, item('/a', 5)])]),
    STATUS_ANSWER,
  ];

  test('20,000 that were changed are read or refused as the member’s fault; revisions are whole, positive and not from the future', () => {
    const random = new Random(20_261_116);
    for (let round = 0; round < 20_000; round++) {
      const bytes = Buffer.from(random.pick(seeds));
      for (let count = 1 + random.below(3); count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
      const cut = random.chance(0.3) ? bytes.subarray(0, random.below(bytes.length)) : bytes;
      for (const [name, decode] of Object.entries(decoders)) {
        try {
          const answer = decode(cut) as { revision?: number; items?: { revision: number }[]; events?: { revision: number }[]; count?: number };
          const all = [...(answer.items ?? []), ...(name === 'decodeWatch' && (answer as { isCreated?: boolean }).isCreated ? [] : (answer.events ?? []))];
          if (name === 'decodeWatch' && (answer as { isCanceled?: boolean }).isCanceled) continue;
          if (!all.every(({ revision }) => Number.isSafeInteger(revision) && revision > 0 && revision <= answer.revision!)) throw new TypeError('believed');
        } catch (error) {
          if (!(error instanceof GrpcError)) throw new Error(`round ${round}`, { cause: error });
        }
      }
    }
  });

  test.each<[string, Buffer]>([
    ['a revision of 0', message(header(0), [2, item('/a', 1)])],
    ['a negative revision', message(header(-5), [2, item('/a', 1)])],
    ['a revision beyond all numbers', message(header(2n ** 63n - 1n))],
    ['a key from the future', message(header(5), [2, item('/a', 6)])],
    ['a key of no revision', message(header(5), [2, item('/a', 0)])],
    ['no header', message([2, item('/a', 1)])],
    ['a length beyond the end', Buffer.from([0x12, 0xff, 0xff, 0xff, 0x7f])],
    ['a varint without an end', Buffer.alloc(20, 0xff)],
  ])('%s is refused', (_, bytes) => {
    expect(() => decodeRange(bytes)).toThrow('etcd answered with a malformed message');
  });
});

describe('calls', () => {
  test('what is no message, no answer, two bytes of one, an HTTP error or a compressed one is a 500', async () => {
    const nonsense: ((stream: ServerHttp2Stream) => void)[] = [
      (stream) => finish(stream, Buffer.from('nonsense')),
      (stream) => finish(stream),
      (stream) => {
        begin(stream);
        stream.end(Buffer.from([0, 0]));
      },
      (stream) => {
        begin(stream);
        stream.end(Buffer.from([1, 0, 0, 0, 0]));
      },
      (stream) => {
        stream.respond({ ':status': 418 });
        stream.end('teapot');
      },
      (stream) => {
        begin(stream);
        stream.end(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]));
      },
    ];
    const { engine } = await hostile({
      [RANGE]: (stream, call) => nonsense[(call - 1) % nonsense.length]!(stream),
      [TXN]: (stream) => finish(stream, Buffer.from('?')),
    });
    for (let index = 0; index < nonsense.length; index++) expect(await codeOf(engine.get('/a'))).toBe(500);
    expect(await codeOf(engine.commit({ type: 'put', key: '/a', value: Buffer.from('x'), expected: 0 }))).toBe(500);
  });

  test.each<[string, (call: number) => Buffer]>([
    ['promises more keys and sends none', () => message(header(9), [4, 1_000_000])],
    ['sends the same page for ever', () => message(header(9), [2, item('/k/a', 1)], [4, 1_000_000])],
    ['sends pages that go back', (call) => message(header(9), [2, item(call === 1 ? '/k/m' : '/k/b', 1)], [4, 1_000_000])],
  ])('a range of a member that %s ends', async (_, answer) => {
    const { engine, calls } = await hostile({ [RANGE]: (stream, call) => finish(stream, answer(call)) });
    expect(await codeOf(engine.range('/k/'))).toBe(500);
    expect(calls.filter((path) => path === RANGE).length).toBeLessThan(4);
  });

  test('a count below nothing is refused', async () => {
    const { engine } = await hostile({ [RANGE]: (stream) => finish(stream, message(header(9), [2, item('/k/a', 1)], [4, -7])) });
    expect(await codeOf(engine.range('/k/', { limit: 10 }))).toBe(500);
  });

  test('a transaction that succeeded at no revision did not', async () => {
    const { engine } = await hostile({ [TXN]: (stream) => finish(stream, message(header(0), [2, 1])) });
    expect(await codeOf(engine.commit({ type: 'put', key: '/a', value: Buffer.from('x'), expected: 0 }))).toBe(500);
  });

  test('an answer that never ends is over with its second message, and takes no memory', async () => {
    const { engine } = await hostile({
      [RANGE]: (stream) => {
        begin(stream);
        const piece = Buffer.concat(Array.from({ length: 2000 }, () => framed(message(header(9)))));
        const pump = (): void => {
          while (!stream.destroyed && stream.write(piece));
        };
        stream.on('drain', pump);
        pump();
      },
    });
    const before = process.memoryUsage().rss;
    expect(await codeOf(engine.get('/a'))).toBe(500);
    expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(200);
  });
});

describe('watches', () => {
  test('one that is sent nonsense, or events from the future, delivers none of it and is opened again', async () => {
    const event = (revision: number): Buffer => message([1, 0], [2, item('/k/a', revision)]);
    const created = message(header(3), [3, 1]);
    const scripts: Buffer[][] = [
      [created, Buffer.from('nonsense')],
      [created, message(header(5), [11, event(9_000_000)])],
      [created, message(header(5), [11, message([1, 0])])],
      [created, message(header(4), [11, event(4)])],
    ];
    const seen: number[] = [];
    const { engine } = await hostile({
      [WATCH]: (stream, call) => {
        begin(stream);
        for (const one of scripts[call - 1] ?? [created]) stream.write(framed(one));
      },
    });
    const delivered = new Promise<void>((resolve) => {
      engine.watch('/k/', 4, (events) => {
        seen.push(...events.map(({ revision }) => revision));
        resolve();
      });
    });
    await delivered;
    expect(seen).toEqual([4]);
  });

  test('one of 3,000 fragments costs what they hold, once', async () => {
    const count = 3000;
    const { engine } = await hostile({
      [WATCH]: (stream) => {
        begin(stream);
        const event = message([1, 0], [2, item('/k/a', 5)]);
        const many = Array.from({ length: 20 }, (): Field => [11, event]);
        const fragment = framed(message(header(9), [7, 1], ...many));
        stream.write(
          Buffer.concat([framed(message(header(3), [3, 1])), ...Array.from({ length: count }, () => fragment), framed(message(header(9), ...many))]),
        );
      },
    });
    const size = await new Promise<number>((resolve) => void engine.watch('/k/', 4, (events) => resolve(events.length)));
    expect(size).toBe((count + 1) * 20);
  });
});
