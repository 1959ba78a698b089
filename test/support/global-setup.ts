import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { CACHE_DIR, CLIENTS_ARCHIVE, HELM, KUBECTL, PROJECT_DIR } from './paths.ts';
import { extractEntry } from './zip.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The bundled server of this run. */
    distDir: string;
    /** How many faults a test of test/faults is to inject. */
    faultInjections: number;
    /** What no request may take longer of another client's time. */
    stallBoundMs: number;
    /** `--workers` of every server; 0 for none. */
    workers: number;
  }
}

/**
 * Bundles the server into a folder of this run's own, so that runs side by side do not pull it away from each other, and unzips the clients once.
 * BINNACLE_DIST names a bundle to test instead of building one.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  await mkdir(CACHE_DIR, { recursive: true });
  const given = process.env.BINNACLE_DIST;
  const distDir = given === undefined ? await mkdtemp(join(CACHE_DIR, 'test-dist-')) : resolve(given);
  const tearDown = async (): Promise<void> => {
    if (given === undefined) await rm(distDir, { recursive: true, force: true });
  };
  try {
    await Promise.all([given === undefined && bundleInto(distDir), unzipClients()]);
  } catch (error) {
    await tearDown();
    throw error;
  }
  project.provide('distDir', distDir);
  return tearDown;
}

const bundleInto = (outdir: string): Promise<unknown> => promisify(execFile)(process.execPath, ['scripts/build.mjs', '--outdir', outdir], { cwd: PROJECT_DIR });

async function unzipClients(): Promise<void> {
  for (const binary of [KUBECTL, HELM]) {
    if (existsSync(binary)) continue;
    await mkdir(dirname(binary), { recursive: true });
    const draft = `${binary}.${process.pid}`;
    await extractEntry(CLIENTS_ARCHIVE, `${basename(binary)}/${basename(binary)}`, draft, 0o755);
    await rename(draft, binary);
  }
}
