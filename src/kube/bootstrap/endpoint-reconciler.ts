import type { Client } from '../../client/client.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { type EndpointPort, type Subset, readEndpoints, writeEndpoints } from './endpoints.ts';
import type { MasterLeases } from './master-leases.ts';

export interface EndpointReconcilerOptions {
  /** `--endpoint-reconciler-type` */
  endpointReconciler: 'lease' | 'master-count' | 'none';
  /** `--apiserver-count`: for master-count. */
  serverCount: number;
}

/** Keeps the servers that live in the endpoints of the service `kubernetes` (controlplane/reconcilers). */
export interface EndpointReconciler {
  /** This server lives. To be called every ten seconds. */
  keep(address: string, port: EndpointPort): Promise<void>;
  /** This server goes. */
  remove(address: string, port: EndpointPort): Promise<void>;
}

export function endpointReconciler(
  client: Client,
  { endpointReconciler: type, serverCount }: EndpointReconcilerOptions,
  masterLeases: MasterLeases,
): EndpointReconciler {
  if (type === 'lease') return leaseReconciler(client, masterLeases);
  return type === 'master-count' ? countReconciler(client, serverCount) : { async keep() {}, async remove() {} };
}

/** Every server has a lease; whoever finds the endpoints to be others than those with leases corrects them. */
function leaseReconciler(client: Client, leases: MasterLeases): EndpointReconciler {
  return {
    async keep(address, port) {
      await leases.renew(address);
      const living = await leases.list();
      if (living.length === 0) throw new Error('no API server IP addresses were listed in storage, refusing to erase all endpoints for the kubernetes Service');
      await writeEndpoints(client, (current) => (current.length === 1 ? [withAddresses(current[0]!, living)] : subsetsOf(living, [port])));
    },
    async remove(address, port) {
      await leases.remove(address);
      const living = await leases.list();
      if ((await readEndpoints(client)) !== undefined) await writeEndpoints(client, () => subsetsOf(living, [port]));
    },
  };
}

/** Every server adds itself, and where there are too many removes those that follow it. */
function countReconciler(client: Client, count: number): EndpointReconciler {
  return {
    async keep(address, port) {
      await writeEndpoints(client, (current) => (current.length === 1 ? [withSelf(current[0]!, address, count)] : subsetsOf([address], [port])));
    },
    async remove(address) {
      if ((await readEndpoints(client)) === undefined) return;
      await writeEndpoints(client, ([first]) =>
        first === undefined
          ? []
          : subsetsOf(
              addressesOf(first).filter((other) => other !== address),
              first.ports ?? [],
            ),
      );
    },
  };
}

const addressesOf = ({ addresses = [] }: Subset): string[] => addresses.map(({ ip }) => ip);

/** None where there are no addresses. */
const subsetsOf = (addresses: readonly string[], ports: EndpointPort[]): Subset[] =>
  addresses.length === 0 ? [] : [{ addresses: addresses.toSorted().map((ip) => ({ ip })), ports }];

/** As it is where it has these addresses, in whatever order. */
function withAddresses(subset: Subset, addresses: readonly string[]): Subset {
  if (equalJson(addressesOf(subset).toSorted(), addresses.toSorted())) return subset;
  return { ...subset, addresses: addresses.toSorted().map((ip) => ({ ip })) };
}

function withSelf(subset: Subset, own: string, count: number): Subset {
  const addresses = addressesOf(subset);
  if (addresses.includes(own) && addresses.length <= count) return subset;
  const all = [...new Set([...addresses, own])].toSorted();
  while (all.length > count) all.splice((all.indexOf(own) + 1) % all.length, 1);
  return { ...subset, addresses: all.map((ip) => ({ ip })) };
}
