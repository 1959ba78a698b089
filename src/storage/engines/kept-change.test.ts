import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Random } from '../../util/test-random.ts';
import type { ChangeKeeping, Engine, KeptEvent } from '../engine.ts';
import { openEmbeddedEngine } from './embedded.ts';

const root = mkdtempSync(join(tmpdir(), 'binnacle-kept-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const KEEPING: ChangeKeeping = { keeps: (key) => key.startsWith('/kept/'), keepsPrevious: (key) => key.startsWith('/kept/secret') };

interface Written {
  type: 'put' | 'delete';
  key: string;
  revision: number;
  value: string | undefined;
  previous: string | undefined;
  previousRevision: number;
  annotation: string;
}

class Writer {
  readonly written: Written[] = [];
  readonly #engine: Engine;
  readonly #state = new Map<string, { value: string; revision: number }>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async write(random: Random): Promise<void> {
    const key = `/${random.pick(['kept/a', 'kept/b', 'kept/c', 'kept/secret', 'other'])}`;
    const old = this.#state.get(key);
    const value = old && random.chance(0.15) ? undefined : `${'common text '.repeat(20)}${random.next()}${'and more of it '.repeat(20)}`;
    const annotation = `by ${random.below(100)}`;
    const expected = old?.revision ?? 0;
    const change = { key, expected, annotation: Buffer.from(annotation) };
    const revision = await this.#engine.commit(value === undefined ? { type: 'delete', ...change } : { type: 'put', value: Buffer.from(value), ...change });
    if (value === undefined) this.#state.delete(key);
    else this.#state.set(key, { value, revision });
    if (KEEPING.keeps(key))
      this.written.push({ type: value === undefined ? 'delete' : 'put', key, revision, value, previous: old?.value, previousRevision: expected, annotation });
  }
}

/** What is not known of the value before is not compared. */
const told = ({ type, key, revision, value, previous, previousRevision, annotation }: KeptEvent, known: Written | undefined): Written => ({
  type,
  key,
  revision,
  value: value?.toString(),
  previous: previous ? previous.toString() : known?.previous,
  previousRevision,
  annotation: annotation?.toString() ?? '',
});

it.each([1, 2, 3])('changes that were not released are found after a crash, with their values and annotations (seed %i)', async (seed) => {
  const random = new Random(seed);
  const folder = mkdtempSync(join(root, 'store-'));
  const engine = await openEmbeddedEngine({ folder, keeping: KEEPING });
  const writer = new Writer(engine);
  let released = 0;
  for (let round = 0; round < 300; round++) {
    await writer.write(random);
    if (random.chance(0.1)) engine.keptChanges!.release((released = writer.written.at(-1)?.revision ?? 0));
    if (!random.chance(0.05)) continue;
    const copy = mkdtempSync(join(root, 'copy-'));
    cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('lock') && !path.endsWith('.sock') });
    const other = await openEmbeddedEngine({ folder: copy, keeping: KEEPING });
    const found = (await other.keptChanges!.recover()).filter(({ revision }) => revision > released);
    const expected = writer.written.filter(({ revision }) => revision > released);
    expect(found.map((event, index) => told(event, expected[index]))).toEqual(expected);
    const secrets = found.filter(({ key, previousRevision }) => key === '/kept/secret' && previousRevision > 0);
    expect(secrets.every(({ previous }) => previous !== undefined)).toBe(true);
    await other.close();
  }
  await engine.close();
});

it('says since when changes were kept, and forgets it where they were not', async () => {
  const folder = mkdtempSync(join(root, 'store-'));
  const put = (engine: Engine, key: string): Promise<number> => engine.commit({ type: 'put', key, value: Buffer.from('x'), expected: 0 });
  let engine = await openEmbeddedEngine({ folder });
  const first = await put(engine, '/kept/1');
  await engine.close();
  engine = await openEmbeddedEngine({ folder, keeping: KEEPING });
  expect(engine.keptChanges!.since).toBe(first);
  engine.keptChanges!.release(await put(engine, '/kept/2'));
  await engine.close();
  engine = await openEmbeddedEngine({ folder, keeping: KEEPING });
  expect(engine.keptChanges!.since).toBe(first);
  expect(await engine.keptChanges!.recover()).toEqual([]);
  await engine.close();
  engine = await openEmbeddedEngine({ folder });
  const unkept = await put(engine, '/kept/3');
  await engine.close();
  engine = await openEmbeddedEngine({ folder, keeping: KEEPING });
  expect(engine.keptChanges!.since).toBe(unkept);
  await engine.close();
});
