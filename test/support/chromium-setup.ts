import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findChromium, hasCommand } from './find-etcd.ts';
import { PROJECT_DIR } from './paths.ts';

const TIME_LIMIT_MS = 240_000;

/** Installs Debian's Chromium where there is none and it can be. Elsewhere the console's tests are left out, and the last lines of the run say so. */
export default async function setUp(): Promise<void> {
  if (findChromium() !== undefined || !hasCommand('apt-get') || process.getuid?.() !== 0) return;
  try {
    await promisify(execFile)('scripts/chromium.sh', { cwd: PROJECT_DIR, timeout: TIME_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const lines = (error as Error).message.trim().split('\n');
    console.warn(`scripts/chromium.sh could not install Chromium: ${lines.at(-1)}`);
  }
}
