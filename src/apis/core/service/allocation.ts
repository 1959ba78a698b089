import type { IpAllocator, PortAllocator } from '../../../registry/allocators.ts';
import type { Transaction, TransactionHooks } from '../../../registry/definition.ts';
import type { KindSettings } from '../../../registry/write.ts';
import type { Service } from '../../facts/types/core-v1.ts';
import { allocateClusterIps, keepClusterIps, normalizeClusterIps, releaseClusterIps, updateClusterIps } from './cluster-ips.ts';
import { chooseFamilies } from './family-choice.ts';
import { allocateNodePorts, keepNodePorts, releaseNodePorts, updateNodePorts } from './node-ports.ts';

/** Where services get addresses and ports from, and what goes with them. */
export interface ServiceAllocators {
  ips: IpAllocator;
  ports: PortAllocator;
  /** Takes the Endpoints of a service away, where there are any. */
  removeEndpoints(namespace: string, name: string): Promise<void>;
}

/** A service's addresses and ports over its life: reserved before it is stored, given back when that fails, and when it is gone. */
export function serviceAllocation({ ips, ports, removeEndpoints }: ServiceAllocators, settings: KindSettings): TransactionHooks<Service> {
  const choose = (service: Service, old: Service | undefined): void => {
    normalizeClusterIps(service, old);
    chooseFamilies(service, old, ips.families, settings);
  };
  return {
    async beginCreate(service, _context, dryRun) {
      choose(service, undefined);
      const addresses = await allocateClusterIps(ips, service, dryRun);
      return andThen(addresses, () => allocateNodePorts(ports, service, dryRun));
    },
    async beginUpdate(service, old, _context, dryRun) {
      keepClusterIps(service, old);
      keepNodePorts(service, old);
      choose(service, old);
      const addresses = await updateClusterIps(ips, service, old, dryRun);
      return andThen(addresses, () => updateNodePorts(ports, service, old, dryRun));
    },
    async afterDelete(service, _context, dryRun) {
      if (dryRun) return;
      await removeEndpoints(service.metadata.namespace ?? '', service.metadata.name ?? '');
      await releaseNodePorts(ports, service);
      await releaseClusterIps(ips, service);
    },
  };
}

/** Both or none: what the first has reserved goes back when the second cannot begin. */
async function andThen(first: Transaction, begin: () => Promise<Transaction>): Promise<Transaction> {
  try {
    const second = await begin();
    return {
      async commit() {
        await first.commit();
        await second.commit();
      },
      async revert() {
        await second.revert();
        await first.revert();
      },
    };
  } catch (error) {
    await first.revert();
    throw error;
  }
}
