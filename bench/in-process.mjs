// Servers inside a test's process: how long the first one, the next ones, forks and resets take, what each holds, and what 200 of them leave behind.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIMIT_MS = 240_000;
const LIMITS = {
  'in process, first start': 150,
  'in process, next start': 40,
  'in process, stop': 20,
  'in process, heap and buffers each': 8,
  'fork with 10000 objects': 20,
  'reset with 10000 objects, 10 changed': 20,
  'left by 200 servers, heap': 1,
  'left by 200 servers, handles': 0,
  'left by 200 servers, files': 0,
};

/** Times as a test has them: without flags of V8's, which takes no code cache while its flags are others than those the cache was made with. */
const TIMES = { file: './in-process-load.mjs', execArgv: [] };
/** Without machine code, of which V8 makes more from server to server, some KiB each: what is left then are objects of the servers. */
const LEFT = { file: './in-process-left.mjs', execArgv: ['--expose-gc', '--no-opt', '--no-sparkplug'] };

export async function inProcessCosts({ record, dist }) {
  await measured(TIMES, { record, dist });
  await measured(LEFT, { record, dist });
}

/** In a process of its own, which is a test's: it measures itself, and sends `[name, value, unit, more]`. */
function measured({ file, execArgv }, { record, dist }) {
  // Others on this machine have files in the same folder as well: what is left is counted in one of its own.
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'));
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [dist], {
    execArgv,
    timeout: LIMIT_MS,
    env: { ...process.env, TMPDIR: folder },
  });
  child.on('message', ([name, value, unit, more]) => record(name, value, unit, LIMITS[name], more));
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => {
      rmSync(folder, { recursive: true, force: true });
      if (code === 0) resolve();
      else reject(new Error(`the process of servers ended with ${code ?? signal}`));
    });
  });
}
