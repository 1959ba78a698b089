import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FrameFlag, FrameType, PREFACE, Setting, frame, settingsFrame } from './frames.ts';
import { TestPeer, TestServer, blockOf, data, get, goaway, headers, post, requestBlock, reset, widen } from './test-peer.ts';

let server: TestServer;
beforeEach(async () => {
  server = await TestServer.start();
});
afterEach(async () => {
  await server.close();
  expect(server.clock.openTimers).toBe(0);
  expect(server.requests.filter(({ isOver }) => !isOver)).toEqual([]);
});

const NOTHING = Buffer.alloc(0);
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const raw = (type: number, flags: number, streamId: number, payload: Buffer | string = NOTHING): Buffer =>
  frame(type, flags, streamId, typeof payload === 'string' ? hex(payload) : payload);
const { endStream: END_STREAM, endHeaders: END_HEADERS, padded: PADDED, priority: PRIORITY, ack: ACK } = FrameFlag;
const fields = (...list: (readonly [string, string])[]): Buffer => headers(1, blockOf(list));
const GET = [':method', 'GET'] as const;
const HTTPS = [':scheme', 'https'] as const;
const SLASH = [':path', '/'] as const;
const HOST = [':authority', 'a'] as const;
const with1 = (...more: (readonly [string, string])[]): Buffer => fields(GET, HTTPS, SLASH, HOST, ...more);
/** A frame that claims more than it brings, so that what follows is part of it. */
const lengthOf = (bytes: Buffer, lengthBytes: number): Buffer => {
  bytes.writeUIntBE(lengthBytes, 0, 3);
  return bytes;
};

const OK = ['answer 1', 'data 1 end'];
const lost = (code: string): string[] => [`goaway ${code}`, 'closed'];
const MALFORMED = ['reset 1 protocolError'];

