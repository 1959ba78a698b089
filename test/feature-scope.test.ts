import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import type { StartedServer, startServer as StartServer } from '../src/index.ts';

/* Two servers of one process, of which each follows its own feature gates, in the rules of kinds and in all that asks them. */

const NAMESPACE = 'default';
const MEMORY_PRESSURE = 'node.kubernetes.io/memory-pressure';

interface Side {
  server: StartedServer;
  api: CoreV1Api;
}
let sides: { on: Side; off: Side };

beforeAll(async () => {
  const { startServer } = (await import(pathToFileURL(join(inject('distDir'), 'index.js')).href)) as { startServer: typeof StartServer };
  const start = async (value: boolean): Promise<Side> => {
    const flags = [
      `--feature-gates=PodLevelResources=${value},InPlacePodLevelResourcesVerticalScaling=${value},StrictIPCIDRValidation=${value}`,
      '--enable-admission-plugins=PodTolerationRestriction',
    ];
    const server = await startServer({ flags });
    const config = new KubeConfig();
    config.loadFromString(server.kubeconfig);
    return { server, api: config.makeApiClient(CoreV1Api) };
  };
  const [on, off] = await Promise.all([start(true), start(false)]);
  sides = { on, off };
});

afterAll(() => Promise.all(Object.values(sides ?? {}).map(({ server }) => server.stop())));

/** Asks both at the same time, so that their work is mixed. */
async function both<T>(ask: (api: CoreV1Api) => Promise<T>): Promise<[on: T, off: T]> {
  return Promise.all([ask(sides.on.api), ask(sides.off.api)]);
}

/** A pod that asks for memory as a whole: of a class of its own where that is a feature, else best effort. */
const pod = (name: string): object => ({
  metadata: { name },
  spec: {
    serviceAccountName: 'default',
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'i' }],
    resources: { requests: { memory: '64Mi' } },
  },
});

const whenServiceAccountIsThere = (api: CoreV1Api): Promise<unknown> =>
  vi.waitFor(() => api.readNamespacedServiceAccount({ name: 'default', namespace: NAMESPACE }), { timeout: 20_000 });

test('the class of a pod, as the toleration restriction sees it', async () => {
  await both(whenServiceAccountIsThere);
  const [on, off] = await both((api) => api.createNamespacedPod({ namespace: NAMESPACE, body: pod('tolerant') }));
  const keysOf = ({ spec }: typeof on): (string | undefined)[] => (spec!.tolerations ?? []).map(({ key }) => key);
  expect([on.status!.qosClass, off.status!.qosClass]).toEqual(['Burstable', 'BestEffort']);
  expect(keysOf(on)).toContain(MEMORY_PRESSURE);
  expect(keysOf(off)).not.toContain(MEMORY_PRESSURE);
});

test('the class of a pod, as a quota counts it', async () => {
  await both(whenServiceAccountIsThere);
  await both((api) =>
    api.createNamespacedResourceQuota({ namespace: NAMESPACE, body: { metadata: { name: 'effort' }, spec: { hard: { pods: '5' }, scopes: ['BestEffort'] } } }),
  );
  const used = async (api: CoreV1Api): Promise<string | undefined> =>
    (await api.readNamespacedResourceQuota({ name: 'effort', namespace: NAMESPACE })).status?.used?.['pods'];
  // The controller counts what is there, and admission what comes.
  const before = await both((api) => vi.waitFor(async () => (await used(api)) ?? expect.fail('not counted yet'), { timeout: 20_000 }));
  await both((api) => api.createNamespacedPod({ namespace: NAMESPACE, body: pod('counted') }));
  const after = await both(used);
  expect(after.map((count, side) => Number(count) - Number(before[side]))).toEqual([0, 1]);
});

test('addresses of a service with leading zeros', async () => {
  const service = { metadata: { name: 'zeros' }, spec: { ports: [{ port: 80 }], clusterIP: 'None', externalIPs: ['010.1.2.3'] } };
  const [on, off] = await both((api) =>
    api.createNamespacedService({ namespace: NAMESPACE, body: service }).then(
      () => 201,
      (error: { code: number }) => error.code,
    ),
  );
  expect([on, off]).toEqual([422, 201]);
});
