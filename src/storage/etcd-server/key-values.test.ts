import { describe, expect, test } from 'vitest';
import { type Answer, CallFailed, type Message, type TestClient } from './test-client.ts';
import { openStore } from './test-store.ts';

const UNSUPPORTED = 12;
const INVALID = 3;
const OUT_OF_RANGE = 11;
const NOT_FOUND = 5;

const failureOf = (answer: Promise<Answer>): Promise<CallFailed> =>
  answer.then(
    () => expect.fail('the call was answered'),
    (error) => error,
  );

async function expectFailure(answer: Promise<Answer>, code: number, message: string): Promise<void> {
  const failure = await failureOf(answer);
  expect(failure).toBeInstanceOf(CallFailed);
  expect([failure.code, failure.message]).toEqual([code, message]);
}

/** Comparisons: how, and of what. */
const [EQUAL, GREATER, LESS, NOT_EQUAL] = [0, 1, 2, 3];
const [VERSION, CREATED, MODIFIED, VALUE, LEASE] = [0, 1, 2, 3, 4];
const putOf = (key: string, value: string): Message => ({ 2: { 1: key, 2: value } });
const rangeOf = (key: string): Message => ({ 1: { 1: key } });
const deleteOf = (key: string): Message => ({ 3: { 1: key } });
const modRevisionIs = (key: string, revision: number): Message => ({ 1: EQUAL, 2: MODIFIED, 3: key, 6: revision });
const txn = (client: TestClient, compare: Message | Message[], success: Message | Message[], failure: Message | Message[] = []): Promise<Answer> =>
  client.ask('KV/Txn', { 1: compare, 2: success, 3: failure });

