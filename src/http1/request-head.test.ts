import { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { BadRequest, type Http1RequestHead, checkedHead } from './request-head.ts';
import { RequestParser } from './request-parser.ts';

/* What llhttp and our rules behind it make of heads, as they come from the network. */

const LIMITS = { headerBytes: 4096, headerCount: 20 };
const HOST = 'Host: a';
const parser = new RequestParser(LIMITS);

class Source extends Duplex {
  override _read(): void {}
  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
  }
}

/** Throws BadRequest. */
function parseText(text: string): Promise<Http1RequestHead> {
  const source = new Source();
  return new Promise<Http1RequestHead>((resolve, reject) => {
    const onParsed = (request: Parameters<typeof checkedHead>[0]): void => {
      try {
        resolve(checkedHead(request, LIMITS));
      } catch (error) {
        reject(error as Error);
      }
    };
    parser.read(source, { isAtStart: true, onParsed, onParseError: reject });
    source.once('close', () => reject(new BadRequest('cut off', 400)));
    source.push(Buffer.from(`${text}\r\n\r\n`, 'latin1'));
  }).finally(() => source.destroy());
}

const parse = (...lines: string[]): Promise<Http1RequestHead> => parseText(lines.join('\r\n'));

const refusalOf = (text: string): Promise<string> =>
  parseText(text).then(
    () => 'taken',
    (error: Error) => (error instanceof BadRequest ? error.reason : `unexpected: ${error.message}`),
  );

describe('a head', () => {
  test('is read whole', async () => {
    expect(await parse('POST /api?x=1 HTTP/1.1', 'Host: a:6443', 'X-Y:\t z \t', 'content-LENGTH: 5', 'Empty:')).toEqual({
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

  test.each<[string[], Partial<Http1RequestHead>]>([
    [['\r\nGET / HTTP/1.1', HOST], { method: 'GET' }],
    [['DANCE / HTTP/1.1', HOST], { method: 'DANCE' }],
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
    [['POST / HTTP/1.1', HOST, 'Content-Length: 0'], { bodyBytes: 0 }],
    [['GET / HTTP/1.1', HOST], { bodyBytes: 0 }],
  ])('%j', async (lines, expected) => {
    expect(await parse(...lines)).toMatchObject(expected);
  });

  test('lines of one name are joined as Node does, and each is there', async () => {
    const { headers, fields } = await parse(
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
    ['a target beyond ASCII', withRequest('GET /\xff HTTP/1.1'), '400 Bad Request'],
    ['a length twice', withLine('Content-Length: 5\r\nContent-Length: 5'), '400 Bad Request'],
    ['noise', 'hello', '400 Bad Request'],
    ['no version', withRequest('GET /'), '505 HTTP Version Not Supported: unsupported protocol version'],
    ['no target', withRequest('GET  HTTP/1.1'), '400 Bad Request'],
    ['no method', withRequest(' / HTTP/1.1'), '400 Bad Request'],
    ['a method that is no token', withRequest('G(T / HTTP/1.1'), '400 Bad Request'],
    ['a blank in the target', withRequest('GET / x HTTP/1.1'), '400 Bad Request'],
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
    ['HTTP/2.0', withRequest('GET / HTTP/2.0'), '505 HTTP Version Not Supported: unsupported protocol version'],
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
    ['chunks twice', withLine('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'), '400 Bad Request'],
    // By us, or by llhttp since 9.4.
    ['an empty encoding', withLine('Transfer-Encoding:'), '501 Not Implemented or 400 Bad Request'],
    ['a vertical tab behind chunks', withLine('Transfer-Encoding: chunked\x0b'), '400 Bad Request'],
    ['too many lines', withLine(Array.from({ length: 20 }, (_, index) => `X-${index}: y`).join('\r\n')), '431 Request Header Fields Too Large'],
  ])('%s', async (_what, text, reason) => {
    expect(reason.split(' or ')).toContain(await refusalOf(text));
  });

  test('an encoding that is not ours is named in Go’s words', async () => {
    await expect(parse('POST / HTTP/1.1', HOST, 'Transfer-Encoding: gzip')).rejects.toThrow(expect.objectContaining({ body: 'Unsupported transfer encoding' }));
  });
});
