import type { PluginConfigurations } from '../admission/configuration.ts';
import { createPlugins } from '../admission/plugins.ts';
import { type ServiceAddress, clusterAddresses, endpointAddresses } from '../client/service-address.ts';
import type { WebhookRoutes } from '../client/webhook-route.ts';
import { type Authorization, createAuthorization } from '../authorization/modes.ts';
import { accessChecks } from '../kube/access-checks.ts';
import type { GenericServer } from '../server/generic-server.ts';
import { loadAdmissionConfiguration } from './admission-configuration.ts';
import type { AccessFiles } from './access.ts';
import type { CompletedOptions } from './completion.ts';
import type { Foundation } from './foundation.ts';
import type { ObjectStores } from './object-stores.ts';
import { Port } from './port.ts';
import { installedResource, isServedByName, servedVersions } from './served-resources.ts';

/** BuildAuthorizer: the chain of authorizers over the roles, bindings and nodes that are stored; follows its configuration file. */
export function buildAuthorization({ client, isEnabled, closers }: Foundation, { authorizers }: AccessFiles, { authorizer }: ObjectStores): Authorization {
  const authorization = createAuthorization(authorizers.prepared, { client, isEnabled, metrics: authorizers.metrics });
  authorizer.provide(authorization.authorizer);
  closers.add(() => authorization.close());
  authorizers.follow(authorization);
  return authorization;
}

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

/** Gives the chain of admission its plug-ins. What it answers with is to be provided by whoever makes the servers: some plug-ins ask what they serve. */
export function equipAdmission(
  { options, client, isEnabled }: Foundation,
  { admission, admissionMetrics, settings }: ObjectStores,
  { authorizer, rbac }: Authorization,
  configurations: PluginConfigurations,
  routes: ServiceRoutes,
): Port<readonly GenericServer[]> {
  const servers = new Port<readonly GenericServer[]>('chain of servers');
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
  return servers;
}

/** A plug-in that is a feature goes with it. */
const enabledPluginNames = ({ admissionPlugins, featureGates }: CompletedOptions): string[] =>
  admissionPlugins.filter((name) => name !== 'MutatingAdmissionPolicy' || featureGates.isEnabled(name));
