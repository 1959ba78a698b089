import type { RequestRecord } from './activity.ts';

/** One second of requests. */
export interface Second {
  succeeded: number;
  refused: number;
  failed: number;
  p50Ms: number;
  p99Ms: number;
}

/** The q-th part of values, of which the order does not matter. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}

/** Requests by the second in which they ended, for the last so many seconds. Watches count when they begin; how long they last says nothing. */
export function secondsOf(records: readonly RequestRecord[], nowMs: number, count: number): Second[] {
  const last = Math.floor(nowMs / 1_000) - 1;
  const buckets = Array.from({ length: count }, () => [] as RequestRecord[]);
  for (const record of records) {
    if (record.isWatch && !record.isRunning) continue;
    const endedMs = Date.parse(record.time) + (record.isWatch ? 0 : record.durationMs);
    const index = count - 1 - (last - Math.floor(endedMs / 1_000));
    buckets[index]?.push(record);
  }
  return buckets.map((bucket) => {
    const durations = bucket.filter(({ isWatch }) => !isWatch).map(({ durationMs }) => durationMs);
    return {
      succeeded: bucket.filter(({ code }) => code < 400).length,
      refused: bucket.filter(({ code }) => code >= 400 && code < 500).length,
      failed: bucket.filter(({ code }) => code >= 500).length,
      p50Ms: quantile(durations, 0.5),
      p99Ms: quantile(durations, 0.99),
    };
  });
}

/** `1.5 GiB`, `12.3 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 2 ** (10 * power);
  return `${value.toFixed(value >= 100 || power === 0 ? 0 : 1)} ${units[power]}`;
}

export function formatMs(durationMs: number): string {
  if (durationMs >= 1_000) return `${(durationMs / 1_000).toFixed(durationMs >= 10_000 ? 0 : 1)} s`;
  return `${durationMs.toFixed(durationMs >= 10 ? 0 : 1)} ms`;
}
