// What the history takes by itself: CPU and disk of a change, and the time that reading the past takes.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HandedChange, KeptHistory, type ValueGuard } from '../src/history/kept/kept-history.ts';
import { LmdbHistoryDatabase } from '../src/history/kept/lmdb-history-database.ts';
import { systemClock } from '../src/util/clock.ts';
import { SeededRandom } from '../src/util/seeded-random.ts';

type Record = (what: string, value: number, unit: string, limit?: number, more?: string) => void;

const GUARD: ValueGuard = { isPlain: () => true, guard: () => Promise.reject(new Error('nothing is guarded')), decrypt: async (_key, value) => value };
const OBSERVER = {
  recorded() {},
  pruned() {},
  failed(error: Error) {
    throw error;
  },
};
const KEYS = 12;
const BATCH = 500;
const MIB = 1024 * 1024;

/** Configmaps of 1 KiB, whose values look like nothing else. */
class ConfigMaps {
  readonly #random = new SeededRandom(24);
  readonly #objects = new Map<string, { data: string[]; revision: number; value: Buffer }>();
  #revision = 1_000;
  #timeMs = Date.now() - 4 * 3_600_000;

  #text(): string {
    return Array.from({ length: 5 }, () =>
      Math.floor(this.#random.next() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    ).join('');
  }

  /** One key changed, or made with all of them. */
  change(name: string, passedMs: number): HandedChange {
    const known = this.#objects.get(name);
    this.#timeMs += passedMs;
    const data = known?.data ?? Array.from({ length: KEYS }, () => this.#text());
    if (known) data[Math.floor(this.#random.next() * KEYS)] = this.#text();
    const time = `${new Date(this.#timeMs).toISOString().slice(0, 19)}Z`;
    const managedFields = [{ manager: 'bench', operation: 'Update', apiVersion: 'v1', time, fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { '.': {} } } }];
    const metadata = { name, namespace: 'default', uid: `0000-${name}`, creationTimestamp: '2026-11-18T00:00:00Z', managedFields };
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: Object.fromEntries(data.map((value, index) => [`key-${index}`, value])) };
    const value = Buffer.from(JSON.stringify(object));
    const revision = ++this.#revision;
    this.#objects.set(name, { data, revision, value });
    const author = JSON.stringify(['update', '', 'bench', ['system:masters', 'system:authenticated'], '', 'bench/1.0', 'bench']);
    const digits = revision.toString(16).padStart(12, '0');
    const annotation = Buffer.from(`${this.#text().slice(0, 8)}-0000-4000-8000-${digits}\n${author}`);
    const previous = known?.value;
    return {
      type: 'put',
      key: `/registry/configmaps/default/${name}`,
      revision,
      timeMs: this.#timeMs,
      value,
      previous,
      previousRevision: known?.revision ?? 0,
      annotation,
    };
  }
}

export async function historyCosts(record: Record): Promise<void> {
  await diskAndCpu(record);
  await oneVersion(record);
  await pastList(record);
}

async function withHistory(work: (history: KeptHistory, folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-history-'));
  const database = await LmdbHistoryDatabase.open(folder);
  const limits = { maxAgeMs: Infinity, maxBytes: Infinity };
  const history = await KeptHistory.open({ database, clock: systemClock, limits, guard: GUARD, observer: OBSERVER }, 1_000, () => true);
  try {
    await work(history, folder);
  } finally {
    await history.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** CPU microseconds of the history alone. */
async function fill(history: KeptHistory, count: number, nameOf: (index: number) => string, passedMs: number): Promise<number> {
  const maps = new ConfigMaps();
  let sumMicros = 0;
  for (let done = 0; done < count; done += BATCH) {
    const changes = Array.from({ length: BATCH }, (_, index) => maps.change(nameOf(done + index), passedMs));
    const before = process.cpuUsage();
    history.record(changes);
    await history.drain();
    const { user, system } = process.cpuUsage(before);
    sumMicros += user + system;
  }
  await history.flush();
  return sumMicros;
}

async function diskAndCpu(record: Record): Promise<void> {
  await withHistory(async (history, folder) => {
    const count = 100_000;
    const micros = await fill(history, count, (index) => `map-${index % 1_000}`, 10);
    record('history: CPU of a change, worked off', micros / count, 'µs');
    record(
      'history: file of 100,000 changes of 1 KiB',
      statSync(join(folder, 'data.mdb')).size / MIB,
      'MiB',
      12,
      `blocks ${(history.statistics.sizeBytes / MIB).toFixed(1)} MiB`,
    );
  });
}

async function oneVersion(record: Record): Promise<void> {
  await withHistory(async (history) => {
    // Among others, so that its versions are in many blocks.
    await fill(history, 100_000, (index) => (index % 10 === 0 ? 'one' : `map-${index % 997}`), 10);
    const { revision } = history;
    const timesMs: number[] = [];
    for (let index = 0; index < 50; index++) {
      const at = history.momentAt({ revision: revision - 99_000 + index * 1_900 })!;
      const startMs = performance.now();
      await history.reader.versionAt('/registry/configmaps/default/one', at);
      timesMs.push(performance.now() - startMs);
    }
    const sorted = timesMs.toSorted((a, b) => a - b);
    record('history: a version among 10,000 of an object', sorted.at(-1)!, 'ms', 5, `the longest of 50; p50 ${sorted[25]!.toFixed(2)} ms`);
  });
}

async function pastList(record: Record): Promise<void> {
  await withHistory(async (history) => {
    const changes = 400_000;
    await fill(history, changes, (index) => `map-${(index * 7_919) % 10_000}`, 10);
    const moment = history.momentAt({ revision: history.revision - 360_000 })!;
    const startMs = performance.now();
    const { size } = await history.reader.changedSince('/registry/configmaps/', moment);
    record(`history: a list of ${size.toLocaleString('en')} objects, 360,000 changes ago`, performance.now() - startMs, 'ms', 1_000);
    const startedMs = performance.now();
    const again = history.momentAt({ revision: history.revision - 100_000 })!;
    await history.reader.changedSince('/registry/configmaps/', again);
    record('history: the same, 100,000 changes ago', performance.now() - startedMs, 'ms');
  });
}
