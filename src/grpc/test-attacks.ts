import { FrameFlag, FrameType, frame, goawayFrame, headersFrames, numberFrame, settingsFrame } from '../http2/frames.ts';
import { encodeHeaders } from '../http2/hpack.ts';
import { framed } from './message-assembler.ts';
import type { RawCall } from './test-raw-server.ts';

/*
 * For tests: what a hostile gRPC server may answer to any call, by name. None of it is an answer, so that every one must fail the call, by itself or by its
 * deadline, and none may cost the client more than the connection.
 */

const NOTHING = Buffer.alloc(0);
const LETTER = Buffer.from('x');
const HEADERS = encodeHeaders({ ':status': '200', 'content-type': 'application/grpc' });
const trailers = (fields: Record<string, string>): Buffer => encodeHeaders(fields);
const declared = (lengthBytes: number, flag = 0): Buffer => {
  const head = Buffer.from([flag, 0, 0, 0, 0]);
  head.writeUInt32BE(lengthBytes, 1);
  return head;
};
/** Bytes of a message that were promised, in frames of one byte, in pieces of a thousand frames. */
const inSingleBytes = (call: RawCall, count: number): void => {
  const piece = Buffer.concat(Array.from({ length: 1000 }, () => frame(FrameType.data, 0, call.streamId, LETTER)));
  let sent = 0;
  const pump = (): void => {
    while (sent < count && !call.socket.destroyed) {
      sent += 1000;
      if (!call.write(piece)) return;
    }
  };
  call.socket.on('drain', () => setImmediate(pump));
  pump();
};
/** A literal field whose value is said by one byte: the second of the static table's names with values (RFC 7541 Appendix A). */
const INDEXED_FIELD = Buffer.from([0x82]);
/** Remembered by the table, and large. */
const remembered = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0x40, name.length]), Buffer.from(name), Buffer.from([0x7f, ...varint(value.length - 127)]), Buffer.from(value)]);
const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]);

