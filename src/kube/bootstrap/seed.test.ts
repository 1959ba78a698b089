import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../storage/engine.ts';
import { openEmbeddedEngine } from '../../storage/engines/embedded.ts';
import { openMemoryEngine } from '../../storage/engines/memory.ts';
import { builtSeed, plantSeed, writeSeed } from './seed.ts';

const folder = mkdtempSync(join(tmpdir(), 'binnacle-seed-'));
const file = join(folder, 'seed.json');
afterAll(() => rmSync(folder, { recursive: true }));

const STORED = [
  ['namespaces/default', '{"metadata":{"name":"default","uid":"01234567-0123-4123-8123-0123456789ab","creationTimestamp":"2026-11-15T08:00:00Z"}}'],
  ['leases/kube-system/me', '{"metadata":{"name":"me","uid":"11234567-0123-4123-8123-0123456789ab"}}'],
  ['clusterroles/b', '{"metadata":{"name":"b","uid":"21234567-0123-4123-8123-0123456789ab","managedFields":[{"time":"2026-11-15T08:00:01Z"}]}}'],
  ['clusterroles/a', '{"metadata":{"name":"a","uid":"31234567-0123-4123-8123-0123456789ab"},"note":"since 2026-11-15T08:00:01Z"}'],
] as const;

const readAll = async (engine: Engine): Promise<Record<string, string>> =>
  Object.fromEntries((await engine.range('')).items.map(({ key, value }) => [key, value.toString()]));

describe('the seed', () => {
  it('is what a first start stored alike for all, in its order, less what every store has its own', async () => {
    const store = join(folder, 'store');
    const engine = await openEmbeddedEngine({ folder: store });
    for (const [key, value] of STORED) await engine.commit({ type: 'put', key: `/registry/${key}`, value: Buffer.from(value), expected: 0 });
    await writeSeed(store, '/registry/', file);
    await engine.close();
    const seed = builtSeed(pathToFileURL(file));
    expect(seed.map(([key]) => key)).toEqual(['namespaces/default', 'clusterroles/b', 'clusterroles/a']);
    expect(JSON.stringify(seed)).not.toMatch(/[0-3]1234567|T08:00:00Z/);
  });

  it('gives a fresh store objects with identities and times of its own, of a version each', async () => {
    const engine = await openMemoryEngine();
    await plantSeed(engine, '/other/', () => builtSeed(pathToFileURL(file)), new Date('2027-01-02T03:04:05.678Z'));
    const { items } = await engine.range('');
    const inOrder = items.toSorted((a, b) => a.revision - b.revision);
    expect(inOrder.map(({ key }) => key)).toEqual(['/other/namespaces/default', '/other/clusterroles/b', '/other/clusterroles/a']);
    expect(new Set(items.map(({ revision }) => revision)).size).toBe(3);
    const [namespace, b, a] = inOrder.map(({ value }) => JSON.parse(value.toString()) as { metadata: Record<string, unknown>; note?: string });
    expect(namespace!.metadata).toEqual({ name: 'default', uid: expect.stringMatching(/^[0-9a-f-]{36}$/), creationTimestamp: '2027-01-02T03:04:05Z' });
    expect(b!.metadata['managedFields']).toEqual([{ time: '2027-01-02T03:04:05Z' }]);
    expect(a!.note).toBe('since 2026-11-15T08:00:01Z');
    expect(new Set([namespace, b, a].map((object) => object!.metadata['uid'])).size).toBe(3);
  });

  it('leaves a store alone that has something', async () => {
    const engine = await openMemoryEngine();
    await engine.commit({ type: 'put', key: '/registry/pods/default/web', value: Buffer.from('{}'), expected: 0 });
    await plantSeed(engine, '/registry/', () => builtSeed(pathToFileURL(file)), new Date());
    expect(await readAll(engine)).toEqual({ '/registry/pods/default/web': '{}' });
  });

  it('is empty from source', () => {
    expect(builtSeed()).toEqual([]);
  });
});
