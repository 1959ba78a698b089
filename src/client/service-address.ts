import type { ApiObject } from '../api/api-object.ts';
import { notFound, serviceUnavailable } from '../api/errors.ts';
import { quote } from '../util/go-quote.ts';
import type { Client, Informer } from './client.ts';

export interface HostAndPort {
  host: string;
  port: number;
}

/** Where a port of a service is reached: asked anew for every connection, it never waits. Throws an Error that says why nobody can be reached. */
export type ServiceAddress = (namespace: string, name: string, port: number) => HostAndPort;

interface Service extends ApiObject {
  spec?: { type?: string; clusterIP?: string; externalName?: string; ipFamilies?: string[] | null; ports?: { name?: string; port: number }[] | null };
}

interface EndpointSlice extends ApiObject {
  addressType?: string;
  endpoints?: { addresses?: string[] | null; conditions?: { ready?: boolean } }[] | null;
  ports?: { name?: string; port?: number }[] | null;
}

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
const HAVE_CLUSTER_IP = new Set(['ClusterIP', 'LoadBalancer', 'NodePort']);

/** At the cluster IP, behind which a proxy on this machine chooses an endpoint (apiserver/pkg/util/proxy, ResolveCluster). */
export function clusterAddresses(client: Client): ServiceAddress {
  const services = client.resource<Service>('', 'services').informer;
  return (namespace, name, port) => {
    const { spec = {} } = services.get(namespace, name) ?? missing(name);
    const { type = '', clusterIP = '', externalName = '' } = spec;
    if (type === 'ClusterIP' && clusterIP === 'None') throw new Error('cannot route to service with ClusterIP "None"');
    if (type === 'ExternalName') return { host: externalName, port };
    requireType(type);
    portOf(spec, name, port);
    return { host: clusterIP, port };
  };
}

/** At one of the endpoints that are ready, by chance, of the service's first IP family where it has any (ResolveEndpoint). */
export function endpointAddresses(client: Client, random: () => number = Math.random): ServiceAddress {
  const services = client.resource<Service>('', 'services').informer;
  const slices = new SliceIndex(client.resource<EndpointSlice>('discovery.k8s.io', 'endpointslices').informer);
  return (namespace, name, port) => {
    const { spec = {} } = services.get(namespace, name) ?? missing(name);
    requireType(spec.type ?? '');
    const { name: portName = '' } = portOf(spec, name, port);
    const [preferred] = spec.ipFamilies ?? [];
    const all = slices.of(namespace, name);
    const ready = (candidates: readonly EndpointSlice[]): HostAndPort[] => candidates.flatMap((slice) => readyAddresses(slice, portName));
    const first = ready(all.filter(({ addressType }) => preferred === undefined || addressType === preferred));
    const addresses = first.length > 0 ? first : ready(all);
    if (addresses.length === 0) throw serviceUnavailable(`no endpoints available for service ${quote(name)}`);
    return addresses[Math.floor(random() * addresses.length)]!;
  };
}

/** The service of this server itself leads back to it, whatever the network knows of it (kube-aggregator/pkg/apiserver, NewLoopbackServiceResolver). */
export const withLoopback =
  (others: ServiceAddress, own: () => HostAndPort): ServiceAddress =>
  (namespace, name, port) =>
    namespace === 'default' && name === 'kubernetes' && port === 443 ? own() : others(namespace, name, port);

/** Every slot is the service's slices as an array of its own: whoever reads it may keep it. */
class SliceIndex {
  readonly #informer: Informer<EndpointSlice>;
  readonly #byService = new Map<string, readonly EndpointSlice[]>();

  constructor(informer: Informer<EndpointSlice>) {
    this.#informer = informer;
    informer.onChange((slice, old) => {
      for (const changed of [slice, old]) {
        const serviceName = changed?.metadata.labels?.[SERVICE_NAME_LABEL];
        if (serviceName !== undefined) this.#byService.delete(`${changed!.metadata.namespace}/${serviceName}`);
      }
    });
  }

  of(namespace: string, serviceName: string): readonly EndpointSlice[] {
    const key = `${namespace}/${serviceName}`;
    let slices = this.#byService.get(key);
    if (!slices) {
      slices = this.#informer.list(namespace).filter(({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] === serviceName);
      if (this.#byService.size >= MAX_KEPT) this.#byService.clear();
      this.#byService.set(key, slices);
    }
    return slices;
  }
}

const MAX_KEPT = 1_000;

function readyAddresses({ endpoints, ports }: EndpointSlice, portName: string): HostAndPort[] {
  const port = ports?.find(({ name = '' }) => name === portName)?.port;
  if (port === undefined) return [];
  const ready = endpoints?.filter(({ conditions }) => conditions?.ready ?? true) ?? [];
  // Of an endpoint's addresses only the first counts.
  return ready.flatMap(({ addresses }) => (addresses?.[0] === undefined ? [] : [{ host: addresses[0], port }]));
}

function missing(name: string): never {
  throw notFound({ group: '', resource: 'service' }, name);
}

function requireType(type: string): void {
  if (!HAVE_CLUSTER_IP.has(type)) throw new Error(`unsupported service type ${quote(type)}`);
}

function portOf({ ports }: NonNullable<Service['spec']>, name: string, wanted: number): { name?: string } {
  const found = ports?.find(({ port }) => port === wanted);
  if (!found) throw serviceUnavailable(`no service port ${wanted} found for service ${quote(name)}`);
  return found;
}
