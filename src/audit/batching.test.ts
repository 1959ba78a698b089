import { describe, expect, it, test } from 'vitest';
import { ignoringErrors, unionOfBackends } from './backend.ts';
import { TokenBucket } from '../util/token-bucket.ts';
import { BatchingBackend, type BatchOptions } from './batching.ts';
import { encodedSizeBytes } from './encode-event.ts';
import { TestBackend, TestObserver, testEvent } from './testing.ts';
import { truncating } from './truncating.ts';

const event = (id: number) => testEvent({ auditId: String(id) });
const events = (count: number) => Array.from({ length: count }, (_, id) => event(id));
const MEBIBYTE = Buffer.alloc(1024 * 1024);
/** With an answer of that length. */
const holding = (id: number, mebibytes: number) => testEvent({ auditId: String(id), responseObject: Array.from({ length: mebibytes }, () => MEBIBYTE) });
const idsOf = (backend: TestBackend): string[][] => backend.batches.map((batch) => batch.map(({ auditId }) => auditId));
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function newBatching(options: Partial<BatchOptions> = {}, answer?: () => boolean | Promise<boolean>) {
  const backend = new TestBackend(answer);
  const observer = new TestObserver();
  const batching = new BatchingBackend(
    backend,
    { bufferSize: 100, maxBatchSize: 3, maxWaitMs: 60_000, throttle: undefined, maxInFlight: 10, ...options },
    observer,
  );
  return { backend, observer, batching };
}

describe('batches', () => {
  it('leave when they are full, after the request that filled them', async () => {
    const { backend, batching } = newBatching();
    for (const one of events(7)) expect(batching.process([one])).toBe(true);
    expect(backend.batches).toEqual([]);
    await turn();
    expect(idsOf(backend)).toEqual([
      ['0', '1', '2'],
      ['3', '4', '5'],
    ]);
    await batching.close();
    expect(idsOf(backend).at(-1)).toEqual(['6']);
  });
  it('leave when they are old', async () => {
    const { backend, batching } = newBatching({ maxWaitMs: 1 });
    const taken = new Promise<void>((resolve) => {
      backend.answer = () => {
        resolve();
        return true;
      };
    });
    batching.process(events(2));
    await taken;
    expect(idsOf(backend)).toEqual([['0', '1']]);
  });
  it('are all away, and taken, once closed', async () => {
    const answers: ((isStored: boolean) => void)[] = [];
    const { backend, batching } = newBatching({}, () => new Promise((resolve) => void answers.push(resolve)));
    batching.process(events(8));
    let isClosed = false;
    const closed = batching.close().then(() => (isClosed = true));
    await turn();
    await turn();
    expect(backend.events).toHaveLength(8);
    expect([isClosed, backend.isClosed]).toEqual([false, false]);
    for (const answer of answers) answer(true);
    await closed;
    expect(backend.isClosed).toBe(true);
  });
  it('are not taken any more once closed', async () => {
    const { observer, batching } = newBatching();
    await batching.close();
    expect(batching.process([event(1)])).toBe(true);
    expect(observer.errors).toEqual([{ plugin: 'buffered', error: 'audit backend shut down', ids: ['1'] }]);
  });
  it('lose what has no room to wait, and say so', async () => {
    const { backend, observer, batching } = newBatching({ bufferSize: 4, maxInFlight: 1 });
    batching.process(events(6));
    expect(observer.errors).toEqual([{ plugin: 'buffered', error: 'audit buffer queue blocked', ids: ['4', '5'] }]);
    await batching.close();
    expect(backend.events).toHaveLength(4);
  });
  it('have ten megabytes of objects at most, unless one alone has more', async () => {
    const { backend, batching } = newBatching();
    for (const [id, mebibytes] of [6, 6, 12, 1, 1].entries()) batching.process([holding(id, mebibytes)]);
    await batching.close();
    expect(idsOf(backend)).toEqual([['0'], ['1'], ['2'], ['3', '4']]);
  });
  it('hold 256 megabytes of objects at most, those on their way among them', async () => {
    const answers: ((isStored: boolean) => void)[] = [];
    const { backend, observer, batching } = newBatching({ maxBatchSize: 1 }, () => new Promise((resolve) => void answers.push(resolve)));
    batching.process([holding(0, 200)]);
    await turn();
    batching.process([holding(1, 50), holding(2, 50), holding(3, 6)]);
    expect(observer.errors).toEqual([{ plugin: 'buffered', error: 'audit buffer queue blocked', ids: ['2'] }]);
    await turn();
    for (const answer of answers.splice(0)) answer(true);
    await turn();
    batching.process([holding(4, 256)]);
    backend.answer = () => true;
    await batching.close();
    expect(idsOf(backend)).toEqual([['0'], ['1'], ['3'], ['4']]);
  });
  it('are on their way in no greater number than allowed', async () => {
    const answers: ((isStored: boolean) => void)[] = [];
    const { backend, batching } = newBatching({ maxBatchSize: 1, maxInFlight: 2 }, () => new Promise((resolve) => void answers.push(resolve)));
    batching.process(events(5));
    await turn();
    await turn();
    expect(backend.batches).toHaveLength(2);
    answers.shift()!(false);
    await turn();
    expect(backend.batches).toHaveLength(3);
    backend.answer = () => true;
    for (const answer of answers) answer(true);
    await batching.close();
    expect(backend.batches).toHaveLength(5);
  });
  it('wait for their turn', async () => {
    const waits: number[] = [];
    const sleep = async (durationMs: number): Promise<void> => void waits.push(durationMs);
    const { backend, batching } = newBatching({ maxBatchSize: 1, throttle: { perSecond: 0.1, burst: 2 }, sleep });
    batching.process(events(4));
    await batching.close();
    expect(backend.batches).toHaveLength(4);
    expect(waits.map((durationMs) => Math.round(durationMs / 1000))).toEqual([10, 20]);
  });
});

