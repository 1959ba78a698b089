// 100,000 objects of 1 KiB: how fast 64 writers make them, what memory they take, and how long a server takes that starts with them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const OBJECTS = 100_000;
const WRITERS = 64;
const COLLECTION = '/api/v1/namespaces/default/configmaps';
/** Memory is read when the server has come to rest, and given back what it took for the busy time (src/cli/idle-memory.ts). */
const REST_MS = 20_000;
const LIMIT_MS = 300_000;
const MEMORY_LIMIT = 1.6;
const RESTART_LIMIT_MS = 3_000;

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));

/** `withServer(measure, settings)` runs a server, `record` takes a line of the result. */
export async function manyObjects({ withServer, record, valueBytes, syncMs }) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'));
  let idleMiB = 0;
  try {
    await withServer(
      async (server, load) => {
        await rest();
        idleMiB = server.memoryMiB();
        const startMs = performance.now();
        const { p50Ms, p99Ms } = await load.run('create', { prefix: 'made-', valueBytes, count: OBJECTS, inFlight: WRITERS });
        const perSecond = OBJECTS / ((performance.now() - startMs) / 1000);
        record(
          `${WRITERS} writers: creates a second`,
          perSecond,
          '',
          undefined,
          `at least 4000 where an fdatasync takes 0.5 ms; here ${syncMs().toFixed(2)} ms; p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
        );
        await recordMemory(server, load, `memory of ${OBJECTS} objects`);
      },
      { folder, limitMs: LIMIT_MS },
    );
    await withServer(
      async (server, load) => {
        record(`start to ready with ${OBJECTS} objects`, server.readyMs, 'ms', RESTART_LIMIT_MS);
        await recordMemory(server, load, 'memory of them after the start');
      },
      { folder, limitMs: LIMIT_MS },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }

  /** Beyond the idle server's, in parts of the bytes that a list of them has. */
  async function recordMemory(server, load, what) {
    await rest();
    const takenMiB = server.memoryMiB() - idleMiB;
    const { sizeBytes } = await load.run('size', { path: COLLECTION });
    record(what, takenMiB / (sizeBytes / 2 ** 20), '×', MEMORY_LIMIT, `${takenMiB.toFixed(0)} MiB for ${(sizeBytes / 2 ** 20).toFixed(0)} MiB`);
  }
}
