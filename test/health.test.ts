import { expect, test } from 'vitest';
import { startServer } from './support/server.ts';

/* The health endpoints' checks: kube-apiserver v1.36's, in its order. */

const GENERIC = [
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'priority-and-fairness-config-consumer',
  'priority-and-fairness-filter',
  'storage-object-count-tracker-hook',
];
const EXTENSIONS = ['start-apiextensions-informers', 'start-apiextensions-controllers', 'crd-informer-synced'];
const KUBE = [
  'start-system-namespaces-controller',
  'peer-endpoint-reconciler-controller',
  'start-cluster-authentication-info-controller',
  'start-kube-apiserver-identity-lease-controller',
  'start-kube-apiserver-identity-lease-garbage-collector',
  'storage-readiness',
  'start-legacy-token-tracking-controller',
  'start-service-ip-repair-controllers',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-kubernetes-service-cidr-controller',
];
const AGGREGATOR = [
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-registration-controller',
  'apiservice-discovery-controller',
  'kube-apiserver-autoregistration',
];
const DOCUMENTS = ['apiservice-openapi-controller', 'apiservice-openapiv3-controller'];

const hook = (name: string): string => `poststarthook/${name}`;
const HOOKS = [...[...GENERIC, ...EXTENSIONS, ...KUBE, ...AGGREGATOR].map(hook), 'autoregister-completion', ...DOCUMENTS.map(hook)];
const CHECKS: Record<string, string[]> = {
  readyz: ['ping', 'log', 'etcd', 'etcd-readiness', 'informer-sync', ...HOOKS, 'shutdown'],
  livez: ['ping', 'log', 'loopback-serving-certificate', 'etcd', ...HOOKS],
  healthz: ['ping', 'log', 'loopback-serving-certificate', 'etcd', ...HOOKS],
};

test('each endpoint shows its checks, each of which has a path of its own and can be excluded', async () => {
  const client = (await startServer()).client();
  for (const [endpoint, checks] of Object.entries(CHECKS)) {
    const { text } = await client.send({ path: `/${endpoint}?verbose` });
    expect(text).toBe([...checks.map((check) => `[+]${check} ok\n`), `${endpoint} check passed\n`].join(''));
    const each = await Promise.all(checks.map((check) => client.send({ path: `/${endpoint}/${check}` })));
    expect(each.map(({ status, text: answer }) => `${status} ${answer}`)).toEqual(checks.map(() => '200 ok'));
    const without = await client.send({ path: `/${endpoint}?verbose&exclude=etcd&exclude=rbac/bootstrap-roles` });
    expect(without.text).toContain('[+]etcd excluded: ok\n');
    expect(without.text).toContain('warn: some health checks cannot be excluded: no matches for "rbac/bootstrap-roles"\n');
  }
  expect((await client.send({ path: '/livez/shutdown' })).status).toBe(404);
});

test('without RBAC nobody waits for its policy, and nobody makes it', async () => {
  const server = await startServer({ hasAuthorizationMode: false, flags: ['--authorization-mode=AlwaysAllow', '--enable-priority-and-fairness=false'] });
  const client = server.client();
  const { text } = await client.send({ path: '/readyz?verbose' });
  const named = [...text.matchAll(/\[\+\](\S+) ok/g)].map(([, name]) => name);
  const gone = ['rbac/bootstrap-roles', 'priority-and-fairness-config-consumer'].map(hook);
  const expected = CHECKS['readyz']!.map((name) => (name === hook('priority-and-fairness-filter') ? hook('max-in-flight-filter') : name));
  expect(named).toEqual(expected.filter((name) => !gone.includes(name)));
  const roles = await client.get<{ items: unknown[] }>('/apis/rbac.authorization.k8s.io/v1/clusterroles');
  expect(roles.items).toEqual([]);
});

test('the log begins with the version, and with --v=1 the flags; its end is logged too', async () => {
  const server = await startServer({ flags: ['--v=1', '--event-ttl=90m'] });
  expect(server.lines.find((line) => !line.includes(' FLAG: '))).toMatch(/^I.*\] Version: v1\.36\.\d+/);
  expect(server.lines.filter((line) => /\] FLAG: --(event-ttl|authorization-mode|v)=/.test(line)).map((line) => line.split('FLAG: ')[1])).toEqual([
    '--authorization-mode="[Node,RBAC]"',
    '--event-ttl="1h30m0s"',
    '--v="1"',
  ]);
  await server.stop();
  const ends = server.lines.slice(server.lines.findIndex((line) => line.endsWith('] Shutting down')));
  expect(ends.flatMap((line) => /\[graceful-termination\] shutdown event name="(\w+)"/.exec(line)?.[1] ?? [])).toEqual(
    expect.arrayContaining(['ShutdownInitiated', 'PreShutdownHooksStopped', 'NotAcceptingNewRequest', 'InFlightRequestsDrained', 'HTTPServerStoppedListening']),
  );
  expect(ends.at(-1)).toMatch(/\] Stopped$/);
});

test('liveness fails when the event loop has stood still for longer than --livez-stall-limit, and says so', async () => {
  const [strict, lenient] = await Promise.all(['1s', '10m'].map((limit) => startServer({ flags: [`--livez-stall-limit=${limit}`, '--v=2'] })));
  for (const server of [strict!, lenient!]) {
    const { text } = await server.client().expect(200, { path: '/livez?verbose&exclude=event-loop' });
    expect(text).toContain('[+]event-loop excluded: ok');
    server.signal('SIGSTOP');
  }
  // As long as they have to stand still.
  await new Promise((resolve) => void setTimeout(resolve, 1_500));
  for (const server of [strict!, lenient!]) server.signal('SIGCONT');
  await expect.poll(async () => (await strict!.client().send({ path: '/livez' })).status).toBe(500);
  const { text } = await strict!.client().send({ path: '/livez?verbose' });
  expect(text).toContain('[-]event-loop failed: reason withheld');
  await strict!.client().expect(500, { path: '/livez/event-loop' });
  await strict!.client().expect(500, { path: '/readyz' });
  await strict!.line(/event-loop.*the event loop has stood still for \d+ ms; --livez-stall-limit is 1000 ms/);
  await lenient!.client().expect(200, { path: '/livez' });
  await Promise.all([strict!.stop(), lenient!.stop()]);
});
