import { afterEach, describe, expect, test } from 'vitest';
import { untilStill } from '../serving/test-http1.ts';
import { FrameType, Setting } from './frames.ts';
import { TestPeer, type TestRequest, TestServer, get, widen } from './test-peer.ts';

/* Clients that ask and do not read: what they hold is counted over all connections, and given up. */

let server: TestServer;
afterEach(async () => {
  await server.close();
  expect(server.clock.openTimers).toBe(0);
  expect([server.unsent.size, server.unsent.totalBytes]).toEqual([0, 0]);
  expect(server.requests.every(({ isOver }) => isOver)).toBe(true);
});

const MIB = 1024 * 1024;
const BODY = Buffer.alloc(MIB);
const odd = (index: number): number => 2 * index + 1;
/** Takes not a byte of any body. */
const greetShut = (): TestPeer => TestPeer.greet(server.port, [[Setting.initialWindowSize, 0]]);
const resets = ({ frames }: TestPeer): number => frames.filter(({ type }) => type === FrameType.rstStream).length;
/** The path names the user; a `!` in front of it makes the request a long-running one. */
const answerAs = (request: TestRequest): void => {
  const { target } = request.head;
  request.requester = { clientName: target.replace(/^\/!?/, ''), isLongRunning: target.startsWith('/!') };
  request.answer(BODY);
};

describe('time', () => {
  test('an answer of which nothing is taken is reset after 30 s, and its memory is let go; the connection serves on', async () => {
    server = await TestServer.start(answerAs);
    const peer = greetShut().send(get(1, '/ann'), get(3, '/ann'));
    expect(await peer.reaction()).toEqual(['answer 1', 'answer 3']);
    expect(server.unsent.totalBytes).toBe(2 * MIB);
    server.clock.pass(29_000);
    expect(await peer.reaction()).toEqual([]);
    server.clock.pass(2000);
    expect(await peer.reaction()).toEqual(['reset 1 cancel', 'reset 3 cancel']);
    expect([server.unsent.totalBytes, server.problems.length]).toEqual([0, 2]);
    peer.send(get(5, '/ann'), widen(5, 2 * MIB), widen(0, 2 * MIB));
    await peer.until(() => peer.hasEnded(5));
    expect(peer.bodyOf(5).length).toBe(MIB);
    peer.socket.destroy();
  });

  test('a client that takes some now and then keeps its answer; one that takes single bytes does not', async () => {
    server = await TestServer.start(answerAs);
    const peer = greetShut().send(get(1, '/slow'), get(3, '/drip'), widen(0, MIB));
    await peer.reaction();
    let told: string[] = [];
    for (let minute = 0; minute < 2; minute++) {
      for (let step = 0; step < 3; step++) {
        told = told.concat(await peer.send(widen(1, 20_000), widen(3, 1)).reaction());
        server.clock.pass(20_000);
      }
    }
    told = told.concat(await peer.reaction());
    expect(told.filter((what) => what.startsWith('reset'))).toEqual(['reset 3 cancel']);
    peer.socket.destroy();
  });

  test('one that waits only for others on a slow connection is not to blame', async () => {
    server = await TestServer.start(answerAs);
    // Its own window is open; the connection's is widened for others.
    const peer = TestPeer.greet(server.port, [[Setting.initialWindowSize, 4 * MIB]]).send(...Array.from({ length: 8 }, (_, index) => get(odd(index), '/ann')));
    for (let step = 0; step < 6; step++) {
      expect((await peer.send(widen(0, 70_000)).reaction()).filter((what) => what.startsWith('reset'))).toEqual([]);
      server.clock.pass(20_000);
    }
    // And when the connection takes nothing at all, all of them are.
    server.clock.pass(31_000);
    expect((await peer.reaction()).filter((what) => what.startsWith('reset'))).toHaveLength(8);
    peer.socket.destroy();
  });

  test('a watch may be silent for as long as it likes', async () => {
    server = await TestServer.start(answerAs);
    const peer = greetShut().send(get(1, '/!ann'));
    await peer.reaction();
    server.clock.pass(600_000);
    expect(await peer.reaction()).toEqual([]);
    expect(server.unsent.totalBytes).toBe(MIB);
    peer.socket.destroy();
  });

  test.each(['reads nothing', 'closes its half, and reads nothing'])('a connection that %s at all is closed', async (how) => {
    server = await TestServer.start(answerAs);
    const peer = TestPeer.greet(server.port, [[Setting.initialWindowSize, 2 ** 30]]).send(widen(0, 2 ** 30));
    await peer.reaction();
    peer.socket.pause();
    peer.send(...Array.from({ length: 60 }, (_, index) => get(odd(index), '/ann')));
    // What kernels hold for both ends is some megabytes.
    await untilStill(() => server.unsent.totalBytes);
    expect(server.unsent.totalBytes).toBeGreaterThan(20 * MIB);
    if (how === 'closes its half, and reads nothing') peer.socket.end();
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    server.clock.pass(40_000);
    await server.untilGone();
    expect(server.unsent.totalBytes).toBe(0);
    peer.socket.destroy();
  });
});

