import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Exchange, ResponseStream } from './exchange.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { get, serve, untilStill } from './test-http1.ts';

const echo = (exchange: Exchange): void => exchange.respond(200, {}, exchange.target);
const echoBody = (exchange: Exchange): void => {
  exchange.readBody(1000).then(
    (body) => exchange.respond(200, {}, body),
    (error: Error) => exchange.respond(400, {}, error.message),
  );
};
const post = (...lines: string[]): string => get('/', ...lines).replace('GET', 'POST');

describe('requests', () => {
  test('1,000 in one write are answered in order, one at a time', async () => {
    let mostOpen = 0;
    const served = await serve((exchange) => {
      mostOpen = Math.max(mostOpen, served.connection.openExchanges);
      echo(exchange);
    });
    served.client.write(Array.from({ length: 1000 }, (_, index) => get(`/${index}`)).join(''));
    await served.until(() => served.count('HTTP/1.1 200 OK') === 1000);
    await served.until(() => served.connection.openExchanges === 0);
    expect([...served.text.matchAll(/\r\n\r\n\/(\d+)/g)].map(([, index]) => Number(index))).toEqual(Array.from({ length: 1000 }, (_, index) => index));
    expect(mostOpen).toBe(1);
  });

  test('byte by byte, with bodies of both kinds, and what they leave is the next one', async () => {
    const served = await serve(echoBody);
    served.client.setNoDelay(true);
    const text = `${post('Content-Length: 5')}hello${post('Transfer-Encoding: chunked')}3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-T: 1\r\n\r\n\r\n${get('/')}`;
    for (const byte of text) await new Promise((resolve) => served.client.write(byte, resolve));
    await served.until(() => served.count('HTTP/1.1 200 OK') === 3);
    expect(served.text.replaceAll(/Date: [^\r]*\r\n/g, '')).toBe(
      ['5\r\n\r\nhello', '5\r\n\r\nabcde', '0\r\n\r\n'].map((end) => `HTTP/1.1 200 OK\r\nContent-Length: ${end}`).join(''),
    );
  });

  test('one that comes to a client that reads nothing waits', async () => {
    const served = await serve((exchange) => exchange.respond(200, {}, Buffer.alloc(60_000)));
    served.client.pause();
    const all = 400;
    served.client.write(get('/').repeat(all));
    // What kernels hold for both ends is some megabytes.
    await untilStill(() => served.exchanges.length);
    expect(served.exchanges.length).toBeLessThan(all);
    expect(served.connection.socket.writableLength).toBeLessThan(200_000);
    served.client.resume();
    await served.until(() => served.exchanges.length === all && served.connection.openExchanges === 0);
  });

  test('an error behind an answered one is told, and the connection ends', async () => {
    const served = await serve(echo, { lingerMs: 10 });
    served.client.write(`${get('/1')}nonsense\r\n\r\n${get('/2')}`);
    await served.until(() => served.text.endsWith('400 Bad Request'));
    expect([served.exchanges.length, served.problems.length]).toEqual([1, 1]);
    served.clock.pass(10);
    await served.until(() => served.isClosed);
  });

  test.each([
    `${post('Transfer-Encoding: chunked')}zz\r\n`,
    `${post('Transfer-Encoding: chunked')}2\r\nhello\r\n`,
    `${post('Transfer-Encoding: chunked')}5\nhello\r\n`,
    `${post('Transfer-Encoding: chunked')}1;${'x'.repeat(20_000)}\r\na\r\n`,
    `${post('Transfer-Encoding: chunked')}fffffffffffffffff\r\n`,
  ])('a body that breaks the rules cuts the connection off, and its reader is told: %j', async (text) => {
    let message = '';
    const served = await serve((exchange) => void exchange.readBody(100_000).catch((error: Error) => (message = error.message)));
    served.client.write(text);
    await served.until(() => served.isClosed);
    await Promise.resolve();
    expect([served.text, served.connection.openExchanges, message]).toEqual(['', 0, 'unexpected EOF']);
  });
});

