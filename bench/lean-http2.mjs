// A client of HTTP/2 that does no more than the measurements need, so that one process holds ten thousand connections beside the server that is measured.
import tls from 'node:tls';

const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 };
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
const HEADER_BYTES = 9;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/** The windows of Go's client (x/net/http2 transportDefaultConnFlow, transportDefaultStreamFlow). */
const CONNECTION_WINDOW_BYTES = 1 << 30;
const STREAM_WINDOW_BYTES = 4 << 20;
const INITIAL_WINDOW_SETTING = 4;
/** What a server gives before it says otherwise (RFC 9113, section 6.9.2). */
const FIRST_WINDOW_BYTES = 65_535;

/** One for all connections: it holds the certificates that are trusted, which none of them asks for. */
const secureContext = tls.createSecureContext();

export function frame(type, flags, streamId, payload = NOTHING) {
  const head = Buffer.allocUnsafe(HEADER_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

function uint32(value) {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const setting = (id, value) => Buffer.concat([Buffer.from([0, id]), uint32(value)]);
const openingOf = (streamWindowBytes) =>
  Buffer.concat([
    PREFACE,
    frame(FRAME.settings, 0, 0, setting(INITIAL_WINDOW_SETTING, streamWindowBytes)),
    frame(FRAME.windowUpdate, 0, 0, uint32(CONNECTION_WINDOW_BYTES - FIRST_WINDOW_BYTES)),
  ]);

/** An integer of RFC 7541, section 5.1, in the low `bits` of a byte that begins with `start`. */
function integer(start, bits, value) {
  const most = (1 << bits) - 1;
  if (value < most) return [start | value];
  const bytes = [start | most];
  let rest = value - most;
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128);
  return [...bytes, rest];
}

function text(value) {
  const bytes = Buffer.from(value);
  return [...integer(0, 7, bytes.length), ...bytes];
}

/** Places of names in HPACK's static table (RFC 7541, appendix A). */
const STATIC = { ':authority': 1, ':method': 2, ':path': 4, ':scheme': 6, accept: 19, authorization: 23, 'content-type': 31 };
const STATIC_ENTRIES = 61;

/** Fields that come again are sent once and referred to then, as clients do; paths are sent as they are. */
class HeaderEncoder {
  #known = new Map();

  encode(headers) {
    const bytes = [];
    for (const [name, value] of Object.entries(headers)) {
      const field = `${name}\0${value}`;
      const known = this.#known.get(field);
      if (name === ':path') bytes.push(...integer(0, 4, STATIC[name]), ...text(value));
      else if (known !== undefined) bytes.push(...integer(0x80, 7, STATIC_ENTRIES + this.#known.size - known));
      else {
        this.#known.set(field, this.#known.size);
        bytes.push(...integer(0x40, 6, STATIC[name]), ...text(value));
      }
    }
    return Buffer.from(bytes);
  }
}

/**
 * One TLS connection. Answers that are a Status reject; so does all that is open when the connection goes. Windows are given once and never again: who reads
 * more than `streamWindowBytes` of one answer asks for more, and a connection ends after a GiB.
 */
export class LeanConnection {
  #socket;
  #token;
  #encoder = new HeaderEncoder();
  #nextId = 1;
  #streams = new Map();
  #unread = NOTHING;
  #windowBytes = FIRST_WINDOW_BYTES;
  #waiting = [];

  constructor(port, token, { streamWindowBytes = STREAM_WINDOW_BYTES } = {}) {
    this.#token = token;
    this.#socket = tls.connect({ host: '127.0.0.1', port, secureContext, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')));
    this.#socket.write(openingOf(streamWindowBytes));
  }

  /** Resolves with the body. */
  request(method, path, body = NOTHING, contentType = 'application/json') {
    return new Promise((resolve, reject) => {
      const chunks = [];
      const onEnd = () => {
        const answer = Buffer.concat(chunks);
        if (answer.includes('"kind":"Status"')) reject(new Error(`${method} ${path}: ${answer.subarray(0, 300)}`));
        else resolve(answer);
      };
      const type = body.length === 0 ? undefined : contentType;
      this.#send({ ':method': method, ':path': path }, type, Buffer.from(body), { onData: (chunk) => chunks.push(Buffer.from(chunk)), onEnd, reject });
    });
  }

  /** Calls back with each piece of the answer, as long as it lasts; resolves when the answer has begun. */
  stream(path, onData) {
    return new Promise((resolve, reject) => {
      this.#send({ ':method': 'GET', ':path': path }, undefined, NOTHING, {
        onHead: resolve,
        onData,
        onEnd: () => reject(new Error(`${path} was ended`)),
        reject,
      });
    });
  }

  close() {
    this.#streams.clear();
    this.#socket.destroy();
  }

  #send(request, contentType, body, stream) {
    if (body.length > this.#windowBytes) return void this.#waiting.push([request, contentType, body, stream]);
    this.#windowBytes -= body.length;
    const id = this.#nextId;
    this.#nextId += 2;
    this.#streams.set(id, stream);
    const constant = { authorization: `Bearer ${this.#token}`, accept: 'application/json', ...(contentType && { 'content-type': contentType }) };
    const headers = this.#encoder.encode({ ':scheme': 'https', ':authority': 'bench', ...request, ...constant });
    const head = frame(FRAME.headers, END_HEADERS | (body.length === 0 ? END_STREAM : 0), id, headers);
    this.#socket.write(body.length === 0 ? head : Buffer.concat([head, frame(FRAME.data, END_STREAM, id, body)]));
  }

  #read(chunk) {
    let unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    for (;;) {
      const end = unread.length < HEADER_BYTES ? Infinity : HEADER_BYTES + unread.readUIntBE(0, 3);
      if (end > unread.length) break;
      this.#take(unread[3], unread[4], unread.readUInt32BE(5), unread.subarray(HEADER_BYTES, end));
      unread = unread.subarray(end);
    }
    this.#unread = unread.length === 0 ? NOTHING : Buffer.from(unread);
  }

  #take(type, flags, id, payload) {
    const stream = this.#streams.get(id);
    if (type === FRAME.headers) stream?.onHead?.();
    if (type === FRAME.data) stream?.onData(payload);
    if ((type === FRAME.headers || type === FRAME.data) && flags & END_STREAM) {
      this.#streams.delete(id);
      stream?.onEnd();
    }
    if (type === FRAME.settings && !(flags & ACK)) this.#socket.write(frame(FRAME.settings, ACK, 0));
    if (type === FRAME.ping && !(flags & ACK)) this.#socket.write(frame(FRAME.ping, ACK, 0, payload));
    if (type === FRAME.windowUpdate && id === 0) this.#widen(payload.readUInt32BE(0));
    if (type === FRAME.reset) stream?.reject(new Error('the stream was reset'));
    if (type === FRAME.goAway) this.#fail(new Error('GOAWAY'));
  }

  #widen(sizeBytes) {
    this.#windowBytes += sizeBytes;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const held of waiting) this.#send(...held);
  }

  #fail(error) {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const { reject } of streams) reject(error);
  }
}
