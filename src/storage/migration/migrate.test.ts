import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Engine } from '../engine.ts';
import { openEmbeddedEngine } from '../engines/embedded.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import { type MigrationResult, migrate } from './migrate.ts';

const root = mkdtempSync(join(tmpdir(), 'binnacle-migrate-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const put = (engine: Engine, key: string, value: string, expected = 0): Promise<number> =>
  engine.commit({ type: 'put', key, value: Buffer.from(value), expected });
const run = (from: Engine, to: Engine, onProgress: (done: number, total: number) => void = () => undefined): Promise<MigrationResult> =>
  migrate({
    from,
    to,
    prefix: '/registry/',
    convert: ({ key, value }) => (key.includes('/leases/') ? undefined : Buffer.from(value.toString().toUpperCase())),
    ttlSecondsOf: () => undefined,
    onProgress,
  });
const byRevision = async (engine: Engine): Promise<string[]> =>
  (await engine.range('/registry/')).items.toSorted((a, b) => a.revision - b.revision).map(({ key, value }) => `${key}=${value}`);

test('all objects arrive converted, in the order of their versions, in stores of either kind', async () => {
  const from = openMemoryEngine();
  const to = await openEmbeddedEngine({ folder: mkdtempSync(join(root, 'store-')) });
  for (let i = 0; i < 600; i++) await put(from, `/registry/c/${(i * 7919) % 600}`, `v${i}`);
  await put(from, '/registry/c/0', 'last', (await from.get('/registry/c/0'))!.revision);
  await put(from, '/registry/leases/x', 'server');
  await put(from, '/elsewhere', 'x');
  const progress: string[] = [];
  expect(await run(from, to, (done, total) => progress.push(`${done}/${total}`))).toEqual({ written: 600, skipped: 0 });
  expect(await byRevision(to)).toEqual(
    (await byRevision(from)).filter((line) => !line.includes('/leases/')).map((line) => line.replace(/=.*/, (value) => value.toUpperCase())),
  );
  expect((await byRevision(to)).at(-1)).toBe('/registry/c/0=LAST');
  expect(progress.at(-1)).toBe('601/601');
  expect((await to.range('')).items).toHaveLength(600);
  await to.close();
});

test('a second run passes over what is there, and writes the rest', async () => {
  const from = openMemoryEngine();
  const to = openMemoryEngine();
  for (const name of ['b', 'a', 'c']) await put(from, `/registry/${name}`, name);
  await put(to, '/registry/b', 'B');
  expect(await run(from, to)).toEqual({ written: 2, skipped: 1 });
  expect(await run(from, to)).toEqual({ written: 0, skipped: 3 });
  expect(await byRevision(to)).toEqual(['/registry/b=B', '/registry/a=A', '/registry/c=C']);
});

test('other content under the same key is refused, and stays', async () => {
  const from = openMemoryEngine();
  const to = openMemoryEngine();
  await put(from, '/registry/a', 'a');
  await put(to, '/registry/a', 'theirs');
  await expect(run(from, to)).rejects.toThrow('/registry/a is there already, with other content');
  expect((await to.get('/registry/a'))!.value.toString()).toBe('theirs');
});

test('a source that changes meanwhile is refused', async () => {
  const from = openMemoryEngine();
  const to = openMemoryEngine();
  await put(from, '/registry/a', 'a');
  const range = from.range.bind(from);
  from.range = async (...args) => {
    const result = await range(...args);
    await put(from, '/registry/a', 'b', (await from.get('/registry/a'))!.revision);
    return result;
  };
  await expect(run(from, to)).rejects.toThrow('/registry/a was changed while it was being copied');
});
