import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../encoding/json-types.ts';
import { FlightReader } from './flight-reader.ts';
import { readTimeline } from './flight-timeline.ts';
import { FlightWriter } from './flight-writer.ts';
import type { Moment, Timeline } from './history-source.ts';
import { recordedResource as resource } from './testing/recorded-state.ts';

const PODS = resource('', 'v1', 'pods', 'Pod');
const CONFIG_MAPS = resource('', 'v1', 'configmaps', 'ConfigMap');
const EVENTS = resource('', 'v1', 'events', 'Event');
const API_SERVICES = resource('apiregistration.k8s.io', 'v1', 'apiservices', 'APIService');
const METRICS = resource('metrics.k8s.io', 'v1beta1', 'nodemetrics', 'NodeMetrics');

const object = (name: string, resourceVersion: string, more: JsonObject = {}): JsonObject => ({ metadata: { name, resourceVersion }, ...more });

let folder: string;
let writer: FlightWriter;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-timeline-'));
  writer = await FlightWriter.create(join(folder, 'flight.bin'), { server: 'https://x', gitVersion: 'v1.36.4' }, 1_000, { memoryBytes: 1024 * 1024 });
});
afterEach(() => rmSync(folder, { recursive: true }));

async function timelineAt(moment: Moment): Promise<Timeline> {
  const reader = await FlightReader.open(join(folder, 'flight.bin'));
  try {
    return await readTimeline(reader, moment);
  } catch (error) {
    await reader.close();
    throw error;
  }
}

const shown = ({ objects }: Timeline): string[] => objects.map(({ key, revision }) => `${key}@${revision}`).toSorted();

async function played(timeline: Timeline): Promise<string[]> {
  const changes: string[] = [];
  for await (const { timeMs, key, object: next, revision } of timeline.changes()) changes.push(`${timeMs} ${key}@${revision}${next ? '' : ' gone'}`);
  await timeline.close();
  return changes;
}

/** Two resources whose watches race: what was stored first may be recorded later. */
async function recordRace(): Promise<void> {
  const [pods, configMaps] = [writer.addResource(PODS, 1_000), writer.addResource(CONFIG_MAPS, 1_000)];
  writer.put(pods, 'a/p', object('p', '5'), 1_010);
  writer.listed(pods, 1_010, '8');
  writer.put(configMaps, 'a/c', object('c', '3'), 1_020);
  writer.listed(configMaps, 1_020, '9');
  writer.began(1_020);
  writer.put(pods, 'a/p', object('p', '12'), 2_000);
  writer.put(configMaps, 'a/c', object('c', '11'), 2_003);
  writer.put(pods, 'a/q', object('q', '14'), 2_010);
  writer.put(configMaps, 'a/d', object('d', '13'), 2_012);
  writer.delete(pods, 'a/p', 9_000, '20');
  writer.delete(configMaps, 'a/c', 9_001);
  await writer.close();
}

test('the state of a time is that of the newest revision that was seen by then', async () => {
  await recordRace();
  const timeline = await timelineAt({ timeMs: 2_001 });
  expect(shown(timeline)).toEqual(['a/c@11', 'a/p@12']);
  expect(timeline.revisionOf(PODS)).toBe(12);
  expect(await played(timeline)).toEqual(['2012 a/d@13', '2012 a/q@14', '9000 a/p@20 gone', '9001 a/c@20 gone']);
});

test('the state of a revision is what had that or a lower one', async () => {
  await recordRace();
  const state = async (resourceVersion: number): Promise<string[]> => {
    const timeline = await timelineAt({ resourceVersion });
    await timeline.close();
    return shown(timeline);
  };
  expect(await state(10)).toEqual(['a/c@3', 'a/p@5']);
  expect(await state(11)).toEqual(['a/c@11', 'a/p@5']);
  expect(await state(13)).toEqual(['a/c@11', 'a/d@13', 'a/p@12']);
  expect(await state(20)).toEqual(['a/d@13', 'a/q@14']);
});

test('a moment before the recording was whole is the one from which it is; before its beginning there is nothing', async () => {
  await recordRace();
  const timeline = await timelineAt({ timeMs: 1_005 });
  expect(shown(timeline)).toEqual(['a/c@3', 'a/p@5']);
  expect(timeline.atMs).toBe(1_020);
  await timeline.close();
  await expect(timelineAt({ timeMs: -5_000 })).rejects.toThrow('the recording begins at 1970-01-01T00:00:01.000Z');
  await expect(timelineAt({ resourceVersion: 2 })).rejects.toThrow('the recording begins at resource version 9');
});

test('events of a store of their own, and objects of aggregated servers, count apart', async () => {
  const [pods, events, services, metrics] = [PODS, EVENTS, API_SERVICES, METRICS].map((each) => writer.addResource(each, 1_000));
  writer.put(services!, 'v1beta1.metrics.k8s.io', object('v', '400', { spec: { group: 'metrics.k8s.io', version: 'v1beta1', service: { name: 'x' } } }), 1_001);
  writer.listed(services!, 1_001, '500');
  writer.put(pods!, 'a/p', object('p', '450'), 1_002);
  writer.listed(pods!, 1_002, '501');
  writer.listed(events!, 1_003, '90000');
  writer.put(metrics!, 'n', object('n', ''), 1_004);
  writer.listed(metrics!, 1_004, '');
  writer.began(1_005);
  writer.put(events!, 'a/e', object('e', '90005'), 2_000);
  writer.put(pods!, 'a/p', object('p', '502'), 2_001);
  await writer.close();
  const timeline = await timelineAt({ timeMs: 2_000 });
  expect([PODS, EVENTS, METRICS].map((each) => timeline.isApart(timeline.resources.find(({ plural }) => plural === each.plural)!))).toEqual([
    false,
    true,
    true,
  ]);
  expect(shown(timeline)).toEqual(['a/e@90005', 'a/p@450', 'n@1', 'v1beta1.metrics.k8s.io@400']);
  const own = timeline.resources.find(({ plural }) => plural === 'pods')!;
  expect(timeline.revisionOf(own)).toBe(501);
  await timeline.close();
});
