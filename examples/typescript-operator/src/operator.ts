import { type KubeConfig, type KubernetesObject, CoreV1Api, CustomObjectsApi, makeInformer } from '@kubernetes/client-node';

interface Website extends KubernetesObject {
  spec: { html: string };
  status?: { phase?: string };
}

const RESOURCE = { group: 'example.com', version: 'v1', plural: 'websites' };
const RETRY_MS = 200;

/** Keeps the text of each Website in a ConfigMap of its own, until it is stopped. */
export async function startOperator(config: KubeConfig): Promise<{ stop(): Promise<void> }> {
  const core = config.makeApiClient(CoreV1Api);
  const custom = config.makeApiClient(CustomObjectsApi);
  const list = async () => (await custom.listClusterCustomObject(RESOURCE)) as { items: Website[] };
  const informer = makeInformer<Website>(config, '/apis/example.com/v1/websites', list);
  let isStopped = false;

  const reconcile = async (website: Website): Promise<void> => {
    try {
      await publish(core, website);
      await custom.patchNamespacedCustomObjectStatus({
        ...RESOURCE,
        namespace: website.metadata!.namespace!,
        name: website.metadata!.name!,
        body: [{ op: 'add', path: '/status', value: { phase: 'Ready' } }],
      });
    } catch (error) {
      // It is gone, or another wrote first and the informer will tell: everything else is tried again.
      if ((error as { code?: number }).code !== 404 && !isStopped) setTimeout(() => void reconcile(website), RETRY_MS);
    }
  };
  informer.on('add', (website) => void reconcile(website));
  informer.on('update', (website) => void reconcile(website));
  // The server may close a watch at any time: a new one begins with a list.
  informer.on('error', () => void (isStopped || setTimeout(() => void informer.start(), RETRY_MS)));
  await informer.start();
  return {
    async stop() {
      isStopped = true;
      await informer.stop();
    },
  };
}

async function publish(core: CoreV1Api, website: Website): Promise<void> {
  const { name, namespace, uid } = website.metadata!;
  const configMap = {
    metadata: { name: `${name}-html`, namespace: namespace!, ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Website', name: name!, uid: uid! }] },
    data: { 'index.html': website.spec.html },
  };
  try {
    await core.createNamespacedConfigMap({ namespace: namespace!, body: configMap });
  } catch (error) {
    if ((error as { code?: number }).code !== 409) throw error;
    await core.replaceNamespacedConfigMap({ name: `${name}-html`, namespace: namespace!, body: configMap });
  }
}
