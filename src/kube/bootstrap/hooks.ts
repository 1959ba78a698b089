import type { Client } from '../../client/client.ts';
import type { PostStartHook, PreShutdownHook } from '../../server/hooks.ts';
import { type ClusterAuthenticationOptions, keepClusterAuthentication } from './cluster-authentication.ts';
import { keepFlowControlDefaults } from './flow-control.ts';
import { keepFlowSchemaStatus } from './flow-schema-status.ts';
import { type IdentityLeaseOptions, collectIdentityLeases, identityLeaseController } from './identity-lease.ts';
import { type BootstrapControllerOptions, createIfMissing, ensureNamespaces, keepDoing, syncedResource, typed, untilDone } from './keeping.ts';
import { type KubernetesServiceOptions, kubernetesServiceController } from './kubernetes-service.ts';
import type { MasterLeases } from './master-leases.ts';
import { keepLegacyTokenTracking } from './legacy-token-tracking.ts';
import { type PeerEndpoints, peerEndpointsController } from './peer-endpoints.ts';
import priorityClasses from './data/priority-classes.json' with { type: 'json' };
import { ensureRbacPolicy } from './rbac-policy.ts';
import { type ServiceCidrOptions, keepDefaultServiceCidr } from './service-cidr.ts';

/** All but the signal, which the server gives to the hooks. */
export type BootstrapOptions = Omit<ServiceCidrOptions & KubernetesServiceOptions & ClusterAuthenticationOptions & IdentityLeaseOptions, 'signal'> & {
  /** Whether RBAC is among the authorizers: without it nobody needs its policy. */
  isRbacOn: boolean;
  /** `--enable-priority-and-fairness`: without it nobody follows its objects, though they are there. */
  isFairnessOn: boolean;
  /**
   * A fork goes on from the state of a server that has made the defaults: they need not be looked through again, and what a test has taken away of them since
   * is not there either.
   */
  isContinued: boolean;
};

/** What the servers of one store tell each other of themselves. */
export interface ServerRecords {
  masterLeases: MasterLeases;
  peerEndpoints: PeerEndpoints;
}

export interface BootstrapHooks {
  postStart: PostStartHook[];
  preShutdown: PreShutdownHook[];
}

/** All that a server makes by itself, under upstream's names. A hook resolves when its first pass is done, and goes on keeping it so until the signal. */
export function bootstrapHooks(client: Client, options: BootstrapOptions, { masterLeases, peerEndpoints }: ServerRecords): BootstrapHooks {
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
  const [identity, peers] = [identityHooks(client, options), peerHooks(peerEndpoints, options)];
  const unlessContinued = (run: PostStartHook['run']): PostStartHook['run'] => (options.isContinued ? () => Promise.resolve() : run);
  const ensureRbac = unlessContinued((signal) => ensureRbacPolicy(client, { ...options, signal }));
  const ensureClasses = unlessContinued((signal) => ensurePriorityClasses(client, { ...options, signal }));
  const rbac: PostStartHook[] = options.isRbacOn ? [{ name: 'rbac/bootstrap-roles', run: ensureRbac }] : [];
  return {
    postStart: [
      { name: 'start-system-namespaces-controller', run: (signal) => keepSystemNamespaces(client, { ...options, signal }) },
      { name: 'start-cluster-authentication-info-controller', run: (signal) => keepClusterAuthentication(client, { ...options, signal }) },
      ...peers.postStart,
      ...identity.postStart,
      { name: 'start-legacy-token-tracking-controller', run: (signal) => keepLegacyTokenTracking(client, { ...options, signal }) },
      { name: 'start-kubernetes-service-cidr-controller', run: serviceCidr },
      { name: 'bootstrap-controller', run: service },
      ...rbac,
      { name: 'scheduling/bootstrap-system-priority-classes', run: ensureClasses },
      { name: 'priority-and-fairness-config-producer', run: flowControl },
      ...(options.isFairnessOn ? [{ name: 'priority-and-fairness-config-consumer', run: flowSchemaStatus }] : []),
    ],
    preShutdown: [...peers.preShutdown, ...identity.preShutdown, { name: 'stop-kubernetes-service-controller', run: () => kubernetesService.stop() }],
  };
}

const NO_HOOKS: BootstrapHooks = { postStart: [], preShutdown: [] };

function identityHooks(client: Client, options: BootstrapOptions): BootstrapHooks {
  if (!options.isEnabled('APIServerIdentity')) return NO_HOOKS;
  const lease = identityLeaseController(client, options);
  return {
    postStart: [
      { name: 'start-kube-apiserver-identity-lease-controller', run: (signal) => lease.run(signal) },
      { name: 'start-kube-apiserver-identity-lease-garbage-collector', run: (signal) => collectIdentityLeases(client, { ...options, signal }) },
    ],
    preShutdown: [{ name: 'stop-kube-apiserver-identity-lease-controller', run: () => lease.stop() }],
  };
}

function peerHooks(peerEndpoints: PeerEndpoints, options: BootstrapOptions): BootstrapHooks {
  if (!options.isEnabled('UnknownVersionInteroperabilityProxy')) return NO_HOOKS;
  const peers = peerEndpointsController(peerEndpoints, options);
  const name = 'peer-endpoint-reconciler-controller';
  return { postStart: [{ name, run: (signal) => peers.run(signal) }], preShutdown: [{ name, run: () => peers.stop() }] };
}

function once(run: (signal: AbortSignal) => Promise<void>): (signal: AbortSignal) => Promise<void> {
  let running: Promise<void> | undefined;
  return (signal) => (running ??= run(signal));
}

const SYSTEM_NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default'];
const NAMESPACES_INTERVAL_MS = 60_000;

/** The namespaces that are always there. */
function keepSystemNamespaces(client: Client, options: BootstrapControllerOptions): Promise<void> {
  return keepDoing(() => ensureNamespaces(client, SYSTEM_NAMESPACES), NAMESPACES_INTERVAL_MS, options);
}

/** The two classes of system pods; made at start, not watched over afterwards. */
function ensurePriorityClasses(client: Client, options: BootstrapControllerOptions): Promise<void> {
  return untilDone(async () => {
    const resource = await syncedResource(client, 'scheduling.k8s.io', 'priorityclasses');
    await Promise.all(typed('PriorityClass', 'scheduling.k8s.io/v1', priorityClasses).map((object) => createIfMissing(resource, object)));
  }, options);
}