/** What is sent behind the preface and the settings, and what comes back. */
const RULES: Record<string, [what: string, sent: Buffer[], reaction: string[]][]> = {
  '4.1 frames': [
    ['of a kind that nobody knows are passed over', [raw(0xbe, 0xff, 0, 'aabb'), raw(0xbe, 0, 1), get(1)], OK],
    ['may have flags that mean nothing', [raw(FrameType.ping, 0xfe, 0, Buffer.alloc(8)), get(1)], OK],
    ['may have the reserved bit set', [raw(FrameType.headers, END_STREAM | END_HEADERS, 0x80000001, requestBlock('/'))], OK],
  ],
  '4.2 sizes': [
    ['as large as allowed', [post(1), data(1, Buffer.alloc(16_384), true)], ['answer 1', 'data 1 end']],
    ['a byte more', [post(1), data(1, Buffer.alloc(16_385))], lost('frameSizeError')],
    ['headers of a byte more', [headers(1, Buffer.alloc(16_385, 0x82))], lost('frameSizeError')],
    ['larger than any frame will be', [lengthOf(raw(FrameType.settings, 0, 0), 0xffffff)], lost('frameSizeError')],
  ],
  '4.3 compression': [
    ['a block that is none', [headers(1, hex('7f ff ff ff ff ff 01'))], lost('compressionError')],
    ['on a stream that is over already', [headers(1, blockOf([GET]), END_HEADERS), headers(1, hex('be'))], [...MALFORMED, ...lost('compressionError')]],
    ['data between the parts of a block', [headers(1, requestBlock('/'), END_STREAM), data(1, '')], lost('protocolError')],
    ['another stream between the parts of a block', [headers(1, requestBlock('/'), END_STREAM), get(3)], lost('protocolError')],
    ['an unknown frame between the parts of a block', [headers(1, requestBlock('/'), END_STREAM), raw(0xbe, 0, 0)], lost('protocolError')],
  ],
  'RFC 7541': [
    ['2.3.3 an index of nothing', [headers(1, hex('80'))], lost('compressionError')],
    ['2.3.3 an index beyond the table', [headers(1, hex('82 87 84 be'))], lost('compressionError')],
    ['4.2 a table larger than was allowed', [headers(1, hex('3f e2 1f 82 87 84'))], lost('compressionError')],
    ['4.2 a size of the table behind a header', [headers(1, hex('82 87 84 20'))], lost('compressionError')],
    ['4.2 two sizes before the first', [headers(1, hex('20 3f e1 1f 82 87 84 41 01 61'))], OK],
    ['5.2 more than seven bits of padding', [headers(1, hex('82 87 84 00 82 1f ff 01 61'))], lost('compressionError')],
    ['5.2 padding that is not of ones', [headers(1, hex('82 87 84 00 81 18 01 61'))], lost('compressionError')],
    ['5.2 the symbol of the end', [headers(1, hex('82 87 84 00 85 1f ff ff ff fc 01 61'))], lost('compressionError')],
    [
      '6.2.1 what was remembered is known to later blocks',
      [headers(1, hex('82 87 84 41 01 61')), headers(3, hex('82 87 84 be'))],
      [...OK, 'answer 3', 'data 3 end'],
    ],
  ],
  '5.1 states': [
    ['idle: data', [data(1, 'x')], lost('protocolError')],
    ['idle: a reset', [reset(1)], lost('protocolError')],
    ['idle: a window', [widen(1, 1)], lost('protocolError')],
    ['idle: a continuation', [raw(FrameType.continuation, END_HEADERS, 1, requestBlock('/'))], lost('protocolError')],
    ['idle: a priority', [raw(FrameType.priority, 0, 1, '00000000 10'), get(1)], OK],
    ['half closed: data', [get(1, '/hold'), data(1, 'x')], ['reset 1 streamClosed']],
    ['half closed: headers', [get(1, '/hold'), headers(1, blockOf([['x', 'y']]))], ['reset 1 streamClosed']],
    ['half closed: a window, a priority', [get(1, '/hold'), widen(1, 1), raw(FrameType.priority, 0, 1, '00000000 10')], []],
    ['closed: data behind a reset', [post(1), reset(1), data(1, 'x')], lost('streamClosed')],
    ['closed: headers behind a reset', [post(1), reset(1), headers(1, blockOf([['x', 'y']]))], lost('protocolError')],
    ['closed: a window, a priority, a reset', [post(1), reset(1), widen(1, 1), raw(FrameType.priority, 0, 1, '00000000 10'), reset(1)], []],
    ['refused by us: what was on its way', [headers(1, blockOf([GET]), END_HEADERS), data(1, 'x'), widen(1, 1), headers(1, blockOf([['x', 'y']]))], MALFORMED],
    [
      'refused by us: nothing may follow its end',
      [headers(1, blockOf([GET]), END_HEADERS), data(1, 'x', true), data(1, 'x')],
      [...MALFORMED, ...lost('streamClosed')],
    ],
  ],
  '5.1.1 numbers': [
    ['even', [get(2)], lost('protocolError')],
    ['zero', [get(0)], lost('protocolError')],
    ['smaller than the last', [get(5, '/hold'), get(3, '/hold')], lost('protocolError')],
    ['with gaps', [get(1), get(9), get(2 ** 31 - 1)], [...OK, 'answer 9', 'data 9 end', 'answer 2147483647', 'data 2147483647 end']],
  ],
  '5.3 priorities': [
    ['of no stream', [raw(FrameType.priority, 0, 0, '00000001 10')], lost('protocolError')],
    ['of another size', [raw(FrameType.priority, 0, 1, '00000000')], lost('frameSizeError')],
    ['a stream that depends on itself', [raw(FrameType.priority, 0, 1, '80000001 10')], lost('protocolError')],
    [
      'headers that depend on themselves',
      [raw(FrameType.headers, END_HEADERS | PRIORITY, 1, Buffer.concat([hex('00000001 10'), requestBlock('/')]))],
      lost('protocolError'),
    ],
    [
      'headers that depend on another',
      [raw(FrameType.headers, END_STREAM | END_HEADERS | PRIORITY, 1, Buffer.concat([hex('80000003 10'), requestBlock('/')]))],
      OK,
    ],
    ['headers that end within it', [raw(FrameType.headers, END_HEADERS | PRIORITY, 1, '0000')], lost('frameSizeError')],
  ],
  '6.1 data': [
    ['of no stream', [data(0, 'x')], lost('protocolError')],
    ['with padding', [post(1), raw(FrameType.data, END_STREAM | PADDED, 1, '02 6162 0000')], OK],
    ['with all of it padding', [post(1), raw(FrameType.data, PADDED, 1, '02 0000'), data(1, 'x', true)], OK],
    ['with more padding than frame', [post(1), raw(FrameType.data, PADDED, 1, '04 6162 00')], lost('protocolError')],
    ['with room for no padding', [post(1), raw(FrameType.data, PADDED, 1)], lost('frameSizeError')],
  ],
  '6.2 headers': [
    ['with padding', [raw(FrameType.headers, END_STREAM | END_HEADERS | PADDED, 1, Buffer.concat([hex('02'), requestBlock('/'), hex('0000')]))], OK],
    ['with more padding than frame', [raw(FrameType.headers, END_STREAM | END_HEADERS | PADDED, 1, '05 82')], lost('protocolError')],
  ],
  '6.4 resets': [
    ['of no stream', [reset(0)], lost('protocolError')],
    ['of another size', [post(1), raw(FrameType.rstStream, 0, 1, '000000')], lost('frameSizeError')],
  ],
  '6.5 settings': [
    ['an answer that says something', [raw(FrameType.settings, ACK, 0, '000100000000')], lost('frameSizeError')],
    ['of a stream', [raw(FrameType.settings, 0, 1)], lost('protocolError')],
    ['of another size', [raw(FrameType.settings, 0, 0, '0001000000')], lost('frameSizeError')],
    ['that nobody knows', [settingsFrame([[0xff, 1]]), get(1)], OK],
    ['a push that is neither', [settingsFrame([[Setting.enablePush, 2]])], lost('protocolError')],
    ['a window that is too large', [settingsFrame([[Setting.initialWindowSize, 2 ** 31]])], lost('flowControlError')],
    ['frames that are too small', [settingsFrame([[Setting.maxFrameSize, 16_383]])], lost('protocolError')],
    ['frames that are too large', [settingsFrame([[Setting.maxFrameSize, 2 ** 24]])], lost('protocolError')],
    ['larger frames', [settingsFrame([[Setting.maxFrameSize, 2 ** 24 - 1]]), get(1)], OK],
  ],
  '6.6 pushes': [['from a client', [raw(FrameType.pushPromise, END_HEADERS, 1, '00000002')], lost('protocolError')]],
  '6.7 pings': [
    ['of a stream', [raw(FrameType.ping, 0, 1, Buffer.alloc(8))], lost('protocolError')],
    ['of another size', [raw(FrameType.ping, 0, 0, Buffer.alloc(6))], lost('frameSizeError')],
    ['answers that nobody asked for', [raw(FrameType.ping, ACK, 0, Buffer.alloc(8)), get(1)], OK],
  ],
  '6.8 GOAWAY': [
    ['of a stream', [raw(FrameType.goaway, 0, 1, Buffer.alloc(8))], lost('protocolError')],
    ['that end too early', [raw(FrameType.goaway, 0, 0, Buffer.alloc(7))], lost('frameSizeError')],
    ['with nothing open', [goaway()], lost('noError')],
  ],
  '6.9 windows': [
    ['of the connection by nothing', [widen(0, 0)], lost('protocolError')],
    ['of a stream by nothing', [get(1, '/hold'), widen(1, 0)], MALFORMED],
    ['of another size', [raw(FrameType.windowUpdate, 0, 0, '000001')], lost('frameSizeError')],
    ['of the connection beyond all', [widen(0, 2 ** 31 - 1), widen(0, 2 ** 31 - 1)], lost('flowControlError')],
    ['of a stream beyond all', [get(1, '/hold'), widen(1, 2 ** 31 - 1), widen(1, 2 ** 31 - 1)], ['reset 1 flowControlError']],
    [
      'of a stream beyond all, by settings',
      [settingsFrame([[Setting.initialWindowSize, 0]]), get(1, '/hold'), widen(1, 2 ** 31 - 1), settingsFrame([[Setting.initialWindowSize, 1]])],
      lost('flowControlError'),
    ],
  ],
  '6.10 continuations': [
    ['in parts', [headers(1, hex('82 87'), END_STREAM), raw(FrameType.continuation, 0, 1, '84'), raw(FrameType.continuation, END_HEADERS, 1, '41 01 61')], OK],
    ['of another stream', [headers(1, hex('82 87'), END_STREAM), raw(FrameType.continuation, END_HEADERS, 3, '84')], lost('protocolError')],
    ['of nothing', [raw(FrameType.continuation, END_HEADERS, 0, '84')], lost('protocolError')],
    ['of headers that are whole', [get(1, '/hold'), raw(FrameType.continuation, END_HEADERS, 1, '84')], lost('protocolError')],
  ],
  '8.1 messages': [
    ['trailers', [post(1), data(1, 'x'), headers(1, blockOf([['x', 'y']]))], OK],
    ['trailers that do not end it', [post(1), headers(1, blockOf([['x', 'y']]), END_HEADERS)], MALFORMED],
    ['trailers with a path', [post(1), headers(1, blockOf([SLASH]))], MALFORMED],
    ['trailers in upper case', [post(1), headers(1, blockOf([['X', 'y']]))], MALFORMED],
    ['trailers that are too large', [post(1), headers(1, blockOf(Array.from({ length: 300 }, () => ['x', 'y'] as const)))], MALFORMED],
    ['8.1.1 a body that is longer than it says', [post(1, '/echo', [['content-length', '1']]), data(1, 'xy')], MALFORMED],
    ['8.1.1 a body that is shorter than it says', [post(1, '/echo', [['content-length', '3']]), data(1, 'x'), data(1, 'y', true)], MALFORMED],
    ['8.1.1 no body where some was announced', [with1(['content-length', '1'])], MALFORMED],
    ['8.1.1 trailers in place of the rest', [post(1, '/echo', [['content-length', '1']]), headers(1, blockOf([['x', 'y']]))], MALFORMED],
    ['8.1.1 a body as long as it says', [post(1, '/echo', [['content-length', '2']]), data(1, 'x'), data(1, 'y', true)], OK],
  ],
  '8.2 fields': [
    ['in upper case', [with1(['X', 'y'])], MALFORMED],
    ['with a blank in the name', [with1(['x y', 'z'])], MALFORMED],
    ['with a colon in the name', [with1(['x:y', 'z'])], MALFORMED],
    ['without a name', [with1(['', 'z'])], MALFORMED],
    ['with a line feed', [with1(['x', 'y\nz'])], MALFORMED],
    ['with a zero', [with1(['x', 'y\0z'])], MALFORMED],
    ['that other objects have', [with1(['constructor', 'y'], ['__proto__', 'z'])], OK],
    ['8.2.2 connection', [with1(['connection', 'close'])], MALFORMED],
    ['8.2.2 transfer-encoding', [with1(['transfer-encoding', 'chunked'])], MALFORMED],
    ['8.2.2 upgrade', [with1(['upgrade', 'x'])], MALFORMED],
    ['8.2.2 te', [with1(['te', 'gzip'])], MALFORMED],
    ['8.2.2 te of trailers', [with1(['te', 'trailers'])], OK],
    ['lengths that differ', [with1(['content-length', '0'], ['content-length', '1'])], MALFORMED],
    ['a length that is none', [with1(['content-length', '+1'])], MALFORMED],
  ],
  '8.3 pseudo fields': [
    ['of no request', [with1([':status', '200'])], MALFORMED],
    ['that nobody knows', [fields([':x', 'y'], GET, HTTPS, SLASH)], MALFORMED],
    ['behind others', [fields(GET, HTTPS, ['x', 'y'], SLASH)], MALFORMED],
    ['twice', [fields(GET, HTTPS, SLASH, SLASH)], MALFORMED],
    ['no method', [fields(HTTPS, SLASH)], MALFORMED],
    ['a method that is none', [fields([':method', 'G T'], HTTPS, SLASH)], MALFORMED],
    ['no scheme', [fields(GET, SLASH)], MALFORMED],
    ['a scheme that is not HTTP’s', [fields(GET, [':scheme', 'ftp'], SLASH)], MALFORMED],
    ['no path', [fields(GET, HTTPS)], MALFORMED],
    ['an empty path', [fields(GET, HTTPS, [':path', ''])], MALFORMED],
    ['a path with a line feed', [fields(GET, HTTPS, [':path', '/\nx'])], MALFORMED],
    ['a path that is none', [fields(GET, HTTPS, [':path', 'x'])], MALFORMED],
    ['all of a server, where that is asked for', [fields([':method', 'OPTIONS'], HTTPS, [':path', '*'])], OK],
    ['no authority', [fields(GET, HTTPS, SLASH)], OK],
    ['8.5 CONNECT', [fields([':method', 'CONNECT'], HOST)], OK],
    ['8.5 CONNECT with a path', [fields([':method', 'CONNECT'], HOST, HTTPS, SLASH)], MALFORMED],
    ['RFC 8441: CONNECT with a protocol, which was not offered', [fields([':method', 'CONNECT'], [':protocol', 'websocket'], HTTPS, SLASH, HOST)], MALFORMED],
  ],
};

