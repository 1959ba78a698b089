import { METHODS } from 'node:http';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import type { MonotonicClock } from '../util/clock.ts';
import { StillClock, TestClock } from '../util/test-clock.ts';
import { Random } from '../util/test-random.ts';
import { Connection } from './connection.ts';
import type { Exchange } from './exchange.ts';
import { createHttp1 } from './http1.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { UnsentAnswers } from './unsent-answers.ts';

/* Fuzz: what a seed decides is sent to connections on sockets of memory. */

class MemorySocket extends Duplex {
  sent = '';
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.sent += chunk.toString('latin1', 0, 200);
    if (chunk.length < 1000) done();
    else setImmediate(done);
  }
  destroySoon(): void {
    this.end(() => this.destroy());
  }
}

const LIMITS = { ...DEFAULT_LIMITS, headerBytes: 4096, headerCount: 20, streamWindowBytes: 1000 };

class Served {
  readonly socket = new MemorySocket();
  readonly unsent = new UnsentAnswers(LIMITS, new TestClock());
  readonly exchanges: Exchange[] = [];
  /** What was asked for, and what came with it. */
  readonly seen: string[] = [];
  problems = 0;

  constructor(clock: MonotonicClock, handle: (exchange: Exchange, seen: string[]) => void) {
    this.socket.on('error', () => {});
    const http1 = createHttp1({
      limits: LIMITS,
      clock,
      unsent: this.unsent,
      onExchange: (exchange) => {
        this.exchanges.push(exchange);
        handle(exchange, this.seen);
      },
      onProblem: () => this.problems++,
    });
    http1.serve(new Connection(this.socket as Duplex as TLSSocket, []));
  }

  get openExchanges(): number {
    return this.exchanges.filter(({ isClosed }) => !isClosed).length;
  }
}

/** Reads what there is, and answers. */
function takeDown(exchange: Exchange, seen: string[]): void {
  const { method, target, headers } = exchange;
  const asked = `${method} ${target} ${JSON.stringify(headers)}`;
  exchange.readBody(100_000).then(
    (body) => {
      seen.push(`${asked} ${body.toString('latin1')}`);
      exchange.respond(200, {}, 'ok');
    },
    () => seen.push(asked),
  );
}

/** Answers in one of the ways in which handlers do. */
function answerSomehow(exchange: Exchange, random: Random): void {
  const answer = (body?: Buffer | string): void => exchange.respond(random.pick([200, 204, 404]), {}, body);
  const stream = (): void => {
    const open = exchange.startStream(200, random.chance(0.5) ? { trailer: 'X-T' } : {});
    open.write(Buffer.alloc(random.below(50_000)));
    if (random.chance(0.7)) setImmediate(() => open.end({ 'x-t': 'y' }));
    else if (random.chance(0.5)) open.destroy();
  };
  random.pick([
    () => answer('ok'),
    () => answer(),
    () => setImmediate(() => answer(Buffer.alloc(random.below(300_000)))),
    () => void exchange.readBody(random.pick([0, 10, 100_000])).then(answer, () => answer('no')),
    () => void (exchange.openBody()?.resume().on('end', answer) ?? answer()),
    () => void exchange.openBody()?.once('data', () => answer('early')),
    () => exchange.upgrade()?.socket.resume().end('taken'),
    stream,
    stream,
    () => {},
  ])();
}

