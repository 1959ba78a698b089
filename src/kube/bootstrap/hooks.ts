import type { Client } from '../../client/client.ts';
import { type ClusterAuthenticationOptions, keepClusterAuthentication } from './cluster-authentication.ts';
import { keepFlowControlDefaults } from './flow-control.ts';
import { keepFlowSchemaStatus } from './flow-schema-status.ts';
import type { ControllerOptions } from './keeping.ts';
import { type KubernetesServiceOptions, keepKubernetesService, removeKubernetesEndpoints } from './kubernetes-service.ts';
import { ensureLegacyTokenTracking } from './legacy-token-tracking.ts';
import { ensurePriorityClasses } from './priority-classes.ts';
import { ensureRbacPolicy } from './rbac-policy.ts';
import { type ServiceCidrOptions, keepDefaultServiceCidr } from './service-cidr.ts';
import { keepSystemNamespaces } from './system-namespaces.ts';

export type BootstrapOptions = ControllerOptions & ServiceCidrOptions & KubernetesServiceOptions & ClusterAuthenticationOptions;

/** A part of start-up (or shutdown) with a health check of its own, under upstream's name. */
export interface BootstrapHook {
  name: string;
  run(): Promise<void>;
}

/** All that a server makes by itself. Hooks may run side by side; each resolves when its first pass is done, and goes on keeping it so until the signal. */
export function bootstrapHooks(client: Client, options: BootstrapOptions): BootstrapHook[] {
  const serviceCidr = once(() => keepDefaultServiceCidr(client, options));
  const flowControl = once(() => keepFlowControlDefaults(client, options));
  return [
    { name: 'start-system-namespaces-controller', run: () => keepSystemNamespaces(client, options) },
    { name: 'start-cluster-authentication-info-controller', run: () => keepClusterAuthentication(client, options) },
    { name: 'start-legacy-token-tracking-controller', run: () => ensureLegacyTokenTracking(client, options) },
    { name: 'start-kubernetes-service-cidr-controller', run: serviceCidr },
    // Its address is taken from the range that the ServiceCIDR describes.
    { name: 'bootstrap-controller', run: () => serviceCidr().then(() => keepKubernetesService(client, options)) },
    { name: 'rbac/bootstrap-roles', run: () => ensureRbacPolicy(client, options) },
    { name: 'scheduling/bootstrap-system-priority-classes', run: () => ensurePriorityClasses(client, options) },
    { name: 'priority-and-fairness-config-producer', run: flowControl },
    // After the levels, so that no FlowSchema is called dangling for a moment.
    { name: 'priority-and-fairness-config-consumer', run: () => flowControl().then(() => keepFlowSchemaStatus(client, options)) },
  ];
}

/** What is undone before the server goes down, after the signal. */
export function bootstrapShutdownHooks(client: Client, options: BootstrapOptions): BootstrapHook[] {
  return [{ name: 'stop-kubernetes-service-controller', run: () => removeKubernetesEndpoints(client, options) }];
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= run());
}
