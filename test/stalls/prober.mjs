import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';

/* GETs all the time, in a process of its own: what the tests' thread does must not look like a stall of the server. */

const PAUSE_MS = 2;
const { port, ca, token, path, pid } = JSON.parse(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });

let worst = { getMs: 0, cpuMs: 0, count: 0 };

/** Milliseconds that the server's main thread has been running; undefined where the platform does not tell. */
function threadCpuMs() {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}

function get() {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, host: '127.0.0.1', port, path, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode));
    });
    sent.once('error', reject);
    sent.end();
  });
}

let cpuBeforeMs = threadCpuMs();

async function probe() {
  const startedAtMs = performance.now();
  const status = await get();
  const getMs = performance.now() - startedAtMs;
  if (status !== 200) throw new Error(`the probe was answered ${status}`);
  const cpuMs = threadCpuMs();
  // Between two answers the thread has had one turn at least: this is the most that its longest turn can have taken.
  const tookMs = cpuMs === undefined ? getMs : cpuMs - cpuBeforeMs;
  cpuBeforeMs = cpuMs;
  worst = { getMs: Math.max(worst.getMs, getMs), cpuMs: Math.max(worst.cpuMs, tookMs), count: worst.count + 1 };
}

process.on('message', (message) => {
  if (message === 'reset') {
    worst = { getMs: 0, cpuMs: 0, count: 0 };
    process.send('reset');
  } else process.send(worst);
});

process.once('disconnect', () => process.exit());

for (;;) {
  try {
    await probe();
  } catch (error) {
    process.send({ error: String(error) });
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
