import type { PluginConfigurations } from '../admission/configuration.ts';
import { createPlugins } from '../admission/plugins.ts';
import { type ServiceAddress, clusterAddresses, endpointAddresses } from '../client/service-address.ts';
import type { WebhookRoutes } from '../client/webhook-route.ts';
import type { Authorization } from '../authorization/modes.ts';
import { accessChecks } from '../kube/access-checks.ts';
import { loadAdmissionConfiguration } from './admission-configuration.ts';
import type { CompletedOptions } from '../options/completion.ts';
import type { Foundation } from './foundation.ts';
import type { ObjectStores } from './object-stores.ts';
import { installedResource, isServedByName, servedVersions } from './served-resources.ts';

/** How services are reached that webhooks and APIServices name. */
export interface ServiceRoutes {
  addressOf: ServiceAddress;
  webhooks: WebhookRoutes;
}

export function serviceRoutes({ options, client, egress }: Foundation): ServiceRoutes {
  const addressOf = options.enableAggregatorRouting ? endpointAddresses(client) : clusterAddresses(client);
  return { addressOf, webhooks: { addressOf, dialService: egress?.cluster, dialUrl: egress?.controlplane } };
}

/** --admission-control-config-file. Throws CommandError. */
export const readPluginConfigurations = ({ options, logger, isEnabled }: Foundation): Promise<PluginConfigurations> =>
  loadAdmissionConfiguration(options.admissionControlConfigFile, { plugins: options.admissionPlugins, isEnabled, warn: (text) => logger.warn(text) });

/** Gives the chain of admission its plug-ins, some of which ask what the servers serve. */
export function equipAdmission(
  { options, client, isEnabled, servers }: Foundation,
  { admission, admissionMetrics, settings }: ObjectStores,
  { authorizer, rbac }: Authorization,
  configurations: PluginConfigurations,
  routes: ServiceRoutes,
): void {
  const plugins = createPlugins(enabledPluginNames(options), {
    client,
    authorizer,
    isEnabled,
    kindSettings: settings,
    isServed: isServedByName(servedVersions(options.runtimeConfig)),
    metrics: admissionMetrics,
    options: {
      notReadyTolerationSeconds: options.defaultNotReadyTolerationSeconds,
      unreachableTolerationSeconds: options.defaultUnreachableTolerationSeconds,
      webhookRoutes: routes.webhooks,
      configurations,
    },
  });
  const resourceOf = (group: string, version: string, kind: string): string | undefined => installedResource(servers.value, group, version, kind);
  admission.use(plugins, accessChecks({ client, authorizer, rules: rbac, resourceOf }));
}

/** A plug-in that is a feature goes with it. */
const enabledPluginNames = ({ admissionPlugins, featureGates }: CompletedOptions): string[] =>
  admissionPlugins.filter((name) => name !== 'MutatingAdmissionPolicy' || featureGates.isEnabled(name));
