import type { Client } from '../../client/client.ts';
import type { PostStartHook, PreShutdownHook } from '../../server/hooks.ts';
import { type ClusterAuthenticationOptions, keepClusterAuthentication } from './cluster-authentication.ts';
import { keepFlowControlDefaults } from './flow-control.ts';
import { keepFlowSchemaStatus } from './flow-schema-status.ts';
import { type IdentityLeaseOptions, collectIdentityLeases, keepIdentityLease } from './identity-lease.ts';
import { type KubernetesServiceOptions, kubernetesServiceController } from './kubernetes-service.ts';
import type { MasterLeases } from './master-leases.ts';
import { keepLegacyTokenTracking } from './legacy-token-tracking.ts';
import { ensurePriorityClasses } from './priority-classes.ts';
import { ensureRbacPolicy } from './rbac-policy.ts';
import { type ServiceCidrOptions, keepDefaultServiceCidr } from './service-cidr.ts';
import { keepSystemNamespaces } from './system-namespaces.ts';

/** All but the signal, which the server gives to the hooks. */
export type BootstrapOptions = Omit<ServiceCidrOptions & KubernetesServiceOptions & ClusterAuthenticationOptions & IdentityLeaseOptions, 'signal'>;

export interface BootstrapHooks {
  postStart: PostStartHook[];
  preShutdown: PreShutdownHook[];
}

/** All that a server makes by itself, under upstream's names. A hook resolves when its first pass is done, and goes on keeping it so until the signal. */
export function bootstrapHooks(client: Client, options: BootstrapOptions, masterLeases: MasterLeases): BootstrapHooks {
  const kubernetesService = kubernetesServiceController(client, options, masterLeases);
  const serviceCidr = once((signal) => keepDefaultServiceCidr(client, { ...options, signal }));
  const flowControl = once((signal) => keepFlowControlDefaults(client, { ...options, signal }));
  const service = async (signal: AbortSignal): Promise<void> => {
    // Its address is taken from the range that the ServiceCIDR describes.
    await serviceCidr(signal);
    await kubernetesService.run(signal);
  };
  const flowSchemaStatus = async (signal: AbortSignal): Promise<void> => {
    // After the levels, so that no FlowSchema is called dangling for a moment.
    await flowControl(signal);
    await keepFlowSchemaStatus(client, { ...options, signal });
  };
  const identity: PostStartHook[] = options.isEnabled('APIServerIdentity')
    ? [
        { name: 'start-kube-apiserver-identity-lease-controller', run: (signal) => keepIdentityLease(client, { ...options, signal }) },
        { name: 'start-kube-apiserver-identity-lease-garbage-collector', run: (signal) => collectIdentityLeases(client, { ...options, signal }) },
      ]
    : [];
  return {
    postStart: [
      { name: 'start-system-namespaces-controller', run: (signal) => keepSystemNamespaces(client, { ...options, signal }) },
      { name: 'start-cluster-authentication-info-controller', run: (signal) => keepClusterAuthentication(client, { ...options, signal }) },
      ...identity,
      { name: 'start-legacy-token-tracking-controller', run: (signal) => keepLegacyTokenTracking(client, { ...options, signal }) },
      { name: 'start-kubernetes-service-cidr-controller', run: serviceCidr },
      { name: 'bootstrap-controller', run: service },
      { name: 'rbac/bootstrap-roles', run: (signal) => ensureRbacPolicy(client, { ...options, signal }) },
      { name: 'scheduling/bootstrap-system-priority-classes', run: (signal) => ensurePriorityClasses(client, { ...options, signal }) },
      { name: 'priority-and-fairness-config-producer', run: flowControl },
      { name: 'priority-and-fairness-config-consumer', run: flowSchemaStatus },
    ],
    preShutdown: [{ name: 'stop-kubernetes-service-controller', run: () => kubernetesService.stop() }],
  };
}

function once(run: (signal: AbortSignal) => Promise<void>): (signal: AbortSignal) => Promise<void> {
  let running: Promise<void> | undefined;
  return (signal) => (running ??= run(signal));
}
