import type { PrintedMetrics } from './settings.ts';

/**
 * One page of metrics for all workers, in the text format of Prometheus. Counters, histograms and summaries are sums, and so are gauges of what each worker has
 * of its own; gauges of what all of them see alike (objects in the store, settings, certificates) are the largest.
 */
export function mergeMetrics(pages: readonly PrintedMetrics[]): string {
  const families = new Map<string, MergedFamily>();
  for (const { text } of pages) addPage(families, text);
  const merged = [...families.values()].map(({ head, series }) => `${head}${[...series].map(([name, value]) => `${name} ${formatted(value)}\n`).join('')}`);
  return merged.join('') + ofEach(pages);
}

interface MergedFamily {
  /** Its lines of help and type. */
  head: string;
  isSum: boolean;
  readonly series: Map<string, number>;
}

/** Gauges that each process has of its own. */
const OWN_GAUGES =
  /^(apiserver_current_inqueue_requests|apiserver_current_inflight_requests|apiserver_longrunning_requests|apiserver_registered_watchers|apiserver_flowcontrol_|process_|nodejs_|binnacle_|workqueue_)/;
const NEVER_SUMMED = /(_time_seconds|_timestamp_seconds|_info)$/;

function addPage(families: Map<string, MergedFamily>, page: string): void {
  let family: MergedFamily | undefined;
  for (const line of page.split('\n')) {
    if (line.startsWith('# HELP ')) family = familyOf(families, line);
    else if (line.startsWith('# TYPE ')) addType(family!, line);
    else if (line !== '') addSeries(family!, line);
  }
}

function familyOf(families: Map<string, MergedFamily>, helpLine: string): MergedFamily {
  const name = helpLine.split(' ', 3)[2]!;
  let family = families.get(name);
  if (!family) families.set(name, (family = { head: `${helpLine}\n`, isSum: true, series: new Map() }));
  return family;
}

function addType(family: MergedFamily, typeLine: string): void {
  const [, , name = '', type] = typeLine.split(' ', 4);
  if (!family.head.includes('# TYPE ')) family.head += `${typeLine}\n`;
  family.isSum = type !== 'gauge' ? !NEVER_SUMMED.test(name) : OWN_GAUGES.test(name) && !NEVER_SUMMED.test(name);
}

function addSeries({ series, isSum }: MergedFamily, line: string): void {
  const space = line.lastIndexOf(' ');
  const name = line.slice(0, space);
  const value = parsed(line.slice(space + 1));
  const before = series.get(name);
  series.set(name, before === undefined ? value : isSum ? before + value : Math.max(before, value));
}

const parsed = (text: string): number => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text));
const formatted = (value: number): string => (value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value));

interface EachFamily {
  name: string;
  help: string;
  type: 'counter' | 'gauge';
  /** Whose series are added up. */
  of: string;
}

/** What shows how the work is divided among the workers. */
const EACH: readonly EachFamily[] = [
  { name: 'binnacle_worker_requests_total', help: 'Requests that each worker has answered.', type: 'counter', of: 'apiserver_request_total' },
  { name: 'binnacle_worker_cpu_seconds_total', help: 'CPU time of each worker.', type: 'counter', of: 'process_cpu_seconds_total' },
  { name: 'binnacle_worker_resident_memory_bytes', help: 'Resident memory of each worker.', type: 'gauge', of: 'process_resident_memory_bytes' },
];

function ofEach(pages: readonly PrintedMetrics[]): string {
  return EACH.map(({ name, help, type, of }) => {
    const series = pages.map(({ worker, text }) => `${name}{worker="${worker}"} ${formatted(sumOf(text, of))}\n`);
    return `# HELP ${name} [ALPHA] ${help}\n# TYPE ${name} ${type}\n${series.join('')}`;
  }).join('');
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
