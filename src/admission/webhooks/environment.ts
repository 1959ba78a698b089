import type { KubeconfigUsers } from '../../client/kubeconfig.ts';
import type { AdmissionOperation } from '../../registry/admission.ts';
import type { PluginEnvironment } from '../plugin.ts';
import type { CallEnvironment } from './caller.ts';
import { credentialsFor } from './credentials.ts';

export const EVERY_OPERATION: ReadonlySet<AdmissionOperation> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const);

/** How webhooks are reached, and, by the plug-in's own configuration, whom they are called as. */
export const callEnvironment = ({ options }: PluginEnvironment, users: KubeconfigUsers | undefined): CallEnvironment => ({
  routes: options.webhookRoutes,
  credentialsFor: (host) => (users ? credentialsFor(users, host) : {}),
});
