import { expect, test } from 'vitest';
import { startServer } from './support/server.ts';

test('metrics are chosen by flags', async () => {
  const server = await startServer({
    flags: [
      '--show-hidden-metrics-for-version=1.35',
      '--disabled-metrics=apiserver_request_total,apiserver_response_sizes',
      '--allow-metric-labels=apiserver_request_sli_duration_seconds,verb=LIST',
    ],
  });
  const client = server.client();
  await client.get('/api/v1/namespaces');
  await client.get('/api/v1/namespaces/default');
  const { text } = await client.expect(200, { path: '/metrics' });
  expect(text).not.toMatch(/^apiserver_(request_total|response_sizes)/m);
  expect(text).toContain('\ndisabled_metrics_total 2\n');
  expect(text).toMatch(/^apiserver_request_sli_duration_seconds_count\{.*resource="namespaces".*verb="LIST".*\} 1$/m);
  expect(text).toMatch(/^apiserver_request_slo_duration_seconds_count\{.*resource="namespaces".*verb="unexpected".*\} \d+$/m);
  expect(text).toContain('# HELP apiserver_flowcontrol_request_concurrency_limit [ALPHA] (Deprecated since 1.30.0) ');
});

test('log files are served where asked for, to who may read them; requests are logged by --vmodule', async () => {
  const server = await startServer({ flags: ['--enable-logs-handler', '--vmodule=httplog=3'] });
  const client = server.client();
  const listing = await client.expect(200, { path: '/logs/' });
  expect(listing.text).toMatch(/^<!doctype html>\n/);
  expect(await client.get<{ paths: string[] }>('/')).toMatchObject({ paths: expect.arrayContaining(['/logs']) });
  await client.expect(301, { path: '/logs' });
  await client.expect(404, { path: '/logs/no-such-file' });
  await client.expect(405, { method: 'POST', path: '/logs/' });
  await server.client('bob').expect(403, { path: '/logs/' });
  await server.line(/HTTP verb="get" target="\/logs\/no-such-file"/);
  expect(server.lines.filter((line) => line.includes('no effect'))).toEqual([]);
});

test('they are not served where nobody asks', async () => {
  const server = await startServer();
  await server.client().expect(404, { path: '/logs/' });
});
