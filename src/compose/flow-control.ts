import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from '../apis/flowcontrol/mandatory.ts';
import { FlowController } from '../flowcontrol/controller.ts';
import type { WorkerLink } from '../workers/worker-link.ts';
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
  const maxRequestsInflight = shareOf(options.maxRequestsInflight, worker);
  const maxMutatingRequestsInflight = shareOf(options.maxMutatingRequestsInflight, worker);
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
  if (worker) closers.add(shareSeats(controller, worker, serverSeats * worker.settings.count));
  return controller;
}

/** Of a limit for the whole server, the part that each of several workers begins with. */
export const shareOf = (limit: number, worker: WorkerLink | undefined): number => (worker ? Math.ceil(limit / worker.settings.count) : limit);

const DEMAND_INTERVAL_MS = 500;

/** Tells the primary what is wanted here, and takes the part of all seats that it allots by that. Answers what ends it. */
function shareSeats(controller: FlowController, worker: WorkerLink, allSeats: number): () => void {
  worker.onShare = (share) => controller.setServerSeats(Math.max(Math.round(allSeats * share), 1));
  const timer = setInterval(() => worker.tell({ type: 'demand', seats: controller.demandedSeats }), DEMAND_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
