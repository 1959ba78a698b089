import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GrpcChannel } from '../../src/grpc/channel.ts';
import { ATTACKS } from '../../src/grpc/test-attacks.ts';
import { type RawCall, RawGrpcServer } from '../../src/grpc/test-raw-server.ts';
import { LEASE_GRANT, TXN, WATCH } from '../../src/storage/engines/etcd/messages.ts';
import type { GrpcError } from '../../src/grpc/status.ts';
import type { ApiClient, TestList } from '../support/api-client.ts';
import { hasEtcd, startEtcd } from '../support/etcd.ts';
import { startServerOnEtcd } from '../support/etcd-server.ts';
import type { ServerProcess } from '../support/server.ts';
import { residentMiB, stallOf } from './measure.ts';

/*
 * A member of etcd that turns hostile while the server runs: a real one, whose answers to one method are replaced on their way. Requests that need it are errors in
 * their time, all else is served, what was stored is unchanged, and the server is well when etcd is.
 */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const EVENTS = '/api/v1/namespaces/default/events';
const isStream = (path: string): boolean => path === WATCH || path.endsWith('/LeaseKeepAlive');

describe.runIf(hasEtcd())('etcd answers', () => {
  let member: RawGrpcServer;
  let channel: GrpcChannel;
  let server: ServerProcess;
  let admin: ApiClient;
  let beforeMiB: number | undefined;
  const calls: string[] = [];
  const waits: number[] = [];
  let made = 0;
  let well = 0;
  let passOnOrAttack: (call: RawCall, message: Buffer) => void = passOn;

  beforeAll(async () => {
    const { endpoints } = await startEtcd();
    const { hostname, port } = new URL(endpoints[0]!);
    channel = new GrpcChannel({ host: hostname, port: Number(port) });
    member = await new RawGrpcServer((call, message) => {
      calls.push(call.path);
      passOnOrAttack(call, message);
    }).listen();
    // Objects of so short a life do not share leases.
    server = await startServerOnEtcd([`http://127.0.0.1:${member.port}`], { flags: ['--event-ttl=10s'] });
    admin = server.client();
    await admin.create(CONFIG_MAPS, { metadata: { name: 'kept' }, data: { a: 'b' } });
    for (let count = 0; count < 50; count++) await admin.get(`${CONFIG_MAPS}/kept`);
    beforeMiB = residentMiB(server);
  });
  afterAll(async () => {
    passOnOrAttack = passOn;
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    channel.close();
    await member.close();
  });

  /** To the real member, and back. */
  function passOn(call: RawCall, message: Buffer): void {
    const fail = ({ code, details }: GrpcError): void => call.fail(code, details);
    if (!isStream(call.path)) return void channel.unary(call.path, message).then((answer) => call.answer(answer), fail);
    const stream = channel.stream(call.path, { onMessage: (answer) => call.send(Buffer.from(answer)), onEnd: (error) => (error ? fail(error) : call.end()) });
    stream.send(message);
    call.onMessage = (next) => stream.send(next);
    call.onClose = () => stream.cancel();
  }

  const attackOn = (method: string, attack: (call: RawCall) => void): void => {
    passOnOrAttack = (call, message) => (call.path === method ? attack(call) : passOn(call, message));
  };

  /** Another's GET from the cache goes on, as stale as it may be. */
  const others = (): Promise<unknown> => admin.expect(200, { path: `${CONFIG_MAPS}/kept?resourceVersion=0` });

  async function recovered(): Promise<void> {
    passOnOrAttack = passOn;
    member.cut();
    const create = async (): Promise<boolean> =>
      (await admin.send({ method: 'POST', path: `${CONFIG_MAPS}?timeout=2s`, body: { metadata: { name: `tried-${made++}` } } })).status === 201;
    await expect.poll(create, { timeout: 30_000 }).toBe(true);
    await admin.create(CONFIG_MAPS, { metadata: { name: `well-${well++}` } });
    expect(await admin.get(`${CONFIG_MAPS}/kept`)).toMatchObject({ data: { a: 'b' } });
  }

  async function writeMeanwhile(method: string, path: string, body: object): Promise<void> {
    const before = calls.filter((called) => called === method).length;
    let status = 0;
    let text = '';
    const { waitMs } = await stallOf(
      server,
      async () => {
        ({ status, text } = await admin.send({ method: 'POST', path: `${path}?timeout=500ms`, body }));
      },
      '/version',
    );
    expect(calls.filter((called) => called === method).length).toBeGreaterThan(before);
    expect([500, 504]).toContain(status);
    expect(JSON.parse(text)).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
    expect(text.length).toBeLessThan(20_000);
    waits.push(waitMs);
    await others();
  }

  describe('a transaction with', () => {
    test.each(Object.entries(ATTACKS))('%s', async (_, attack) => {
      attackOn(TXN, attack);
      await writeMeanwhile(TXN, CONFIG_MAPS, { metadata: { name: `refused-${made++}` } });
      await recovered();
    });
  });

  const event = (): object => ({
    metadata: { name: `event-${made++}`, namespace: 'default' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    reason: 'r',
    message: 'm',
    type: 'Normal',
  });

  describe('the grant of a lease with', () => {
    test.each([
      ...Object.entries(ATTACKS).filter(([name]) => /flood of PING|protobuf|four gigabytes|byte by byte|nothing at all|refused/.test(name)),
      ['a lease of no number', (call: RawCall) => call.answer(Buffer.from([0x10, 0]))],
      ['a number beyond 64 bits', (call: RawCall) => call.answer(Buffer.from([0x10, ...Array.from({ length: 12 }, () => 0xff), 1]))],
    ] as [string, (call: RawCall) => void][])('%s', async (_, attack) => {
      attackOn(LEASE_GRANT, attack);
      await writeMeanwhile(LEASE_GRANT, EVENTS, event());
      await recovered();
      await expect.poll(async () => (await admin.send({ method: 'POST', path: EVENTS, body: event() })).status, { timeout: 10_000 }).toBe(201);
    });
  });

  describe('a watch with', () => {
    test.each(Object.entries(ATTACKS).filter(([name]) => /message|protobuf|headers|HPACK|flood|SETTINGS|connection|nothing/.test(name)))(
      '%s',
      async (_, attack) => {
        const opened = calls.filter((path) => path === WATCH).length;
        attackOn(WATCH, attack);
        const { waitMs } = await stallOf(
          server,
          async () => {
            member.cut();
            await expect.poll(() => calls.filter((path) => path === WATCH).length, { timeout: 30_000 }).toBeGreaterThan(opened);
            for (let count = 0; count < 20; count++) await others();
          },
          '/version',
        );
        waits.push(waitMs);
        await recovered();
      },
    );
  });

  test('the server did not stand still for it, and its memory is where it was', async () => {
    const sorted = waits.toSorted((a, b) => a - b);
    console.info(`another's GET waited ${sorted.at(-1)!.toFixed(0)} ms at most, ${sorted[sorted.length >> 1]!.toFixed(0)} ms at the median`);
    expect(sorted[sorted.length >> 1]).toBeLessThan(1000);
    if (beforeMiB === undefined) return;
    let afterMiB = Infinity;
    for (let tries = 0; tries < 100 && afterMiB - beforeMiB > 120; tries++) {
      for (let count = 0; count < 20; count++) await others();
      await delay(50);
      afterMiB = residentMiB(server)!;
    }
    console.info(`resident MiB: ${beforeMiB.toFixed(0)} before, ${afterMiB.toFixed(0)} after ${waits.length} attacks`);
    expect(afterMiB - beforeMiB).toBeLessThan(120);
  });

  test('the cache holds what etcd does', async () => {
    const namesOf = async (path: string): Promise<string[]> => (await admin.get<TestList>(path)).items.map(({ metadata }) => metadata.name).toSorted();
    const another = await startServerOnEtcd([`http://127.0.0.1:${member.port}`]);
    const there = (await another.client().get<TestList>(CONFIG_MAPS)).items.map(({ metadata }) => metadata.name).toSorted();
    expect(await namesOf(CONFIG_MAPS)).toEqual(there);
    expect(there.filter((name) => name.startsWith('well-'))).toHaveLength(well);
    await another.stop();
  });
});
