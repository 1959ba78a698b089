import { METHODS } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ChunkedBody } from '../../src/http1/chunked-body.ts';
import { Connection } from '../../src/serving/connection.ts';
import type { Exchange } from '../../src/serving/exchange.ts';
import { createHttp1 } from '../../src/serving/http1.ts';
import { DEFAULT_LIMITS } from '../../src/serving/limits.ts';
import { UnsentAnswers } from '../../src/serving/unsent-answers.ts';
import { TestClock } from '../../src/util/test-clock.ts';
import { parseHead } from '../../src/serving/proxy/http1-head.ts';
import { mutateHttp1 } from '../structure/http1.ts';
import { StillClock } from '../../src/util/test-clock.ts';
import { MemorySocket, turn } from '../memory-socket.ts';
import { type FuzzTarget, WrongAnswer, mustAgree } from '../target.ts';

const TOKENS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  '\t',
  ',',
  ';',
  'chunked',
  'Content-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Host: a\r\n',
  '0\r\n\r\n',
  'HTTP/1.1',
  'GET ',
  'Connection: close\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: x\r\n',
  '\u00ff',
  '5\r\nabcde\r\n',
  '%00',
  '//',
];
const REQUESTS = [
  'GET /a?b=c HTTP/1.1\r\nHost: a\r\nAccept: x\r\n\r\n',
  'POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'PUT /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX-T: z\r\n\r\nGET / HTTP/1.0\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi',
];

const clock = new StillClock();
const LIMITS = { ...DEFAULT_LIMITS, headerBytes: 4096, headerCount: 20, streamWindowBytes: 1000 };
const unsent = new UnsentAnswers(LIMITS, new TestClock());

/** Serves the bytes on one connection; answers with the requests that were seen, and what was refused. */
async function serve(pieces: readonly Buffer[]): Promise<string> {
  const exchanges: Exchange[] = [];
  const seen: string[] = [];
  const http1 = createHttp1({
    limits: LIMITS,
    clock,
    unsent,
    onExchange(exchange) {
      exchanges.push(exchange);
      const { method, target, headers } = exchange;
      // Whether a method that llhttp does not know is refused by it or by us depends on the pieces; the connection ends either way.
      if (!METHODS.includes(method)) {
        seen.push('bad-request');
        return exchange.respond(405, {}, 'no');
      }
      exchange.readBody(100_000).then(
        (body) => {
          seen.push(`${method} ${target} ${JSON.stringify(headers)} ${body.toString('latin1')}`);
          exchange.respond(200, {}, 'ok');
        },
        () => seen.push(`${method} ${target}`),
      );
    },
    onProblem: ({ kind }) => void seen.push(kind),
  });
  const socket = new MemorySocket();
  http1.serve(new Connection(socket as unknown as TLSSocket, []));
  for (const piece of pieces) socket.push(piece);
  // Pipelined requests come one after another, each a turn or two behind the answer to the one before.
  let quiet = 0;
  for (let turns = 0; turns < 200 && quiet < 4; turns++) {
    const before = exchanges.length + seen.length;
    await turn();
    quiet = exchanges.length + seen.length === before ? quiet + 1 : 0;
  }
  const said = seen.join('\n');
  socket.destroy();
  await turn();
  if (exchanges.some(({ isClosed }) => !isClosed)) throw new WrongAnswer('a request is open when its connection is gone');
  if (unsent.size > 0) throw new WrongAnswer('an answer is counted as unsent when its connection is gone');
  if (clock.openTimers > 0) throw new WrongAnswer('a timer is left behind');
  return said;
}

const REQUEST_LINE = /([^\s]+) [^\r\n]* HTTP\/1/g;

/** What becomes of a method that llhttp does not know depends on the pieces: it is refused, or answered and its connection closed. */
const hasUnknownMethod = (input: Buffer): boolean => [...input.toString('latin1').matchAll(REQUEST_LINE)].some(([, method]) => !METHODS.includes(method!));

/** Whole connections: in however many pieces the bytes come, the requests are the same, and nothing is left behind. */
export const http1Connection: FuzzTarget = {
  name: 'http1-connection',
  seeds: () => REQUESTS,
  tokens: TOKENS,
  mutateStructure: mutateHttp1,
  refusals: [],
  async run(input) {
    const whole = await serve([Buffer.from(input)]);
    const pieces: Buffer[] = [];
    for (let at = 0, size = 1; at < input.length; at += size, size = (size % 97) + 3) pieces.push(Buffer.from(input.subarray(at, at + size)));
    return async () => {
      const piecemeal = await serve(pieces);
      if (!hasUnknownMethod(input)) mustAgree('requests, in pieces and whole', piecemeal, whole);
    };
  },
};

/** A backend's answer, and a body in chunks. */
export const http1Answer: FuzzTarget = {
  name: 'http1-answer',
  seeds: () => [
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\n',
    '3;x=y\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nX-T: z\r\n\r\n',
    'HTTP/1.0 404 \r\n\r\n',
  ],
  tokens: TOKENS,
  refusals: [Error],
  run(input) {
    if (input[0] === 0x48) {
      parseHead(input.toString('latin1').split('\r\n\r\n', 1)[0]!);
      return undefined;
    }
    const read = (pieces: readonly Buffer[]): string => {
      const body = new ChunkedBody();
      let out = '';
      try {
        for (const piece of pieces) if (!body.isDone) body.read(piece, 0, (data) => (out += data.toString('latin1')));
      } catch (error) {
        return `${out} ${(error as Error).message.slice(0, 24)}`;
      }
      return `${out} ${body.isDone}`;
    };
    const whole = read([input]);
    const pieces: Buffer[] = [];
    for (let at = 0; at < input.length; at += 5) pieces.push(input.subarray(at, at + 5));
    return () => mustAgree('chunks, in pieces and whole', read(pieces), whole);
  },
};
