import { Agent, request } from 'node:https';

/* GETs all the time, in a process of its own: what the tests' thread does must not look like a stall of the server. */

const PAUSE_MS = 2;
const { port, ca, token, path } = JSON.parse(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });

/** How long each GET took. */
let times = [];

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

async function probe() {
  const startedAtMs = performance.now();
  const status = await get();
  if (status !== 200) throw new Error(`the probe was answered ${status}`);
  times.push(performance.now() - startedAtMs);
}

async function probeOn() {
  for (;;) {
    try {
      await probe();
    } catch (error) {
      process.send({ error: String(error) });
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function worst() {
  const sorted = times.toSorted((a, b) => a - b);
  return { getMs: sorted.at(-1) ?? 0, p99Ms: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0, count: sorted.length };
}

process.on('message', (message) => {
  if (message === 'start') void probeOn();
  if (message !== 'tell') times = [];
  process.send(worst());
});

process.once('disconnect', () => process.exit());
