import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebhookClient } from '../client/webhook-client.ts';
import { createAuthority, signCertificate } from '../serving/certificates/create.ts';
import { BatchingBackend } from './batching.ts';
import { TestObserver, testEvent } from './testing.ts';
import { webhookBackend } from './webhook-backend.ts';

const authority = createAuthority({ commonName: 'audit-ca' });
const { certPem, keyPem } = signCertificate(authority, { commonName: 'localhost', usages: ['server'], hosts: ['localhost'], ips: ['127.0.0.1'] });

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A real server that answers with these codes in turn, then with 200; `undefined` hangs up. */
async function receiver(...codes: (number | undefined)[]) {
  const lists: { kind: string; items: { auditID: string }[] }[] = [];
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      lists.push(JSON.parse(Buffer.concat(chunks).toString()) as (typeof lists)[number]);
      const code = codes.length > 0 ? codes.shift() : 200;
      if (code === undefined) request.socket.destroy();
      else response.writeHead(code).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/audit`), lists };
}

function newBackend(url: URL, { caPem = authority.certPem, timeoutMs = 5000 } = {}) {
  const observer = new TestObserver();
  const waits: number[] = [];
  const sleep = async (durationMs: number): Promise<void> => void waits.push(durationMs);
  const client = new WebhookClient({ url, caPem }, { timeoutMs });
  closers.push(() => client.close());
  return { backend: webhookBackend(client, { initialBackoffMs: 10_000, sleep }, observer), observer, waits };
}

describe('the webhook', () => {
  it('gets an EventList', async () => {
    const { url, lists } = await receiver();
    const { backend } = newBackend(url);
    expect(await backend.process([testEvent(), testEvent({ auditId: 'id-2' })])).toBe(true);
    await backend.close();
    expect(lists).toMatchObject([{ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', items: [{ auditID: 'id-1' }, { auditID: 'id-2' }] }]);
  });
  it('gets long answers whole, at each try', async () => {
    const { url, lists } = await receiver(500);
    const { backend } = newBackend(url);
    const data = 'ä'.repeat(1024 * 1024);
    const responseObject = ['{"data":"', data, data, '"}'].map((text) => Buffer.from(text));
    expect(await backend.process([testEvent(), testEvent({ responseObject })])).toBe(true);
    expect(lists).toHaveLength(2);
    for (const { items } of lists) expect(items[1]).toMatchObject({ responseObject: { data: data + data } });
  });
  it('is tried again, whatever it answers', async () => {
    const { url, lists } = await receiver(500, 404, undefined, 301);
    const { backend, observer, waits } = newBackend(url);
    expect(await backend.process([testEvent()])).toBe(true);
    expect(lists).toHaveLength(5);
    expect(observer.errors).toEqual([]);
    const expected = [10_000, 15_000, 22_500, 33_750];
    expect(waits.map((waitMs, index) => waitMs >= expected[index]! && waitMs <= expected[index]! * 1.2)).toEqual([true, true, true, true]);
  });
  it('is given up on after five tries', async () => {
    const { url, lists } = await receiver(503, 503, 503, 503, 503);
    const { backend, observer } = newBackend(url);
    expect(await backend.process([testEvent()])).toBe(false);
    expect(lists).toHaveLength(5);
    expect(observer.errors).toEqual([{ plugin: 'webhook', error: 'the server is currently unable to handle the request', ids: ['id-1'] }]);
  });
  it('must be who it says it is', async () => {
    const { url, lists } = await receiver();
    const { backend, observer } = newBackend(url, { caPem: createAuthority({ commonName: 'another' }).certPem });
    expect(await backend.process([testEvent()])).toBe(false);
    expect(lists).toEqual([]);
    expect(observer.errors).toHaveLength(1);
  });
  it('may be dead', async () => {
    const { url } = await receiver();
    for (const close of closers.splice(0)) close();
    const { backend, observer } = newBackend(url);
    expect(await backend.process([testEvent()])).toBe(false);
    expect(observer.errors).toMatchObject([{ plugin: 'webhook', error: expect.stringContaining('connection refused') as string }]);
  });
  it('may never answer', async () => {
    const server = createServer({ cert: certPem, key: keyPem }, () => undefined);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { backend, observer } = newBackend(new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`), { timeoutMs: 50 });
    expect(await backend.process([testEvent()])).toBe(false);
    expect(observer.errors[0]?.error).toContain('context deadline exceeded');
  });
  it('has everything before it is closed', async () => {
    const { url, lists } = await receiver(500, undefined);
    const { backend, observer } = newBackend(url);
    const batching = new BatchingBackend(backend, { bufferSize: 1000, maxBatchSize: 10, maxWaitMs: 60_000, throttle: undefined, maxInFlight: 5 }, observer);
    for (let id = 0; id < 95; id++) batching.process([testEvent({ auditId: String(id) })]);
    await batching.close();
    const ids = new Set(lists.flatMap(({ items }) => items.map(({ auditID }) => auditID)));
    expect(ids.size).toBe(95);
    expect(observer.errors).toEqual([]);
  });
});
