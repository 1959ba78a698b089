import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { admissionSeries, countScriptedRequests } from './oracle/scripted-requests.mjs';
import { replayCorpus } from './support/oracle.ts';
import { PROJECT_DIR } from './support/paths.ts';
import { startServer } from './support/server.ts';

/* What /metrics shows of a whole server, beside what a kube-apiserver showed (facts/v1.36). */

interface SeenMetric {
  name: string;
  type: string;
  labels: string[];
  buckets?: string[];
}

const facts = <T>(file: string): T => JSON.parse(readFileSync(join(PROJECT_DIR, 'facts/v1.36', file), 'utf8')) as T;
const absent = new Set([...readFileSync(join(PROJECT_DIR, 'docs/metrics.md'), 'utf8').matchAll(/^\| `([a-z_0-9]+)` \|/gm)].map(([, name]) => name!));
/** Only an etcd sends bookmarks, and is called by gRPC. */
const WITH_ETCD_ALONE = new Set([
  'etcd_bookmark_total',
  'grpc_client_handled_total',
  'grpc_client_msg_received_total',
  'grpc_client_msg_sent_total',
  'grpc_client_started_total',
]);

/** The families of a page of metrics, with the labels and buckets that they have. */
function familiesOf(page: string): Map<string, SeenMetric> {
  const families = new Map<string, SeenMetric>();
  for (const block of page.split(/^# HELP /m).slice(1)) {
    const [, typeLine = '', ...lines] = block.split('\n');
    const [, , name = '', type = ''] = typeLine.split(' ');
    const labels = new Set<string>();
    const buckets = new Set<string>();
    for (const [, label, value] of lines.join('\n').matchAll(/[{,]([a-zA-Z_]+)="((?:[^"\\]|\\.)*)"/g)) {
      if (label === 'le') buckets.add(value!);
      else labels.add(label!);
    }
    families.set(name, { name, type, labels: [...labels].toSorted(), ...(buckets.size > 0 && { buckets: [...buckets] }) });
  }
  return families;
}

describe('metrics', () => {
  test.concurrent('after the whole corpus, all families of a kube-apiserver are shown, with their labels and buckets', { timeout: 180_000 }, async () => {
    const server = await startServer({ storage: 'embedded' });
    await replayCorpus(server.url);
    const { text } = await server.client().send({ path: '/metrics' });
    const shown = familiesOf(text);
    const expected = facts<SeenMetric[]>('metrics-seen.json').filter(({ name }) => !absent.has(name) && !WITH_ETCD_ALONE.has(name));
    expect(expected.map(({ name }) => shown.get(name) ?? `${name} is missing`)).toEqual(expected);
    await server.stop();
  });

  test.concurrent('a thousand requests are counted as a kube-apiserver counts them, series by series', { timeout: 60_000 }, async () => {
    const server = await startServer();
    expect(await countScriptedRequests(server.url)).toEqual(facts('request-counts.json'));
    expect(await admissionSeries(server.url)).toEqual(facts('admission-series.json'));
    await server.stop();
  });
});
