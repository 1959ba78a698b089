import { afterEach, describe, expect, test } from 'vitest';
import { isApiError } from '../api/errors.ts';
import type { Exchange, ResponseStream } from './exchange.ts';
import type { Listener } from './listener.ts';
import { Gate, clients, startListener } from './test-server.ts';

/* The contract of Exchange, the same for both HTTP versions. */

let listener: Listener;
afterEach(() => listener.close({ graceMs: 0 }));

describe.each(['HTTP/1.1', 'HTTP/2'] as const)('an exchange over %s', (version) => {
  const send = clients[version];

  test('tells what was asked', async () => {
    listener = await startListener((exchange) => {
      const { method, target, headers, httpVersion, remoteAddress } = exchange;
      exchange.respond(
        200,
        {},
        JSON.stringify({
          method,
          target,
          host: headers.host,
          groups: exchange.headerValues('impersonate-group'),
          pseudo: Object.keys(headers).filter((name) => name.startsWith(':')),
          httpVersion,
          remoteAddress,
        }),
      );
    });
    const { body } = await send(listener, { method: 'DELETE', path: '/api?x=%20y', headers: { 'Impersonate-Group': ['a, b', 'c'] } });
    expect(JSON.parse(body.toString())).toEqual({
      method: 'DELETE',
      target: '/api?x=%20y',
      host: `127.0.0.1:${listener.address.port}`,
      groups: ['a, b', 'c'],
      pseudo: [],
      httpVersion: version === 'HTTP/2' ? '2.0' : '1.1',
      remoteAddress: '127.0.0.1',
    });
  });

  test('answers with a buffer, its length and the date; the handler’s headers stay as they were', async () => {
    const headers = Object.freeze({ 'content-type': 'application/json', warning: ['299 - "a"', '299 - "b"'], 'x-utf8': 'Käse\r\nEvil: 1 ☃' });
    listener = await startListener((exchange) => exchange.respond(201, headers, Buffer.from('{"a":1}')));
    const answer = await send(listener);
    expect(answer).toMatchObject({ status: 201, body: Buffer.from('{"a":1}') });
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'content-length': '7', date: expect.stringMatching(/GMT$/) });
    expect(String(answer.headers.warning)).toMatch(/^299 - "a",\s?299 - "b"$/);
    expect(answer.headers.evil).toBeUndefined();
    expect(Buffer.from(String(answer.headers['x-utf8']), 'latin1').toString()).toBe('Käse  Evil: 1 ☃');
    expect(answer.headers.connection).not.toBe('keep-alive');
  });

  test('many buffers are one body, whatever their sizes', async () => {
    const parts = Array.from({ length: 5000 }, (_, index) => Buffer.alloc(index % 500 === 0 ? 300_000 : (index * 37) % 1500, index));
    listener = await startListener((exchange) => exchange.respond(200, {}, exchange.target === '/small' ? parts.slice(1, 20) : parts));
    expect((await send(listener, { path: '/small' })).body.equals(Buffer.concat(parts.slice(1, 20)))).toBe(true);
    const { body, headers } = await send(listener);
    expect(headers['content-length']).toBe(String(body.length));
    expect(body.equals(Buffer.concat(parts))).toBe(true);
  });

  test('HEAD, 204 and 304 have no body', async () => {
    listener = await startListener((exchange) => exchange.respond(Number(exchange.target.slice(1)), {}, 'hello'));
    const head = await send(listener, { method: 'HEAD', path: '/200' });
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, '5', 0]);
    for (const status of [204, 304]) {
      const answer = await send(listener, { path: `/${status}` });
      expect([answer.status, answer.headers['content-length'], answer.body.length]).toEqual([status, undefined, 0]);
    }
  });

  test('reads a body to its end, up to the limit', async () => {
    listener = await startListener((exchange) => {
      exchange.readBody(100_000).then(
        (body) => exchange.respond(200, {}, body),
        (error: unknown) => exchange.respond(isApiError(error) ? error.code : 500, {}, (error as Error).message),
      );
    });
    const body = Buffer.alloc(100_000, 'x');
    expect((await send(listener, { method: 'POST', body })).body.equals(body)).toBe(true);
    expect((await send(listener, { method: 'POST', body, headers: { 'content-length': '100000', expect: '100-continue' } })).body.equals(body)).toBe(true);
    expect((await send(listener, { method: 'POST' })).body).toHaveLength(0);
    for (const headers of [{}, { 'content-length': '5000000' }] as Record<string, string>[]) {
      const answer = await send(listener, { method: 'POST', body: Buffer.alloc(5_000_000), headers });
      expect([answer.status, answer.body.toString()]).toEqual([413, 'Request entity too large: limit is 100000']);
    }
  });

  test('an answer before the body was read reaches the client', async () => {
    listener = await startListener((exchange) => exchange.respond(401, {}, 'Unauthorized'));
    for (const sizeBytes of [10, 200_000, 3_000_000]) {
      const answer = await send(listener, { method: 'POST', body: Buffer.alloc(sizeBytes) });
      expect([answer.status, answer.body.toString()]).toEqual([401, 'Unauthorized']);
    }
  });

  test('streams chunk by chunk, and counts what is waiting', async () => {
    const chunk = Buffer.from('{"type":"ADDED"}\n');
    listener = await startListener((exchange) => {
      const stream = exchange.startStream(200, { 'content-type': 'application/json' });
      stream.write(chunk);
      stream.write(Buffer.alloc(0));
      stream.write(chunk);
      expect(stream.bufferedBytes).toBeGreaterThan(0);
      setImmediate(() => {
        stream.write(chunk);
        stream.end();
        stream.end();
        stream.write(chunk);
      });
    });
    const answer = await send(listener);
    expect(answer.body.toString()).toBe('{"type":"ADDED"}\n'.repeat(3));
    expect(answer.headers['content-length']).toBeUndefined();
  });

  test('write says when the client is behind, and onDrain when it has caught up', async () => {
    const big = Buffer.alloc(1 << 20, 'b');
    listener = await startListener((exchange) => {
      const stream = exchange.startStream(200, {});
      expect(stream.write(big)).toBe(false);
      stream.onDrain(() => {
        expect(stream.bufferedBytes).toBe(0);
        stream.end();
      });
    });
    expect((await send(listener)).body.equals(big)).toBe(true);
  });

  test('a stream that is cut off is not a proper end', async () => {
    listener = await startListener((exchange) => {
      const stream = exchange.startStream(200, {});
      stream.write(Buffer.from('half'));
      setImmediate(() => stream.destroy());
    });
    await expect(send(listener)).rejects.toThrow(/aborted|reset|closed/i);
  });

  test('onClose is called once: when the answer is complete, when the client goes, or at once if that was before', async () => {
    const closed: string[] = [];
    let first: Exchange | undefined;
    const done = new Gate();
    listener = await startListener((exchange) => {
      first ??= exchange;
      exchange.onClose(() => {
        closed.push(exchange.target);
        if (exchange.target === '/gone') done.open();
      });
      if (exchange.target === '/done') exchange.respond(200, {}, 'x');
      else exchange.startStream(200, {}).destroy();
    });
    await send(listener, { path: '/done' });
    await send(listener, { path: '/gone' }).catch(() => {});
    await done.opened;
    expect(closed).toEqual(['/done', '/gone']);
    expect(first!.isClosed && first!.isAnswered).toBe(true);
    first!.onClose(() => closed.push('late'));
    expect(closed.at(-1)).toBe('late');
    first!.respond(200, {}, 'ignored');
    const stream: ResponseStream = first!.startStream(200, {});
    expect(stream.write(Buffer.from('ignored'))).toBe(true);
    expect(listener.openExchanges).toBe(0);
  });

  test('a handler that throws costs only its own request', async () => {
    const problems: string[] = [];
    listener = await startListener(
      (exchange) => {
        if (exchange.target === '/bad') throw new Error('boom');
        exchange.respond(200, {}, 'ok');
      },
      { onProblem: ({ message }) => problems.push(message) },
    );
    await expect(send(listener, { path: '/bad' })).rejects.toThrow(/aborted|hang up|reset|closed/i);
    expect((await send(listener)).body.toString()).toBe('ok');
    expect(problems).toContain('boom');
  });
});
