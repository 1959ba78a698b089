import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../storage/fake-clock.ts';
import { nextTurn } from '../../util/time-slice.ts';
import { Random } from '../../util/test-random.ts';
import { type HistoryDatabase, MemoryHistoryDatabase } from './history-database.ts';
import type { HistoryLimits } from './history-pruner.ts';
import { historyExpired } from './history-reader.ts';
import { type HandedChange, KeptHistory } from './kept-history.ts';
import { LmdbHistoryDatabase } from './lmdb-history-database.ts';
import type { ValueGuard } from './value-guard.ts';

const PLAIN: ValueGuard = {
  isPlain: () => true,
  guard: () => Promise.reject(new Error('nothing is guarded')),
  open: async (_key, value) => value,
};
const UNBOUNDED: HistoryLimits = { maxAgeMs: Infinity, maxBytes: Infinity };
const SILENT = {
  recorded() {},
  pruned() {},
  failed(error: Error) {
    throw error;
  },
};

/** A store of texts, every version of which is remembered. */
class Model {
  revision = 10;
  readonly clock = new FakeClock();
  readonly state = new Map<string, { value: string; revision: number }>();
  readonly moments: { revision: number; timeMs: number; state: Map<string, string> }[] = [];
  readonly changes: { revision: number; key: string; author: string; before: string | undefined; after: string | undefined }[] = [];

  constructor(initial: Readonly<Record<string, string>> = {}) {
    for (const [key, value] of Object.entries(initial)) this.state.set(key, { value, revision: this.revision });
    this.#note();
  }

  write(key: string, value: string | undefined, author: string): HandedChange {
    const old = this.state.get(key);
    const revision = ++this.revision;
    if (value === undefined) this.state.delete(key);
    else this.state.set(key, { value, revision });
    this.changes.push({ revision, key, author, before: old?.value, after: value });
    this.#note();
    return {
      type: value === undefined ? 'delete' : 'put',
      key,
      revision,
      timeMs: this.clock.now(),
      value: value === undefined ? undefined : Buffer.from(value),
      previous: old && Buffer.from(old.value),
      previousRevision: old?.revision ?? 0,
      annotation: Buffer.from(`audit-${revision}\n${JSON.stringify(['update', '', author, [], '', 'test', author])}`),
    };
  }

  #note(): void {
    const state = new Map(Array.from(this.state, ([key, { value }]) => [key, value]));
    this.moments.push({ revision: this.revision, timeMs: this.clock.now(), state });
  }
}

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const DATABASES: Record<string, () => Promise<() => Promise<HistoryDatabase>>> = {
  memory: async () => async () => new MemoryHistoryDatabase(),
  LMDB: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'history-'));
    folders.push(folder);
    return () => LmdbHistoryDatabase.open(folder);
  },
};

const openHistory = (database: HistoryDatabase, model: Model, limits = UNBOUNDED): Promise<KeptHistory> =>
  KeptHistory.open({ database, clock: model.clock, limits, guard: PLAIN, observer: SILENT }, model.revision, () => true);

async function stateOf(history: KeptHistory, model: Model, at: { revision: number } | { timeMs: number }): Promise<Map<string, string>> {
  const moment = history.momentAt(at)!;
  const state = new Map(Array.from(model.state, ([key, { value }]) => [key, value]));
  for (const [key, version] of await history.reader.changedSince('/', moment)) {
    if (version) state.set(key, version.value.toString());
    else state.delete(key);
  }
  return state;
}

const sorted = (state: ReadonlyMap<string, string>): [string, string][] => [...state].toSorted(([a], [b]) => (a < b ? -1 : 1));

function randomText(random: Random, length: number): string {
  return Array.from({ length }, () => random.pick(['alpha', 'beta', 'gamma', '"data":', '{', '}', '1', '22', ','])).join('');
}

/** A change somewhere in the middle, or quite another text. */
function changedText(random: Random, text: string): string {
  if (random.chance(0.1)) return randomText(random, random.below(60));
  const at = random.below(text.length + 1);
  return text.slice(0, at) + randomText(random, random.below(4)) + text.slice(at + random.below(12));
}

function randomWrite(model: Model, random: Random): HandedChange {
  const key = `/registry/${random.pick(['pods', 'secrets'])}/n/${random.below(12)}`;
  const old = model.state.get(key)?.value;
  if (random.chance(0.7)) model.clock.pass(random.below(50));
  const next = old === undefined ? randomText(random, random.below(80)) : random.chance(0.1) ? undefined : changedText(random, old);
  return model.write(key, next, random.pick(['jane', 'joe', 'system:apiserver']));
}

async function expectAllChanges(history: KeptHistory, model: Model, from = 0): Promise<void> {
  const [first, end] = history.range;
  const seqs = Array.from({ length: end - first }, (_, index) => first + index).filter((seq) => history.recordAt(seq).record.type !== 'initial');
  const found = (await history.reader.changes(seqs)).map(({ key, record, before, after }) => ({
    revision: record.revision,
    key,
    author: (JSON.parse(record.author) as string[])[2],
    before: before?.value.toString(),
    after: after?.value.toString(),
  }));
  expect(found).toEqual(model.changes.slice(model.changes.length - found.length));
  expect(found.length).toBeGreaterThanOrEqual(from);
}

