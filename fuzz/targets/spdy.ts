import { SpdyConnection } from '../../src/serving/spdy/connection.ts';
import { CONTROL, FIN, controlFrame, dataHeader } from '../../src/serving/spdy/frames.ts';
import { SpdyHeaderReader, HeaderWriter } from '../../src/serving/spdy/header-block.ts';
import type { SpdyStream } from '../../src/serving/spdy/stream.ts';
import { MemorySocket, turn } from '../memory-socket.ts';
import { type FuzzTarget, WrongAnswer, bytes } from '../target.ts';

const HEADERS = { streamtype: 'stdin', port: '80', requestid: '1' };
const data = (id: number, flags: number, text: string): Buffer => Buffer.concat([dataHeader(id, flags, text.length), Buffer.from(text)]);

function conversation(): Buffer {
  const writer = new HeaderWriter();
  const open = (id: number): Buffer => controlFrame(CONTROL.SYN_STREAM, 0, id, 0, Buffer.alloc(2), writer.write(HEADERS));
  return Buffer.concat([open(1), data(1, 0, 'hello'), open(3), controlFrame(CONTROL.PING, 0, 1), data(1, FIN, ''), controlFrame(CONTROL.RST_STREAM, 0, 3, 5)]);
}

/** What a client of exec or port-forward sends, or a kubelet answers; nothing is left behind. */
export const spdy: FuzzTarget = {
  name: 'spdy-connection',
  seeds: () => [
    conversation(),
    Buffer.concat([controlFrame(CONTROL.SETTINGS, 0, 1, 0, 4, 1000), controlFrame(CONTROL.WINDOW_UPDATE, 0, 0, 100), controlFrame(CONTROL.GOAWAY, 0, 0, 0)]),
    Buffer.concat([controlFrame(CONTROL.SYN_REPLY, 0, 1, new HeaderWriter().write({})), data(1, 0, 'x')]),
  ],
  tokens: [
    data(1, 0, 'y'),
    controlFrame(CONTROL.PING, 0, 2),
    controlFrame(CONTROL.RST_STREAM, 0, 1, 1),
    ...bytes('\x80\x03\0\x01', '\x80\x03\0\x06\0\0\0\x04', '\0\0\0\x01', '\x78\xbb', '\xff\xff\xff'),
  ],
  refusals: [],
  async run(input) {
    const socket = new MemorySocket();
    const streams: SpdyStream[] = [];
    const role = input.length % 2 === 0 ? 'server' : 'client';
    const onStream = (stream: SpdyStream): void => {
      stream.on('error', () => {});
      streams.push(stream.resume());
    };
    const connection = new SpdyConnection(socket, Buffer.alloc(0), { role, onStream });
    const middle = input.length >> 1;
    for (const piece of [input.subarray(0, middle), input.subarray(middle)]) socket.push(piece);
    await turn();
    connection.close();
    socket.destroy();
    await turn();
    if (streams.some(({ destroyed }) => !destroyed)) throw new WrongAnswer('a stream is open when its connection is gone');
  },
};

/** Header blocks: one zlib stream, over several frames. */
export const spdyHeaders: FuzzTarget = {
  name: 'spdy-headers',
  seeds: () => {
    const writer = new HeaderWriter();
    return [writer.write(HEADERS), Buffer.concat([new HeaderWriter().write({ a: 'b\0c' }), writer.write(HEADERS)])];
  },
  tokens: bytes('\x78\xbb\xe3\xc6\xa7\xc2', '\0\0\0\xff\xff', '\x01\x05\0\xfa\xff', '\0\0\0\x01', '\x4b\x04', '\xff\xff\xff\xff'),
  // Of zlib for a block that is too long, and of Buffer for one that is cut off. The connection ends with any error.
  refusals: [Error, RangeError],
  run(input) {
    const reader = new SpdyHeaderReader();
    reader.read(input);
    reader.read(input.subarray(6));
  },
};
