// What a write to the embedded store costs more with a history: both by turns in one process, the least of many rounds.
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

type Record = (what: string, value: number, unit: string, limit?: number, more?: string) => void;

const OBJECTS = 500;
const WRITES_A_ROUND = 1_000;
const ROUNDS = 15;
const IN_FLIGHT = 64;
const LIMIT_US = 15;
const OBSERVER = { recorded() {}, pruned() {}, failed() {} };
const GUARD = { isPlain: () => true, guard: () => Promise.reject(new Error('nothing is guarded')), decrypt: async (_key: string, value: Buffer) => value };

export async function historyWrites(record: Record): Promise<void> {
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
  const least = { without: Infinity, with: Infinity };
  for (let round = 0; round < ROUNDS; round++) {
    least.without = Math.min(least.without, await without.roundUs());
    // What the history does behind the write counts.
    least.with = Math.min(least.with, await recorded.roundUs(() => recording.history.flush()));
  }
  record('history: a write of 1 KiB to the store costs more', least.with - least.without, 'µs', LIMIT_US, `${least.without.toFixed(1)} without`);
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

  async roundUs(then: () => Promise<void> = () => Promise.resolve()): Promise<number> {
    const before = process.cpuUsage();
    let left = WRITES_A_ROUND;
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        while (left-- > 0) await this.#write(this.#count++);
      }),
    );
    await then();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / WRITES_A_ROUND;
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