export const ATTACKS: Readonly<Record<string, (call: RawCall) => void>> = {
  // Answers.
  'an answer that is no protobuf': (call) => call.answer(Buffer.from([0xff, 0xff, 0xff])),
  'a length beyond the message': (call) => call.answer(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0x7f])),
  'a varint without an end': (call) => call.answer(Buffer.alloc(64, 0xff)),
  'groups within groups': (call) => call.answer(Buffer.alloc(1_000_000, 0x0b)),
  'no message': (call) => {
    call.begin();
    call.end();
  },
  'two messages': (call) => {
    call.send(NOTHING);
    call.answer(NOTHING);
  },
  'messages without end': (call) => {
    call.begin();
    call.flood(() => frame(FrameType.data, 0, call.streamId, framed(NOTHING)));
  },
  'half a message': (call) => {
    call.begin();
    call.data(Buffer.concat([declared(100), LETTER]));
    call.end();
  },
  'half a header': (call) => {
    call.begin();
    call.data(Buffer.from([0, 0]));
    call.end();
  },
  'a compressed message': (call) => {
    call.begin();
    call.data(declared(0, 1));
    call.end();
  },
  'a message of four gigabytes': (call) => {
    call.begin();
    call.data(declared(2 ** 32 - 1));
  },
  'a message that never ends, byte by byte': (call) => {
    call.begin();
    call.data(declared(1_000_000));
    call.trickle(5, () => frame(FrameType.data, 0, call.streamId, LETTER));
  },
  'a megabyte in single bytes': (call) => {
    call.begin();
    call.data(declared(4_000_000));
    inSingleBytes(call, 1_000_000);
  },
  'no status': (call) => {
    call.send(NOTHING);
    call.write(frame(FrameType.data, FrameFlag.endStream, call.streamId, NOTHING));
  },
  'a status of no number': (call) => call.end(trailers({ ':status': '200', 'grpc-status': 'fine' })),
  'a status beyond all': (call) => call.end(trailers({ ':status': '200', 'grpc-status': '1e309', 'grpc-message': '%' })),
  'a reason of 200 KB': (call) => call.end(trailers({ ':status': '200', 'grpc-status': '2', 'grpc-message': 'x'.repeat(200_000) })),
  'a redirect': (call) => call.end(trailers({ ':status': '302', location: 'https://127.0.0.1:1/' })),
  'an answer of HTTP/1': (call) => void call.write(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')),
  'nothing at all': () => {},

  // Ends.
  'the end of the connection': (call) => void call.socket.destroy(),
  'the end within a message': (call) => {
    call.begin();
    call.data(Buffer.concat([declared(100), LETTER]));
    call.socket.end();
  },
  'the end within a frame': (call) => void call.socket.end(Buffer.from([0, 0x40, 0, 0, 0])),
  'a refused stream': (call) => void call.write(numberFrame(FrameType.rstStream, call.streamId, 7)),
  'a reset stream': (call) => void call.write(numberFrame(FrameType.rstStream, call.streamId, 0xffffffff)),
  'GOAWAY of all streams': (call) => void call.write(goawayFrame(0, 11, 'x'.repeat(10_000))),
  'GOAWAY again and again': (call) => call.flood(() => goawayFrame(0, 0, '')),

  // Headers.
  'headers that come byte by byte': (call) => {
    call.write(frame(FrameType.headers, 0, call.streamId, HEADERS.subarray(0, 1)));
    call.trickle(5, () => frame(FrameType.continuation, 0, call.streamId, LETTER));
  },
  'headers that stop in the middle': (call) => void call.write(frame(FrameType.headers, 0, call.streamId, HEADERS.subarray(0, 3))),
  'a flood of CONTINUATION': (call) => {
    call.write(frame(FrameType.headers, 0, call.streamId, HEADERS));
    call.flood(() => frame(FrameType.continuation, 0, call.streamId, NOTHING));
  },
  'a flood of headers': (call) => call.flood(() => frame(FrameType.headers, FrameFlag.endHeaders, call.streamId, HEADERS)),
  'a flood of interim answers': (call) => call.flood(() => frame(FrameType.headers, FrameFlag.endHeaders, call.streamId, encodeHeaders({ ':status': '103' }))),
  'a megabyte of headers': (call) => call.end(trailers({ ':status': '200', 'x-large': 'x'.repeat(1_000_000) })),
  'an HPACK bomb of the table': (call) => {
    const field = remembered('bomb', 'x'.repeat(4000));
    call.write(headersFrames(call.streamId, Buffer.concat([HEADERS, field, Buffer.alloc(200_000, 0xbe)]), true));
  },
  'an HPACK bomb of known fields': (call) =>
    void call.write(headersFrames(call.streamId, Buffer.concat([HEADERS, Buffer.alloc(250_000, INDEXED_FIELD)]), true)),
  'a table of headers beyond what was allowed': (call) =>
    void call.write(headersFrames(call.streamId, Buffer.from([0x3f, 0xe1, 0xff, 0xff, 0x7f, 0x88]), false)),
  'a length in HPACK without an end': (call) =>
    void call.write(headersFrames(call.streamId, Buffer.concat([Buffer.from([0x00]), Buffer.alloc(1000, 0xff)]), true)),

  // Frames.
  'a flood of PING': (call) => call.flood(() => frame(FrameType.ping, 0, 0, Buffer.alloc(8))),
  'a flood of answers to PING': (call) => call.flood(() => frame(FrameType.ping, FrameFlag.ack, 0, Buffer.alloc(8))),
  'a flood of SETTINGS': (call) => call.flood((index) => settingsFrame([[4, 1 + (index % 2)]])),
  'SETTINGS of a thousand': (call) => call.flood(() => settingsFrame(Array.from({ length: 1000 }, (_, id) => [1000 + id, 0] as const))),
  'a flood of RST_STREAM': (call) => call.flood(() => numberFrame(FrameType.rstStream, call.streamId, 8)),
  'a flood of WINDOW_UPDATE': (call) => {
    call.write(numberFrame(FrameType.rstStream, call.streamId, 8));
    call.flood(() => numberFrame(FrameType.windowUpdate, call.streamId, 1));
  },
  'a window beyond all': (call) => void call.write(numberFrame(FrameType.windowUpdate, 0, 2 ** 31 - 1)),
  'windows of nothing': (call) => {
    call.write(settingsFrame([[4, 0]]));
    call.write(numberFrame(FrameType.windowUpdate, call.streamId, 0));
  },
  'a flood of empty DATA': (call) => {
    call.begin();
    call.flood(() => frame(FrameType.data, 0, call.streamId, NOTHING));
  },
  'a flood of padding': (call) => {
    call.begin();
    call.flood(() => frame(FrameType.data, FrameFlag.padded, call.streamId, Buffer.concat([Buffer.from([200]), Buffer.alloc(200)])));
  },
  'a flood of PRIORITY': (call) => call.flood(() => frame(FrameType.priority, 0, call.streamId, Buffer.alloc(5))),
  'a flood of frames of no known kind': (call) => call.flood(() => frame(0xee, 0xff, call.streamId, LETTER)),
  'a flood of data of a stream that is over': (call) => {
    call.write(numberFrame(FrameType.rstStream, call.streamId, 8));
    call.flood(() => frame(FrameType.data, 0, call.streamId, LETTER));
  },
  'streams that nobody opened': (call) => void call.write(frame(FrameType.headers, FrameFlag.endHeaders, call.streamId + 2, HEADERS)),
  'streams of the server’s own': (call) => void call.write(frame(FrameType.headers, FrameFlag.endHeaders, 2, HEADERS)),
  'a promise to push': (call) => void call.write(frame(FrameType.pushPromise, FrameFlag.endHeaders, call.streamId, Buffer.alloc(4))),
  'a frame of sixteen megabytes': (call) => void call.write(Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0, 0]), Buffer.alloc(4)])),
  'no streams at all': (call) => {
    call.write(settingsFrame([[3, 0]]));
    call.write(numberFrame(FrameType.rstStream, call.streamId, 7));
  },
};