test('a token bucket allows a burst, then a rate', () => {
  const bucket = new TokenBucket(10, 2, 0);
  expect([0, 0, 0, 0].map((nowMs) => bucket.take(nowMs))).toEqual([0, 0, 100, 200]);
  expect([10_000, 10_000, 10_000].map((nowMs) => bucket.take(nowMs))).toEqual([0, 0, 100]);
});

describe('truncation', () => {
  const large = testEvent({ auditId: 'large', level: 'Request', requestObject: JSON.stringify('x'.repeat(2000)), annotations: new Map([['a', 'b']]) });
  const limits = { maxEventBytes: 1000, maxBatchBytes: 1000 };

  it('takes the objects off large events', () => {
    const backend = new TestBackend();
    expect(truncating(backend, limits, new TestObserver()).process([large])).toBe(true);
    expect(backend.events).toMatchObject([
      {
        auditId: 'large',
        requestObject: undefined,
        annotations: new Map([
          ['a', 'b'],
          ['audit.k8s.io/truncated', 'true'],
        ]),
      },
    ]);
    expect(large.annotations.size).toBe(1);
  });
  it('drops what is too large without them', () => {
    const backend = new TestBackend();
    const observer = new TestObserver();
    const truncated = truncating(backend, limits, observer);
    expect(truncated.process([testEvent({ auditId: 'wide', userAgent: 'x'.repeat(2000) }), event(1)])).toBe(true);
    expect(idsOf(backend)).toEqual([['1']]);
    expect(observer.errors).toEqual([{ plugin: 'truncate', error: 'event is too large even after truncating', ids: ['wide'] }]);
  });
  it('splits large batches', async () => {
    const backend = new TestBackend(() => Promise.resolve(true));
    const sizeBytes = encodedSizeBytes(event(1));
    await truncating(backend, { maxEventBytes: 1000, maxBatchBytes: sizeBytes * 2 + 1 }, new TestObserver()).process(events(5));
    expect(idsOf(backend)).toEqual([['0', '1'], ['2', '3'], ['4']]);
  });
});

describe('several backends', () => {
  test.each([
    [true, true, true],
    [true, false, false],
    [false, true, false],
  ])('that answer %s and %s: %s', async (first, second, both) => {
    for (const later of [(value: boolean) => value, (value: boolean) => Promise.resolve(value)]) {
      const backends = [new TestBackend(() => first), new TestBackend(() => later(second)), new TestBackend()];
      const union = unionOfBackends(backends);
      expect(await union.process([event(1)])).toBe(both);
      expect(backends.map(({ events: taken }) => taken.length)).toEqual([1, 1, 1]);
      await union.close();
      expect(backends.every(({ isClosed }) => isClosed)).toBe(true);
      expect(await ignoringErrors(union).process([event(2)])).toBe(true);
    }
  });
});
