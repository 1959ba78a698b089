import { describe, expect, test } from 'vitest';
import { HeadReader } from './head-reader.ts';
import { BadRequest, type RequestHead, parseRequestHead, requestHeadRules } from './request-head.ts';

const LIMITS = { headerBytes: 4096, headerCount: 20 };
const HOST = 'Host: a';

const parse = (...lines: string[]): RequestHead => parseRequestHead(lines.join('\r\n'), LIMITS);

function refusalOf(text: string): string {
  try {
    parseRequestHead(text, LIMITS);
    return 'taken';
  } catch (error) {
    return error instanceof BadRequest ? error.reason : '400 Bad Request';
  }
}

describe('a head', () => {
  test('is read whole', () => {
    expect(parse('POST /api?x=1 HTTP/1.1', 'Host: a:6443', 'X-Y:\t z \t', 'content-LENGTH: 5', 'Empty:')).toEqual({
      method: 'POST',
      target: '/api?x=1',
      minorVersion: 1,
      headers: { host: 'a:6443', 'x-y': 'z', 'content-length': '5', empty: '' },
      fields: ['host', 'a:6443', 'x-y', 'z', 'content-length', '5', 'empty', ''],
      bodyBytes: 5,
      isKept: true,
      isUpgrade: false,
    });
  });

  test.each<[string[], Partial<RequestHead>]>([
    [['\r\nGET / HTTP/1.1', HOST], { method: 'GET' }],
    [['DANCE / HTTP/1.1', HOST], { method: 'DANCE' }],
    [['GET /\xff HTTP/1.1', HOST], { target: '/\xff' }],
    [['OPTIONS * HTTP/1.1', HOST], { target: '*' }],
    [['GET https://a:6443/api?x=/ HTTP/1.1', HOST], { target: '/api?x=/' }],
    [['GET HTTP://a HTTP/1.1', HOST], { target: '/' }],
    [['GET http://a?b=/c HTTP/1.1', HOST], { target: '/?b=/c' }],
    [['CONNECT a:443 HTTP/1.1'], { target: 'a:443', isUpgrade: true }],
    [['GET / HTTP/1.1', 'Host:'], { isKept: true }],
    [['GET / HTTP/1.1', HOST, 'Connection: close'], { isKept: false }],
    [['GET / HTTP/1.1', HOST, 'Connection: x, Close'], { isKept: false }],
    [['GET / HTTP/1.1', HOST, 'Connection: closed'], { isKept: true }],
    [['GET / HTTP/1.0'], { minorVersion: 0, isKept: false }],
    [['GET / HTTP/1.0', 'Connection: Keep-Alive'], { isKept: true }],
    [['GET / HTTP/1.0', 'Connection: keep-alive, close'], { isKept: false }],
    [['GET / HTTP/1.1', HOST, 'Connection: Upgrade', 'Upgrade: SPDY/3.1'], { isUpgrade: true }],
    [['GET / HTTP/1.1', HOST, 'Connection: keep-alive, upgrade', 'Upgrade: websocket'], { isUpgrade: true }],
    [['GET / HTTP/1.1', HOST, 'Connection: Upgrade'], { isUpgrade: false }],
    [['GET / HTTP/1.1', HOST, 'Upgrade: websocket'], { isUpgrade: false }],
    [['POST / HTTP/1.1', HOST, 'Transfer-Encoding: Chunked'], { bodyBytes: Infinity }],
    [['POST / HTTP/1.1', HOST, 'Content-Length: 5', 'Content-Length: 5'], { bodyBytes: 5 }],
    [['POST / HTTP/1.1', HOST, 'Content-Length: 0'], { bodyBytes: 0 }],
    [['GET / HTTP/1.1', HOST], { bodyBytes: 0 }],
  ])('%j', (lines, expected) => {
    expect(parse(...lines)).toMatchObject(expected);
  });

  test('lines of one name are joined as Node does, and each is there', () => {
    const { headers, fields } = parse(
      'GET / HTTP/1.1',
      HOST,
      ...['Accept: a', 'accept: b', 'Cookie: c=1', 'Cookie: d=2', 'Authorization: first', 'Authorization: second', 'Set-Cookie: e', 'Set-Cookie: f'],
      ...['__proto__: g', 'constructor: h', 'constructor: i', 'toString: j'],
    );
    expect(headers).toMatchObject({ accept: 'a, b', cookie: 'c=1; d=2', authorization: 'first', 'set-cookie': ['e', 'f'], constructor: 'h, i', tostring: 'j' });
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
    expect(fields.filter((name) => name === 'authorization')).toHaveLength(2);
    expect(fields).toContain('__proto__');
  });
});

