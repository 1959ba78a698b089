import type { Client, ResourceClient } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { delay } from '../../util/delay.ts';
import { isApiError } from '../../api/errors.ts';
import { linkSignals } from '../../util/linked-signal.ts';
import { type EndpointReconciler, type EndpointReconcilerOptions, endpointReconciler } from './endpoint-reconciler.ts';
import { type EndpointPort, SERVICE_NAME, SERVICE_NAMESPACE } from './endpoints.ts';
import { type BootstrapControllerOptions, createIfMissing, ensureNamespaces, keepDoing, syncedResource } from './keeping.ts';
import type { MasterLeases } from './master-leases.ts';

const INTERVAL_MS = 10_000;
/** How often a machine without a network is looked at for an address. */
const ADDRESS_INTERVAL_MS = 1000;
/** Another server that makes the service has had its address first, and is given so long to store it. */
const RACE_PAUSE_MS = 50;
const RACE_PAUSES = 40;

export interface KubernetesServiceOptions extends BootstrapControllerOptions, EndpointReconcilerOptions {
  /** The first address of the primary service range. */
  serviceIp: string;
  /** `--secure-port`, as it was opened. */
  securePort: number;
  /** `--kubernetes-service-node-port`; 0 for none. */
  nodePort: number;
  /** Where other machines reach this server; undefined for as long as that is not known, and then it is not among the endpoints. */
  advertiseAddress(): string | undefined;
}

export interface KubernetesServiceController {
  /** Resolves after the first attempt to make the service with this server among its endpoints; keeps it so until the signal. */
  run(signal: AbortSignal): Promise<void>;
  /** On the way down: takes this server out of the endpoints, so that nobody is sent to it any more. */
  stop(): Promise<void>;
}

/** The service `kubernetes`, by which pods reach this server, with its endpoints. The service is made, and never corrected (pkg/controlplane/controller/kubernetesservice). */
export function kubernetesServiceController(
  client: Client,
  options: Omit<KubernetesServiceOptions, 'signal'>,
  masterLeases: MasterLeases,
): KubernetesServiceController {
  const reconciler = endpointReconciler(client, options, masterLeases);
  const stopped = new AbortController();
  let lastPass: Promise<void> = Promise.resolve();
  const pass = (signal: AbortSignal): Promise<void> => {
    lastPass = keepOnce(client, { ...options, signal }, reconciler);
    return lastPass;
  };
  return {
    async run(signal) {
      const either = linkSignals(signal, stopped.signal).signal;
      const intervalMs = (): number => (options.advertiseAddress() === undefined ? ADDRESS_INTERVAL_MS : INTERVAL_MS);
      await keepDoing(() => pass(either), intervalMs, { ...options, signal: either });
    },
    async stop() {
      stopped.abort();
      const address = options.advertiseAddress();
      if (address === undefined) return;
      // A store that cannot be reached must not keep the server from ending.
      const removed = new AbortController();
      const removal = lastPass
        .catch(() => undefined)
        .then(() => reconciler.remove(address, portOf(options)))
        .finally(() => removed.abort());
      await Promise.race([removal, delay(2 * INTERVAL_MS, removed.signal)]);
    },
  };
}

async function keepOnce(client: Client, options: KubernetesServiceOptions, reconciler: EndpointReconciler): Promise<void> {
  await ensureNamespaces(client, [SERVICE_NAMESPACE]);
  await ensureService(await syncedResource(client, '', 'services'), serviceOf(options), options);
  const address = options.advertiseAddress();
  if (address !== undefined && !options.signal.aborted) await reconciler.keep(address, portOf(options));
}

/** Of several servers that start at once, one gets the address: the others are refused it, and wait for the service. A server can do without it for now. */
async function ensureService(services: ResourceClient, service: ApiObject, { signal, report }: BootstrapControllerOptions): Promise<void> {
  for (let pauses = 0; ; pauses++) {
    try {
      return await createIfMissing(services, service);
    } catch (error) {
      if (!isApiError(error, 'Invalid')) throw error;
      if (pauses === RACE_PAUSES || signal.aborted) return report(error as Error);
      if ((await services.get(SERVICE_NAMESPACE, SERVICE_NAME)) !== undefined) return;
    }
    await delay(RACE_PAUSE_MS, signal);
  }
}

const portOf = ({ securePort }: Pick<KubernetesServiceOptions, 'securePort'>): EndpointPort => ({ name: 'https', port: securePort, protocol: 'TCP' });

function serviceOf({ serviceIp, securePort, nodePort }: KubernetesServiceOptions): ApiObject {
  const port = { name: 'https', protocol: 'TCP', port: 443, targetPort: securePort, ...(nodePort > 0 && { nodePort }) };
  const spec = { ports: [port], clusterIP: serviceIp, ipFamilyPolicy: 'SingleStack', sessionAffinity: 'None', type: nodePort > 0 ? 'NodePort' : 'ClusterIP' };
  const object = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: SERVICE_NAME, namespace: SERVICE_NAMESPACE, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec,
  };
  return object;
}
