import { type FuzzTarget, bytes, mustAgree } from '../target.ts';
import { WebSocketFrameReader, OPCODE, WebSocketError, unmask } from '../../src/serving/websocket/frames.ts';

function frame(opcode: number, text: string, isFinal = true): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const payload = Buffer.from(text);
  unmask(payload, mask, 0);
  const head = text.length < 126 ? [0x80 | text.length] : [0x80 | 126, text.length >> 8, text.length & 0xff];
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, ...head]), mask, payload]);
}

/** What was told of the messages, in a form that does not depend on the pieces in which their bytes came. */
function read(pieces: readonly Buffer[]): string {
  let told = '';
  const reader = new WebSocketFrameReader({
    data: (piece, isStart, isEnd, isText) => (told += `${isStart ? `<${isText}` : ''}${piece.toString('latin1')}${isEnd ? '>' : ''}`),
    control: (opcode, payload) => (told += `[${opcode} ${payload.toString('latin1')}]`),
  });
  try {
    for (const piece of pieces) reader.feed(piece);
  } catch (error) {
    if (!(error instanceof WebSocketError)) throw error;
    return `${told} ${error.message}`;
  }
  return told;
}

/** In however many pieces the bytes come, they say the same. */
export const webSocket: FuzzTarget = {
  name: 'websocket',
  seeds: () => [
    Buffer.concat([frame(OPCODE.TEXT, 'hello'), frame(OPCODE.PING, 'x'), frame(OPCODE.BINARY, 'y'.repeat(200))]),
    Buffer.concat([frame(OPCODE.TEXT, 'a', false), frame(OPCODE.PONG, ''), frame(OPCODE.CONTINUATION, 'b'), frame(OPCODE.CLOSE, '\x03\xe8')]),
  ],
  tokens: bytes(
    '\x81\x80',
    '\x82\xfe',
    '\x80\x80\0\0\0\0',
    '\x89\x80\0\0\0\0',
    '\x88\x80',
    '\x01\x80',
    '\xff',
    '\x82\xff\0\0\0\0\0\0\0\x05',
    '\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff',
  ),
  refusals: [WebSocketError],
  run(input) {
    const whole = read([Buffer.from(input)]);
    const inPieces: Buffer[] = [];
    for (let at = 0, size = 1; at < input.length; at += size, size = (size % 7) + 1) inPieces.push(Buffer.from(input.subarray(at, at + size)));
    return () => mustAgree('pieces', read(inPieces), whole);
  },
};