describe('no head', () => {
  const withLine = (line: string, requestLine = 'POST / HTTP/1.1'): string => `${requestLine}\r\n${HOST}\r\n${line}`;
  const withRequest = (line: string): string => `${line}\r\n${HOST}`;

  test.each<[what: string, text: string, reason: string]>([
    ['nothing', '', '400 Bad Request'],
    ['noise', 'hello', '400 Bad Request'],
    ['no version', withRequest('GET /'), '400 Bad Request'],
    ['no target', withRequest('GET  HTTP/1.1'), '400 Bad Request'],
    ['no method', withRequest(' / HTTP/1.1'), '400 Bad Request'],
    ['a method that is no token', withRequest('G(T / HTTP/1.1'), '400 Bad Request'],
    ['a blank in the target', withRequest('GET / x HTTP/1.1'), '400 Bad Request'],
    ['two blanks', withRequest('GET /  HTTP/1.1'), '400 Bad Request'],
    ['a tab for a blank', withRequest('GET\t/\tHTTP/1.1'), '400 Bad Request'],
    ['a blank behind the version', withRequest('GET / HTTP/1.1 '), '400 Bad Request'],
    ['a NUL in the target', withRequest('GET /\0 HTTP/1.1'), '400 Bad Request'],
    ['a control character in the target', withRequest('GET /\x7f HTTP/1.1'), '400 Bad Request'],
    ['a target that is no path', withRequest('GET api HTTP/1.1'), '400 Bad Request'],
    ['a star for a path', withRequest('GET * HTTP/1.1'), '400 Bad Request'],
    ['another scheme', withRequest('GET ftp://a/ HTTP/1.1'), '400 Bad Request'],
    ['a version in lower case', withRequest('GET / http/1.1'), '400 Bad Request'],
    ['a version of two digits', withRequest('GET / HTTP/1.10'), '400 Bad Request'],
    ['a version that is none', withRequest('GET / HTTP/a.b'), '400 Bad Request'],
    ['HTTP/2.0', 'PRI * HTTP/2.0', '505 HTTP Version Not Supported: unsupported protocol version'],
    ['HTTP/9.9', withRequest('GET / HTTP/9.9'), '505 HTTP Version Not Supported: unsupported protocol version'],
    ['HTTP/0.9', withRequest('GET / HTTP/0.9'), '505 HTTP Version Not Supported: unsupported protocol version'],
    ['HTTP/1.2', withRequest('GET / HTTP/1.2'), '505 HTTP Version Not Supported: unsupported protocol version'],
    ['no host', 'GET / HTTP/1.1', '400 Bad Request: missing required Host header'],
    ['two hosts', withLine(HOST), '400 Bad Request'],
    ['a host that is none', 'GET / HTTP/1.1\r\nHost: a/b', '400 Bad Request: malformed Host header'],
    ['a line without a colon', withLine('nonsense'), '400 Bad Request'],
    ['a colon alone', withLine(': x'), '400 Bad Request'],
    ['a blank before the colon', withLine('Content-Length : 5'), '400 Bad Request'],
    ['a blank in a name', withLine('A B: c'), '400 Bad Request'],
    ['a folded line', withLine('X: a\r\n Content-Length: 5'), '400 Bad Request'],
    ['a line that begins with a tab', withLine('\tX: a'), '400 Bad Request'],
    ['a bare CR', withLine('X: a\rContent-Length: 5'), '400 Bad Request'],
    ['a bare LF', withLine('X: a\nContent-Length: 5'), '400 Bad Request'],
    ['a bare LF behind the request line', `GET / HTTP/1.1\n${HOST}`, '400 Bad Request'],
    ['a NUL in a value', withLine('X: a\0b'), '400 Bad Request'],
    ['a control character in a value', withLine('X: a\x01b'), '400 Bad Request'],
    ['a name beyond ASCII', withLine('X\xe4: a'), '400 Bad Request'],
    ['two lengths', withLine('Content-Length: 1\r\nContent-Length: 2'), '400 Bad Request'],
    ['a length that is written twice', withLine('Content-Length: 5\r\nContent-Length: 05'), '400 Bad Request'],
    ['a list of lengths', withLine('Content-Length: 5, 5'), '400 Bad Request'],
    ['a length with a sign', withLine('Content-Length: +5'), '400 Bad Request'],
    ['a negative length', withLine('Content-Length: -1'), '400 Bad Request'],
    ['a length in hexadecimal', withLine('Content-Length: 0x5'), '400 Bad Request'],
    ['a length beyond all numbers', withLine('Content-Length: 99999999999999999999'), '400 Bad Request'],
    ['an empty length', withLine('Content-Length:'), '400 Bad Request'],
    ['a length and chunks', withLine('Content-Length: 5\r\nTransfer-Encoding: chunked'), '400 Bad Request'],
    ['chunks and a length', withLine('Transfer-Encoding: chunked\r\nContent-Length: 5'), '400 Bad Request'],
    ['chunks of HTTP/1.0', withLine('Transfer-Encoding: chunked', 'POST / HTTP/1.0'), '400 Bad Request'],
    ['an encoding that is not ours', withLine('Transfer-Encoding: gzip'), '501 Not Implemented'],
    ['chunks that are none', withLine('Transfer-Encoding: xchunked'), '501 Not Implemented'],
    ['chunks and more', withLine('Transfer-Encoding: gzip, chunked'), '501 Not Implemented'],
    ['chunks twice', withLine('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'), '501 Not Implemented'],
    ['an empty encoding', withLine('Transfer-Encoding:'), '501 Not Implemented'],
    ['a vertical tab behind chunks', withLine('Transfer-Encoding: chunked\x0b'), '400 Bad Request'],
    ['too many lines', withLine(Array.from({ length: 20 }, (_, index) => `X-${index}: y`).join('\r\n')), '431 Request Header Fields Too Large'],
  ])('%s', (_what, text, reason) => {
    expect(refusalOf(text)).toBe(reason);
  });

  test('an encoding that is not ours is named in Go’s words', () => {
    expect(() => parse('POST / HTTP/1.1', HOST, 'Transfer-Encoding: gzip')).toThrow(expect.objectContaining({ body: 'Unsupported transfer encoding' }));
  });
});

