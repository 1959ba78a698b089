import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from '../apis/flowcontrol/mandatory.ts';
import { FlowController } from '../flowcontrol/controller.ts';
import type { MetricRegistry } from '../server/metrics/registry.ts';
import { CommandError } from './command-error.ts';
import type { CompletedOptions } from './completion.ts';
import type { CreatedChain } from './server-chain.ts';

/** Priority and fairness, following the chain's objects once the server has started; undefined where plain limits are to do. Throws CommandError. */
export function createFlowControl(options: CompletedOptions, chain: CreatedChain, registry: MetricRegistry): FlowController | undefined {
  const { maxRequestsInflight, maxMutatingRequestsInflight, requestTimeoutMs } = options;
  if (!options.enablePriorityAndFairness) {
    chain.kube.postStartHooks.push({ name: 'max-in-flight-filter', run: () => {} });
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
    statsOf: (resource) => chain.stores.statsOf(resource),
    limits: { readOnly: maxRequestsInflight, mutating: maxMutatingRequestsInflight },
    registry,
  });
  chain.kube.postStartHooks.push({ name: 'priority-and-fairness-filter', run: () => controller.follow(chain.client) });
  return controller;
}
