import type { Client } from '../client/client.ts';
import { onAbort } from '../util/on-abort.ts';
import { keepAggregatedRoles } from './cluster-roles.ts';
import type { Controller } from './controller.ts';
import { collectGarbage } from './garbage-collector.ts';
import { Leadership } from './leadership.ts';
import type { ControllerName } from './names.ts';
import { keepNamespacesFinalized } from './namespaces.ts';
import { collectPods } from './pod-termination.ts';
import { keepQuotas } from './resource-quotas.ts';
import { type PolicyStatusOptions, keepPolicyStatus } from './policy-status.ts';
import { type RootCaOptions, keepRootCa } from './root-ca.ts';
import { keepServiceAccounts } from './service-accounts.ts';
import { runStorageMigrations } from './storage-migrations.ts';

/** All but the signal, which the server gives to the hooks. */
export interface ControllersOptions extends Omit<EveryOption, 'signal'> {
  /** Told by the server that runs them: of several, the one that leads. */
  onStarted?: (name: ControllerName) => void;
  onStopped?: (name: ControllerName) => void;
}

type EveryOption = RootCaOptions & PolicyStatusOptions;

const CONTROLLERS: Record<ControllerName, Controller<EveryOption>> = {
  'serviceaccount-controller': keepServiceAccounts,
  'root-ca-certificate-publisher-controller': keepRootCa,
  'clusterrole-aggregation-controller': keepAggregatedRoles,
  'namespace-controller': keepNamespacesFinalized,
  'garbage-collector-controller': collectGarbage,
  'pod-garbage-collector-controller': collectPods,
  'resourcequota-controller': keepQuotas,
  'validatingadmissionpolicy-status-controller': keepPolicyStatus,
  'storage-version-migrator-controller': runStorageMigrations,
};

/** Those that must know what aggregated servers have. */
const KNOWING_ALL: ReadonlySet<ControllerName> = new Set(['namespace-controller', 'garbage-collector-controller']);

export interface ControllerClients {
  client: Client;
  /** The same with the resources of aggregated servers. */
  wholeClient: Client;
}

/**
 * What a cluster without a controller manager needs in order to be of use, as work for a server to begin once it listens. `isAlone`: no other server can
 * do the same work; else the one that leads does it.
 */
export function controllerHooks({ client, wholeClient }: ControllerClients, names: readonly ControllerName[], options: ControllersOptions, isAlone: boolean) {
  const leadership = isAlone ? undefined : new Leadership(client, options);
  return names.map((name) => {
    const work = (signal: AbortSignal): Promise<void> => {
      options.onStarted?.(name);
      onAbort(signal, () => options.onStopped?.(name));
      return CONTROLLERS[name](KNOWING_ALL.has(name) ? wholeClient : client, { ...options, signal });
    };
    return { name: `start-${name}`, run: (signal: AbortSignal): Promise<void> => (leadership ? leadership.lead(signal, work) : work(signal)) };
  });
}
