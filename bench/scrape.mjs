// Scrapes of /metrics: what they cost, and how long another request waits meanwhile.
import { clientOf, waits } from './client.mjs';
import { firstOf } from './custom.mjs';

const SCRAPES = 20;
const LIMIT_MS = 50;
const TEXT = { accept: 'text/plain;version=0.0.4' };
const FORMATS = {
  text: TEXT,
  'text that is not compressed': { ...TEXT, 'accept-encoding': 'identity' },
  protobuf: { accept: 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited' },
};

/** Of a server with definitions of these names: as they are, and when each was written to, read and listed. */
export async function scrapeCosts(server, names, record) {
  const client = clientOf(server);
  await scrapes(`${names.length} definitions`);
  for (const name of names) {
    const { collection, object } = firstOf(name);
    while (!(await client.post(collection, object)));
    await client.get(`${collection}/first`);
    await client.get(collection);
  }
  await scrapes(`${names.length} definitions in use`);

  async function scrapes(what) {
    for (const [format, headers] of Object.entries(FORMATS)) {
      const { length } = await client.get('/metrics', headers);
      const beforeMs = server.cpuMs();
      for (let i = 0; i < SCRAPES; i++) await client.download('/metrics', headers);
      const cpuMs = (server.cpuMs() - beforeMs) / SCRAPES;
      const other = await waits(client);
      for (let i = 0; i < SCRAPES; i++) await client.download('/metrics', headers);
      const { longestMs } = await other.stop();
      const shown = `${(length / 1e6).toFixed(1)} MB, ${longestMs.toFixed(0)} ms the longest wait of another GET`;
      record(`scrape, ${what}, ${format}, CPU`, cpuMs, 'ms', LIMIT_MS, shown);
    }
  }
}
