import { truncateSync, writeFileSync, readFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../encoding/json-types.ts';
import { Random } from '../util/test-random.ts';
import { FlightReader, type RecordedChange } from './flight-reader.ts';
import { FlightWriter } from './flight-writer.ts';
import { recordedState } from './testing/recorded-state.ts';

const CLUSTER = { server: 'https://example.com', gitVersion: 'v1.36.4' };
const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true, shortNames: ['cm'] };
const NODES = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false, shortNames: ['no'] };
const MEMORY = { memoryBytes: 1024 * 1024 };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-flight-'));
  path = join(folder, 'flight.bin');
});
afterEach(() => rmSync(folder, { recursive: true }));

const objectOf = (name: string, value: number, size = 20): JsonObject => ({
  metadata: { name, resourceVersion: String(value) },
  data: { value: String(value), text: 'x'.repeat(size) },
});

const stateOf = async (timeMs: number): Promise<Record<string, JsonObject>> => Object.fromEntries(await recordedState(path, timeMs));

/* Random writes, with the state of every moment kept beside them. Small memories make the writer forget versions. */
test.each([
  [1, 1024 * 1024],
  [2, 3_000],
  [3, 0],
])('the state of every moment is what it was, seed %i, %i bytes of versions', async (seed, memoryBytes) => {
  const random = new Random(seed);
  const writer = await FlightWriter.create(path, CLUSTER, 0, { memoryBytes });
  const numbers = [writer.addResource(CONFIG_MAPS, 0), writer.addResource(NODES, 0)];
  const state: Record<string, JsonObject> = {};
  const moments: Record<string, JsonObject>[] = [{}];
  for (let timeMs = 1; timeMs <= 600; timeMs++) {
    const which = random.below(2);
    const key = which === 0 ? `ns-${random.below(3)}/object-${random.below(4)}` : `node-${random.below(4)}`;
    const id = `${which === 0 ? 'configmaps' : 'nodes'} ${key}`;
    if (state[id] && random.chance(0.2)) {
      writer.delete(numbers[which]!, key, timeMs);
      delete state[id];
    } else {
      state[id] = objectOf(key, random.below(50), random.below(400));
      writer.put(numbers[which]!, key, state[id], timeMs);
    }
    if (random.chance(0.05)) await writer.flush();
    moments.push({ ...state });
  }
  await writer.close();
  for (const timeMs of [0, 1, 7, 100, 333, 599, 600, 10_000]) expect(await stateOf(timeMs)).toEqual(moments[Math.min(timeMs, 600)]);
});

test('a change has the versions before and after it, and is not told twice', async () => {
  const writer = await FlightWriter.create(path, CLUSTER, 0, MEMORY);
  const resource = writer.addResource(CONFIG_MAPS, 0);
  writer.put(resource, 'a/x', objectOf('x', 1), 10);
  writer.listed(resource, 15);
  writer.put(resource, 'a/x', objectOf('x', 1), 20);
  writer.gap(resource, 20, 30);
  writer.put(resource, 'a/x', objectOf('x', 2), 30);
  writer.delete(resource, 'a/x', 40, '3');
  await writer.close();
  const reader = await FlightReader.open(path);
  const changes: RecordedChange[] = [];
  for await (const change of reader.changes()) changes.push(change);
  expect(changes).toEqual([
    { timeMs: 10, resource: CONFIG_MAPS, key: 'a/x', before: undefined, after: objectOf('x', 1), resourceVersion: '1', isInitial: true, gapSinceMs: undefined },
    {
      timeMs: 30,
      resource: CONFIG_MAPS,
      key: 'a/x',
      before: objectOf('x', 1),
      after: objectOf('x', 2),
      resourceVersion: '2',
      isInitial: false,
      gapSinceMs: 20,
    },
    {
      timeMs: 40,
      resource: CONFIG_MAPS,
      key: 'a/x',
      before: objectOf('x', 2),
      after: undefined,
      resourceVersion: '3',
      isInitial: false,
      gapSinceMs: undefined,
    },
  ]);
  expect(reader.cluster).toEqual(CLUSTER);
  await reader.close();
});

test('what a kill cuts off is the last block, and damage is told', async () => {
  const writer = await FlightWriter.create(path, CLUSTER, 0, MEMORY);
  const resource = writer.addResource(CONFIG_MAPS, 0);
  writer.put(resource, 'a/x', objectOf('x', 1), 10);
  await writer.flush();
  const wholeBytes = statSync(path).size;
  writer.put(resource, 'a/y', objectOf('y', 2), 20);
  await writer.close();
  for (let sizeBytes = statSync(path).size - 1; sizeBytes > wholeBytes; sizeBytes -= 7) {
    truncateSync(path, sizeBytes);
    expect(Object.keys(await stateOf(100))).toEqual(['configmaps a/x']);
  }
  const bytes = readFileSync(path);
  bytes[wholeBytes - 3]! ^= 1;
  writeFileSync(path, bytes);
  await expect(stateOf(100)).rejects.toThrow(/flight\.bin is damaged at byte \d+: a block is damaged: its checksum does not match/);
  writeFileSync(path, 'something else');
  await expect(stateOf(100)).rejects.toThrow(/is not a recording of `binnacle record`/);
});

test('a file that is there is not written over', async () => {
  writeFileSync(path, 'precious');
  await expect(FlightWriter.create(path, CLUSTER, 0, MEMORY)).rejects.toThrow('EEXIST');
  expect(readFileSync(path, 'utf8')).toBe('precious');
});