describe('size', () => {
  const limits = { unsentBytesPerConnection: 4 * MIB, maxUnsentBytesPerConnection: 8 * MIB, unsentBytesPerUser: 16 * MIB, unsentBytesInAll: 40 * MIB };

  test('past its first limit a connection is given no more requests', async () => {
    server = await TestServer.start(answerAs, limits);
    const peer = greetShut().send(...Array.from({ length: 20 }, (_, index) => get(odd(index), '/ann')));
    const told = await peer.reaction();
    expect(told.filter((what) => what.startsWith('answer'))).toHaveLength(5);
    expect(told.filter((what) => what.endsWith('refusedStream'))).toHaveLength(15);
    peer.socket.destroy();
  });

  test('past its second, answers that were asked for together are reset', async () => {
    server = await TestServer.start((request) => void setImmediate(() => answerAs(request)), limits);
    const peer = greetShut().send(...Array.from({ length: 20 }, (_, index) => get(odd(index), '/ann')));
    await peer.until(() => resets(peer) === 12);
    expect(server.unsent.totalBytes).toBe(8 * MIB);
    peer.socket.destroy();
  });

  test('the limit of a user is one for all its connections, and hits those who read nothing', async () => {
    server = await TestServer.start(answerAs, limits);
    const ask = (user: string): TestPeer => greetShut().send(...Array.from({ length: 4 }, (_, index) => get(odd(index), `/${user}`)));
    const [ann, others] = [Array.from({ length: 6 }, () => ask('ann')), [ask('bob'), ask('eve')]];
    await Promise.all([...ann, ...others].map((peer) => peer.reaction()));
    expect(server.unsent.totalBytes).toBe(32 * MIB);
    server.clock.pass(2000);
    await Promise.all([...ann, ...others].map((peer) => peer.reaction()));
    expect(server.unsent.totalBytes).toBe((16 + 8) * MIB);
    for (const peer of [...ann, ...others]) peer.socket.destroy();
  });

  test('the limit of the server holds at once, and the one who holds most is the first to lose', async () => {
    server = await TestServer.start(answerAs, limits);
    const ask = (user: string, count: number): TestPeer => greetShut().send(...Array.from({ length: count }, (_, index) => get(odd(index), `/${user}`)));
    const small = ask('bob', 2);
    await small.reaction();
    let mostBytes = 0;
    const many: TestPeer[] = [];
    for (let index = 0; index < 30; index++) {
      const peer = ask('ann', 4);
      many.push(peer);
      await peer.until(() => peer.frames.filter(({ type }) => type === FrameType.headers).length === 4);
      mostBytes = Math.max(mostBytes, server.unsent.totalBytes);
    }
    expect(mostBytes).toBeLessThanOrEqual(40 * MIB);
    expect(await small.reaction()).toEqual([]);
    for (const peer of [small, ...many]) peer.socket.destroy();
  });
});