describe.each(Object.entries(RULES))('RFC 9113 §%s', (_, rules) => {
  test.each(rules)('%s', async (_what, sent, reaction) => {
    const peer = TestPeer.greet(server.port).send(...sent);
    expect(await peer.reaction()).toEqual(reaction);
    // Whoever is not lost is served on.
    if (!peer.isClosed)
      expect((await peer.send(get(2 ** 31 - 1)).reaction()).filter((one) => one.startsWith('answer'))).toHaveLength(
        reaction.some((one) => one.includes('2147483647')) ? 0 : 1,
      );
    peer.socket.destroy();
    await peer.closed;
  });
});

describe('RFC 9113 §3.4, the beginning', () => {
  test.each([
    ['another preface', [Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')]],
    ['another preface, late', [PREFACE.subarray(0, 20), Buffer.from('garbage')]],
    ['no settings', [PREFACE, get(1)]],
    ['an answer to settings in their place', [PREFACE, raw(FrameType.settings, ACK, 0)]],
  ])('%s', async (_, sent) => {
    const peer = new TestPeer(server.port).send(...sent);
    expect(await peer.reaction()).toEqual(lost('protocolError'));
    expect(server.requests).toEqual([]);
  });

  test('byte by byte, and the settings with it', async () => {
    const peer = new TestPeer(server.port);
    for (const byte of Buffer.concat([PREFACE, settingsFrame([]), get(1)])) peer.send(Buffer.from([byte]));
    expect(await peer.reaction()).toEqual(OK);
    peer.socket.destroy();
  });

  test('one that takes too long is cut off', async () => {
    const peer = new TestPeer(server.port).send(PREFACE.subarray(0, 10));
    await peer.until(() => peer.frames.length > 0);
    server.clock.pass(32_000);
    await peer.closed;
    await server.untilGone();
  });
});

test('the first block says that nothing is remembered, for clients that have forbidden it (RFC 7541 §4.2)', async () => {
  const peer = TestPeer.greet(server.port, [[Setting.headerTableSize, 0]]).send(get(1), get(3));
  await peer.until(() => peer.hasEnded(3));
  const blocks = peer.frames.filter(({ type }) => type === FrameType.headers).map(({ payload }) => payload[0]);
  expect(blocks).toEqual([0x20, 0x88]);
  peer.socket.destroy();
});

test('a head that is too large, or of too many lines, is answered as such', async () => {
  const peer = TestPeer.greet(server.port).send(
    headers(
      1,
      requestBlock(
        '/',
        'GET',
        Array.from({ length: 300 }, () => ['x', 'y'] as const),
      ),
    ),
  );
  expect(await peer.reaction()).toEqual(OK);
  expect(server.requests).toEqual([]);
  peer.socket.destroy();
});

test('a client that is answered before its body was whole is told to stop; what was on its way is passed over', async () => {
  const peer = TestPeer.greet(server.port).send(post(1, '/'));
  await peer.until(() => peer.frames.some(({ type }) => type === FrameType.rstStream));
  expect(await peer.reaction()).toEqual([...OK, 'reset 1 noError']);
  expect(await peer.send(data(1, 'x'), data(1, 'y', true)).reaction()).toEqual([]);
  peer.socket.destroy();
});

test('one stream too many is refused, and may be tried again', async () => {
  await server.close();
  server = await TestServer.start(undefined, { streamsPerConnection: 2 });
  const peer = TestPeer.greet(server.port).send(get(1, '/hold'), post(3, '/hold'), post(5), data(5, 'x', true));
  expect(await peer.reaction()).toEqual(['reset 5 refusedStream']);
  expect(await peer.send(reset(1), get(7)).reaction()).toEqual(['answer 7', 'data 7 end']);
  peer.socket.destroy();
});

describe('the end', () => {
  test('of a connection with a stream: no more are looked at, that one goes on to its end, and the socket closes', async () => {
    const peer = TestPeer.greet(server.port).send(post(1, '/hold'));
    await peer.reaction();
    const [held] = server.requests;
    server.connections[0]!.finish();
    server.connections[0]!.finish();
    expect(await peer.reaction()).toEqual(['goaway noError']);
    // Sent before the client heard of it, so no fault of its.
    expect(await peer.send(post(3), data(3, 'x'), headers(3, blockOf([['x', 'y']])), reset(3), data(1, 'y', true)).reaction()).toEqual([]);
    held!.answer(held!.body);
    await peer.closed;
    expect(peer.bodyOf(1).toString()).toBe('y');
    await server.untilGone();
    expect([server.requests.length, server.problems]).toEqual([1, []]);
  });

  test('of a connection whose client has said goodbye comes with its last answer', async () => {
    const peer = TestPeer.greet(server.port).send(get(1, '/hold'), goaway());
    expect(await peer.reaction()).toEqual(['goaway noError']);
    server.requests[0]!.answer('ok');
    await peer.closed;
    expect(peer.hasEnded(1)).toBe(true);
  });

  test('of a client that reads slowly waits for it', async () => {
    const peer = TestPeer.greet(server.port, [[Setting.initialWindowSize, 2 ** 30]]);
    await peer.reaction();
    peer.socket.pause();
    peer.send(widen(0, 2 ** 30), get(1, '/hold'));
    while (server.requests.length < 1) await new Promise(setImmediate);
    const body = Buffer.alloc(16 * 1024 * 1024, 'x');
    server.requests[0]!.answer(body);
    server.connections[0]!.finish();
    await new Promise(setImmediate);
    server.clock.pass(1000);
    peer.socket.resume();
    await peer.closed;
    expect(peer.bodyOf(1).length).toBe(body.length);
  });

  test('comes by itself after a time without streams, and not while there is one', async () => {
    const [idle, busy] = [TestPeer.greet(server.port), TestPeer.greet(server.port).send(get(1, '/hold'))];
    await Promise.all([idle.reaction(), busy.reaction()]);
    server.clock.pass(89_000);
    expect([await idle.reaction(), await busy.reaction()]).toEqual([[], []]);
    server.clock.pass(1_000);
    await idle.closed;
    server.clock.pass(89_000);
    server.requests[0]!.answer('ok');
    expect(await busy.reaction()).toEqual(OK);
    server.clock.pass(89_000);
    expect(await busy.reaction()).toEqual([]);
    server.clock.pass(90_000);
    await busy.closed;
  });
});

describe('the owner of a request', () => {
  test('may answer when the client has gone: nothing is sent, nothing is kept', async () => {
    const peer = TestPeer.greet(server.port).send(post(1, '/hold'), reset(1));
    await peer.reaction();
    const [request] = server.requests;
    request!.answer('late');
    request!.connection.send(request!.stream, Buffer.from('x'), false);
    request!.connection.end(request!.stream, undefined);
    request!.connection.cut(request!.stream);
    expect(await peer.send(get(3)).reaction()).toEqual(['answer 3', 'data 3 end']);
    peer.socket.destroy();
    await peer.closed;
    request!.answer('later');
  });

  test('may cut an answer off', async () => {
    const peer = TestPeer.greet(server.port).send(post(1, '/hold'));
    await peer.reaction();
    const [request] = server.requests;
    request!.start();
    request!.connection.cut(request!.stream);
    expect(await peer.send(data(1, 'on its way', true)).reaction()).toEqual(['answer 1', 'reset 1 internalError']);
    peer.socket.destroy();
  });

  test('that fails on what the client sent costs it its connection, and the client learns no more', async () => {
    const peer = TestPeer.greet(server.port).send(post(1, '/hold'));
    await peer.reaction();
    server.requests[0]!.onWhole = () => {
      throw new Error('a secret');
    };
    peer.send(data(1, '', true));
    await peer.closed;
    const goAway = peer.frames.find(({ type }) => type === FrameType.goaway)!;
    expect([goAway.payload.readUInt32BE(4), goAway.payload.length, server.problems]).toEqual([2, 8, ['a secret']]);
  });
});
