import type { Declarations } from '../metrics/declaration.ts';
import { INVENTORY } from '../metrics/inventory.ts';
import type { Declaration } from '../metrics/declaration.ts';
import { primaryMetrics, workerMetrics } from '../metrics/inventory/binnacle.ts';
import { formatNumber } from '../metrics/text.ts';
import { TimeSlice } from '../util/time-slice.ts';
import type { PrintedMetrics } from './settings.ts';

/**
 * One page of metrics for the primary and all workers, in the text format of Prometheus. Counters, histograms and summaries are sums, and so are gauges of what each process has
 * of its own (`isPerProcess` of the inventory); gauges of what all of them see alike (objects in the store, settings, certificates) are the largest. Takes
 * slices of the thread's time.
 */
export async function mergeMetrics(pages: readonly PrintedMetrics[]): Promise<string> {
  const slice = new TimeSlice();
  const families = new Map<string, MergedFamily>();
  for (const { text } of pages) await addPage(families, text, slice);
  let merged = '';
  for (const { head, series } of families.values()) {
    merged += head;
    for (const [name, value] of series) {
      merged += `${name} ${formatNumber(value)}\n`;
      if (slice.isSpent) await slice.next();
    }
  }
  return merged + ofEach(pages);
}

interface MergedFamily {
  /** Its lines of help and type. */
  head: string;
  isSum: boolean;
  readonly series: Map<string, number>;
}

async function addPage(families: Map<string, MergedFamily>, page: string, slice: TimeSlice): Promise<void> {
  let family: MergedFamily | undefined;
  for (const line of page.split('\n')) {
    if (line.startsWith('# HELP ')) family = familyOf(families, line);
    else if (line.startsWith('# TYPE ')) addType(family!, line);
    else if (line !== '') addSeries(family!, line);
    if (slice.isSpent) await slice.next();
  }
}

function familyOf(families: Map<string, MergedFamily>, helpLine: string): MergedFamily {
  const name = helpLine.split(' ', 3)[2]!;
  let family = families.get(name);
  if (!family) families.set(name, (family = { head: `${helpLine}\n`, isSum: true, series: new Map() }));
  return family;
}

const declarations: Declarations = INVENTORY;

function addType(family: MergedFamily, typeLine: string): void {
  const [, , name = '', type] = typeLine.split(' ', 4);
  if (!family.head.includes('# TYPE ')) family.head += `${typeLine}\n`;
  family.isSum = type !== 'gauge' || (declarations[name]?.isPerProcess ?? false);
}

function addSeries({ series, isSum }: MergedFamily, line: string): void {
  const space = line.lastIndexOf(' ');
  const name = line.slice(0, space);
  const value = parsed(line.slice(space + 1));
  const before = series.get(name);
  series.set(name, before === undefined ? value : isSum ? before + value : Math.max(before, value));
}

const parsed = (text: string): number => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text));

/** Whose series are added up for each. */
const OF_WORKERS: Readonly<Record<keyof typeof workerMetrics, string>> = {
  binnacle_worker_requests_total: 'apiserver_request_total',
  binnacle_worker_cpu_seconds_total: 'process_cpu_seconds_total',
  binnacle_worker_resident_memory_bytes: 'process_resident_memory_bytes',
};
const OF_PRIMARY: Readonly<Record<keyof typeof primaryMetrics, string>> = {
  binnacle_primary_cpu_seconds_total: 'process_cpu_seconds_total',
  binnacle_primary_resident_memory_bytes: 'process_resident_memory_bytes',
};

function ofEach(pages: readonly PrintedMetrics[]): string {
  const workers = pages.filter(({ worker }) => worker !== undefined);
  const primary = pages.filter(({ worker }) => worker === undefined);
  return addedUp(workerMetrics, OF_WORKERS, workers) + addedUp(primaryMetrics, OF_PRIMARY, primary);
}

function addedUp<N extends string>(metrics: Readonly<Record<N, Declaration>>, sources: Readonly<Record<N, string>>, pages: readonly PrintedMetrics[]): string {
  let text = '';
  for (const name in metrics) {
    const { type, stability, help } = metrics[name];
    const series = pages.map(({ worker, text: page }) => {
      const labels = worker === undefined ? '' : `{worker="${worker}"}`;
      return `${name}${labels} ${formatNumber(sumOf(page, sources[name]))}\n`;
    });
    text += `# HELP ${name} [${stability}] ${help}\n# TYPE ${name} ${type}\n${series.join('')}`;
  }
  return text;
}

function sumOf(page: string, family: string): number {
  let sum = 0;
  for (let at = page.indexOf(`\n${family}`); at !== -1; at = page.indexOf(`\n${family}`, at + 1)) {
    const next = page[at + 1 + family.length];
    if (next !== '{' && next !== ' ') continue;
    const end = page.indexOf('\n', at + 1);
    const line = page.slice(at + 1, end === -1 ? undefined : end);
    sum += parsed(line.slice(line.lastIndexOf(' ') + 1));
  }
  return sum;
}