describe.each(Object.entries(DATABASES))('a history in %s', (name, prepare) => {
  it.each([1, 2, 3])('tells the state of every moment and every change (seed %i)', async (seed) => {
    const random = new Random(seed);
    const model = new Model({ '/registry/pods/n/0': 'was there', '/registry/pods/n/99': 'never changes' });
    const open = await prepare();
    let history = await openHistory(await open(), model);
    for (let round = 0; round < 1_500; round++) {
      history.record([randomWrite(model, random)]);
      if (random.chance(0.02)) await history.flush();
      if (name !== 'memory' && random.chance(0.003)) {
        await history.close();
        history = await openHistory(await open(), model);
      }
    }
    await history.drain();
    for (const { revision, timeMs, state } of model.moments.filter(() => random.chance(0.2))) {
      expect(sorted(await stateOf(history, model, { revision }))).toEqual(sorted(state));
      const newest = model.moments.findLast((moment) => moment.timeMs <= timeMs)!;
      expect(sorted(await stateOf(history, model, { timeMs }))).toEqual(sorted(newest.state));
    }
    await expectAllChanges(history, model, model.changes.length);
    await history.close();
  });

  it.each([4, 5])('tells them within its bounds, and nothing beyond (seed %i)', async (seed) => {
    const random = new Random(seed);
    const model = new Model({ '/registry/pods/n/0': 'was there' });
    const open = await prepare();
    let history = await openHistory(await open(), model, { maxAgeMs: 60_000, maxBytes: Infinity });
    for (let round = 0; round < 8_000; round++) {
      history.record([randomWrite(model, random)]);
      if (random.chance(0.01)) {
        await history.drain();
        await history.flush();
      }
      if (name !== 'memory' && random.chance(0.0005)) {
        await history.close();
        history = await openHistory(await open(), model, { maxAgeMs: 60_000, maxBytes: Infinity });
      }
    }
    await history.drain();
    await history.flush();
    const { start } = history;
    expect(start.revision).toBeGreaterThan(model.moments[0]!.revision);
    expect(history.momentAt({ revision: start.revision - 1 })).toBeUndefined();
    expect(history.momentAt({ timeMs: start.timeMs - 1 })).toBeUndefined();
    for (const { revision, state } of model.moments.filter((moment) => moment.revision >= start.revision && random.chance(0.2)))
      expect(sorted(await stateOf(history, model, { revision }))).toEqual(sorted(state));
    await expectAllChanges(history, model);
    await history.close();
  });

  it('answers a read that pruning comes in between, or says that its moment has expired', async () => {
    const random = new Random(7);
    const clock = new FakeClock();
    const limits = { maxAgeMs: 60_000, maxBytes: Infinity };
    const database = await (await prepare())();
    const history = await KeptHistory.open({ database, clock, limits, guard: PLAIN, observer: SILENT }, 0, () => true);
    let revision = 0;
    const texts: Buffer[] = [];
    const write = (id: number): HandedChange => {
      const [previous, value] = [texts[id], Buffer.from(randomText(random, 20).repeat(20))];
      texts[id] = value;
      const previousRevision = previous ? revision - 3_999 : 0;
      return { type: 'put', key: `/pods/${id}`, revision: ++revision, timeMs: clock.now(), value, previous, previousRevision, annotation: undefined };
    };
    const writeAll = async (): Promise<{ revision: number; texts: string[] }> => {
      history.record(Array.from({ length: 4_000 }, (_, id) => write(id)));
      await history.drain();
      await history.flush();
      return { revision, texts: texts.map(String) };
    };
    const first = await writeAll();
    const early = { revision: 2_000, texts: first.texts.map((text, id) => (id < 2_000 ? text : 'undefined')) };
    clock.pass(40_000);
    const late = await writeAll();
    await writeAll();
    const read = async ({ revision: at, texts: then }: typeof early): Promise<void> => {
      const moment = history.momentAt({ revision: at });
      const versions = moment && (await history.reader.changedSince('/', moment).catch((error: Error) => error));
      if (versions instanceof Error) expect(versions).toEqual(historyExpired());
      else if (versions) expect(Array.from(versions.values(), (version) => String(version?.value))).toEqual(then);
    };
    // The blocks of the first round go, and with them all moments in it, while others read.
    clock.pass(30_000);
    let isPruning = true;
    const pruning = history.flush().finally(() => (isPruning = false));
    const reads: Promise<void>[] = [];
    for (; isPruning; await nextTurn()) reads.push(read(reads.length % 2 === 0 ? early : late));
    await Promise.all([pruning, ...reads]);
    expect(history.start.revision).toBeGreaterThan(early.revision);
    await history.close();
  });

  it('stays within its size', async () => {
    const random = new Random(6);
    const model = new Model();
    const open = await prepare();
    const history = await openHistory(await open(), model, { maxAgeMs: Infinity, maxBytes: 200_000 });
    for (let round = 0; round < 3_000; round++) {
      history.record([model.write(`/registry/pods/n/${random.below(500)}`, `${round} ${Array.from({ length: 20 }, () => random.next()).join(' ')}`, 'jane')]);
      if (round % 100 === 0) {
        await history.drain();
        await history.flush();
      }
    }
    await history.drain();
    await history.flush();
    expect(history.statistics.sizeBytes).toBeLessThan(260_000);
    const { start } = history;
    for (const { revision, state } of model.moments.filter((moment) => moment.revision >= start.revision).slice(0, 5))
      expect(sorted(await stateOf(history, model, { revision }))).toEqual(sorted(state));
    await history.close();
  });
});
