// What a write to the embedded store costs more with a history: both by turns in one process, the medians of many rounds.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeptHistory } from '../src/history/kept/kept-history.ts';
import { LmdbHistoryDatabase } from '../src/history/kept/lmdb-history-database.ts';
import { StoreRecording } from '../src/history/kept/store-recording.ts';
import type { RequestContext } from '../src/registry/request-context.ts';
import { annotationOf } from '../src/registry/write-author.ts';
import type { Engine } from '../src/storage/engine.ts';
import { openEmbeddedEngine } from '../src/storage/engines/embedded.ts';
import { systemClock } from '../src/util/clock.ts';
import { newUuid } from '../src/util/uuid.ts';

type RecordRow = (what: string, value: number, unit: string, limit?: number, more?: string) => void;

const OBJECTS = 500;
const WARM_WRITES = 10_000;
const WRITES_A_ROUND = 4_000;
const ROUNDS = 12;
/** What is done behind the writes counts with their round, and not with the other's next one: the store writes a checkpoint a second after its last write. */
const REST_MS = 1_200;
const IN_FLIGHT = 64;
const LIMIT_US = 15;
const OBSERVER = { recorded() {}, pruned() {}, failed() {} };
const GUARD = { isPlain: () => true, guard: () => Promise.reject(new Error('nothing is guarded')), decrypt: async (_key: string, value: Buffer) => value };

export async function historyWrites(recordRow: RecordRow): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'binnacle-history-'));
  const without = new Writes(await openEmbeddedEngine({ folder: join(root, 'without') }), false);
  let history: KeptHistory | undefined;
  const keeping = { keeps: () => true, keepsPrevious: (key: string) => history?.isNew(key) ?? true };
  const engine = await openEmbeddedEngine({ folder: join(root, 'with'), keeping });
  const database = await LmdbHistoryDatabase.open(join(root, 'history'));
  const limits = { maxAgeMs: Infinity, maxBytes: Infinity };
  const onDurable = (revision: number): void => engine.keptChanges!.release(revision);
  const recording = await StoreRecording.start({
    engine,
    prefix: '/',
    clock: systemClock,
    isRecorded: () => true,
    onRestart() {},
    open: (revision, isKnown) => KeptHistory.open({ database, clock: systemClock, limits, guard: GUARD, observer: OBSERVER, onDurable }, revision, isKnown),
  });
  ({ history } = recording);
  const recorded = new Writes(engine, true);
  // What the history does behind the write counts.
  const worked = async (): Promise<void> => {
    await recording.history.drain();
    await recording.history.flush();
  };
  await without.measureUs(WARM_WRITES);
  await recorded.measureUs(WARM_WRITES, worked);
  const roundsUs: Record<'without' | 'with', number[]> = { without: [], with: [] };
  for (let round = 0; round < ROUNDS; round++) {
    roundsUs.without.push(await without.measureUs(WRITES_A_ROUND));
    roundsUs.with.push(await recorded.measureUs(WRITES_A_ROUND, worked));
  }
  const lists = Object.entries(roundsUs).map(([name, each]) => `${name} ${each.map((us) => us.toFixed(1)).join(' ')}`);
  const moreUs = medianOf(roundsUs.with) - medianOf(roundsUs.without);
  recordRow('history: a write of 1 KiB to the store costs more', moreUs, 'µs', LIMIT_US, `medians of ${lists.join('; ')}`);
  await recording.close();
  await Promise.all([engine.close(), without.close()]);
  rmSync(root, { recursive: true, force: true });
}

class Writes {
  readonly #engine: Engine;
  readonly #annotatesWrites: boolean;
  readonly #revisions = new Map<string, number>();
  #count = 0;

  constructor(engine: Engine, annotatesWrites: boolean) {
    this.#engine = engine;
    this.#annotatesWrites = annotatesWrites;
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  /** CPU microseconds of a write, with what follows it. */
  async measureUs(count: number, then: () => Promise<void> = () => Promise.resolve()): Promise<number> {
    const before = process.cpuUsage();
    let left = count;
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        while (left-- > 0) await this.#write(this.#count++);
      }),
    );
    await then();
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / count;
  }

  async #write(index: number): Promise<void> {
    const key = `/registry/configmaps/default/map-${index % OBJECTS}`;
    const time = new Date().toISOString();
    const value = Buffer.from(
      `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${key}","managedFields":[{"time":"${time}"}]},"data":{"n":"${index}","value":"${'x'.repeat(900)}"}}`,
    );
    const context = { user: { name: 'bench', groups: ['system:masters', 'system:authenticated'] }, userAgent: 'bench/1.0 (linux)', auditId: newUuid() };
    const author = annotationOf({ annotatesWrites: this.#annotatesWrites }, context as unknown as RequestContext, { verb: 'update' });
    this.#revisions.set(key, await this.#engine.commit({ type: 'put', key, value, expected: this.#revisions.get(key) ?? 0, ...author }));
  }
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}
