import type { Client } from '../../client/client.ts';
import type { ApiObject } from '../../util/api-object.ts';
import { notFound, serviceUnavailable } from '../../util/errors.ts';
import { quote } from '../../util/field-errors.ts';
import type { ServiceAddress } from './caller.ts';

interface Service extends ApiObject {
  spec?: { type?: string; clusterIP?: string; externalName?: string; ports?: { name?: string; port: number }[] };
}

interface EndpointSlice extends ApiObject {
  endpoints?: { addresses?: string[]; conditions?: { ready?: boolean } }[];
  ports?: { name?: string; port?: number }[];
}

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** At the cluster IP, behind which a proxy on this machine chooses an endpoint (kube-aggregator/pkg/apiserver, NewClusterIPServiceResolver). */
export function clusterAddresses(client: Client): ServiceAddress {
  const services = client.resource<Service>('', 'services').informer;
  return (namespace, name, port) => {
    const { spec = {} } = services.get(namespace, name) ?? missing(name);
    if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port };
    portOf(spec, namespace, name, port);
    const { clusterIP = '' } = spec;
    if (clusterIP === '' || clusterIP === 'None') throw serviceUnavailable(`no cluster IP found for service ${quote(`${namespace}/${name}`)}`);
    return { host: clusterIP, port };
  };
}

/** At one of the endpoints that are ready, by chance (NewEndpointServiceResolver). */
export function endpointAddresses(client: Client): ServiceAddress {
  const services = client.resource<Service>('', 'services').informer;
  const slices = client.resource<EndpointSlice>('discovery.k8s.io', 'endpointslices').informer;
  return (namespace, name, port) => {
    const { spec = {} } = services.get(namespace, name) ?? missing(name);
    if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port };
    const { name: portName = '' } = portOf(spec, namespace, name, port);
    const ofService = slices.list(namespace).filter(({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] === name);
    const addresses = ofService.flatMap((slice) => readyAddresses(slice, portName));
    if (addresses.length === 0) throw serviceUnavailable(`no endpoints available for service ${quote(name)}`);
    return addresses[Math.floor(Math.random() * addresses.length)]!;
  };
}

function readyAddresses({ endpoints = [], ports = [] }: EndpointSlice, portName: string): { host: string; port: number }[] {
  const port = ports.find(({ name = '' }) => name === portName)?.port;
  if (port === undefined) return [];
  return endpoints.filter(({ conditions }) => conditions?.ready ?? true).flatMap(({ addresses = [] }) => addresses.map((host) => ({ host, port })));
}

function missing(name: string): never {
  throw notFound({ group: '', resource: 'service' }, name);
}

function portOf({ ports = [] }: NonNullable<Service['spec']>, namespace: string, name: string, wanted: number): { name?: string } {
  const found = ports.find(({ port }) => port === wanted);
  if (!found) throw serviceUnavailable(`no service port ${wanted} found for service ${quote(`${namespace}/${name}`)}`);
  return found;
}
