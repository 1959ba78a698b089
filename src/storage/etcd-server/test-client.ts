import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, type SecureClientSessionOptions, connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { ProtobufReader, ProtobufWriter, WIRE_BYTES, WIRE_VARINT, tagOf } from '../../encoding/protobuf-wire.ts';
import { MessageAssembler, framed } from '../../grpc/message-assembler.ts';

/* A client of etcd's API that is made of Node's own HTTP/2 and knows messages by the numbers of their fields: it can say what our own client never does. */

type Value = number | bigint | boolean | string | Buffer | Message;
/** Fields by number; a list is a field that is repeated. */
export interface Message {
  readonly [field: number]: Value | readonly Value[];
}

export function encode(message: Message): Buffer {
  const writer = new ProtobufWriter();
  const fields = Object.entries(message).flatMap(([field, values]) =>
    (Array.isArray(values) ? values : [values]).map((value) => [Number(field), value as Value] as const),
  );
  for (const [field, value] of fields.toReversed()) {
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') {
      writer.int64(typeof value === 'boolean' ? Number(value) : value);
      writer.varint(tagOf(field, WIRE_VARINT));
    } else {
      writer.bytes(typeof value === 'string' ? Buffer.from(value) : Buffer.isBuffer(value) ? value : encode(value));
      writer.varint(tagOf(field, WIRE_BYTES));
    }
  }
  return writer.finish();
}

/** An answer, whose fields are asked for by number. */
export class Answer {
  readonly #fields = new Map<number, (bigint | Buffer)[]>();

  constructor(bytes: Buffer) {
    const reader = new ProtobufReader(bytes, 0, bytes.length, { left: Infinity });
    while (!reader.done) {
      const tag = reader.varint();
      const values = this.#fields.get(tag >>> 3) ?? [];
      this.#fields.set(tag >>> 3, values);
      values.push((tag & 7) === WIRE_VARINT ? BigInt(reader.int64()) : Buffer.from(reader.bytes()));
    }
  }

  big(field: number): bigint {
    return (this.#fields.get(field)?.at(-1) as bigint | undefined) ?? 0n;
  }

  number(field: number): number {
    return Number(this.big(field));
  }

  bytes(field: number): Buffer {
    return (this.#fields.get(field)?.at(-1) as Buffer | undefined) ?? Buffer.alloc(0);
  }

  text(field: number): string {
    return this.bytes(field).toString();
  }

  texts(field: number): string[] {
    return (this.#fields.get(field) ?? []).map(String);
  }

  messages(field: number): Answer[] {
    return (this.#fields.get(field) ?? []).map((bytes) => new Answer(bytes as Buffer));
  }

  /** Of the header. */
  get revision(): number {
    return new Answer(this.bytes(1)).number(3);
  }

  /** Of a KeyValue: `key=value created/modified/version`, and the lease where there is one. */
  get line(): string {
    const lease = this.big(6) === 0n ? '' : ` lease ${this.big(6)}`;
    return `${this.text(1)}=${this.text(5)} ${this.number(2)}/${this.number(3)}/${this.number(4)}${lease}`;
  }

  /** The KeyValues of a field. */
  lines(field: number): string[] {
    return this.messages(field).map(({ line }) => line);
  }
}

/** Another status than OK. */
export class CallFailed extends Error {
  readonly code: number;
  constructor(code: number, details: string) {
    super(details);
    this.code = code;
  }
}

export class TestCall {
  readonly stream: ClientHttp2Stream;
  /** The call's end; rejects with CallFailed. */
  readonly ended: Promise<void>;
  readonly #received: Answer[] = [];
  #wake: (() => void) | undefined;

  constructor(stream: ClientHttp2Stream) {
    this.stream = stream;
    const assembler = new MessageAssembler();
    stream.on('data', (piece: Buffer) => {
      assembler.push(piece, (message) => this.#received.push(new Answer(Buffer.from(message))));
      this.#wake?.();
    });
    this.ended = this.#end();
    this.ended.catch(() => undefined);
    void this.ended.finally(() => this.#wake?.()).catch(() => undefined);
  }

  send(message: Message): void {
    this.stream.write(framed(encode(message)));
  }

  /** The next message; rejects where the call ends before. */
  async next(): Promise<Answer> {
    while (this.#received.length === 0) {
      const isOver = await Promise.race([this.ended.then(() => true), new Promise<false>((wake) => (this.#wake = () => wake(false)))]);
      if (isOver && this.#received.length === 0) throw new Error('the call has ended');
    }
    return this.#received.shift()!;
  }

  /** Messages that are here and were not taken. */
  get waiting(): number {
    return this.#received.length;
  }

  async #end(): Promise<void> {
    let status: string | undefined;
    let details = '';
    const note = (headers: Record<string, unknown>): void => {
      status = (headers['grpc-status'] as string | undefined) ?? status;
      details = (headers['grpc-message'] as string | undefined) ?? details;
    };
    this.stream.on('response', note);
    this.stream.on('trailers', note);
    await once(this.stream, 'close');
    if (status !== '0') throw new CallFailed(Number(status ?? -1), decodeURIComponent(details));
  }
}

/** Calls to one server, on one connection. */
export class TestClient {
  readonly session: ClientHttp2Session;

  constructor(url: string, tls: SecureClientSessionOptions = {}) {
    const path = /^unix:\/\/(.+)$/.exec(url)?.[1];
    this.session = path === undefined ? connect(url, tls) : connect('http://localhost', { createConnection: () => connectSocket(path) });
    this.session.on('error', () => undefined);
  }

  call(method: string): TestCall {
    return new TestCall(
      this.session.request({ ':method': 'POST', ':path': `/etcdserverpb.${method}`, 'content-type': 'application/grpc', te: 'trailers' }, { endStream: false }),
    );
  }

  /** One message there and one back. */
  async ask(method: string, message: Message | Buffer): Promise<Answer> {
    const call = this.call(method);
    call.stream.end(framed(Buffer.isBuffer(message) ? message : encode(message)));
    const answer = await call.next();
    await call.ended;
    return answer;
  }

  put(key: string, value: string | Buffer, more: Message = {}): Promise<Answer> {
    return this.ask('KV/Put', { 1: key, 2: value, ...more });
  }

  async range(key: string, end: string, more: Message = {}): Promise<Answer> {
    return this.ask('KV/Range', { 1: key, ...(end !== '' && { 2: end }), ...more });
  }

  close(): void {
    this.session.destroy();
  }
}
