import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Node } from '../../apis/facts/types/core-v1.ts';
import type { Client } from '../../client/client.ts';
import { badRequest, notFound, serviceUnavailable, unknownError } from '../../util/errors.ts';
import { isGlobalUnicast } from './unicast.ts';

/** Where a node's kubelet listens (pkg/kubelet/client/kubelet_client.go GetConnectionInfo). */
export async function kubeletHost(client: Client, nodeName: string, preferredAddressTypes: readonly string[]): Promise<string> {
  const node = await client.resource<Node>('', 'nodes').get('', nodeName);
  if (!node) throw notFound({ group: '', resource: 'nodes' }, nodeName);
  const addresses = node.status.addresses ?? [];
  for (const wanted of preferredAddressTypes) {
    const found = addresses.find(({ type }) => type === wanted);
    if (found) return found.address;
  }
  throw unknownError(`no preferred addresses found; known addresses: [${addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')}]`);
}

/** Nobody is proxied to the server's own machine or link (CVE-2020-8562 and its kin). */
export async function checkProxyable(host: string): Promise<void> {
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  if (!addresses.every(isGlobalUnicast)) throw badRequest('address not allowed');
}

async function resolve(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    throw badRequest(`lookup ${host}: no such host`);
  }
}

/** All checks are passed, and here the road ends for now. */
export const connectionToCome = (what: string): Error => serviceUnavailable(`${what}: connections to nodes and pods are still to come in this server`);
