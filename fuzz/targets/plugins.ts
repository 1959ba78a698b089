import type { Socket } from 'node:net';
import { generateKeyPairSync } from 'node:crypto';
import { ProtobufError } from '../../src/encoding/protobuf-wire.ts';
import { GrpcChannel } from '../../src/grpc/channel.ts';
import { framed } from '../../src/grpc/message-assembler.ts';
import { GrpcError } from '../../src/grpc/status.ts';
import { FrameFlag, FrameType, Setting, frame, headersFrames, numberFrame, settingsFrame } from '../../src/http2/frames.ts';
import { encodeHeaders } from '../../src/http2/hpack.ts';
import { FetchedKeys } from '../../src/kube/external-signer/fetched-keys.ts';
import { decodeFetchKeysResponse, decodeMetadataResponse, decodeSignResponse } from '../../src/kube/external-signer/messages.ts';
import { keyIdOf } from '../../src/kube/external-signer/signer.ts';
import { PACKET_NAMES, decodePacket, encodeCloseRequest, encodeData, encodeDialClose, encodeDialRequest } from '../../src/server/egress/packets.ts';
import {
  decodeEncryptResponse,
  decodeEncryptedObject,
  decodeFirstBytes,
  decodeFirstText,
  decodeStatusResponse,
} from '../../src/storage/encryption/kms/messages.ts';
import { encode } from '../../src/storage/etcd-server/test-client.ts';
import { StillClock } from '../../src/util/test-clock.ts';
import { MemorySocket, feedConnection } from '../memory-socket.ts';
import { mutateProtobuf } from '../structure/protobuf.ts';
import { type FuzzTarget, WrongAnswer, bytes } from '../target.ts';

/* What signers, KMS plug-ins and konnectivity proxies answer. */

const TOKENS = bytes('\x0a\x00', '\x12\x02', '\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01', '\x08\x01', '\x18\x01', '\x80', '\x7f');
const publicKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey.export({ format: 'der', type: 'spki' });

const ignore = (): void => {};
const OBSERVER = { called: ignore, keysFetched: ignore, keysAsOf: ignore, signed: ignore };

/** The keys of an external signer: none is taken without an id, and none when there is something wrong with another. */
export const signerKeys: FuzzTarget = {
  name: 'signer-keys',
  seeds: () => [
    encode({
      1: [
        { 1: 'a', 2: publicKey },
        { 1: 'b', 2: publicKey, 3: true },
      ],
      2: { 1: 1_700_000_000, 2: 5 },
      3: 3600,
    }),
    encode({ 1: { 1: 'a', 2: publicKey }, 2: { 1: 1 }, 3: 1 }),
  ],
  tokens: [...TOKENS, publicKey],
  mutateStructure: mutateProtobuf,
  refusals: [Error],
  async run(input) {
    const answer = decodeFetchKeysResponse(Buffer.from(input));
    const service = { fetchKeys: async () => answer, sign: never, metadata: never, close: ignore };
    const keys = new FetchedKeys({ service, observer: OBSERVER, report: ignore, clock: new StillClock() });
    try {
      await keys.start();
    } finally {
      keys.close();
    }
    return () => {
      if (keys.current.length === 0 || keys.current.some(({ id }) => id === '')) throw new WrongAnswer('a key without an id was taken, or none at all');
    };
  },
};

const never = (): Promise<never> => Promise.reject(new Error('nobody asks'));
const header = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString('base64url');

/** The header of a token that a signer has signed, as base64: what is not known in it is refused. */
export const signerHeader: FuzzTarget = {
  name: 'signer-header',
  seeds: () => [header({ alg: 'RS256', kid: 'a', typ: 'JWT' }), header({ typ: 'JWT', kid: 'b'.repeat(100), alg: 'ES384' })],
  tokens: ['=', '-', '_', header({ kid: 'a' }), header({ x: 1 }), 'e30'],
  refusals: [Error],
  run(input) {
    const id = keyIdOf(input.toString());
    if (id === '') throw new WrongAnswer('a header without a key was taken');
  },
};

const DECODERS = [
  decodeSignResponse,
  decodeMetadataResponse,
  decodeFetchKeysResponse,
  decodeStatusResponse,
  decodeEncryptResponse,
  decodeEncryptedObject,
  decodeFirstBytes,
  decodeFirstText,
];

