import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, expect, test } from 'vitest';
import { MetricRegistry } from '../../metrics/registry.ts';
import { eventLoopCheck, registerRuntimeMetrics } from './runtime-metrics.ts';

const registry = new MetricRegistry();
const runtime = registerRuntimeMetrics(registry);
afterAll(() => runtime.stop());

const valueOf = (series: string): number => {
  const line = registry
    .print()
    .split('\n')
    .find((each) => each.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
};

function standStill(durationMs: number): void {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
}

test('an event loop that has stood still is told by the delays, by the longest of them, and by the check', async () => {
  const check = eventLoopCheck(250, runtime);
  const before = valueOf('binnacle_event_loop_delay_seconds_count');
  standStill(600);
  await expect.poll(() => runtime.recentStallMs).toBeGreaterThanOrEqual(490);
  expect(() => check.check()).toThrow(/^the event loop has stood still for \d+ ms; --livez-stall-limit is 250 ms$/);
  expect(() => eventLoopCheck(600_000, runtime).check()).not.toThrow();
  expect(valueOf('binnacle_event_loop_delay_max_seconds')).toBeGreaterThanOrEqual(0.49);
  expect(valueOf('binnacle_event_loop_delay_seconds_count')).toBeGreaterThan(before);
  expect(valueOf('binnacle_event_loop_delay_seconds_count')).toBeGreaterThan(valueOf('binnacle_event_loop_delay_seconds_bucket{le="0.25"}'));
});

test('pauses of garbage collections are counted by kind', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  await expect.poll(() => valueOf('binnacle_gc_pause_seconds_count{kind="major"}')).toBeGreaterThanOrEqual(1);
  expect(valueOf('binnacle_gc_pause_seconds_sum{kind="major"}')).toBeGreaterThan(0);
});

test('memory is what V8 says, and grows with buffers', () => {
  const { heapUsed } = process.memoryUsage();
  expect(valueOf('binnacle_heap_bytes{state="used"}')).toBeGreaterThan(heapUsed / 2);
  expect(valueOf('binnacle_heap_bytes{state="reserved"}')).toBeGreaterThanOrEqual(valueOf('binnacle_heap_bytes{state="used"}'));
  expect(valueOf('binnacle_heap_limit_bytes')).toBeGreaterThan(valueOf('binnacle_heap_bytes{state="reserved"}'));
  const before = valueOf('binnacle_external_memory_bytes');
  const held = Buffer.alloc(64 << 20);
  expect(valueOf('binnacle_external_memory_bytes')).toBeGreaterThanOrEqual(before + held.length / 2);
});

test('what keeps the process running is counted by kind', () => {
  const timer = setTimeout(() => {}, 60_000);
  expect(valueOf('binnacle_open_handles{kind="Timeout"}')).toBeGreaterThanOrEqual(1);
  clearTimeout(timer);
});
