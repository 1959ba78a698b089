import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import * as ws from 'ws';
import { Random } from '../../util/test-random.ts';
import { WebSocketFrameReader, OPCODE, WebSocketError } from './frames.ts';
import { clientFrame } from './test-frames.ts';

/* The same bytes to our reader of frames and to that of the `ws` package: both deliver the same messages, and refuse the same frames with the same close code. */

const ROUNDS = 5000;

/** `ws` exports it, its types do not. */
const { Receiver } = ws as unknown as { Receiver: new (options: object) => Writable & EventEmitter };

type Read = (piece: Buffer) => void;

/** What happened, in order: a message, a ping, a close, or the code with which the connection is closed. Nothing counts after the connection's end. */
class Transcript {
  readonly lines: string[] = [];
  #isOver = false;

  add(line: string, isLast = false): void {
    if (!this.#isOver) this.lines.push(line);
    this.#isOver ||= isLast;
  }
}

function ours(transcript: Transcript): Read {
  const pieces: Buffer[] = [];
  let isBroken = false;
  const reader = new WebSocketFrameReader({
    data(bytes, isStart, isEnd, isText) {
      if (isStart) pieces.length = 0;
      pieces.push(Buffer.from(bytes));
      if (isEnd) transcript.add(`${isText ? 'text' : 'binary'} ${Buffer.concat(pieces).toString('hex')}`);
    },
    control(opcode, payload) {
      if (opcode === OPCODE.CLOSE) transcript.add(closing(payload), true);
      else transcript.add(`${opcode === OPCODE.PING ? 'ping' : 'pong'} ${payload.toString('hex')}`);
    },
  });
  return (piece) => {
    if (isBroken) return;
    try {
      reader.feed(piece);
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      isBroken = true;
      transcript.add(`refused ${error.closeCode}`, true);
    }
  };
}

/** A close frame that is itself at fault ends the connection too: `ws` says so with 1002, we with 1000. */
const closing = (payload: Buffer): string => (isFaultyClose(payload) ? 'refused 1002' : 'close');

function isFaultyClose(payload: Buffer): boolean {
  if (payload.length < 2) return payload.length === 1;
  const code = payload.readUInt16BE(0);
  return !((code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999));
}

function theirs(transcript: Transcript): Read {
  const receiver = new Receiver({ isServer: true, maxPayload: 0, skipUTF8Validation: true, allowSynchronousEvents: true });
  receiver.on('message', (data: Buffer, isBinary: boolean) => transcript.add(`${isBinary ? 'binary' : 'text'} ${data.toString('hex')}`));
  receiver.on('ping', (data: Buffer) => transcript.add(`ping ${data.toString('hex')}`));
  receiver.on('pong', (data: Buffer) => transcript.add(`pong ${data.toString('hex')}`));
  receiver.on('conclude', () => transcript.add('close', true));
  receiver.on('error', (error: Error) => {
    const code = Object.getOwnPropertySymbols(error).find(({ description }) => description === 'status-code')!;
    transcript.add(`refused ${(error as unknown as Record<symbol, number>)[code]}`, true);
  });
  return (piece) => void (receiver.destroyed || receiver.writableEnded || receiver.write(piece));
}

const CONTROL = [OPCODE.PING, OPCODE.PONG, OPCODE.CLOSE];
const SIZES = [0, 1, 2, 125, 126, 127, 300, 65_535, 65_536];

/** Mostly a message in one or more frames with control frames between them; sometimes anything at all. */
function someFrames(random: Random): Buffer[] {
  const payload = (): Buffer => Buffer.alloc(random.chance(0.9) ? random.below(8) : random.pick(SIZES), random.below(256));
  const frames: Buffer[] = [];
  for (let count = 1 + random.below(4); count > 0; count--) {
    if (random.chance(0.1)) {
      frames.push(clientFrame(random.below(16), payload(), random.chance(0.5)));
      continue;
    }
    for (let part = random.below(3), isFirst = true; part >= 0; part--, isFirst = false) {
      frames.push(clientFrame(isFirst ? random.pick([OPCODE.TEXT, OPCODE.BINARY]) : OPCODE.CONTINUATION, payload(), part === 0));
      if (random.chance(0.2)) frames.push(clientFrame(random.pick(CONTROL), Buffer.alloc(random.pick([0, 1, 2, 125, 126]), random.pick([0, 3, 0x0b]))));
    }
  }
  return frames;
}

/** A changed byte, mostly of a header. */
function change(frames: Buffer[], random: Random): void {
  const frame = random.pick(frames);
  frame[random.below(Math.min(frame.length, random.chance(0.8) ? 3 : 14))] = random.below(256);
}

/** Behind it every header is whole, so that a refusal does not hang on who looks at an incomplete one first. */
const TAIL = Buffer.alloc(16);

test(`${ROUNDS} sequences of frames mean the same to us and to ws`, async () => {
  const random = new Random(13);
  const seen = { refused: 0, messages: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const frames = someFrames(random);
    if (random.chance(0.4)) change(frames, random);
    const bytes = Buffer.concat([...frames, TAIL]);
    const [a, b] = [new Transcript(), new Transcript()];
    const readers = [ours(a), theirs(b)];
    for (let at = 0; at < bytes.length;) {
      const end = at + 1 + random.below(random.chance(0.5) ? 10 : bytes.length);
      for (const read of readers) read(Buffer.from(bytes.subarray(at, end)));
      at = end;
    }
    await new Promise(process.nextTick);
    await new Promise(setImmediate);
    expect(a.lines, `round ${round}`).toEqual(b.lines);
    seen.messages += a.lines.filter((line) => /^(text|binary)/.test(line)).length;
    seen.refused += a.lines.at(-1)?.startsWith('refused 100') ? 1 : 0;
  }
  expect(seen.messages).toBeGreaterThan(ROUNDS / 2);
  expect(seen.refused).toBeGreaterThan(ROUNDS / 10);
});
