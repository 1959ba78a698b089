import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CACHE_DIR } from './paths.ts';

/** Where etcd is: named by BINNACLE_ETCD, put into the cache by `scripts/etcd.sh`, or on the PATH. */
export const findEtcd = (): string | undefined => [process.env['BINNACLE_ETCD'], join(CACHE_DIR, 'etcd/usr/bin/etcd'), ...onPath('etcd')].find(isExecutable);

/** The client of etcd's: named by BINNACLE_ETCDCTL, put into the cache by `scripts/etcd.sh`, or on the PATH. */
export const findEtcdctl = (): string | undefined =>
  [process.env['BINNACLE_ETCDCTL'], join(CACHE_DIR, 'etcd/usr/bin/etcdctl'), ...onPath('etcdctl')].find(isExecutable);

/** Put into the cache by `scripts/prometheus.sh`, or on the PATH; `promtool` is beside it. */
export const findPrometheus = (name: 'prometheus' | 'promtool' = 'prometheus'): string | undefined =>
  [join(CACHE_DIR, 'prometheus/usr/bin', name), ...onPath(name)].find(isExecutable);

/** The browser in which the console is tested: named by BINNACLE_CHROMIUM, or on the PATH. */
export const findChromium = (): string | undefined =>
  [process.env['BINNACLE_CHROMIUM'], ...['chromium', 'chromium-browser', 'google-chrome'].flatMap(onPath)].find(isExecutable);

export const hasCommand = (name: string): boolean => onPath(name).some(isExecutable);

const onPath = (name: string): string[] => (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));

function isExecutable(file: string | undefined): file is string {
  if (file === undefined) return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
