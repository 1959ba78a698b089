import type { ServiceAllocators } from '../../apis/core/service/allocation.ts';
import { portsHeldBy } from '../../apis/core/service/node-ports.ts';
import type { Service } from '../../apis/facts/types/core-v1.ts';
import type { Client } from '../../client/client.ts';
import { isApiError } from '../../util/errors.ts';
import { ClusterIps } from './cluster-ips.ts';
import { NodePorts, type PortRange } from './node-ports.ts';

export interface AllocatorOptions {
  client: Client;
  /** --service-cluster-ip-range */
  ranges: readonly string[];
  /** --service-node-port-range */
  ports: PortRange;
}

/** What the services of one server take from; `restore` takes in what stored services have, before the first request. */
export function createServiceAllocators({ client, ranges, ports: range }: AllocatorOptions): ServiceAllocators & { restore(): Promise<void> } {
  const ports = new NodePorts(range);
  return {
    ips: new ClusterIps(client, ranges),
    ports,
    async removeEndpoints(namespace, name) {
      try {
        await client.resource('', 'endpoints').delete(namespace, name);
      } catch (error) {
        if (!isApiError(error, 'NotFound')) throw error;
      }
    },
    async restore() {
      const services = client.resource<Service>('', 'services').informer;
      await services.synced;
      ports.restore(services.list('').flatMap(portsHeldBy));
    },
  };
}
