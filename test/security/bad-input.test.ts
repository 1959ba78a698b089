import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, ApiClient, ApiRequest } from '../support/api-client.ts';
import { type ServerProcess, startServer } from '../support/server.ts';
import { residentMiB } from './measure.ts';
import { head, sendRaw } from './raw.ts';

/*
 * Malformed requests over real sockets: each gets a Status where HTTP lets one be told, what Go's server says where it does not, and the process lives
 * on with the memory that it had.
 */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

let server: ServerProcess;
let admin: ApiClient;

beforeAll(async () => {
  // Little memory to grow into: what is not let go shows soon.
  process.env.NODE_OPTIONS = '--max-old-space-size=200';
  server = await startServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
  admin = server.client();
  await admin.create(CONFIG_MAPS, { metadata: { name: 'there' }, data: { a: 'b' } });
});
afterAll(async () => {
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

interface Case {
  what: string;
  request: ApiRequest;
  code: number;
  /** Part of the message. */
  says: string;
}

const post = (body: string | Buffer, type = 'application/json', path = CONFIG_MAPS): ApiRequest => ({
  method: 'POST',
  path,
  body,
  headers: { 'content-type': type },
});
const patch = (body: string, type: string): ApiRequest => ({ method: 'PATCH', path: `${CONFIG_MAPS}/there`, body, headers: { 'content-type': type } });
const get = (query: string): ApiRequest => ({ path: `${CONFIG_MAPS}?${query}` });

const CASES: readonly Case[] = [
  { what: 'a malformed escape in the path', request: { path: `${CONFIG_MAPS}/%zz` }, code: 400, says: 'invalid URL escape in "%zz"' },
  { what: 'an escape that is no UTF-8', request: { path: `${CONFIG_MAPS}/%ff%fe` }, code: 400, says: 'invalid URL escape' },
  { what: 'NUL in a name', request: { path: `${CONFIG_MAPS}/a%00b` }, code: 404, says: 'not found' },
  { what: 'an encoded slash in a name', request: { path: `${CONFIG_MAPS}/a%2Fb` }, code: 400, says: "may not contain '/'" },
  { what: 'no body', request: post(''), code: 400, says: 'unexpected end of JSON input' },
  { what: 'half of a body', request: post('{"metadata":{"name":"x"'), code: 400, says: 'unexpected end of JSON input' },
  { what: 'a list for an object', request: post('[1,2,3]'), code: 400, says: 'cannot unmarshal array' },
  { what: 'a number for an object', request: post('42'), code: 400, says: 'cannot unmarshal number' },
  { what: 'another kind', request: post('{"kind":"Secret","apiVersion":"v1"}'), code: 400, says: 'cannot be handled as a ConfigMap' },
  { what: 'a kind that is none', request: post('{"kind":{},"apiVersion":"v1"}'), code: 400, says: 'cannot unmarshal object' },
  {
    what: 'an apiVersion of three parts',
    request: post('{"kind":"ConfigMap","apiVersion":"a/b/c"}'),
    code: 400,
    says: 'unexpected GroupVersion string: a/b/c',
  },
  { what: 'a byte order mark', request: post(Buffer.from('\ufeff{"metadata":{"name":"x"}}')), code: 400, says: "invalid character 'ï'" },
  { what: 'UTF-16', request: post(Buffer.from('{"metadata":{"name":"x"}}', 'utf16le')), code: 400, says: 'invalid character' },
  { what: 'a body of zeros', request: post(Buffer.alloc(1000)), code: 400, says: "invalid character '\\x00'" },
  { what: 'JSON of another dialect', request: post("{metadata:{name:'x'}}"), code: 400, says: "invalid character 'm'" },
  { what: 'NaN', request: post('{"metadata":{"name":"x"},"immutable":NaN}'), code: 400, says: "invalid character 'N'" },
  { what: 'a number beyond all', request: post('{"metadata":{"name":"x","generation":1e999}}'), code: 400, says: 'cannot unmarshal number 1e999' },
  {
    what: 'a string for a boolean',
    request: post('{"metadata":{"name":"x"},"immutable":"yes"}'),
    code: 400,
    says: 'cannot unmarshal string into Go struct field ConfigMap.immutable of type bool',
  },
  { what: 'base64 that is none', request: post('{"metadata":{"name":"x"},"binaryData":{"a":"***"}}'), code: 400, says: 'illegal base64 data at input byte 0' },
  {
    what: 'gzip that is none',
    request: { ...post('{}'), headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
    code: 422,
    says: 'name or generateName is required',
  },
  {
    what: 'gzip that is',
    request: { ...post(gzipSync('{}')), headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
    code: 400,
    says: "invalid character '\\x1f'",
  },
  { what: 'a content type that is none', request: post('{}', ';;;'), code: 415, says: 'the body of the request was in an unknown format' },
  { what: 'a content type that nobody speaks', request: post('<a/>', 'text/xml'), code: 415, says: 'the body of the request was in an unknown format' },
  { what: 'an Accept that nobody speaks', request: { path: CONFIG_MAPS, headers: { accept: 'text/xml' } }, code: 406, says: '406: Not Acceptable' },
  { what: 'an Accept of noise', request: { path: CONFIG_MAPS, headers: { accept: ';;;===,,,' } }, code: 406, says: '406: Not Acceptable' },
  {
    what: 'a table of another version',
    request: { path: CONFIG_MAPS, headers: { accept: 'application/json;as=Table;v=v9;g=meta.k8s.io' } },
    code: 406,
    says: 'only the following media types are accepted',
  },
  { what: 'protobuf without its magic', request: post('hello', PROTOBUF), code: 400, says: 'provided data does not appear to be a protobuf message' },
  { what: 'protobuf of magic alone', request: post('k8s\0', PROTOBUF), code: 400, says: 'empty body (6b387300)' },
  { what: 'protobuf that lies of its length', request: post(Buffer.from('k8s\0\x0a\x7f', 'latin1'), PROTOBUF), code: 400, says: 'unexpected EOF' },
  { what: 'YAML that is none', request: post('a: b: c: [', 'application/yaml'), code: 400, says: 'yaml: line 1' },
  { what: 'YAML with a tab', request: post('a:\n\tb: c', 'application/yaml'), code: 400, says: 'yaml: line' },
  { what: 'an alias to nowhere', request: post('a: *b', 'application/yaml'), code: 400, says: "unknown anchor 'b' referenced" },
  { what: 'a limit that is none', request: get('limit=ten'), code: 400, says: 'strconv.ParseInt: parsing "ten": invalid syntax' },
  { what: 'a limit beyond int64', request: get('limit=99999999999999999999'), code: 400, says: 'value out of range' },
  { what: 'a timeout that is none', request: get('timeout=soon'), code: 400, says: 'invalid timeout specified in the request URL' },
  { what: 'a timeout of ages', request: get('timeout=99999999999999h'), code: 400, says: 'invalid timeout specified in the request URL' },
  { what: 'a version that is none', request: get('resourceVersion=now'), code: 400, says: 'strconv.ParseUint: parsing "now": invalid syntax' },
  { what: 'a version that is negative', request: get('resourceVersion=-1'), code: 400, says: 'invalid syntax' },
  { what: 'a version still to come', request: get('resourceVersion=999999999999&timeout=10ms'), code: 504, says: 'Timeout' },
  {
    what: 'a match without a version',
    request: get('resourceVersionMatch=Exact'),
    code: 422,
    says: 'resourceVersionMatch is forbidden unless resourceVersion is provided',
  },
  { what: 'a continue token of noise', request: get('limit=1&continue=%21%21%21'), code: 400, says: 'continue key is not valid' },
  { what: 'a continue token of 200,000 characters', request: get(`limit=1&continue=${'A'.repeat(200_000)}`), code: 400, says: 'continue key is not valid' },
  { what: 'a continue token of half a mebibyte', request: get(`limit=1&continue=${'A'.repeat(500_000)}`), code: 414, says: 'Request URI too long' },
  {
    what: 'a continue token of no version',
    request: get(`limit=1&continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1.5,"start":"a"}').toString('base64url')}`),
    code: 400,
    says: 'incorrect encoded start resourceVersion',
  },
  { what: 'a field that cannot be selected by', request: get('fieldSelector=data.a%3Db'), code: 400, says: 'is not a known field selector' },
  { what: 'a field selector of noise', request: get('fieldSelector=%3D%3D%3D'), code: 400, says: 'unescaped character in value: 61' },
  { what: 'a label selector of noise', request: get('labelSelector=%28%29%21'), code: 400, says: "found '(', expected: !, identifier, or 'end of string'" },
  { what: 'a label selector of too much', request: get(`labelSelector=${'a,'.repeat(2000)}a`), code: 400, says: 'at most 1000 requirements' },
  { what: 'a watch with nonsense', request: get('watch=perhaps&sendInitialEvents=true&resourceVersionMatch=Never'), code: 422, says: 'resourceVersionMatch' },
  { what: 'a watch from no version', request: get('watch=1&resourceVersion=abc'), code: 500, says: 'strconv.ParseUint: parsing "abc": invalid syntax' },
  { what: 'a watch without a resource', request: { path: '/api/v1/watch' }, code: 500, says: 'unable to determine kind and namespace from url' },
  { what: 'a dry run of a part', request: { ...post('{}'), path: `${CONFIG_MAPS}?dryRun=Half` }, code: 422, says: 'dryRun: Unsupported value' },
  {
    what: 'a field validation of another kind',
    request: { ...post('{}'), path: `${CONFIG_MAPS}?fieldValidation=Loose` },
    code: 422,
    says: 'fieldValidation: Unsupported value',
  },
  {
    what: 'a manager whose name cannot be printed',
    request: { ...post('{}'), path: `${CONFIG_MAPS}?fieldManager=%00` },
    code: 422,
    says: 'fieldManager: Invalid value',
  },
  { what: 'DELETE with a list', request: { method: 'DELETE', path: `${CONFIG_MAPS}/there`, body: '[1]' }, code: 400, says: 'cannot unmarshal array' },
  {
    what: 'DELETE with another kind',
    request: { method: 'DELETE', path: `${CONFIG_MAPS}/there`, body: '{"kind":"Pod","apiVersion":"v1"}' },
    code: 400,
    says: 'no kind "Pod" is registered',
  },
  {
    what: 'DELETE with wrong types',
    request: { method: 'DELETE', path: `${CONFIG_MAPS}/there`, body: '{"gracePeriodSeconds":"a"}' },
    code: 400,
    says: 'cannot unmarshal string',
  },
  {
    what: 'DELETE with two policies',
    request: { method: 'DELETE', path: `${CONFIG_MAPS}/there`, body: '{"orphanDependents":true,"propagationPolicy":"Orphan"}' },
    code: 422,
    says: 'cannot be both set',
  },
  { what: 'a JSON patch that is no list', request: patch('{}', 'application/json-patch+json'), code: 400, says: 'cannot unmarshal object' },
  { what: 'a JSON patch of noise', request: patch('[{"op":"dance","path":5}]', 'application/json-patch+json'), code: 400, says: 'cannot unmarshal number' },
  {
    what: 'a JSON patch to nowhere',
    request: patch('[{"op":"replace","path":"/a/b/c","value":1}]', 'application/json-patch+json'),
    code: 422,
    says: 'the server rejected our request',
  },
  {
    what: 'a JSON patch of a wrong type',
    request: patch('[{"op":"replace","path":"/data","value":[1]}]', 'application/json-patch+json'),
    code: 422,
    says: 'cannot unmarshal array',
  },
  {
    what: 'a JSON patch that removes everything',
    request: patch('[{"op":"replace","path":"","value":{}}]', 'application/json-patch+json'),
    code: 400,
    says: 'name must be provided',
  },
  { what: 'a merge patch that is a list', request: patch('[]', 'application/merge-patch+json'), code: 400, says: 'cannot unmarshal array' },
  { what: 'a merge patch of a wrong type', request: patch('{"data":5}', 'application/merge-patch+json'), code: 422, says: 'cannot unmarshal number' },
  {
    what: 'a merge patch of another name',
    request: patch('{"metadata":{"name":"other"}}', 'application/merge-patch+json'),
    code: 400,
    says: 'the name of the object (other) does not match',
  },
  { what: 'a patch of no type', request: patch('{}', 'application/json'), code: 415, says: '415' },
  {
    what: 'PUT of another name',
    request: { method: 'PUT', path: `${CONFIG_MAPS}/there`, body: { metadata: { name: 'other' } } },
    code: 400,
    says: 'does not match the name on the URL',
  },
  {
    what: 'PUT of an old version',
    request: { method: 'PUT', path: `${CONFIG_MAPS}/there`, body: { metadata: { name: 'there', resourceVersion: '1' } } },
    code: 409,
    says: 'the object has been modified',
  },
  {
    what: 'PUT of a version that is none',
    request: { method: 'PUT', path: `${CONFIG_MAPS}/there`, body: { metadata: { name: 'there', resourceVersion: 'x' } } },
    // Upstream's storage says so, and nobody there makes a client's fault of it.
    code: 500,
    says: 'strconv.ParseUint: parsing "x": invalid syntax',
  },
  { what: 'a method that nobody knows', request: { method: 'PROPFIND', path: CONFIG_MAPS }, code: 405, says: 'the server does not allow this method' },
  {
    what: 'a quantity that is none',
    request: post(
      '{"metadata":{"name":"x"},"spec":{"containers":[{"name":"a","image":"b","resources":{"limits":{"cpu":"1.5.5"}}}]}}',
      'application/json',
      PODS,
    ),
    code: 400,
    says: 'quantities must match',
  },
  { what: 'a time that never was', request: post('{"metadata":{"name":"x","creationTimestamp":"yesterday"}}'), code: 400, says: 'parsing time' },
  {
    what: 'a subresource that is nothing',
    request: { path: `${CONFIG_MAPS}/there/nothing` },
    code: 404,
    says: 'the server could not find the requested resource',
  },
];

interface Failure {
  kind: string;
  apiVersion: string;
  status: string;
  code: number;
  message: string;
}

function checkFailure(answer: Answer, code: number, says: string): void {
  const failure = answer.json<Failure>();
  expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(says)]);
  expect([answer.status, answer.headers['content-type']]).toEqual([code, 'application/json']);
  expect(failure).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure' });
}

test.each(CASES)('$what: $code', async ({ request, code, says }) => {
  checkFailure(await admin.send(request), code, says);
});

describe('what is taken, since upstream takes it', () => {
  test('text that is not UTF-8, and halves of characters', async () => {
    const bytes = Buffer.concat([Buffer.from('{"metadata":{"name":"odd"},"data":{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('\\ud800"}}')]);
    const made = (await admin.expect(201, post(bytes))).json();
    expect(made.data).toEqual({ a: '\ufffd\ufffd\ufffd' });
  });

  test('a query parameter twice: the first counts', async () => {
    expect((await admin.send(get('limit=1&limit=ten&watch=false&watch=true'))).status).toBe(200);
  });

  test('a negative limit, an endless timeout, parameters that nobody knows', async () => {
    expect((await admin.send(get('limit=-5'))).status).toBe(200);
    expect((await admin.send(get('timeoutSeconds=9223372036854775807'))).status).toBe(200);
    expect((await admin.send(get('__proto__=1&constructor=2&%00=3'))).status).toBe(200);
  });
});

describe('below the Status: HTTP/1.1 that is none', () => {
  test.each([
    ['no request line', '\0\0\0\0\r\n\r\n', 400],
    ['a request line of noise', 'hello\r\n\r\n', 400],
    ['HTTP/9.9', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 505],
    ['a header without a colon', head('GET /livez', 'nonsense'), 400],
    ['NUL in a header', head('GET /livez', 'X: a\0b'), 400],
    ['no Host', 'GET /livez HTTP/1.1\r\n\r\n', 400],
    ['a head of more than a mebibyte', head('GET /livez', `X: ${'x'.repeat(1_100_000)}`), 431],
    ['chunks that are none', `${head(`POST ${CONFIG_MAPS}`, 'Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`, 0],
    ['a chunk longer than it says', `${head(`POST ${CONFIG_MAPS}`, 'Transfer-Encoding: chunked')}2\r\n{}xx\r\n0\r\n\r\n`, 0],
    ['a chunk of 2^64 bytes', `${head(`POST ${CONFIG_MAPS}`, 'Transfer-Encoding: chunked')}ffffffffffffffffff\r\n{}`, 0],
  ])('%s', async (_what, bytes, status) => {
    const answer = await sendRaw(server, bytes);
    // Behind a head that was read, there is no place to say anything: the connection ends.
    expect([answer.status, answer.isClosed || answer.head.toLowerCase().includes('connection: close')]).toEqual([status, true]);
    expect((await admin.send({ path: '/livez' })).status).toBe(200);
  });

  test('a method that nobody knows is refused as any other', async () => {
    const answer = await sendRaw(server, head(`DANCE ${CONFIG_MAPS}`));
    expect(answer.status).toBe(405);
    expect(answer.body).toContain('the server does not allow this method on the requested resource');
  });

  test('a body that breaks off', async () => {
    const answer = await sendRaw(server, `${head(`POST ${CONFIG_MAPS}`, 'Content-Type: application/json', 'Content-Length: 100')}{"metadata":`, { end: true });
    expect([0, 400]).toContain(answer.status);
    expect((await admin.send({ path: '/livez' })).status).toBe(200);
  });

  test('a body that is too long, announced and not', async () => {
    const announced = await sendRaw(server, head(`POST ${CONFIG_MAPS}`, 'Content-Type: application/json', 'Content-Length: 999999999999'));
    expect(announced.status).toBe(413);
    expect(announced.body).toContain('"reason":"RequestEntityTooLarge"');
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    const chunked = await sendRaw(server, `${head(`POST ${CONFIG_MAPS}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked')}${chunk.repeat(4)}`);
    expect(chunked.status).toBe(413);
  });

  test('plain HTTP, and no TLS at all', async () => {
    const speak = (bytes: string): Promise<string> =>
      new Promise((resolve) => {
        let text = '';
        const socket = connectTcp(server.port, '127.0.0.1', () => socket.write(bytes));
        socket
          .on('data', (chunk: Buffer) => (text += chunk.toString()))
          .on('close', () => resolve(text))
          .on('error', () => {});
      });
    expect(await speak('GET / HTTP/1.1\r\nHost: x\r\n\r\n')).toContain('Client sent an HTTP request to an HTTPS server.');
    expect(await speak('\x16\x03\x01\xff\xffnonsense'.repeat(100))).not.toContain('HTTP');
  });
});

describe('HTTP/2 that is none', () => {
  const request = (headers: Record<string, string>, body?: string): Promise<{ status: number | undefined; code: number }> =>
    new Promise((resolve) => {
      const session = connectHttp2(server.url, { ca: server.ca }).on('error', () => {});
      const stream = session.request({ authorization: 'Bearer admin-token', ...headers }, { endStream: body === undefined });
      let status: number | undefined;
      stream.on('response', (answer) => (status = answer[':status']));
      stream
        .on('error', () => {})
        .on('close', () => {
          resolve({ status, code: stream.rstCode ?? 0 });
          session.destroy();
        });
      stream.resume();
      if (body !== undefined) stream.end(body);
    });

  test.each([
    ['a path with an escape of noise', { ':path': `${CONFIG_MAPS}/%zz` }, 400],
    ['a path of stars', { ':path': '*', ':method': 'OPTIONS' }, 404],
    ['a made-up method', { ':path': CONFIG_MAPS, ':method': 'DANCE' }, 405],
    ['another scheme', { ':path': `${CONFIG_MAPS}/there`, ':scheme': 'gopher' }, undefined],
  ])('%s', async (_what, headers, status) => {
    expect((await request(headers)).status).toBe(status);
  });

  test('a body shorter or longer than it says resets its stream alone', async () => {
    for (const length of ['5', '5000']) {
      const { status, code } = await request(
        { ':method': 'POST', ':path': CONFIG_MAPS, 'content-type': 'application/json', 'content-length': length },
        '{"metadata":{}}',
      );
      expect(status === undefined ? code : status).toBe(status === undefined ? constants.NGHTTP2_PROTOCOL_ERROR : 400);
    }
    expect((await request({ ':path': '/livez' })).status).toBe(200);
  });

  test('frames of noise end the connection', async () => {
    for (const bytes of ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff', 'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n', '\0'.repeat(100)]) {
      const isClosed = await new Promise<boolean>((resolve) => {
        const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: server.ca, ALPNProtocols: ['h2'] }, () =>
          socket.write(Buffer.from(bytes, 'latin1')),
        );
        socket
          .resume()
          .on('error', () => {})
          .once('close', () => resolve(true));
      });
      expect(isClosed).toBe(true);
    }
    expect((await admin.send({ path: '/livez' })).status).toBe(200);
  });
});

test('all of it, fifty times over, leaves the memory where it was', async () => {
  const round = async (): Promise<void> => {
    await Promise.all(CASES.filter(({ code }) => code !== 504).map(({ request }) => admin.send(request)));
    await sendRaw(server, head('GET /livez', `X: ${'x'.repeat(1_100_000)}`));
    await sendRaw(server, `${head(`POST ${CONFIG_MAPS}`, 'Content-Length: 100')}{`, { end: true });
  };
  for (let i = 0; i < 15; i++) await round();
  const before = residentMiB(server);
  for (let i = 0; i < 50; i++) await round();
  const after = residentMiB(server);
  if (before !== undefined && after !== undefined) expect(after - before).toBeLessThan(48);
  expect((await admin.send({ path: '/readyz' })).status).toBe(200);
});
