import { defineResource } from '../apis/define.ts';
import { controllerRevisions } from '../apis/apps/controller-revision.ts';
import { daemonSets } from '../apis/apps/daemon-set.ts';
import { deployments } from '../apis/apps/deployment.ts';
import { replicaSets } from '../apis/apps/replica-set.ts';
import { statefulSets } from '../apis/apps/stateful-set.ts';
import { horizontalPodAutoscalers } from '../apis/autoscaling/horizontal-pod-autoscaler.ts';
import { cronJobs } from '../apis/batch/cron-job.ts';
import { jobs } from '../apis/batch/job.ts';
import { replicationControllers } from '../apis/core/replication-controller.ts';
import { podDisruptionBudgets } from '../apis/policy/pod-disruption-budget.ts';
import { groupVersions, resourcesOf } from '../apis/facts/resources.ts';
import { configMaps } from '../apis/core/config-map.ts';
import { namespaces } from '../apis/core/namespace.ts';
import { secrets } from '../apis/core/secret.ts';
import { pathSegmentName } from '../util/names.ts';
import type { ResourceDefinition } from '../registry/definition.ts';

/** Every kind that the kube server keeps, by group. */
export const KINDS: readonly ResourceDefinition[] = [
  podDisruptionBudgets,
  replicationControllers,
  jobs,
  cronJobs,
  horizontalPodAutoscalers,
  statefulSets,
  replicaSets,
  deployments,
  daemonSets,
  controllerRevisions,
  configMaps,
  namespaces,
  secrets,
];

const OTHER_SERVERS = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/** Kinds without a file of their own yet: their facts alone. */
export function remainingKinds(): ResourceDefinition[] {
  const known = new Set(KINDS.flatMap(({ plural, served }) => served.map(({ group, version }) => `${group}/${version}/${plural}`)));
  return groupVersions
    .filter(({ isOnByDefault, group }) => isOnByDefault && !OTHER_SERVERS.has(group))
    .flatMap(({ group, version, groupVersion }) =>
      resourcesOf(group, version)
        .filter((facts) => facts.storageVersionHash !== undefined && !known.has(`${group}/${version}/${facts.plural}`))
        .map((facts) => defineResource(`${groupVersion}/${facts.plural}`, { nameErrors: pathSegmentName })),
    );
}