const chunked = (random: Random, body: string): string => {
  let text = '';
  for (let at = 0; at < body.length;) {
    const size = 1 + random.below(body.length - at);
    text += `${size.toString(16)}${random.chance(0.2) ? ';x=y' : ''}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  return `${text}0\r\n${random.chance(0.2) ? 'X-T: z\r\n' : ''}\r\n`;
};

function someRequest(random: Random): string {
  const lines = [`${random.pick(['GET', 'POST', 'PUT', 'DELETE'])} /${random.below(100)} HTTP/1.${random.chance(0.9) ? 1 : 0}`, 'Host: a'];
  if (random.chance(0.3)) lines.push(random.pick(['Accept: a\r\nAccept: b', 'X-Y: z', 'Cookie: a', 'Expect: 100-continue', '__proto__: x']));
  if (random.chance(0.1)) lines.push(random.pick(['Connection: close', 'Connection: keep-alive', 'Connection: Upgrade\r\nUpgrade: x', 'Expect: more']));
  const body = 'abc\r\nGET / HTTP/1.1\r\n\r\n'.repeat(random.below(3)) + 'x'.repeat(random.below(20));
  const way = random.below(3);
  if (way === 1) lines.push(`Content-Length: ${body.length}`);
  if (way === 2) lines.push('Transfer-Encoding: chunked');
  return `${lines.join('\r\n')}\r\n\r\n${way === 1 ? body : way === 2 ? chunked(random, body) : ''}`;
}

const ODD = ['\r', '\n', '\r\n', '\0', ' ', ':', '\t', ',', ';', 'chunked', 'Content-Length: 3\r\n', 'Transfer-Encoding: chunked\r\n', '\xff', '0\r\n\r\n'];

function someBytes(random: Random): Buffer {
  let text = Array.from({ length: 1 + random.below(5) }, () => someRequest(random)).join('');
  for (let count = random.chance(0.6) ? 1 + random.below(3) : 0; count > 0; count--) {
    const at = random.below(text.length);
    text = `${text.slice(0, at)}${random.pick(ODD)}${text.slice(at + random.below(4))}`;
  }
  return Buffer.from(text, 'latin1');
}

function pushInPieces(socket: MemorySocket, bytes: Buffer, random: Random): void {
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + 1 + random.below(random.chance(0.5) ? 5 : 200));
    socket.push(Buffer.from(bytes.subarray(at, end)));
    at = end;
  }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

test('20,000 sequences of requests, most of them with something changed, leave nothing behind', { timeout: 120_000 }, async () => {
  const random = new Random(9112);
  const clock = new StillClock();
  let [asked, refused] = [0, 0];
  for (let batch = 0; batch < 200; batch++) {
    const all = Array.from({ length: 100 }, () => new Served(clock, (exchange) => answerSomehow(exchange, random)));
    for (const { socket } of all) {
      pushInPieces(socket, someBytes(random), random);
      if (random.chance(0.3)) socket.push(null);
    }
    await turns(8);
    for (const { socket } of all) socket.destroy();
    await turns(1);
    for (const { exchanges, problems } of all) [asked, refused] = [asked + exchanges.length, refused + problems];
    expect([all.reduce((sum, { openExchanges, unsent }) => sum + openExchanges + unsent.size, 0), clock.openTimers]).toEqual([0, 0]);
  }
  expect(asked).toBeGreaterThan(15_000);
  expect(refused).toBeGreaterThan(2_000);
});

/** A method that llhttp does not know is taken only where it begins a piece. */
const hasUnknownMethod = ({ seen }: Served): boolean => seen.some((asked) => !METHODS.includes(asked.slice(0, asked.indexOf(' '))));

test('in however many pieces it comes, it is the same', { timeout: 120_000 }, async () => {
  const random = new Random(2616);
  const clock = new StillClock();
  for (let batch = 0; batch < 40; batch++) {
    const cases = Array.from({ length: 50 }, () => {
      const bytes = someBytes(random);
      const [whole, inPieces] = [new Served(clock, takeDown), new Served(clock, takeDown)];
      whole.socket.push(bytes);
      pushInPieces(inPieces.socket, bytes, random);
      return { bytes, whole, inPieces };
    });
    await turns(30);
    for (const { bytes, whole, inPieces } of cases) {
      if (hasUnknownMethod(whole) || hasUnknownMethod(inPieces)) continue;
      const [one, other] = [whole, inPieces].map(({ seen, problems, socket }) => ({ seen, problems, statuses: socket.sent.match(/HTTP\/1\.1 \d+/g) }));
      expect({ bytes: bytes.toString('latin1'), ...other }).toEqual({ bytes: bytes.toString('latin1'), ...one });
      whole.socket.destroy();
      inPieces.socket.destroy();
    }
  }
});
