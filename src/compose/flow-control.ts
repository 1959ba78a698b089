import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from '../apis/flowcontrol/mandatory.ts';
import { FlowController } from '../flowcontrol/controller.ts';
import { CommandError } from '../options/command-error.ts';
import type { Foundation } from './foundation.ts';
import type { ObjectStores } from './object-stores.ts';
import type { CreatedServers } from './servers.ts';

/** Priority and fairness, following the chain's objects once the server has started; undefined where plain limits are to do. Throws CommandError. */
export function createFlowControl(
  { options, worker, registry, client, closers }: Foundation,
  { stores }: ObjectStores,
  { kube }: CreatedServers,
): FlowController | undefined {
  const { requestTimeoutMs } = options;
  // Of several workers, each has its part.
  const share = (limit: number): number => (worker ? Math.ceil(limit / worker.count) : limit);
  const maxRequestsInflight = share(options.maxRequestsInflight);
  const maxMutatingRequestsInflight = share(options.maxMutatingRequestsInflight);
  if (!options.enablePriorityAndFairness) {
    kube.postStartHooks.push({ name: 'max-in-flight-filter', run: () => {} });
    return undefined;
  }
  const serverSeats = maxRequestsInflight + maxMutatingRequestsInflight;
  if (serverSeats <= 0)
    throw new CommandError(
      `invalid configuration: MaxRequestsInFlight=${maxRequestsInflight} and MaxMutatingRequestsInFlight=${maxMutatingRequestsInflight}; they must add up to something positive`,
    );
  const controller = new FlowController({
    serverSeats,
    requestTimeoutMs,
    mandatoryLevels: MANDATORY_PRIORITY_LEVELS,
    mandatorySchemas: MANDATORY_FLOW_SCHEMAS,
    countsBytes: options.featureGates.isEnabled('SizeBasedListCostEstimate'),
    hasWatchList: options.featureGates.isEnabled('WatchList'),
    statsOf: (resource) => stores.statsOf(resource),
    limits: { readOnly: maxRequestsInflight, mutating: maxMutatingRequestsInflight },
    registry,
  });
  kube.postStartHooks.push({ name: 'priority-and-fairness-filter', run: () => controller.follow(client) });
  closers.add(() => controller.close());
  return controller;
}