describe('in what arrives', () => {
  const reader = (): HeadReader => new HeadReader(requestHeadRules(LIMITS));

  test('heads are found one behind the other, and behind the middle of another thing', () => {
    const bytes = Buffer.from('xxGET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n');
    const heads = reader();
    const first = heads.read(bytes, 2)!;
    expect(first.text).toBe('GET /1 HTTP/1.1');
    expect(heads.read(bytes, first.end)).toEqual({ text: 'GET /2 HTTP/1.1', end: bytes.length });
  });

  test('byte by byte, with an empty line before it', () => {
    const heads = reader();
    const text = '\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n';
    for (const byte of text.slice(0, -1)) {
      expect(heads.read(Buffer.from(byte), 0)).toBeUndefined();
      expect(heads.isPending).toBe(true);
    }
    expect(heads.read(Buffer.from('\nrest'), 0)).toEqual({ text: text.slice(0, -4), end: 1 });
    expect(heads.isPending).toBe(false);
  });

  test.each(['\0', '\x16\x03\x01', '(', ' GET /', 'hello\r\n', 'GET / HTTP/1.1\nHost: a\n', '\r\n\r', '\n', 'GET\t'])(
    'what begins as %j is not waited for',
    (beginning) => {
      expect(() => reader().read(Buffer.from(beginning, 'latin1'), 0)).toThrow(BadRequest);
    },
  );

  test('what is too long is not, in one piece or many', () => {
    const line = `GET / HTTP/1.1\r\nX: ${'x'.repeat(5000)}`;
    const tooLong = expect.objectContaining({ status: 431 });
    expect(() => reader().read(Buffer.from(line), 0)).toThrow(tooLong);
    expect(() => reader().read(Buffer.from(`${line}\r\n\r\n`), 0)).toThrow(tooLong);
    const heads = reader();
    expect(() => {
      for (const byte of line) heads.read(Buffer.from(byte), 0);
    }).toThrow(tooLong);
  });
});
