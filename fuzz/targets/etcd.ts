import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { framed } from '../../src/grpc/message-assembler.ts';
import { serveGrpc } from '../../src/grpc/server.ts';
import { GrpcError } from '../../src/grpc/status.ts';
import { FrameFlag, FrameType, PREFACE, Setting, frame, headersFrames, numberFrame, settingsFrame } from '../../src/http2/frames.ts';
import { encodeHeaders } from '../../src/http2/hpack.ts';
import { openMemoryEngine } from '../../src/storage/engines/memory.ts';
import type { LocalEngine } from '../../src/storage/engines/local-engine.ts';
import { LeaseTable } from '../../src/storage/etcd-server/leases.ts';
import { decodeWatchRequest } from '../../src/storage/etcd-server/requests.ts';
import { etcdService } from '../../src/storage/etcd-server/service.ts';
import { encode } from '../../src/storage/etcd-server/test-client.ts';
import type { GrpcService } from '../../src/grpc/server.ts';
import { StillClock } from '../../src/util/test-clock.ts';
import { MemorySocket, feedConnection } from '../memory-socket.ts';
import { mutateProtobuf } from '../structure/protobuf.ts';
import { type FuzzTarget, WrongAnswer, bytes } from '../target.ts';

/** Messages of etcd's API, by what they would be. */
const MESSAGES = {
  range: encode({ 1: '/a', 2: '/b', 3: 2, 4: 3, 5: 2, 6: 4, 8: true, 10: 1, 13: 9 }),
  put: encode({ 1: '/a', 2: 'value', 3: 7, 4: true, 6: true }),
  remove: encode({ 1: '/a', 2: '\0', 3: true }),
  create: encode({ 1: { 1: 0, 2: 2, 3: '/a', 6: 0 }, 2: { 2: { 1: '/a', 2: 'x' } }, 3: { 1: { 1: '/a' } } }),
  removal: encode({ 1: { 1: 3, 2: 0, 3: '/a', 4: 5 }, 2: { 3: { 1: '/a', 3: true } } }),
  nested: encode({ 2: { 4: { 2: { 4: {} } } } }),
  watch: encode({ 1: { 1: '/', 2: '0', 3: 1, 4: true, 5: [0, 1], 6: true, 7: 3, 8: true } }),
  cancel: encode({ 2: { 1: 3 } }),
  progress: encode({ 3: {} }),
  grant: encode({ 1: 60, 2: 7 }),
  compaction: encode({ 1: 2 }),
};
const TOKENS = bytes('/a', '/b', '\0', '\x0a\x00', '\x12\x02', '\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01', '\x08\x01', '\x80', '\x82\x04\x01b', '\x7f');

interface Served {
  engine: LocalEngine;
  service: GrpcService;
  close(): Promise<void>;
}

async function serve(clock: StillClock): Promise<Served> {
  const engine = openMemoryEngine({ clock });
  const leases = await LeaseTable.open(engine, clock);
  await leases.grant(7n, 60);
  await engine.commit({ type: 'put', key: '/a', value: Buffer.from('one'), expected: 0 });
  await engine.commit({ type: 'put', key: '/a/b', value: Buffer.from('two'), expected: 0, lease: { id: 7n, expiresAtMs: 60_000 } });
  const close = async (): Promise<void> => {
    leases.close();
    await engine.close();
  };
  return { engine, service: etcdService({ engine, leases, clock, clientUrls: [], snapshotFolder: tmpdir(), maxRequestBytes: 1024 }), close };
}

/** One message, taken for a request of every method in turn, on a store that has two keys and a lease. */
export const etcdRequests: FuzzTarget = {
  name: 'etcd-requests',
  seeds: () => Object.values(MESSAGES),
  tokens: TOKENS,
  mutateStructure: mutateProtobuf,
  refusals: [GrpcError],
  async run(input) {
    const { engine, service, close } = await serve(new StillClock());
    let refusal: GrpcError | undefined;
    let answered = 0;
    for (const method of [decodeWatchRequest, ...service.unary.values()]) {
      const before = engine.publishedRevision;
      try {
        await method(Buffer.from(input));
        answered++;
      } catch (error) {
        if (!(error instanceof GrpcError)) throw error;
        refusal = error;
        if (engine.publishedRevision !== before) throw new WrongAnswer(`refused with ${error.message}, and written all the same`);
      }
    }
    await close();
    // Status, members and health are answered whatever is asked.
    if (refusal && answered < service.unary.size / 2) throw refusal;
  },
};

const headOf = (path: string): Buffer =>
  encodeHeaders({ ':method': 'POST', ':scheme': 'http', ':authority': 'a', ':path': path, 'content-type': 'application/grpc', te: 'trailers' });
const call = (id: number, method: string, ...messages: Buffer[]): Buffer =>
  Buffer.concat([
    headersFrames(id, headOf(`/etcdserverpb.${method}`), false),
    ...messages.map((message, index) => frame(FrameType.data, index === messages.length - 1 ? FrameFlag.endStream : 0, id, framed(message))),
  ]);
const open = (id: number, method: string, message: Buffer): Buffer =>
  Buffer.concat([headersFrames(id, headOf(`/etcdserverpb.${method}`), false), frame(FrameType.data, 0, id, framed(message))]);
const START = Buffer.concat([PREFACE, settingsFrame([])]);

/** The frames of a connection to the server, behind the preface: nothing is left behind when it is gone. */
export const etcdConnection: FuzzTarget = {
  name: 'etcd-connection',
  seeds: () => [
    Buffer.concat([call(1, 'KV/Range', MESSAGES.range), call(3, 'KV/Put', MESSAGES.put), call(5, 'KV/Txn', MESSAGES.create)]),
    Buffer.concat([open(1, 'Watch/Watch', MESSAGES.watch), call(3, 'KV/Put', MESSAGES.put), frame(FrameType.data, 0, 1, framed(MESSAGES.progress))]),
    Buffer.concat([open(1, 'Watch/Watch', MESSAGES.watch), frame(FrameType.data, FrameFlag.endStream, 1, framed(MESSAGES.cancel))]),
    Buffer.concat([open(1, 'Lease/LeaseKeepAlive', encode({ 1: 7 })), numberFrame(FrameType.rstStream, 1, 8), call(3, 'KV/Compact', MESSAGES.compaction)]),
    Buffer.concat([
      settingsFrame([[Setting.initialWindowSize, 10]]),
      call(1, 'Maintenance/Snapshot', Buffer.alloc(0)),
      numberFrame(FrameType.windowUpdate, 1, 100),
    ]),
    call(1, 'Lease/LeaseGrant', MESSAGES.grant),
  ],
  tokens: [
    call(7, 'KV/Range', MESSAGES.range),
    open(9, 'Watch/Watch', MESSAGES.watch),
    frame(FrameType.data, 0, 1, framed(MESSAGES.watch)),
    numberFrame(FrameType.windowUpdate, 0, 1),
    numberFrame(FrameType.rstStream, 1, 8),
    frame(FrameType.data, FrameFlag.endStream, 1, Buffer.alloc(0)),
    ...bytes('\0\0\0', '\0\0\x01\x05', '\0\xff\xff\xff\xff', '\x01\0\0\0\x05', '/a'),
  ],
  refusals: [],
  async run(input) {
    const clock = new StillClock();
    const { service, close } = await serve(clock);
    const socket = new MemorySocket();
    serveGrpc(socket as unknown as Socket, service, { maxMessageBytes: 4096, clock });
    await feedConnection(socket, START, input);
    await close();
    if (clock.openTimers > 0) throw new WrongAnswer(`${clock.openTimers} timers are left behind`);
  },
};
