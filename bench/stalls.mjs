// Heavy requests, each beside a client that GETs every 2 ms: the catalogue of `npm run test:stalls`, with the longest wait of each.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LONGEST_LIMIT_MS = 50;
const P99_LIMIT_MS = 25;
/** As test/stalls/stalls.test.ts writes them: the longest GET, 99 % of them, CPU between two turns, the answer, the finding, the name. */
const ROW = /^ *(\d+) +(\d+) +(\d+) +(\d{3}) +\d+ {2}(.*)$/;

/** The catalogue brings its own server, of the sources that lie here. */
export async function stalls({ record }) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-stalls-'));
  try {
    const log = join(folder, 'rows');
    await runCatalogue(log);
    const rows = readFileSync(log, 'utf8')
      .split('\n')
      .map((line) => ROW.exec(line))
      .filter((row) => row !== null)
      .map(([, longest, p99, cpu, status, name]) => ({ longestMs: Number(longest), p99Ms: Number(p99), cpuMs: Number(cpu), status, name }));
    report(rows, record);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A row over its bound fails its test, and is in the log like any other. */
function runCatalogue(log) {
  const command = ['vitest', 'run', '--project=stalls'];
  const child = spawn('npx', command, { cwd: ROOT, stdio: 'ignore', env: { ...process.env, STALLS_LOG: log } });
  return new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
}

function report(rows, record) {
  if (rows.length === 0) throw new Error('no request of the catalogue was measured; `npm run test:stalls` says why');
  for (const { name, status, longestMs, p99Ms, cpuMs } of rows)
    record(name.slice(0, 80).padEnd(80), longestMs, 'ms', LONGEST_LIMIT_MS, `99 %: ${p99Ms} ms, CPU at once: ${cpuMs} ms, answer ${status}`);
  const longest = rows.map(({ longestMs }) => longestMs).toSorted((a, b) => a - b);
  const over = rows.filter(({ longestMs }) => longestMs > LONGEST_LIMIT_MS).length;
  const p99Over = rows.filter(({ p99Ms }) => p99Ms > P99_LIMIT_MS).length;
  record(
    'longest wait of a GET beside a heavy request',
    longest.at(-1),
    'ms',
    LONGEST_LIMIT_MS,
    `median of ${rows.length} requests ${longest[longest.length >> 1]} ms; over ${LONGEST_LIMIT_MS} ms: ${over}; 99 % of GETs over ${P99_LIMIT_MS} ms: ${p99Over}`,
  );
}
