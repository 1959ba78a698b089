import { readdirSync } from 'node:fs';
import type { Family, NumberSeries } from '../../metrics/family.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';

/** When the process began, in seconds of the epoch. */
export function setProcessStartTime(startTime: Family<NumberSeries, readonly []>): void {
  startTime.with().set(performance.timeOrigin / 1000);
}

/** What Prometheus' own clients say of a process: processor time, memory and open files. */
export function registerProcessMetrics(registry: MetricRegistry): void {
  registry.onCollect(() => setProcessStartTime(registry.family('process_start_time_seconds')));
  const cpu = registry.family('process_cpu_seconds_total');
  const resident = registry.family('process_resident_memory_bytes');
  const openFiles = registry.family('process_open_fds');
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
  const gauge = registry.family('kubernetes_build_info');
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } = info;
  registry.onCollect(() => gauge.with(major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform).set(1));
}

/** `apiserver_storage_objects`: how many objects each stored resource (`deployments.apps`) has, counted when asked. */
export function registerStorageObjects(registry: MetricRegistry, count: () => Iterable<readonly [resource: string, objects: number]>): void {
  const gauge = registry.family('apiserver_storage_objects');
  registry.onCollect(() => {
    gauge.clear();
    for (const [resource, objects] of count()) gauge.with(resource).set(objects);
  });
}
