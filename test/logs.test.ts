import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createAuthority, signCertificate } from '../src/serving/certificates/create.ts';
import type { ApiClient } from './support/api-client.ts';
import { hasEtcd, startEtcd } from './support/etcd.ts';
import { startServerOnEtcd } from './support/etcd-server.ts';
import { type ServerProcess, startServer, temporaryFolder } from './support/server.ts';
import { ALLOWED, WebhookServer } from './support/webhook-server.ts';

/* What operators look for in the log. */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
let server: ServerProcess;
let api: ApiClient;

beforeAll(async () => {
  server = await startServer({ flags: ['--vmodule=trace=2', '--v=1', '--controllers=namespace-controller'] });
  api = server.client();
});

async function register(name: string, webhook: object): Promise<void> {
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
  const objectSelector = { matchLabels: { case: name } };
  await api.create('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name },
    webhooks: [{ name: `${name}.example.com`, rules, objectSelector, sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 10, ...webhook }],
  });
}

test('a slow request is told with its parts, as upstream traces it, and without its query', async () => {
  // Answers later than a request may take without being told.
  const slow = await new WebhookServer(() => (response) => {
    const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: slow.requests.at(-1)!.uid, ...ALLOWED } });
    setTimeout(() => response.setHeader('content-type', 'application/json').end(body), 600);
  }).listen();
  await register('slow', { clientConfig: slow.clientConfig });
  await api.expect(201, {
    method: 'POST',
    path: `${CONFIG_MAPS}?fieldManager=hidden`,
    body: { metadata: { name: 'slow', labels: { case: 'slow' } } },
    headers: { accept: 'application/json' },
  });
  const [head, number] = await server.line(
    /^I\d{4} \S+ +\d+ trace\] Trace\[(\d+)\]: "Create" accept:application\/json,audit-id:[\w-]+,client:127\.0\.0\.1,api-group:,api-version:v1,name:,subresource:,namespace:default,protocol:HTTP\/1\.1,resource:configmaps,scope:resource,url:\/api\/v1\/namespaces\/default\/configmaps,user-agent:,verb:POST \(\d\d-\w{3}-\d{4} [\d:.]+\) \(total time: \d+ms\):$/,
  );
  expect(head).not.toContain('hidden');
  const [, waited] = await server.line(new RegExp(`^Trace\\[${number}\\]: ---"mutating-webhook" (\\d+)ms \\([\\d:.]+\\)$`));
  expect(Number(waited)).toBeGreaterThanOrEqual(590);
  await server.line(new RegExp(`^Trace\\[${number}\\]: \\[[\\w.]+\\] \\[[\\w.]+\\] END$`));
});

test('a webhook that cannot be asked and is passed over', async () => {
  await register('open', { clientConfig: { url: 'https://127.0.0.1:1/review' }, failurePolicy: 'Ignore' });
  await api.create(CONFIG_MAPS, { metadata: { name: 'open', labels: { case: 'open' } } });
  await server.line(
    /^W.* Failed calling webhook, failing open webhook="open\.example\.com" error=".*connection refused.*" verb="create" resource="configmaps" .*auditId="/,
  );
});

test('a certificate that ends within a month', async () => {
  const folder = temporaryFolder();
  const authority = createAuthority({ commonName: 'ca' });
  const notAfter = new Date(Date.now() + 9.5 * 86_400_000);
  const { certPem, keyPem } = signCertificate(authority, { commonName: 'server', usages: ['server'], ips: ['127.0.0.1'], notAfter });
  writeFileSync(join(folder, 'tls.crt'), certPem);
  writeFileSync(join(folder, 'tls.key'), keyPem);
  const other = await startServer({ flags: [`--tls-cert-file=${folder}/tls.crt`, `--tls-private-key-file=${folder}/tls.key`] });
  await other.line(/^W.* A certificate expires soon file=".*tls\.crt" notAfter="[^"]+" daysLeft=9$/);
});

test('a watch whose client does not read is ended', async () => {
  const unread = await api.open({ path: `${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Dunread` });
  expect(unread.statusCode).toBe(200);
  await api.create(CONFIG_MAPS, { metadata: { name: 'unread' } });
  const isEnded = (): boolean => server.lines.some((line) => line.includes('A watch was ended'));
  for (let i = 0; i < 200 && !isEnded(); i++) {
    await api.update(`${CONFIG_MAPS}/unread`, { metadata: { name: 'unread' }, data: { i: `${i}`, much: 'x'.repeat(900_000) } });
  }
  await server.line(/^W.* A watch was ended: its client does not read events=\d+ bytes=\d+ verb="watch" resource="configmaps" .*auditId="[\w-]+"/);
  unread.destroy();
});

test.skipIf(!hasEtcd())('a write that the store takes long for', async () => {
  const etcd = await startEtcd();
  const slow = await startServerOnEtcd(etcd.endpoints);
  etcd.members[0]!.pause();
  const written = slow.client().create(CONFIG_MAPS, { metadata: { name: 'slow' } });
  // As long as the write has to take.
  await new Promise((resolve) => void setTimeout(resolve, 700));
  etcd.members[0]!.resume();
  await written;
  const [, durationMs] = await slow.line(/^W.* A write to the store was slow durationMs=(\d+) verb="create" resource="configmaps" .*auditId="[\w-]+"/);
  expect(Number(durationMs)).toBeGreaterThanOrEqual(500);
  await slow.stop();
});

test('phases of start and end, and controllers', async () => {
  await server.line(/Start-up phase is over phase="listener" durationMs=\d+$/);
  await server.line(/hooks\] A post-start hook has finished name="rbac\/bootstrap-roles"/);
  await server.line(/I.* Started a controller controller="namespace-controller"/);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  const log = server.lines.join('\n');
  expect(log).toMatch(/Stopped a controller controller="namespace-controller"/);
  expect(log).toMatch(/\[graceful-termination\] shutdown event name="ShutdownInitiated"[^]*name="InFlightRequestsDrained"/);
});
