// One user who wants ten times what there is, in a process of its own: `node flood.mjs <port> <token> <path> <in flight>`, forked. Speaks HTTP/2 in bytes
// made beforehand, since a client that costs as much as the server would take the processor that the server is measured on. Each request that is answered,
// with whatever status and whatever Retry-After, is followed by the next at once. `go` starts it; `stop` lets the last answers in and tells what came.
import { setPriority } from 'node:os';
import { connect } from 'node:tls';
import { frame } from './lean-http2.mjs';

const [port, token, path, inFlight] = process.argv.slice(2);
const STREAMS_A_CONNECTION = 100;
const NICENESS = 10;
const FRAME = { data: 0, headers: 1, settings: 4, ping: 6, windowUpdate: 8 };
const FLAG = { ack: 1, endStream: 1, endHeaders: 4 };

/** A header that no table remembers, its name from the static table (RFC 7541 §6.2.2, appendix A). */
const literal = (name, value) => Buffer.concat([Buffer.from(name < 15 ? [name] : [15, name - 15]), Buffer.from([value.length]), Buffer.from(value)]);
const REQUEST = frame(
  FRAME.headers,
  FLAG.endStream | FLAG.endHeaders,
  0,
  Buffer.concat([Buffer.from([0x82, 0x87]), literal(4, path), literal(1, `127.0.0.1:${port}`), literal(23, `Bearer ${token}`)]),
);
/** No header table, so that a status can be read without one; no push; windows that never close. */
const SETTINGS = Buffer.from([0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0]);
const HELLO = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(FRAME.settings, 0, 0, SETTINGS),
  frame(FRAME.windowUpdate, 0, 0, Buffer.from([0x7f, 0, 0, 0])),
]);

let isOn = false;
let told = { sent: 0, answered: 0, refused: 0 };

class Connection {
  #socket;
  #inFlight;
  #rest = Buffer.alloc(0);
  #nextStream = 1;
  open = 0;

  constructor(streams, onReady) {
    this.#inFlight = streams;
    this.#socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['h2'] }, () => {
      this.#socket.write(HELLO);
      onReady();
    });
    this.#socket.setNoDelay(true).on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', () => {});
  }

  fill() {
    const count = this.#inFlight - this.open;
    if (count === 0) return;
    const bytes = Buffer.allocUnsafe(REQUEST.length * count);
    for (let i = 0; i < count; i++) {
      REQUEST.copy(bytes, i * REQUEST.length);
      bytes.writeUInt32BE(this.#nextStream, i * REQUEST.length + 5);
      this.#nextStream += 2;
    }
    told.sent += count;
    this.open += count;
    this.#socket.write(bytes);
  }

  #take(chunk) {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (let end; bytes.length - at >= HEAD_BYTES && (end = at + HEAD_BYTES + bytes.readUIntBE(at, 3)) <= bytes.length; at = end)
      this.#takeFrame(bytes[at + 3], bytes[at + 4], bytes.subarray(at + HEAD_BYTES, end));
    this.#rest = bytes.subarray(at);
    if (isOn) this.fill();
  }

  #takeFrame(type, flags, payload) {
    if ((type === FRAME.settings || type === FRAME.ping) && (flags & FLAG.ack) === 0)
      this.#socket.write(frame(type, FLAG.ack, 0, type === FRAME.ping ? payload : undefined));
    if (type === FRAME.headers) told[isSuccess(payload) ? 'answered' : 'refused']++;
    if ((type === FRAME.data || type === FRAME.headers) && (flags & FLAG.endStream) !== 0) this.open--;
  }
}

/** `:status: 200` is one byte of the static table; in front of it may stand that the table has no room. */
const isSuccess = (block) => block[block.findIndex((byte) => (byte & 0xe0) !== 0x20)] === 0x88;

setPriority(NICENESS);
const connections = [];
for (let left = Number(inFlight); left > 0; left -= STREAMS_A_CONNECTION)
  await new Promise((resolve) => connections.push(new Connection(Math.min(left, STREAMS_A_CONNECTION), resolve)));

/** Waits for the last answers, but not for ever: those that do not come are what is told. */
const LAST_ANSWERS_MS = 5000;
function tellWhenDone(deadlineMs) {
  if (connections.some(({ open }) => open > 0) && performance.now() < deadlineMs) return void setTimeout(tellWhenDone, 5, deadlineMs);
  process.send(told);
  told = { sent: 0, answered: 0, refused: 0 };
}
process.on('message', (word) => {
  isOn = word === 'go';
  if (isOn) for (const connection of connections) connection.fill();
  else tellWhenDone(performance.now() + LAST_ANSWERS_MS);
});
process.on('disconnect', () => process.exit(0));
process.send('ready');
