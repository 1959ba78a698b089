import { readFileSync, readdirSync } from 'node:fs';
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
  registerProcessFiles(registry);
}

/** Only Linux tells. */
function countOpenFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}

const PAGE_BYTES = 4096;
/** What has no limit, as Prometheus' clients tell it: the largest number of 64 bits. */
const UNLIMITED = 2 ** 64;

/** What the files of /proc tell of this process, and of the network that it sees. */
function registerProcessFiles(registry: MetricRegistry): void {
  const virtual = registry.family('process_virtual_memory_bytes').with();
  const maxVirtual = registry.family('process_virtual_memory_max_bytes').with();
  const maxFiles = registry.family('process_max_fds').with();
  const received = registry.family('process_network_receive_bytes_total').with();
  const sent = registry.family('process_network_transmit_bytes_total').with();
  registry.onCollect(() => {
    virtual.set(Number(procFile('statm').split(' ', 1)[0]) * PAGE_BYTES);
    const limits = procFile('limits');
    maxVirtual.set(softLimit(limits, 'Max address space'));
    maxFiles.set(softLimit(limits, 'Max open files'));
    const [names = [], values = []] = procFile('net/netstat')
      .split('\n')
      .filter((line) => line.startsWith('IpExt:'))
      .map((line) => line.split(' '));
    received.set(Number(values[names.indexOf('InOctets')] ?? 0));
    sent.set(Number(values[names.indexOf('OutOctets')] ?? 0));
  });
}

/** '' where there is none: only Linux has them. */
function procFile(name: string): string {
  try {
    return readFileSync(`/proc/self/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** `Max open files            1024                 524288               files` */
function softLimit(limits: string, name: string): number {
  const value = limits
    .split('\n')
    .find((line) => line.startsWith(name))
    ?.slice(name.length)
    .trim()
    .split(/\s+/, 1)[0];
  return value === 'unlimited' ? UNLIMITED : Number(value ?? 0);
}

/** Which version runs, which one it is as, and which features are on (component-base/compatibility, component-base/metrics/prometheus/feature). */
export function registerFeatures(registry: MetricRegistry, version: VersionInfo, features: () => Iterable<Feature>): void {
  const enabled = registry.family('kubernetes_feature_enabled');
  const info = registry.family('version_info');
  registry.onCollect(() => {
    info.with('kube', version.binary, version.emulation, version.minCompat).set(1);
    for (const { name, stage, isEnabled } of features()) enabled.with(name, stage).set(isEnabled ? 1 : 0);
  });
}

export interface VersionInfo {
  binary: string;
  emulation: string;
  minCompat: string;
}

export interface Feature {
  name: string;
  /** `ALPHA`, `BETA`, `DEPRECATED`; '' of those that are always there. */
  stage: string;
  isEnabled: boolean;
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

export interface StoredResource {
  group: string;
  resource: string;
  count: number;
  averageBytes: number;
}

/** How many objects each stored resource has, and how large they are, read when asked. */
export function registerStorageObjects(registry: MetricRegistry, resources: () => Iterable<StoredResource>): void {
  const storageObjects = registry.family('apiserver_storage_objects');
  const objects = registry.family('apiserver_resource_objects');
  const sizes = registry.family('apiserver_resource_size_estimate_bytes');
  registry.onCollect(() => {
    for (const family of [storageObjects, objects, sizes]) family.clear();
    for (const { group, resource, count, averageBytes } of resources()) {
      storageObjects.with(group === '' ? resource : `${resource}.${group}`).set(count);
      objects.with(group, resource).set(count);
      sizes.with(group, resource).set(Math.round(count * averageBytes));
    }
  });
}
