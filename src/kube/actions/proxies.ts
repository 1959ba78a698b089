import type { Action } from '../../apis/define.ts';
import type { EndpointAddress, Endpoints, Pod, Service } from '../../apis/facts/types/core-v1.ts';
import type { Client } from '../../client/client.ts';
import type { ConnectCall } from '../../registry/definition.ts';
import { badRequest, notFound, serviceUnavailable } from '../../util/errors.ts';
import { quote } from '../../util/field-errors.ts';
import { checkProxyable, connectionToCome, kubeletHost } from './kubelet.ts';
import { type ProxyTarget, parseProxyTarget } from './scheme-name-port.ts';
import { isGlobalUnicast } from './unicast.ts';

const PROXY_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** A proxy to whatever `find` says the name stands for; it throws where there is nothing to go to. */
const proxyTo = (kind: string, find: (target: ProxyTarget, call: ConnectCall) => Promise<void>): Action => ({
  connect: {
    methods: PROXY_METHODS,
    options: (_query, path) => (path === '' ? {} : { path }),
    async open(call) {
      const target = parseProxyTarget(call.name);
      if (!target) throw badRequest(`invalid ${kind} request ${quote(call.name)}`);
      await find(target, call);
      throw connectionToCome(`${kind} ${quote(call.name)} cannot be proxied to`);
    },
  },
});

/** pods/proxy (pkg/registry/core/pod/strategy.go ResourceLocation). */
export const podProxy = (): Action =>
  proxyTo('pod', async ({ name }, { store, namespace }) => {
    const { status } = (await store.get(namespace, name, '')).object<Pod>();
    if (!isGlobalUnicast(status.podIPs?.[0]?.ip ?? '')) throw badRequest('address not allowed');
  });

/** nodes/proxy (pkg/registry/core/node/strategy.go ResourceLocation). */
export const nodeProxy = (client: Client, preferredAddressTypes: readonly string[]): Action =>
  proxyTo('node', async ({ name }) => checkProxyable(await kubeletHost(client, name, preferredAddressTypes)));

/** services/proxy (pkg/registry/core/service/storage/storage.go ResourceLocation). */
export const serviceProxy = (client: Client): Action =>
  proxyTo('service', async ({ name, port }, { store, namespace, name: id }) => {
    const portName = /^[+-]?\d+$/.test(port) ? portNameOf((await store.get(namespace, name, '')).object<Service>(), Number(port)) : port;
    const endpoints = await client.resource<Endpoints>('', 'endpoints').get(namespace, name);
    if (!endpoints) throw notFound({ group: '', resource: 'endpoints' }, name);
    const subsets = endpoints.subsets ?? [];
    if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${quote(name)}`);
    const addresses = subsets.filter(({ ports = [] }) => ports.some((each) => (each.name ?? '') === portName)).flatMap((subset) => subset.addresses ?? []);
    for (const address of addresses) if (await isPods(client, namespace, address)) return;
    throw serviceUnavailable(`no endpoints available for service ${quote(id)}`);
  });

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
