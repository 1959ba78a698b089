import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerProcess } from '../support/server.ts';

/** What one request did to everybody else. */
export interface Stall {
  /** The longest that the server's one JavaScript thread can have been busy: all the time it ran. Undefined where the system does not tell. */
  busyMs: number | undefined;
  /** The longest that someone who asked for no more than /livez had to wait. */
  waitMs: number;
}

/** Nanoseconds that the main thread has run, whatever else the machine was doing (Linux). */
function mainThreadMs({ child }: ServerProcess): number | undefined {
  if (platform() !== 'linux') return undefined;
  return Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** `path`: what the other asks for; `/version` where the server may be told to be unwell. */
export async function stallOf(server: ServerProcess, work: () => Promise<unknown>, path = '/livez'): Promise<Stall> {
  const prober = server.client('');
  await prober.get(path).catch(() => undefined); // its handshake is not the work's
  const over = new AbortController();
  let waitMs = 0;
  const probing = (async () => {
    while (!over.signal.aborted) {
      const startMs = performance.now();
      await prober.expect(200, { path });
      waitMs = Math.max(waitMs, performance.now() - startMs);
      await delay(5);
    }
  })();
  const before = mainThreadMs(server);
  let after: number | undefined;
  try {
    await work();
    after = mainThreadMs(server);
  } finally {
    over.abort();
    await probing;
    prober.close();
  }
  return { busyMs: before !== undefined && after !== undefined ? after - before : undefined, waitMs };
}

/** In mebibytes; undefined where the system does not tell. */
export function residentMiB({ child }: ServerProcess): number | undefined {
  if (platform() !== 'linux') return undefined;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024;
}
