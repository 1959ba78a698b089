// The test process of in-process.mjs that starts and stops servers, and counts what they leave behind.
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** By then V8 has thrown away the bytecode of what only the first start runs. */
const WARM_UP = 100;
const SEQUENCE = 200;
/** Timers of the last server, and handles that close after their callbacks. */
const SETTLE_MS = 500;
const MIB = 2 ** 20;

const send = (...result) => new Promise((resolve) => process.send(result, resolve));
const { startServer } = createRequire(import.meta.url)(join(process.argv[2], 'index.js'));

async function startAndStop(count) {
  for (let i = 0; i < count; i++) await (await startServer()).stop();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}

function left() {
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return {
    bytes: heapUsed + external,
    handles: process.getActiveResourcesInfo().length,
    files: readdirSync(tmpdir()).filter((name) => name.startsWith('binnacle-')).length,
  };
}

await startAndStop(WARM_UP);
const before = left();
await startAndStop(SEQUENCE);
const after = left();
await send(`left by ${SEQUENCE} servers, heap`, (after.bytes - before.bytes) / MIB, 'MiB');
await send(`left by ${SEQUENCE} servers, handles`, after.handles - before.handles, '');
await send(`left by ${SEQUENCE} servers, files`, after.files - before.files, '');
process.disconnect();
