import type { Random } from '../../src/util/test-random.ts';

/* Requests of HTTP/1.1, taken apart into their lines, changed, and put together again. */

const NAMES = [
  'Host',
  'Content-Length',
  'Transfer-Encoding',
  'Connection',
  'Expect',
  'Upgrade',
  'Accept',
  'Authorization',
  'Cookie',
  'X-Remote-User',
  'Impersonate-User',
  'Te',
  'Trailer',
  'Keep-Alive',
  'Proxy-Connection',
  'Date',
  'x',
  '__proto__',
  "!#$%&'*+-.^_`|~",
  'a'.repeat(70),
];
const VALUES = [
  '',
  'a',
  '0',
  '5',
  '5, 5',
  '+5',
  '0x5',
  '00005',
  '99999999999999999999',
  'chunked',
  'gzip, chunked',
  'Chunked',
  'chunked, chunked',
  'identity',
  'close',
  'keep-alive, Upgrade',
  'websocket',
  'SPDY/3.1',
  '100-continue',
  'Bearer a.b.c',
  'text/html;q=0.1, */*',
  'a:80',
  '[::1]:443',
  '\u00ff\u0080',
  'a\tb',
  ' ',
  'x'.repeat(300),
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE', 'PRI', 'get', 'X-Y_Z', 'M'.repeat(30)];
const TARGETS = [
  '/',
  '*',
  '//',
  '/a//b/../c',
  '/a?b=c&b=d',
  '/%2e%2e/%00',
  'http://a/b',
  'https://a:80/b?c',
  'a:443',
  '/a#b',
  '/\u00e9',
  '/a b',
  `/${'x'.repeat(500)}`,
  '?',
  '/a?%zz',
];
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/1.1', 'HTTP/2.0', 'HTTP/1.2', 'HTTP/0.9'];

interface Head {
  method: string;
  target: string;
  version: string;
  lines: string[];
}

/** What stands at the start of the bytes, changed; what stands behind it stays. Undefined where it is no request. */
export function mutateHttp1(random: Random, bytes: Buffer): Buffer | undefined {
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first, ...lines] = text.slice(0, end).split('\r\n');
  const [method, target, version, ...more] = first!.split(' ');
  if (method === undefined || target === undefined || version === undefined || more.length > 0) return undefined;
  const head: Head = { method, target, version, lines };
  for (let count = random.chance(0.6) ? 1 : 1 + random.below(4); count > 0; count--) change(random, head);
  return Buffer.from([`${head.method} ${head.target} ${head.version}`, ...head.lines, '', text.slice(end + 4)].join('\r\n'), 'latin1');
}

const lineOf = (random: Random): string => `${random.pick(NAMES)}:${random.pick(['', ' ', '  ', '\t'])}${random.pick(VALUES)}${random.pick(['', '', ' '])}`;

function change(random: Random, head: Head): void {
  const { lines } = head;
  const at = random.below(lines.length + 1);
  const line = lines[at];
  switch (random.below(10)) {
    case 0:
      head.method = random.pick(METHODS);
      break;
    case 1:
      head.target = random.pick(TARGETS);
      break;
    case 2:
      head.version = random.pick(VERSIONS);
      break;
    case 3:
      lines.splice(at, 1);
      break;
    case 4:
      if (line !== undefined) lines.splice(random.below(lines.length + 1), 0, line);
      break;
    case 5:
      if (line !== undefined) lines[at] = `${line.slice(0, line.indexOf(':') + 1)} ${random.pick(VALUES)}`;
      break;
    case 6:
      if (line !== undefined) lines[at] = random.chance(0.5) ? line.toLowerCase() : line.toUpperCase();
      break;
    case 7:
      for (let count = random.below(15); count > 0; count--) lines.splice(at, 0, lineOf(random));
      break;
    default:
      lines.splice(at, 0, lineOf(random));
  }
}
