import type { ServiceAllocators } from '../../apis/core/service/allocation.ts';
import { schemaOfKind } from '../../apis/facts/schemas.ts';
import type { RangeAllocation } from '../../apis/facts/types/core-v1.ts';
import type { Client } from '../../client/client.ts';
import type { PostStartHook } from '../../server/hooks.ts';
import type { Stores } from '../../server/stores.ts';
import { isApiError } from '../../api/errors.ts';
import type { AllocationMetrics } from './allocation-metrics.ts';
import { ClusterIps } from './cluster-ips.ts';
import { NodePorts } from './node-ports.ts';
import type { PortRange } from './port-range.ts';
import { repairClusterIps } from './repair-cluster-ips.ts';
import { RepairEvents } from './repair-events.ts';
import { NodePortRepair } from './repair-node-ports.ts';
import { onAbort } from '../../util/on-abort.ts';

const REPAIR_INTERVAL_MS = 3 * 60_000;

export interface AllocatorOptions {
  client: Client;
  stores: Stores;
  /** --service-cluster-ip-range */
  ranges: readonly string[];
  /** --service-node-port-range */
  ports: PortRange;
  metrics?: AllocationMetrics;
  /** Nobody else writes to the store. */
  isSingleWriter: boolean;
  /** Called with what was found wrong. */
  report(error: Error): void;
  now(): Date;
}

export interface KeptAllocators extends ServiceAllocators {
  /** To be called before the first request, when services are loaded: until then no port can be had. */
  prepare(): Promise<void>;
  /** Compares what is taken with what services have, now and every few minutes. */
  repair: PostStartHook;
}

async function counted(repair: Promise<unknown>, onFailure: () => void): Promise<void> {
  try {
    await repair;
  } catch (error) {
    onFailure();
    throw error;
  }
}

/** What the services of one server take from. */
export function createServiceAllocators(options: AllocatorOptions): KeptAllocators {
  const { client, stores, isSingleWriter } = options;
  const ranges = stores.openUnserved<RangeAllocation>(schemaOfKind('', 'v1', 'RangeAllocation'), 'ranges', 'services');
  const events = new RepairEvents(client, 'portallocator-repair-controller', options);
  const ports = new NodePortRepair({ ...options, range: options.ports, ranges, events });
  const ipRepair = { ...options, events: new RepairEvents(client, 'ipallocator-repair-controller', options) };
  const repairAll = async (): Promise<void> => {
    await counted(repairClusterIps(ipRepair), () => options.metrics?.clusterIpRepairFailed());
    await counted(ports.run(), () => options.metrics?.nodePortRepairFailed());
  };
  return {
    ips: new ClusterIps(client, options.ranges, options.metrics),
    ports: new NodePorts(options.ports, ranges, options.metrics),
    async removeEndpoints(namespace, name) {
      try {
        await client.resource('', 'endpoints').delete(namespace, name);
      } catch (error) {
        if (!isApiError(error, 'NotFound')) throw error;
      }
    },
    async prepare() {
      // Where this server alone writes, nobody can be about to store a service yet.
      if (isSingleWriter) await repairClusterIps(ipRepair, 0);
      await ports.run({ isIdle: isSingleWriter });
    },
    repair: {
      name: 'start-service-ip-repair-controllers',
      async run(signal) {
        if (!isSingleWriter) await repairClusterIps(ipRepair);
        const timer = setInterval(() => void repairAll().catch((error: unknown) => options.report(error as Error)), REPAIR_INTERVAL_MS);
        timer.unref();
        onAbort(signal, () => clearInterval(timer));
      },
    },
  };
}
