import { readdirSync } from 'node:fs';
import type { MetricRegistry } from './registry.ts';

/** When the process began, in seconds of the epoch. */
export function registerProcessStartTime(registry: MetricRegistry): void {
  const startTime = registry.gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process, in seconds since the Unix epoch.',
    stability: 'ALPHA',
  });
  const startSeconds = performance.timeOrigin / 1000;
  registry.onCollect(() => startTime.with().set(startSeconds));
}

/** What Prometheus' own clients say of a process: processor time, memory and open files. */
export function registerProcessMetrics(registry: MetricRegistry): void {
  registerProcessStartTime(registry);
  const cpu = registry.counter({ name: 'process_cpu_seconds_total', help: 'Processor seconds used, by user and system together.', stability: 'ALPHA' });
  const resident = registry.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory, in bytes.', stability: 'ALPHA' });
  const openFiles = registry.gauge({ name: 'process_open_fds', help: 'Open file descriptors.', stability: 'ALPHA' });
  registry.onCollect(() => {
    const { user, system } = process.cpuUsage();
    cpu.with().set((user + system) / 1e6);
    resident.with().set(process.memoryUsage.rss());
    const count = countOpenFiles();
    if (count !== undefined) openFiles.with().set(count);
  });
}

/** Only Linux tells. */
function countOpenFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}

/** What `/version` answers, as labels. */
export interface BuildInfo {
  major: string;
  minor: string;
  gitVersion: string;
  gitCommit: string;
  gitTreeState: string;
  buildDate: string;
  goVersion: string;
  compiler: string;
  platform: string;
}

export function registerBuildInfo(registry: MetricRegistry, info: BuildInfo): void {
  const gauge = registry.gauge({
    name: 'kubernetes_build_info',
    help: 'Always 1; the labels say which build runs, and where.',
    stability: 'BETA',
    labels: ['major', 'minor', 'git_version', 'git_commit', 'git_tree_state', 'build_date', 'go_version', 'compiler', 'platform'],
  });
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } = info;
  registry.onCollect(() => gauge.with(major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform).set(1));
}

/** `apiserver_storage_objects`: how many objects each stored resource (`deployments.apps`) has, counted when asked. */
export function registerStorageObjects(registry: MetricRegistry, count: () => Iterable<readonly [resource: string, objects: number]>): void {
  const gauge = registry.gauge({ name: 'apiserver_storage_objects', help: 'Objects stored, by resource.', stability: 'STABLE', labels: ['resource'] });
  registry.onCollect(() => {
    gauge.reset();
    for (const [resource, objects] of count()) gauge.with(resource).set(objects);
  });
}
