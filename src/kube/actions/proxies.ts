import type { SubresourceAction } from '../../apis/define.ts';
import type { EndpointAddress, EndpointPort, Endpoints, Pod, Service } from '../../apis/facts/types/core-v1.ts';
import type { Client } from '../../client/client.ts';
import type { ConnectCall } from '../../registry/definition.ts';
import { badRequest, notFound, serviceUnavailable } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import type { Kubelets } from '../kubelet/kubelets.ts';
import { proxyableAddress } from '../proxy/guarded-dial.ts';
import { type ProxiedBackend, passToBackend } from '../proxy/pass.ts';
import type { ProxyTransports } from '../proxy/transports.ts';
import { isGlobalUnicast } from './unicast.ts';

const PROXY_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** A proxy to whatever `find` says the name stands for; it throws where there is nothing to go to. */
const proxyTo = (kind: string, find: (target: NamedProxyTarget, call: ConnectCall) => Promise<ProxiedBackend>): SubresourceAction => ({
  connect: {
    methods: PROXY_METHODS,
    options: (_query, path) => (path === '' ? {} : { path }),
    async open(call) {
      const target = parseProxyTarget(call.name);
      if (!target) throw badRequest(`invalid ${kind} request ${quote(call.name)}`);
      await passToBackend(call, await find(target, call));
    },
  },
});

/** pods/proxy (pkg/registry/core/pod/strategy.go ResourceLocation). */
export const podProxy = (transports: ProxyTransports): SubresourceAction =>
  proxyTo('pod', async ({ scheme, name, port }, { store, namespace }) => {
    const { spec, status } = (await store.get(namespace, name, '')).object<Pod>();
    const host = status.podIPs?.[0]?.ip ?? '';
    if (!isGlobalUnicast(host)) throw badRequest('address not allowed');
    const declared = (spec.containers ?? []).find(({ ports = [] }) => ports.length > 0)?.ports![0]!.containerPort;
    return { host, port: port === '' && declared !== undefined ? declared : portNumber(port, scheme), transport: transports.of(scheme) };
  });

const DEFAULT_PORTS: Readonly<Record<string, number>> = { '': 80, http: 80, https: 443 };

/** In the words of Go's dialer: what is a number may be none of a port, what is none would be a service's name. */
function portNumber(port: string, scheme: string): number {
  if (port === '') return DEFAULT_PORTS[scheme]!;
  if (!/^\d+$/.test(port)) throw serviceUnavailable(`error trying to reach service: dial tcp: lookup tcp/${port}: unknown port`);
  const number = Number(port);
  if (number > 65_535) throw serviceUnavailable(`error trying to reach service: dial tcp: address ${port}: invalid port`);
  return number;
}

/** nodes/proxy (pkg/registry/core/node/strategy.go ResourceLocation). */
export const nodeProxy = (kubelets: Kubelets, transports: ProxyTransports): SubresourceAction =>
  proxyTo('node', async ({ scheme, name, port }) => {
    const kubelet = await kubelets.of(name, 'nodes');
    await proxyableAddress(kubelet.host);
    if (port === '' || port === String(kubelet.port)) return { host: kubelet.host, port: kubelet.port, transport: kubelet.guardedTransport };
    return { host: kubelet.host, port: portNumber(port, scheme), transport: transports.of(scheme) };
  });

/** services/proxy (pkg/registry/core/service/storage/storage.go ResourceLocation). */
export const serviceProxy = (client: Client, transports: ProxyTransports): SubresourceAction =>
  proxyTo('service', async ({ scheme, name, port }, { store, namespace, name: id }) => {
    const portName = /^[+-]?\d+$/.test(port) ? portNameOf((await store.get(namespace, name, '')).object<Service>(), Number(port)) : port;
    const endpoints = await client.resource<Endpoints>('', 'endpoints').get(namespace, name);
    if (!endpoints) throw notFound({ group: '', resource: 'services' }, name);
    if ((endpoints.subsets ?? []).length === 0) throw serviceUnavailable(`no endpoints available for service ${quote(name)}`);
    for (const { address, port: found } of shuffled(candidates(endpoints, portName)))
      if (await isPods(client, namespace, address)) return { host: address.ip!, port: found.port!, transport: transports.of(scheme) };
    throw serviceUnavailable(`no endpoints available for service ${quote(id)}`);
  });

const candidates = ({ subsets = [] }: Endpoints, portName: string): { address: EndpointAddress; port: EndpointPort }[] =>
  subsets.flatMap(({ addresses = [], ports = [] }) => {
    const port = ports.find(({ name = '' }) => name === portName);
    return port ? addresses.map((address) => ({ address, port })) : [];
  });

/** From a random place on, so that all of them get their share. */
function shuffled<T>(items: readonly T[]): T[] {
  const start = Math.floor(Math.random() * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}

function portNameOf({ metadata, spec }: Service, number: number): string {
  const found = (spec.ports ?? []).find(({ port }) => port === number);
  if (!found) throw serviceUnavailable(`no service port ${number} found for service ${quote(metadata.name!)}`);
  return found.name ?? '';
}

/** Endpoints may be written by anyone: only an address that a pod really has is proxied to. */
async function isPods(client: Client, namespace: string, { ip, targetRef }: EndpointAddress): Promise<boolean> {
  if (targetRef?.namespace !== namespace || !targetRef.name) return false;
  const pod = await client.resource<Pod>('', 'pods').get(namespace, targetRef.name);
  return (pod?.status.podIPs ?? []).some((each) => each.ip === ip);
}

/** What a proxy's path names: `name`, `name:port` or `scheme:name:port`. */
interface NamedProxyTarget {
  scheme: string;
  name: string;
  port: string;
}

const SCHEMES = new Set(['', 'http', 'https']);

/** Undefined where it is none of these (apimachinery/pkg/util/net/port_split.go). */
function parseProxyTarget(id: string): NamedProxyTarget | undefined {
  const parts = id.split(':');
  if (parts.length > 3) return undefined;
  const [scheme, name, port] = parts.length === 3 ? parts : ['', ...parts];
  return name && SCHEMES.has(scheme!) ? { scheme: scheme!, name, port: port ?? '' } : undefined;
}
