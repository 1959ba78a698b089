import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findEtcd, findEtcdctl, hasCommand } from './find-etcd.ts';
import { PROJECT_DIR } from './paths.ts';

const TIME_LIMIT_MS = 120_000;

/**
 * Fetches Debian's etcd and etcdctl where there is none and apt is there, so that `npm ci && npm test` is all that it takes. Without a network the tests run without etcd, and the
 * last lines of the run say what was left out (summary-reporter.ts).
 */
export default async function setUp(): Promise<void> {
  if ((findEtcd() !== undefined && findEtcdctl() !== undefined) || !hasCommand('apt-get') || !hasCommand('dpkg')) return;
  try {
    await promisify(execFile)('scripts/etcd.sh', { cwd: PROJECT_DIR, timeout: TIME_LIMIT_MS });
  } catch (error) {
    const lines = (error as Error).message.trim().split('\n');
    console.warn(`scripts/etcd.sh could not fetch etcd: ${lines.at(-1)}`);
  }
}
