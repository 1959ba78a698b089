import type { KubeconfigUsers } from '../../client/kubeconfig.ts';
import { clusterAddresses, endpointAddresses } from '../../client/service-address.ts';
import type { AdmissionOperation } from '../../registry/admission.ts';
import type { PluginEnvironment } from '../plugin.ts';
import type { CallEnvironment } from './caller.ts';
import { credentialsFor } from './credentials.ts';

export const EVERY_OPERATION: ReadonlySet<AdmissionOperation> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const);

/** Where webhooks that are services are called, and, by the plug-in's own configuration, as whom. */
export const callEnvironment = ({ client, options }: PluginEnvironment, users: KubeconfigUsers | undefined): CallEnvironment => ({
  addressOf: options.routesToEndpoints ? endpointAddresses(client) : clusterAddresses(client),
  credentialsFor: (host) => (users ? credentialsFor(users, host) : {}),
});
