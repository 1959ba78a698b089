import { LEADER_ELECTION_CONTROLLER, electLeaders } from '../controllers/leader-election/controller.ts';
import { Leadership } from '../controllers/leadership.ts';
import { QueueMetrics } from '../controllers/work-queue-metrics.ts';
import type { PostStartHook } from '../server/hooks.ts';
import type { Foundation } from './foundation.ts';
import type { ObjectStores } from './object-stores.ts';
import { isServedByName } from './served-resources.ts';

/** CoordinatedLeaderElection: of several servers one elects, the one that holds a Lease of its own (pkg/controlplane/apiserver/server.go). */
export function leaderElectionHooks(
  { options, worker, registry, client, report, now, isEnabled, logger }: Foundation,
  { isServed }: ObjectStores,
): PostStartHook[] {
  // Of several workers, the first one elects: when it dies, the one that takes its place.
  if (!isEnabled('CoordinatedLeaderElection') || (worker && worker.settings.index > 0)) return [];
  const isHeld = registry.family('leader_election_master_status').with(LEADER_ELECTION_CONTROLLER);
  const slowPaths = registry.family('leader_election_slowpath_total');
  // One for all terms.
  const queueMetrics = new QueueMetrics(registry, LEADER_ELECTION_CONTROLLER);
  const leadership = new Leadership(client, {
    report,
    now,
    times: {
      leaseMs: options.coordinatedLeadershipLeaseDurationMs,
      renewWithinMs: options.coordinatedLeadershipRenewDeadlineMs,
      retryMs: options.coordinatedLeadershipRetryPeriodMs,
    },
    lease: { name: LEADER_ELECTION_CONTROLLER, fieldManager: 'kube-apiserver' },
    metrics: { held: (value) => isHeld.set(Number(value)), interfered: () => slowPaths.with(LEADER_ELECTION_CONTROLLER).inc() },
  });
  const work = async (signal: AbortSignal): Promise<void> => {
    // Upstream reads them in this version, and waits for it for ever.
    if (!isServedByName(isServed)('coordination.k8s.io', 'v1beta1', 'leasecandidates'))
      return logger.warn('No leaders are elected: coordination.k8s.io/v1beta1 is not served, which --runtime-config can switch on');
    await electLeaders(client, { signal, report, now, queueMetrics: () => queueMetrics });
  };
  // Not waited for: the server is ready whoever leads.
  const run = async (signal: AbortSignal): Promise<void> => void leadership.lead(signal, work).catch((error: unknown) => report(error as Error));
  return [{ name: 'start-kube-apiserver-coordinated-leader-election-controller', run }];
}
