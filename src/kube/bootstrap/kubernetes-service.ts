import { isIPv6 } from 'node:net';
import type { Client } from '../../client/client.ts';
import type { ApiObject } from '../../util/api-object.ts';
import { equalJson } from '../../util/json-equal.ts';
import { type ControllerOptions, createIfMissing, ensureNamespaces, keepDoing, syncedResource } from './keeping.ts';

const NAMESPACE = 'default';
const NAME = 'kubernetes';
const INTERVAL_MS = 10_000;
const SKIP_MIRROR = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
const SLICE_LABELS = { 'kubernetes.io/service-name': NAME };

export interface KubernetesServiceOptions extends ControllerOptions {
  /** The first address of the primary service range. */
  serviceIp: string;
  /** `--secure-port`, as it was opened. */
  securePort: number;
  /** `--kubernetes-service-node-port`; 0 for none. */
  nodePort: number;
  /** Where other machines reach this server; undefined where that is not known, and then there are no endpoints. */
  advertiseAddress: string | undefined;
  /** `--endpoint-reconciler-type`. While one server has the store for itself, `lease` and `master-count` mean the same. */
  endpointReconciler: 'lease' | 'master-count' | 'none';
}

interface EndpointPort {
  name: string;
  port: number;
  protocol: string;
}

interface Endpoints extends ApiObject {
  subsets?: { addresses?: { ip: string }[]; ports?: EndpointPort[] }[];
}

interface EndpointSlice extends ApiObject {
  addressType: string;
  endpoints: { addresses: string[]; conditions: { ready: boolean } }[] | null;
  ports?: EndpointPort[];
}

/** The service `kubernetes`, by which pods reach this server, with its endpoints. The service is made, and never corrected (pkg/controlplane/controller/kubernetesservice). */
export function keepKubernetesService(client: Client, options: KubernetesServiceOptions): Promise<void> {
  return keepDoing(
    async () => {
      await ensureNamespaces(client, [NAMESPACE]);
      await createIfMissing(await syncedResource(client, '', 'services'), serviceOf(options));
      if (hasEndpoints(options)) await ensureEndpoints(client, [options.advertiseAddress], options.securePort);
    },
    INTERVAL_MS,
    options,
  );
}

/** On the way down: takes this server out of the endpoints, so that nobody is sent to it any more. To be called when the controller was stopped. */
export async function removeKubernetesEndpoints(client: Client, options: Omit<KubernetesServiceOptions, 'signal'>): Promise<void> {
  if (hasEndpoints(options)) await ensureEndpoints(client, [], options.securePort);
}

const hasEndpoints = <O extends Omit<KubernetesServiceOptions, 'signal'>>(options: O): options is O & { advertiseAddress: string } =>
  options.endpointReconciler !== 'none' && options.advertiseAddress !== undefined;

function serviceOf({ serviceIp, securePort, nodePort }: KubernetesServiceOptions): ApiObject {
  const port = { name: 'https', protocol: 'TCP', port: 443, targetPort: securePort, ...(nodePort > 0 && { nodePort }) };
  const spec = { ports: [port], clusterIP: serviceIp, ipFamilyPolicy: 'SingleStack', sessionAffinity: 'None', type: nodePort > 0 ? 'NodePort' : 'ClusterIP' };
  const object = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: NAME, namespace: NAMESPACE, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec,
  };
  return object;
}

async function ensureEndpoints(client: Client, addresses: readonly string[], port: number): Promise<void> {
  const ports: EndpointPort[] = [{ name: 'https', port, protocol: 'TCP' }];
  const subsets = addresses.length === 0 ? [] : [{ addresses: addresses.map((ip) => ({ ip })), ports }];
  const resource = await syncedResource<Endpoints>(client, '', 'endpoints');
  await createIfMissing(resource, { kind: 'Endpoints', apiVersion: 'v1', metadata: { name: NAME, namespace: NAMESPACE, labels: SKIP_MIRROR }, subsets });
  const isWanted = ({ subsets: current = [], metadata }: Endpoints): boolean => equalJson(current, subsets) && hasLabels(metadata.labels, SKIP_MIRROR);
  const current = resource.informer.get(NAMESPACE, NAME);
  if (current !== undefined && !isWanted(current)) {
    await resource.update(NAMESPACE, NAME, (object) => {
      if (isWanted(object)) return false;
      object.subsets = subsets;
      object.metadata.labels = { ...object.metadata.labels, ...SKIP_MIRROR };
      return true;
    });
  }
  await ensureEndpointSlice(client, addresses, addresses.length === 0 ? [] : ports);
}

async function ensureEndpointSlice(client: Client, addresses: readonly string[], ports: EndpointPort[]): Promise<void> {
  const resource = await syncedResource<EndpointSlice>(client, 'discovery.k8s.io', 'endpointslices');
  const addressType = addresses.length > 0 && addresses.every((address) => isIPv6(address)) ? 'IPv6' : 'IPv4';
  const endpoints = addresses.map((address) => ({ addresses: [address], conditions: { ready: true } }));
  const wanted: EndpointSlice = {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name: NAME, namespace: NAMESPACE, labels: SLICE_LABELS },
    addressType,
    endpoints,
    ports,
  };
  const found = resource.informer.get(NAMESPACE, NAME);
  // The address type cannot be changed.
  if (found !== undefined && found.addressType !== addressType) await resource.delete(NAMESPACE, NAME);
  await createIfMissing(resource, wanted);
  const isWanted = (slice: EndpointSlice): boolean =>
    equalJson(slice.endpoints ?? [], endpoints) && equalJson(slice.ports ?? [], ports) && hasLabels(slice.metadata.labels, SLICE_LABELS);
  const current = resource.informer.get(NAMESPACE, NAME);
  if (current === undefined || isWanted(current)) return;
  await resource.update(NAMESPACE, NAME, (object) => {
    if (isWanted(object)) return false;
    Object.assign(object, { endpoints, ports });
    object.metadata.labels = { ...object.metadata.labels, ...SLICE_LABELS };
    return true;
  });
}

const hasLabels = (labels: Record<string, string> | undefined, wanted: Record<string, string>): boolean =>
  Object.entries(wanted).every(([key, value]) => labels?.[key] === value);