/** One message, taken for an answer of every kind. */
export const pluginAnswers: FuzzTarget = {
  name: 'plugin-answers',
  seeds: () => [
    encode({ 1: 'header', 2: 'signature' }),
    encode({ 1: 3600 }),
    encode({ 1: 'v2', 2: 'ok', 3: 'key' }),
    encode({ 1: 'ciphertext', 2: 'key', 3: { 1: 'example.com/a', 2: 'value' } }),
    encode({ 1: 'data', 2: 'key', 3: 'dek', 4: { 1: 'a', 2: 'b' }, 5: 1 }),
  ],
  tokens: TOKENS,
  mutateStructure: mutateProtobuf,
  refusals: [ProtobufError],
  run(input) {
    let refusal: ProtobufError | undefined;
    for (const decode of DECODERS) {
      try {
        decode(Buffer.from(input));
      } catch (error) {
        if (!(error instanceof ProtobufError)) throw error;
        refusal = error;
      }
    }
    if (refusal) throw refusal;
  },
};

/** A packet of a konnectivity proxy. */
export const konnectivityPacket: FuzzTarget = {
  name: 'konnectivity-packet',
  seeds: () => [
    encode({ 1: 1, 3: { 1: '', 2: 7, 3: 99 } }),
    encode({ 1: 1, 3: { 1: 'no such host', 3: 99 } }),
    encode({ 1: 4, 4: { 1: 7, 3: 'data' } }),
    encode({ 1: 3, 6: { 1: 'gone', 2: 7 } }),
    encode({ 1: 5, 7: { 1: 99 } }),
    encodeDialRequest('a:443', 99),
    encodeData(7, Buffer.from('data')),
    encodeCloseRequest(7),
    encodeDialClose(99),
  ],
  tokens: TOKENS,
  mutateStructure: mutateProtobuf,
  refusals: [ProtobufError],
  run(input) {
    const { type, error, data } = decodePacket(Buffer.from(input));
    if (data.length + Buffer.byteLength(error) > 3 * input.length) throw new WrongAnswer(`a packet ${PACKET_NAMES[type]} holds more than was sent`);
  },
};

const ANSWER = encodeHeaders({ ':status': '200', 'content-type': 'application/grpc' });
const OK = encodeHeaders({ 'grpc-status': '0' });
const FAILED = encodeHeaders({ 'grpc-status': '13', 'grpc-message': 'no%20way' });
const answered = (id: number, ...messages: Buffer[]): Buffer =>
  Buffer.concat([headersFrames(id, ANSWER, false), ...messages.map((message) => frame(FrameType.data, 0, id, framed(message))), headersFrames(id, OK, true)]);
const START = settingsFrame([]);
const MESSAGE = encode({ 1: 'header', 2: 'signature' });

/** The frames of a gRPC server's connection, while a call and a stream wait for their answers: both come to an end, and nothing is left behind. */
export const grpcAnswers: FuzzTarget = {
  name: 'grpc-answers',
  seeds: () => [
    Buffer.concat([answered(1, MESSAGE), answered(3, MESSAGE, MESSAGE)]),
    Buffer.concat([headersFrames(1, ANSWER, false), headersFrames(1, FAILED, true), numberFrame(FrameType.rstStream, 3, 8)]),
    Buffer.concat([settingsFrame([[Setting.initialWindowSize, 1]]), headersFrames(3, FAILED, true), answered(1, Buffer.alloc(0))]),
    Buffer.concat([frame(FrameType.goaway, 0, 0, Buffer.alloc(8)), answered(1, MESSAGE)]),
  ],
  tokens: [
    answered(1, MESSAGE),
    frame(FrameType.data, 0, 3, framed(MESSAGE)),
    frame(FrameType.data, FrameFlag.endStream, 1, Buffer.alloc(0)),
    headersFrames(1, FAILED, true),
    numberFrame(FrameType.windowUpdate, 0, 1),
    numberFrame(FrameType.rstStream, 1, 8),
    ...bytes('\0\0\0', '\0\xff\xff\xff\xff', '\x01\0\0\0\x05'),
  ],
  refusals: [GrpcError],
  async run(input) {
    const socket = new MemorySocket();
    const clock = new StillClock();
    const connect = (): Promise<Socket> => Promise.resolve(socket as unknown as Socket);
    const channel = new GrpcChannel({ authority: 'a', hasTls: false, connect }, { maxMessageBytes: 4096, clock });
    let ends = 0;
    const call = channel.unary('/a/b', MESSAGE, { timeoutMs: 1000 }).then(
      () => undefined,
      (error: unknown) => error,
    );
    channel.stream('/a/c', { onMessage: ignore, onEnd: () => ends++ }).send(MESSAGE);
    await feedConnection(socket, START, input);
    channel.close();
    const failure = await call;
    if (ends !== 1) throw new WrongAnswer(`a stream has ended ${ends} times`);
    if (clock.openTimers > 0) throw new WrongAnswer(`${clock.openTimers} timers are left behind`);
    if (failure) throw failure;
  },
};