describe('what is refused, by name', () => {
  const supports = 'binnacle store does not support';
  const cases: [string, (client: TestClient) => Promise<Answer>, number, string][] = [
    ['a transaction in a transaction', (c) => txn(c, [], { 4: {} }), UNSUPPORTED, `${supports} transactions within transactions`],
    [
      'one in a branch of a transaction that compares',
      (c) => txn(c, modRevisionIs('/a', 0), { 4: {} }),
      UNSUPPORTED,
      `${supports} transactions within transactions`,
    ],
    [
      'several comparisons',
      (c) => txn(c, [modRevisionIs('/a', 0), modRevisionIs('/b', 0)], putOf('/a', 'x')),
      UNSUPPORTED,
      `${supports} transactions that compare more than one thing`,
    ],
    ['several operations', (c) => txn(c, [], [putOf('/a', 'x'), putOf('/b', 'x')]), UNSUPPORTED, `${supports} transactions of several operations`],
    ['a comparison of a range', (c) => txn(c, { ...modRevisionIs('/a', 0), 64: '/b' }, putOf('/a', 'x')), UNSUPPORTED, `${supports} comparisons of ranges`],
    [
      'a comparison of a value',
      (c) => txn(c, { 1: EQUAL, 2: VALUE, 3: '/a', 7: 'x' }, putOf('/a', 'x')),
      UNSUPPORTED,
      `${supports} comparisons of values and leases`,
    ],
    [
      'a comparison of a lease',
      (c) => txn(c, { 1: EQUAL, 2: LEASE, 3: '/a', 8: 1 }, putOf('/a', 'x')),
      UNSUPPORTED,
      `${supports} comparisons of values and leases`,
    ],
    [
      'another key than the one compared',
      (c) => txn(c, modRevisionIs('/a', 0), putOf('/b', 'x')),
      UNSUPPORTED,
      `${supports} transactions that compare one key and touch others`,
    ],
    [
      'a range in a transaction that compares',
      (c) => txn(c, modRevisionIs('/a', 0), { 1: { 1: '/a', 2: '/b' } }),
      UNSUPPORTED,
      `${supports} transactions that compare one key and touch others`,
    ],
    [
      'a read of the past in a transaction',
      (c) => txn(c, modRevisionIs('/a', 0), { 1: { 1: '/a', 4: 1 } }),
      UNSUPPORTED,
      `${supports} transactions that read the past`,
    ],
    [
      'a write where the comparison fails',
      (c) => txn(c, modRevisionIs('/a', 7), [], putOf('/a', 'x')),
      UNSUPPORTED,
      `${supports} a transaction that writes where its comparison fails`,
    ],
    ['users', (c) => c.ask('Auth/UserAdd', { 1: 'me', 2: 'secret' }), UNSUPPORTED, 'unknown method /etcdserverpb.Auth/UserAdd'],
    ['members', (c) => c.ask('Cluster/MemberAdd', { 1: 'http://x:1' }), UNSUPPORTED, 'unknown method /etcdserverpb.Cluster/MemberAdd'],
    ['no key', (c) => c.ask('KV/Range', {}), INVALID, 'etcdserver: key is not provided'],
    ['a put of no key', (c) => c.ask('KV/Put', { 2: 'x' }), INVALID, 'etcdserver: key is not provided'],
    ['a removal of no key', (c) => c.ask('KV/DeleteRange', {}), INVALID, 'etcdserver: key is not provided'],
    ['a comparison of no key', (c) => txn(c, {}, putOf('/a', 'x')), INVALID, 'etcdserver: key is not provided'],
    ['an operation that is none', (c) => txn(c, [], [{}]), INVALID, 'etcdserver: key not found'],
    ['a key that is not text', (c) => c.ask('KV/Put', { 1: Buffer.from([0xff]), 2: 'x' }), INVALID, 'binnacle: keys that are not UTF-8 are not supported'],
    ['a lease that is none', (c) => c.put('/a', 'x', { 3: 99 }), NOT_FOUND, 'etcdserver: requested lease not found'],
    ['a value that is to be kept, of no key', (c) => c.put('/none', '', { 5: true }), INVALID, 'etcdserver: key not found'],
    ['a lease that is to be kept, of no key', (c) => c.put('/none', 'x', { 6: true }), INVALID, 'etcdserver: key not found'],
    ['the future', (c) => c.range('/a', '', { 4: 1_000_000 }), OUT_OF_RANGE, 'etcdserver: mvcc: required revision is a future revision'],
    ['compaction of the future', (c) => c.ask('KV/Compact', { 1: 1_000_000 }), OUT_OF_RANGE, 'etcdserver: mvcc: required revision is a future revision'],
    ['compaction of nothing', (c) => c.ask('KV/Compact', { 1: 0 }), OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted'],
  ];

  test.each(cases)('%s', async (_, ask, code, message) => {
    const { client, engine } = await openStore();
    await expectFailure(ask(client), code, message);
    expect(engine.publishedRevision).toBe(1);
    // The connection goes on.
    await client.put('/after', 'x');
  });

  test('a value beside the one that is to be kept, and a lease', async () => {
    const { client } = await openStore();
    await client.put('/a', 'x');
    await expectFailure(client.put('/a', 'y', { 5: true }), INVALID, 'etcdserver: value is provided');
    await client.ask('Lease/LeaseGrant', { 1: 60, 2: 7 });
    await expectFailure(client.put('/a', 'y', { 3: 7, 6: true }), INVALID, 'etcdserver: lease is provided');
  });

  test('messages that are none', async () => {
    const { client } = await openStore();
    for (const bytes of ['\x0a\xff', '\x0a', '\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff', '\x0f']) {
      const failure = await failureOf(client.ask('KV/Range', Buffer.from(bytes, 'latin1')));
      expect([failure.code, failure.message]).toEqual([13, expect.stringContaining('failed to unmarshal')]);
    }
  });

  test('a message that is larger than writes may be', async () => {
    const { client } = await openStore();
    await expect(client.put('/large', Buffer.alloc(1.4 * 1024 * 1024))).resolves.toBeDefined();
    // kube-apiserver knows these words.
    await expectFailure(client.put('/larger', Buffer.alloc(1.5 * 1024 * 1024)), INVALID, 'etcdserver: request is too large');
    const failure = await failureOf(client.put('/largest', Buffer.alloc(3 * 1024 * 1024)));
    expect([failure.code, failure.message]).toEqual([8, expect.stringContaining('larger than max')]);
    await client.put('/after', 'x');
  });
});

describe('ranges', () => {
  /** /a is of revision 2, /b of 3 and 6, /c of 4, /d/1 of 5; /e is gone. */
  async function filled(): Promise<TestClient> {
    const { client } = await openStore();
    for (const [key, value] of [
      ['/a', '4'],
      ['/b', '3'],
      ['/c', '2'],
      ['/d/1', '1'],
      ['/b', '9'],
      ['/e', 'x'],
    ] as const)
      await client.put(key, value);
    await client.ask('KV/DeleteRange', { 1: '/e' });
    return client;
  }
  const keys = (answer: Answer): string[] => answer.messages(2).map((item) => item.text(1));

  test('of one key, of an interval, of a prefix, from a key on, of all', async () => {
    const client = await filled();
    const one = await client.range('/b', '');
    expect([one.lines(2), one.number(4), one.revision]).toEqual([['/b=9 3/6/2'], 1, 8]);
    expect((await client.range('/e', '')).number(4)).toBe(0);
    expect(keys(await client.range('/a', '/c'))).toEqual(['/a', '/b']);
    expect(keys(await client.range('/d/', '/d0'))).toEqual(['/d/1']);
    expect(keys(await client.range('/b', '\0'))).toEqual(['/b', '/c', '/d/1']);
    expect(keys(await client.range('\0', '\0'))).toEqual(['/a', '/b', '/c', '/d/1']);
    expect(keys(await client.range('/c', '/a'))).toEqual([]);
  });

  test('limits, counts, keys alone', async () => {
    const client = await filled();
    const page = await client.range('/', '0', { 3: 2 });
    expect([keys(page), page.number(3), page.number(4)]).toEqual([['/a', '/b'], 1, 4]);
    const all = await client.range('/', '0', { 3: 4 });
    expect([keys(all).length, all.number(3), all.number(4)]).toEqual([4, 0, 4]);
    const count = await client.range('/', '0', { 9: true });
    expect([keys(count), count.number(3), count.number(4)]).toEqual([[], 0, 4]);
    const one = await client.range('/a', '', { 9: true });
    expect([keys(one), one.number(4)]).toEqual([[], 1]);
    expect((await client.range('/', '/b\0', { 8: true })).lines(2)).toEqual(['/a= 2/2/1', '/b= 3/6/2']);
    expect((await client.range('/a', '', { 8: true })).lines(2)).toEqual(['/a= 2/2/1']);
  });

  test('sorted by key, version, creation, change and value, up and down', async () => {
    const client = await filled();
    const sorted = async (order: number, target: number, limit = 0): Promise<string[]> => keys(await client.range('/', '0', { 3: limit, 5: order, 6: target }));
    const [ASCENDING, DESCENDING] = [1, 2];
    expect(await sorted(DESCENDING, 0)).toEqual(['/d/1', '/c', '/b', '/a']);
    expect(await sorted(DESCENDING, 0, 1)).toEqual(['/d/1']);
    expect(await sorted(DESCENDING, 1, 1)).toEqual(['/b']);
    expect(await sorted(ASCENDING, 2)).toEqual(['/a', '/b', '/c', '/d/1']);
    expect(await sorted(ASCENDING, 3)).toEqual(['/a', '/c', '/d/1', '/b']);
    expect(await sorted(ASCENDING, 4)).toEqual(['/d/1', '/c', '/a', '/b']);
    expect(await sorted(DESCENDING, 4, 2)).toEqual(['/b', '/a']);
  });

  test('with bounds of revisions', async () => {
    const client = await filled();
    expect(keys(await client.range('/', '0', { 10: 4 }))).toEqual(['/b', '/c', '/d/1']);
    expect(keys(await client.range('/', '0', { 11: 4 }))).toEqual(['/a', '/c']);
    expect(keys(await client.range('/', '0', { 12: 4 }))).toEqual(['/c', '/d/1']);
    expect(keys(await client.range('/', '0', { 13: 3 }))).toEqual(['/a', '/b']);
    expect(keys(await client.range('/b', '', { 11: 4 }))).toEqual([]);
  });

  test('of the past, until it is compacted', async () => {
    const client = await filled();
    const past = await client.range('/', '0', { 4: 5 });
    expect([past.lines(2), past.revision]).toEqual([['/a=4 2/2/1', '/b=3 3/3/1', '/c=2 4/4/1', '/d/1=1 5/5/1'], 8]);
    expect((await client.range('/e', '', { 4: 7 })).lines(2)).toEqual(['/e=x 7/7/1']);
    const page = await client.range('/', '0', { 3: 1, 4: 3 });
    expect([page.lines(2), page.number(3), page.number(4)]).toEqual([['/a=4 2/2/1'], 1, 2]);
    await client.ask('KV/Compact', { 1: 6 });
    expect((await client.range('/b', '', { 4: 6 })).lines(2)).toEqual(['/b=9 3/6/2']);
    await expectFailure(client.range('/b', '', { 4: 5 }), OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted');
    await expectFailure(client.ask('KV/Compact', { 1: 6 }), OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted');
    expect(keys(await client.range('/', '0'))).toHaveLength(4);
  });
});

describe('writes', () => {
  test('previous values, values and leases that are kept', async () => {
    const { client } = await openStore();
    await client.ask('Lease/LeaseGrant', { 1: 60, 2: 7 });
    expect((await client.put('/a', 'one', { 4: true })).lines(2)).toEqual([]);
    expect((await client.put('/a', 'two', { 3: 7, 4: true })).lines(2)).toEqual(['/a=one 2/2/1']);
    await client.put('/a', 'three', { 6: true });
    expect((await client.range('/a', '')).lines(2)).toEqual(['/a=three 2/4/3 lease 7']);
    await client.put('/a', '', { 5: true });
    expect((await client.range('/a', '')).lines(2)).toEqual(['/a=three 2/5/4']);
    await client.put('/a', '');
    expect((await client.range('/a', '')).lines(2)).toEqual(['/a= 2/6/5']);
  });

  test('removals of one key and of many', async () => {
    const { client } = await openStore();
    for (const key of ['/a', '/b/1', '/b/2', '/c']) await client.put(key, 'x');
    const one = await client.ask('KV/DeleteRange', { 1: '/a', 3: true });
    expect([one.number(2), one.lines(3), one.revision]).toEqual([1, ['/a=x 2/2/1'], 6]);
    const none = await client.ask('KV/DeleteRange', { 1: '/a', 3: true });
    expect([none.number(2), none.lines(3), none.revision]).toEqual([0, [], 6]);
    const some = await client.ask('KV/DeleteRange', { 1: '/b/', 2: '/b0', 3: true });
    expect([some.number(2), some.lines(3)]).toEqual([2, ['/b/1=x 3/3/1', '/b/2=x 4/4/1']]);
    expect((await client.range('/', '0')).lines(2)).toEqual(['/c=x 5/5/1']);
    // A key that comes again begins anew.
    await client.put('/a', 'y');
    expect((await client.range('/a', '')).lines(2)).toEqual(['/a=y 9/9/1']);
  });

  test('transactions: create, update, remove, and what they read where they fail', async () => {
    const { client } = await openStore();
    const created = await txn(client, modRevisionIs('/a', 0), putOf('/a', 'one'), rangeOf('/a'));
    expect([created.number(2), created.revision]).toEqual([1, 2]);
    const again = await txn(client, modRevisionIs('/a', 0), putOf('/a', 'two'), rangeOf('/a'));
    expect([again.number(2), again.messages(3)[0]!.messages(1)[0]!.lines(2)]).toEqual([0, ['/a=one 2/2/1']]);
    const updated = await txn(client, modRevisionIs('/a', 2), { 2: { 1: '/a', 2: 'two', 4: true } });
    expect([updated.number(2), updated.messages(3)[0]!.messages(2)[0]!.lines(2)]).toEqual([1, ['/a=one 2/2/1']]);
    const removed = await txn(client, modRevisionIs('/a', 3), { 3: { 1: '/a', 3: true } }, rangeOf('/a'));
    expect([removed.number(2), removed.messages(3)[0]!.messages(3)[0]!.lines(3)]).toEqual([1, ['/a=two 2/3/2']]);
    const gone = await txn(client, modRevisionIs('/a', 3), deleteOf('/a'), rangeOf('/a'));
    expect([gone.number(2), gone.messages(3)[0]!.messages(1)[0]!.number(4), gone.revision]).toEqual([0, 0, 4]);
    const noComparison = await txn(client, [], putOf('/a', 'x'));
    expect([noComparison.number(2), noComparison.revision]).toEqual([1, 5]);
    expect((await txn(client, [], [])).revision).toBe(5);
  });

  test('a lease that is none is refused where the comparison holds, and not looked at where it fails', async () => {
    const { client } = await openStore();
    await client.put('/a', 'x');
    const leased: Message = { 2: { 1: '/a', 2: 'y', 3: 99 } };
    const failed = await txn(client, modRevisionIs('/a', 0), leased, rangeOf('/a'));
    expect([failed.number(2), failed.messages(3)[0]!.messages(1)[0]!.lines(2)]).toEqual([0, ['/a=x 2/2/1']]);
    await expectFailure(txn(client, { 1: GREATER, 2: MODIFIED, 3: '/a', 6: 1 }, leased), NOT_FOUND, 'etcdserver: requested lease not found');
  });

  test('every comparison', async () => {
    const { client } = await openStore();
    await client.put('/a', 'x');
    await client.put('/a', 'y');
    const holds = async (result: number, target: number, operand: number, key = '/a'): Promise<boolean> => {
      const field = [VERSION, CREATED, MODIFIED].indexOf(target) + 4;
      return (await txn(client, { 1: result, 2: target, 3: key, [field]: operand }, rangeOf(key))).number(2) === 1;
    };
    for (const [target, actual] of [
      [VERSION, 2],
      [CREATED, 2],
      [MODIFIED, 3],
    ] as const) {
      for (const operand of [actual - 1, actual, actual + 1]) {
        const outcomes = await Promise.all([EQUAL, GREATER, LESS, NOT_EQUAL].map((result) => holds(result!, target!, operand)));
        expect(outcomes).toEqual([actual === operand, actual > operand, actual < operand, actual !== operand]);
      }
      expect(await holds(EQUAL!, target!, 0, '/none')).toBe(true);
    }
  });

  test('of transactions that race for a key, one wins each time; puts that race all count', async () => {
    const { client, url } = await openStore();
    const { TestClient: Client } = await import('./test-client.ts');
    const clients = [client, new Client(url), new Client(url)];
    try {
      let revision = 0;
      for (let round = 0; round < 10; round++) {
        const answers = await Promise.all(
          Array.from({ length: 12 }, (_, i) => txn(clients[i % 3]!, modRevisionIs('/k', revision), putOf('/k', `${round}-${i}`), rangeOf('/k'))),
        );
        const winners = answers.filter((answer) => answer.number(2) === 1);
        expect(winners).toHaveLength(1);
        revision = winners[0]!.revision;
        for (const loser of answers.filter((answer) => answer !== winners[0]))
          expect(loser.messages(3)[0]!.messages(1)[0]!.messages(2)[0]!.number(3)).toBe(revision);
      }
      const puts = await Promise.all(Array.from({ length: 30 }, (_, i) => clients[i % 3]!.put('/p', String(i))));
      expect(new Set(puts.map((answer) => answer.revision)).size).toBe(30);
      expect((await client.range('/p', '')).messages(2)[0]!.number(4)).toBe(30);
    } finally {
      for (const other of clients.slice(1)) other.close();
    }
  });
});
