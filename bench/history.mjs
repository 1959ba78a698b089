// What a history costs: the CPU of a write with it and without, and what it takes by itself.
const LIVE = 1_000;
const UPDATES = 10_000;
const IN_FLIGHT = 64;
const VALUE_BYTES = 1024;
/** The history works off what it was handed a moment later. */
const REST_MS = 2_500;
const ROUNDS = 2;
const LIMIT_US = 15;

export async function history({ withServer, record, fromSource }) {
  const cpu = { without: [], with: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, flags] of [
      ['without', []],
      ['with', ['--history=24h,256Mi']],
    ])
      await withServer(async (server, load) => void cpu[name].push(await updateUs(server, load)), { load: './churn-load.mjs', flags });
  }
  const least = Object.fromEntries(Object.entries(cpu).map(([name, runs]) => [name, Math.min(...runs)]));
  const runs = Object.entries(cpu).map(([name, each]) => `${name} ${each.map((us) => us.toFixed(1)).join(' ')}`);
  record('history: an update of 1 KiB costs more', least.with - least.without, 'µs', LIMIT_US, runs.join('; '));
  await (await fromSource('history-writes')).historyWrites(record);
  await (await fromSource('history-costs')).historyCosts(record);
}

async function updateUs(server, load) {
  await load.run('fill', { valueBytes: VALUE_BYTES, count: LIVE, inFlight: IN_FLIGHT });
  const settings = { valueBytes: VALUE_BYTES, live: LIVE, inFlight: IN_FLIGHT };
  await load.run('update', { ...settings, count: LIVE });
  await rest();
  const beforeMs = server.cpuMs();
  await load.run('update', { ...settings, count: UPDATES });
  await rest();
  return ((server.cpuMs() - beforeMs) * 1000) / UPDATES;
}

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));
