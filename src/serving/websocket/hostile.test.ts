import { expect, test } from 'vitest';
import { Random } from '../../util/test-random.ts';
import { socketPair } from '../test-sockets.ts';
import { WebSocketConnection } from './connection.ts';
import { WebSocketFrameReader, OPCODE, WebSocketError } from './frames.ts';
import { clientFrame } from './test-frames.ts';

/* What a client may send once it speaks WebSocket. */

const NONE = Buffer.alloc(0);

async function served(): Promise<{
  client: Awaited<ReturnType<typeof socketPair>>[0];
  socket: Awaited<ReturnType<typeof socketPair>>[1];
  connection: WebSocketConnection;
  received: () => number;
}> {
  const [client, socket] = await socketPair();
  const connection = new WebSocketConnection(socket, NONE, '');
  let bytes = 0;
  connection.listen((piece) => void (bytes += piece.length));
  client.on('error', () => {});
  return { client, socket, connection, received: () => bytes };
}

test('pings whose answers are not read are no longer answered, and cost no memory', async () => {
  const { client, socket } = await served();
  client.pause();
  const pings = Buffer.concat(Array.from({ length: 500 }, () => clientFrame(OPCODE.PING, Buffer.alloc(125))));
  let most = 0;
  for (let round = 0; round < 500; round++) {
    client.write(pings);
    await new Promise(setImmediate);
    most = Math.max(most, socket.writableLength);
  }
  expect(most).toBeLessThan(1024 * 1024);
  client.destroy();
});

test('a message of a hundred thousand empty pieces, and one that promises 2^50 bytes, hold nothing', async () => {
  const { client, connection, received } = await served();
  const before = process.memoryUsage().arrayBuffers;
  const empty = Buffer.concat(Array.from({ length: 1000 }, () => clientFrame(OPCODE.CONTINUATION, NONE, false)));
  client.write(clientFrame(OPCODE.BINARY, NONE, false));
  for (let round = 0; round < 100; round++) {
    client.write(empty);
    await new Promise(setImmediate);
  }
  client.write(clientFrame(OPCODE.CONTINUATION, NONE));
  const huge = Buffer.from([0x82, 0xff, 0, 4, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
  client.write(Buffer.concat([huge, Buffer.alloc(1000)]));
  while (received() < 1000) await new Promise(setImmediate);
  expect(connection.isClosed).toBe(false);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
  client.destroy();
});

test('50,000 sequences of frames with bytes changed are read or refused as a breach of the rules', () => {
  const random = new Random(6455);
  for (let round = 0; round < 50_000; round++) {
    const bytes = Buffer.concat([
      clientFrame(OPCODE.TEXT, Buffer.from('a'), false),
      clientFrame(OPCODE.PING, Buffer.from('p')),
      clientFrame(OPCODE.CONTINUATION, Buffer.alloc(random.below(200), 0xff)),
      clientFrame(OPCODE.BINARY, Buffer.alloc(130)),
    ]);
    for (let count = 1 + random.below(4); count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
    let received = 0;
    const reader = new WebSocketFrameReader({ data: (piece) => void (received += piece.length), control: (_, payload) => void (received += payload.length) });
    try {
      for (let at = 0; at < bytes.length;) {
        const end = at + 1 + random.below(bytes.length);
        reader.feed(bytes.subarray(at, end));
        at = end;
      }
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw new Error(`round ${round}`, { cause: error });
    }
    if (received > bytes.length) throw new Error(`round ${round}: more than was sent`);
  }
});