describe('bodies', () => {
  const SIZE_BYTES = 64 * 1024 * 1024;
  const block = Buffer.alloc(1024 * 1024, 'blockofdata');

  test.each(['Content-Length', 'Transfer-Encoding'])('64 MiB come and go, held to their readers: %s', async (way) => {
    const sent = createHash('sha256');
    const received = createHash('sha256');
    let heldBytes = 0;
    const served = await serve((exchange) => {
      const body = exchange.openBody()!;
      const stream = exchange.startStream(200, way === 'Content-Length' ? { 'content-length': SIZE_BYTES } : {});
      body.on('data', (chunk: Buffer) => {
        heldBytes = Math.max(heldBytes, body.readableLength, stream.bufferedBytes);
        if (stream.write(chunk)) return;
        body.pause();
        stream.onDrain(() => body.resume());
      });
      body.once('end', () => stream.end());
    });
    const { client } = served;
    const isChunked = way === 'Transfer-Encoding';
    client.write(post(isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${SIZE_BYTES}`));
    client.removeAllListeners('data');
    const all = collect(client, isChunked, received);
    for (let sizeBytes = 0; sizeBytes < SIZE_BYTES; sizeBytes += block.length) {
      sent.update(block);
      if (isChunked) client.write(`${block.length.toString(16)}\r\n`);
      const hasRoom = client.write(block);
      if (isChunked) client.write('\r\n');
      if (!hasRoom) await new Promise((resolve) => client.once('drain', resolve));
    }
    if (isChunked) client.write('0\r\n\r\n');
    await all;
    expect(received.digest('hex')).toBe(sent.digest('hex'));
    expect(heldBytes).toBeLessThan(2 * 1024 * 1024);
    await served.until(() => served.connection.openExchanges === 0);
  });

  /** Hashes the body of one answer; over when it has all. */
  function collect(client: Socket, isChunked: boolean, hash: ReturnType<typeof createHash>): Promise<void> {
    let pending = Buffer.alloc(0);
    let headIsRead = false;
    let chunkBytes = isChunked ? 0 : SIZE_BYTES;
    let leftBytes = SIZE_BYTES;
    return new Promise((resolve) => {
      client.on('data', (piece: Buffer) => {
        pending = pending.length === 0 ? Buffer.from(piece) : Buffer.concat([pending, piece]);
        if (!headIsRead) {
          const end = pending.indexOf('\r\n\r\n');
          if (end === -1) return;
          headIsRead = true;
          pending = pending.subarray(end + 4);
        }
        while (pending.length > 0 && leftBytes > 0) {
          if (chunkBytes === 0) {
            const line = /^(?:\r\n)?([0-9a-f]+)\r\n/.exec(pending.toString('latin1', 0, 20));
            if (!line) return;
            chunkBytes = Number.parseInt(line[1]!, 16);
            pending = pending.subarray(line[0].length);
          }
          const data = pending.subarray(0, chunkBytes);
          hash.update(data);
          chunkBytes -= data.length;
          leftBytes -= data.length;
          pending = pending.subarray(data.length);
        }
        if (leftBytes === 0 && (!isChunked || pending.toString('latin1').endsWith('0\r\n\r\n'))) resolve();
      });
    });
  }

  test('one that nobody reads stops its sender', async () => {
    const served = await serve();
    const { client } = served;
    served.client.write(post('Content-Length: 100000000'));
    for (let count = 0; count < 64; count++) client.write(block);
    await untilStill(() => client.writableLength);
    expect(client.writableLength).toBeGreaterThan(0);
    // What we hold, and what the socket holds for us beside the kernel.
    expect(served.connection.socket.bytesRead).toBeLessThan(2 * DEFAULT_LIMITS.streamWindowBytes);
  });

  test('a word is given before it is sent, where the client waits for one', async () => {
    const served = await serve((exchange) => void (exchange.target === '/' ? echoBody(exchange) : exchange.respond(403, {}, 'no')));
    served.client.write(post('Expect: 100-continue', 'Content-Length: 5'));
    await served.until(() => served.text === 'HTTP/1.1 100 Continue\r\n\r\n');
    served.client.write('hello');
    await served.until(() => served.text.endsWith('hello'));
    expect(served.text).not.toContain('Connection: close');
    // One that is not asked for may never come: nothing can follow it.
    served.client.write(get('/no', 'Expect: 100-continue', 'Content-Length: 5'));
    await served.until(() => served.text.endsWith('no'));
    expect(served.text).toMatch(/403 Forbidden\r\n[^]*Connection: close\r\n/);
    expect(served.count('100 Continue')).toBe(1);
  });

  test('a small one that nobody wanted is thrown away, and the connection goes on', async () => {
    const served = await serve(echo);
    served.client.write(`${post('Content-Length: 200000')}${'x'.repeat(100_000)}`);
    await served.until(() => served.text.endsWith('\r\n\r\n/'));
    served.client.write(`${'x'.repeat(100_000)}${get('/next')}`);
    await served.until(() => served.text.endsWith('/next'));
    expect(served.text).not.toContain('Connection: close');
  });

  test.each([['Content-Length: 10000000'], ['Transfer-Encoding: chunked']])(
    'another ends the connection once the client had time to read the answer: %s',
    async (line) => {
      const served = await serve(echo);
      served.client.write(`${post(line)}5\r\nhello\r\n`);
      await served.until(() => served.text.endsWith('\r\n\r\n/'));
      expect(served.text).toContain('Connection: close\r\n');
      served.client.write(block);
      served.clock.pass(DEFAULT_LIMITS.lingerMs - 1);
      expect([served.isClosed, served.connection.openExchanges]).toEqual([false, 0]);
      served.clock.pass(1);
      await served.until(() => served.isClosed);
      expect(served.exchanges).toHaveLength(1);
    },
  );

  test('a client that ends while it is waited for ends it', async () => {
    const served = await serve(echo);
    served.client.write(post('Transfer-Encoding: chunked'));
    await served.until(() => served.text.endsWith('\r\n\r\n/'));
    served.client.end();
    await served.until(() => served.isClosed);
  });
});

describe('answers', () => {
  test('names are written as Go writes them', async () => {
    const served = await serve((exchange) =>
      exchange.respond(404, { 'content-type': 'a', 'x-kubernetes-pf-flowschema-uid': 'b', etag: 'c', warning: ['d', 'e'], 'retry-after': 1 }, 'none'),
    );
    served.client.write(get('/'));
    await served.until(() => served.text.endsWith('none'));
    expect(served.text.replace(/Date: [^\r]*/, 'Date: now')).toBe(
      'HTTP/1.1 404 Not Found\r\nContent-Type: a\r\nX-Kubernetes-Pf-Flowschema-Uid: b\r\nEtag: c\r\nWarning: d\r\nWarning: e\r\nRetry-After: 1\r\n' +
        'Content-Length: 4\r\nDate: now\r\n\r\nnone',
    );
  });

  test('trailers follow where they were announced', async () => {
    const served = await serve((exchange) => {
      const stream = exchange.startStream(200, exchange.target === '/1' ? { trailer: 'X-T' } : {});
      stream.write(Buffer.from('x'));
      stream.end({ 'x-t': 'y' });
    });
    served.client.write(get('/1') + get('/2'));
    await served.until(() => served.count('0\r\n') === 2);
    expect(served.text).toMatch(/\r\n1\r\nx\r\n0\r\nX-T: y\r\n\r\nHTTP[^]*\r\n1\r\nx\r\n0\r\n\r\n$/);
  });

  test('a stream to HEAD, and one of 204, are their heads alone', async () => {
    const served = await serve((exchange) => {
      const stream = exchange.startStream(exchange.target === '/' ? 204 : 200, {});
      stream.write(Buffer.from('x'));
      stream.end();
    });
    served.client.write(`${get('/')}${get('/x').replace('GET', 'HEAD')}`);
    await served.until(() => served.count('\r\n\r\n') === 2);
    expect(served.text).not.toMatch(/Transfer-Encoding|Content-Length|x$/);
  });

  test('HTTP/1.0 is kept where it asks for that and the length is known', async () => {
    const served = await serve((exchange) => {
      if (exchange.target === '/whole') return echo(exchange);
      const stream = exchange.startStream(200, {});
      stream.write(Buffer.from('stream'));
      stream.end();
    });
    const old = (path: string): string => `GET ${path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`;
    served.client.write(old('/whole') + old('/stream') + old('/never'));
    served.client.on('end', () => served.client.end());
    await served.until(() => served.isClosed);
    expect(served.text.replaceAll(/Date: [^\r]*\r\n/g, '')).toBe(
      'HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: keep-alive\r\n\r\n/wholeHTTP/1.1 200 OK\r\nConnection: close\r\n\r\nstream',
    );
  });

  test('what is written in one turn goes out together', async () => {
    const served = await serve((exchange) => {
      const stream = exchange.startStream(200, {});
      for (const text of ['a', 'b', 'c']) stream.write(Buffer.from(text));
    });
    const pieces: string[] = [];
    served.client.on('data', (piece: Buffer) => pieces.push(piece.toString()));
    served.client.write(get('/'));
    await served.until(() => served.text.endsWith('c\r\n'));
    expect(pieces).toHaveLength(1);
  });

  test('after its exchange is over, a stream does nothing to the next', async () => {
    let stream: ResponseStream | undefined;
    const served = await serve((exchange) => {
      if (stream) return echo(exchange);
      stream = exchange.startStream(200, {});
      stream.end();
    });
    served.client.write(get('/1'));
    await served.until(() => served.exchanges.length === 1 && served.connection.openExchanges === 0);
    stream!.destroy();
    expect([stream!.write(Buffer.from('late')), stream!.bufferedBytes]).toEqual([true, 0]);
    stream!.end();
    served.client.write(get('/2'));
    await served.until(() => served.text.endsWith('/2'));
    expect(served.text).not.toContain('late');
  });
});

describe('a client that goes', () => {
  test.each<[string, (client: Socket) => void]>([
    ['ends', (client) => void client.end()],
    ['resets', (client) => void client.resetAndDestroy()],
  ])('is noticed while its request is open: %s', async (_how, go) => {
    const served = await serve((exchange) => void exchange.startStream(200, {}).write(Buffer.from('x')));
    served.client.write(get('/watch'));
    await served.until(() => served.text.endsWith('x\r\n'));
    go(served.client);
    await served.until(() => served.isClosed && served.connection.openExchanges === 0);
    served.exchanges[0]!.respond(200, {}, 'ignored');
  });

  test('in the middle of its body: the reader is told', async () => {
    let message = '';
    const served = await serve((exchange) => void exchange.readBody(100).catch((error: Error) => (message = error.message)));
    served.client.end(`${post('Content-Length: 50')}half`);
    await served.until(() => served.isClosed);
    await Promise.resolve();
    expect(message).toBe('unexpected EOF');
  });

  test('with its request sent before it: what was answered in time still leaves', async () => {
    const served = await serve(echo);
    served.client.end(get('/x'));
    await served.until(() => served.isClosed && served.client.readableEnded);
    expect([served.text.slice(-2), served.connection.openExchanges]).toEqual(['/x', 0]);
  });
});

describe('time', () => {
  test('a head has so long from its first byte, and the first from the connection’s start', async () => {
    const silent = await serve();
    silent.clock.pass(DEFAULT_LIMITS.headerTimeoutMs - 1);
    expect(silent.connection.socket.destroyed).toBe(false);
    silent.clock.pass(1);
    expect(silent.connection.socket.destroyed).toBe(true);

    const served = await serve(echo);
    served.client.write(get('/1'));
    await served.until(() => served.text.endsWith('/1'));
    served.clock.pass(DEFAULT_LIMITS.headerTimeoutMs + 10_000);
    served.client.write('GET /2');
    await served.until(() => served.connection.socket.bytesRead > get('/1').length);
    served.clock.pass(DEFAULT_LIMITS.headerTimeoutMs - 1);
    expect(served.connection.socket.destroyed).toBe(false);
    served.clock.pass(1);
    expect([served.connection.socket.destroyed, served.problems[0]?.message]).toEqual([true, 'no request came in time']);
  });

  test('an idle connection ends, one with an open request does not', async () => {
    const served = await serve((exchange) => exchange.target === '/1' && echo(exchange));
    served.client.write(get('/1'));
    await served.until(() => served.text.endsWith('/1') && served.connection.openExchanges === 0);
    served.clock.pass(DEFAULT_LIMITS.idleTimeoutMs - 1);
    served.client.write(get('/2'));
    await served.until(() => served.exchanges.length === 2);
    served.clock.pass(10 * DEFAULT_LIMITS.idleTimeoutMs);
    expect(served.connection.socket.writableEnded).toBe(false);
    echo(served.exchanges[1]!);
    await served.until(() => served.text.endsWith('/2') && served.connection.openExchanges === 0);
    served.clock.pass(DEFAULT_LIMITS.idleTimeoutMs - 1);
    expect(served.connection.socket.writableEnded).toBe(false);
    served.clock.pass(1);
    await served.until(() => served.isClosed);
  });

  test('one that is asked to close does so at once when idle, and behind its answer when not', async () => {
    const idle = await serve();
    idle.connection.requestClose();
    await idle.until(() => idle.isClosed);
    const busy = await serve();
    busy.client.write(get('/'));
    await busy.until(() => busy.exchanges.length === 1);
    busy.connection.requestClose();
    expect(busy.connection.socket.writableEnded).toBe(false);
    echo(busy.exchanges[0]!);
    await busy.until(() => busy.isClosed);
    expect(busy.text).toContain('Connection: close\r\n');
  });
});

describe('an upgrade', () => {
  const ASKING = get('/exec', 'Connection: Upgrade', 'Upgrade: SPDY/3.1');

  test.each(['at once', 'later'])('is handed over with all that came behind it, and nobody else listens: %s', async (when) => {
    const served = await serve();
    const { socket } = served.connection;
    const takeOver = (): void => {
      const taken = served.exchanges[0]!.upgrade()!;
      expect(taken.socket).toBe(socket);
      taken.socket.write(`[${taken.head.toString()}]`);
      expect([socket.listenerCount('data'), socket.listenerCount('end'), socket.listenerCount('drain')]).toEqual([0, 1, 0]);
      taken.socket.on('data', (piece: Buffer) => taken.socket.write(`(${piece.toString()})`));
    };
    served.client.write(`${ASKING}first`);
    await served.until(() => served.exchanges.length === 1);
    if (when === 'later') await new Promise(setImmediate);
    takeOver();
    await served.until(() => served.text === '[first]');
    served.client.write('second');
    await served.until(() => served.text === '[first](second)');
    expect(served.connection.openExchanges).toBe(1);
    served.clock.pass(10 * DEFAULT_LIMITS.idleTimeoutMs);
    expect(socket.destroyed).toBe(false);
    socket.destroy();
    await served.until(() => served.connection.openExchanges === 0);
  });

  test('that is refused is the last answer, and what came behind it is no request', async () => {
    const served = await serve(echo);
    served.client.write(ASKING + get('/hidden'));
    await served.until(() => served.text.endsWith('/exec'));
    served.clock.pass(DEFAULT_LIMITS.lingerMs);
    await served.until(() => served.isClosed);
    expect([served.exchanges.length, served.text.includes('Connection: close')]).toEqual([1, true]);
    expect(served.exchanges[0]!.upgrade()).toBeUndefined();
  });

  test('nobody else has one', async () => {
    const served = await serve((exchange) => {
      expect(exchange.upgrade()).toBeUndefined();
      echo(exchange);
    });
    served.client.write(get('/1') + get('/2', 'Upgrade: websocket') + 'CONNECT a:443 HTTP/1.1\r\n\r\n');
    await served.until(() => served.text.endsWith('a:443'));
  });
});
