import { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream, createSecureServer, createServer } from 'node:http2';
import { type Socket, connect } from 'node:net';
import { ProtobufReader, ProtobufWriter, tagOf, WIRE_BYTES, WIRE_VARINT } from '../../encoding/protobuf-wire.ts';
import { MessageAssembler, framed } from '../../grpc/message-assembler.ts';
import { type PacketId, PacketType, writeId } from './packets.ts';

/* For tests: a konnectivity proxy server and its agent in one, on Node's own HTTP/2. It opens connections itself, at the pace of both ends. */

/** What a misbehaving proxy does with a dial. */
export type DialAnswer = (proxy: ProxyStream, random: PacketId) => void;

export interface KonnectivityCertificates {
  certPem: string;
  keyPem: string;
  caPem: string;
}

export class TestKonnectivity {
  /** What was asked for, as `host:port`, in order. */
  readonly targets: string[] = [];
  readonly streams = new Set<ProxyStream>();
  /** Where targets really are; others are where they say. */
  readonly places = new Map<string, { host: string; port: number }>();
  /** Types of the packets that came, in order. */
  readonly received: number[] = [];
  answer: DialAnswer | undefined;
  /** Whether a close is confirmed. */
  confirmsClose = true;
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #waiting: { isSo(): boolean; resolve(): void }[] = [];

  constructor(certificates?: KonnectivityCertificates) {
    this.#server = certificates
      ? (createSecureServer({
          cert: certificates.certPem,
          key: certificates.keyPem,
          ca: certificates.caPem,
          requestCert: true,
          rejectUnauthorized: true,
        }) as unknown as Http2Server)
      : createServer();
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('error', () => undefined);
      session.on('close', () => {
        this.#sessions.delete(session);
        this.changed();
      });
    });
    this.#server.on('sessionError', () => undefined);
    this.#server.on('stream', (stream, headers) => {
      if (headers[':path'] === '/ProxyService/Proxy') this.streams.add(new ProxyStream(this, stream));
      else stream.close();
    });
  }

  /** At a path, or at any free port. */
  listen(path?: string): Promise<this> {
    return new Promise((resolve) => {
      const onListening = (): void => resolve(this);
      if (path === undefined) this.#server.listen(0, '127.0.0.1', onListening);
      else this.#server.listen(path, onListening);
    });
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  get connections(): number {
    return this.#sessions.size;
  }

  /** All connections end without a word. */
  cut(): void {
    for (const session of this.#sessions) session.destroy();
    for (const stream of this.streams) stream.destroyTarget();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  /** Resolves once it is so. */
  until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ isSo, resolve });
      this.changed();
    });
  }

  changed(): void {
    for (const { isSo, resolve } of this.#waiting) if (isSo()) resolve();
  }
}

/** One tunnel, with the one connection that is in it. */
export class ProxyStream {
  readonly #proxy: TestKonnectivity;
  readonly #stream: ServerHttp2Stream;
  readonly #assembler = new MessageAssembler();
  readonly connectId = 41;
  #target: Socket | undefined;

  constructor(proxy: TestKonnectivity, stream: ServerHttp2Stream) {
    this.#proxy = proxy;
    this.#stream = stream;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.on('error', () => undefined);
    stream.on('data', (piece: Buffer) => this.#assembler.push(piece, (message) => this.#onPacket(message)));
    stream.on('drain', () => this.#target?.resume());
    stream.on('close', () => {
      proxy.streams.delete(this);
      this.#target?.destroy();
    });
  }

  destroyTarget(): void {
    this.#target?.destroy();
  }

  /** Ends the call with OK, behind what was sent. */
  end(): void {
    this.#stream.end();
  }

  sendDialResponse(random: PacketId, error = '', connectId = this.connectId): void {
    this.send(PacketType.dialRsp, 3, (writer) => {
      writeId(writer, 3, random);
      writeId(writer, 2, connectId);
      bytes(writer, 1, Buffer.from(error));
    });
  }

  sendDialClose(random: PacketId): void {
    this.send(PacketType.dialCls, 7, (writer) => writeId(writer, 1, random));
  }

  sendData(data: Buffer, connectId = this.connectId): boolean {
    return this.send(PacketType.data, 4, (writer) => {
      bytes(writer, 3, data);
      writeId(writer, 1, connectId);
    });
  }

  /** Nothing that is sent to it is read any more. */
  pause(): void {
    this.#stream.pause();
  }

  sendCloseResponse(error = '', connectId = this.connectId): void {
    this.send(PacketType.closeRsp, 6, (writer) => {
      writeId(writer, 2, connectId);
      bytes(writer, 1, Buffer.from(error));
    });
  }

  sendRaw(message: Buffer): void {
    this.#stream.write(framed(message));
  }

  send(type: number, field: number, write: (writer: ProtobufWriter) => void): boolean {
    if (this.#stream.destroyed || this.#stream.writableEnded) return true;
    const writer = new ProtobufWriter();
    write(writer);
    writer.lengthSince(0);
    writer.varint(tagOf(field, WIRE_BYTES));
    writer.varint(type);
    writer.varint(tagOf(1, WIRE_VARINT));
    return this.#stream.write(framed(writer.finish()));
  }

  #onPacket(message: Buffer): void {
    const { type, fields } = read(message);
    this.#proxy.received.push(type);
    if (type === PacketType.dialReq) this.#onDial(String(fields[2]), fields[3] as PacketId);
    else if (type === PacketType.data) this.#onData(Buffer.from(fields[3] as Buffer));
    else if (type === PacketType.closeReq && this.#proxy.confirmsClose) this.#onClose();
    this.#proxy.changed();
  }

  #onDial(target: string, random: PacketId): void {
    this.#proxy.targets.push(target);
    if (this.#proxy.answer) return this.#proxy.answer(this, random);
    const { hostname, port } = new URL(`http://${target}`);
    const place = this.#proxy.places.get(target) ?? { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || 80 };
    let isUp = false;
    const socket = connect(place.port, place.host, () => {
      isUp = true;
      this.sendDialResponse(random);
    });
    this.#target = socket;
    socket.on('error', (error) => {
      if (!isUp) this.sendDialResponse(random, error.message);
    });
    socket.on('data', (chunk) => {
      if (!this.sendData(chunk)) socket.pause();
    });
    socket.on('drain', () => this.#stream.resume());
    socket.on('close', () => {
      if (isUp) this.sendCloseResponse();
    });
  }

  #onData(data: Buffer): void {
    if (this.#target && !this.#target.write(data)) this.#stream.pause();
  }

  #onClose(): void {
    if (this.#target && !this.#target.destroyed) this.#target.destroy();
    else this.sendCloseResponse();
  }
}

function bytes(writer: ProtobufWriter, field: number, value: Buffer): void {
  writer.bytes(value);
  writer.varint(tagOf(field, WIRE_BYTES));
}

/** The type of a packet, and the fields of its payload by number. */
function read(message: Buffer): { type: number; fields: (PacketId | Buffer)[] } {
  const reader = new ProtobufReader(message);
  let type = 0;
  const fields: (PacketId | Buffer)[] = [];
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === tagOf(1, WIRE_VARINT)) {
      type = reader.varint();
      continue;
    }
    const payload = reader.message();
    while (!payload.done) {
      const inner = payload.varint();
      fields[Math.floor(inner / 8)] = inner % 8 === WIRE_VARINT ? payload.int64() : payload.bytes();
    }
  }
  return { type, fields };
}
