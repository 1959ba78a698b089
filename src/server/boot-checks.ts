import type { HealthCheck } from './health.ts';

/**
 * What must have happened before a server is ready, in the order in which kube-apiserver's three servers register it and its health endpoints show it
 * (apiserver/pkg/server/config.go, New; apiextensions-apiserver/pkg/apiserver; pkg/controlplane; kube-aggregator/pkg/apiserver). A server has those whose
 * features and flags are on.
 */
const BOOT_ORDER = [
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/start-encryption-provider-config-automatic-reload',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/max-in-flight-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/start-kube-apiserver-coordinated-leader-election-controller',
  'poststarthook/peer-endpoint-reconciler-controller',
  'poststarthook/mixed-version-proxy-handler',
  'poststarthook/local-discovery-cache-sync',
  'poststarthook/peer-discovery-workers',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/storage-readiness',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/start-kubernetes-service-cidr-controller',
  'poststarthook/aggregator-reload-proxy-client-cert',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
];

/** What upstream does not have, such as our own controllers, comes last. */
export function inBootOrder(checks: readonly HealthCheck[]): HealthCheck[] {
  const ranks = new Map(BOOT_ORDER.map((name, rank) => [name, rank]));
  const rankOf = ({ name }: HealthCheck): number => ranks.get(name) ?? BOOT_ORDER.length;
  return checks.toSorted((a, b) => rankOf(a) - rankOf(b));
}
