import { countWeakCertificates } from '../serving/weak-certificates.ts';
import type { PluginConfigurations } from '../admission/configuration.ts';
import type { StaticManifests } from '../admission/manifests/static-manifests.ts';
import { createPlugins } from '../admission/plugins.ts';
import { type ServiceAddress, clusterAddresses, endpointAddresses } from '../client/service-address.ts';
import type { WebhookRoutes } from '../client/webhook-route.ts';
import type { Authorization } from '../authorization/modes.ts';
import { accessChecks } from '../kube/access-checks.ts';
import { loadAdmissionConfiguration } from './admission-configuration.ts';
import { CommandError } from '../options/command-error.ts';
import type { CompletedOptions } from '../options/completion.ts';
import type { Foundation } from './foundation.ts';
import { type ObjectStores, kindSettings } from './object-stores.ts';
import { serverId } from './server-id.ts';
import { installedResource, isServedByName } from './served-resources.ts';

/** How services are reached that webhooks and APIServices name. */
export interface ServiceRoutes {
  addressOf: ServiceAddress;
  webhooks: WebhookRoutes;
}

export function serviceRoutes({ options, client, egress, registry, logger }: Foundation): ServiceRoutes {
  const addressOf = options.enableAggregatorRouting ? endpointAddresses(client) : clusterAddresses(client);
  const onWeakCertificate = countWeakCertificates(registry, 'webhooks', (message) => logger.info(message));
  return { addressOf, webhooks: { addressOf, dialService: egress?.cluster, dialUrl: egress?.controlplane, onWeakCertificate } };
}

/** --admission-control-config-file. Throws CommandError. */
export async function readPluginConfigurations(foundation: Foundation): Promise<PluginConfigurations> {
  const { options, logger, isEnabled } = foundation;
  const warn = (text: string): void => logger.warn(text);
  const configurations = await loadAdmissionConfiguration(options.admissionControlConfigFile, { plugins: options.admissionPlugins, isEnabled, warn });
  const { manifestFolders } = configurations;
  return manifestFolders ? { ...configurations, manifests: await openManifestFolders(foundation, manifestFolders) } : configurations;
}

/** Static manifests of webhooks and policies. Loaded only where a folder is named. */
async function openManifestFolders(
  { options, logger, registry, closers }: Foundation,
  folders: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, StaticManifests>> {
  const [{ openManifests }, { registerManifestMetrics }] = await Promise.all([
    import('../admission/manifests/static-manifests.ts'),
    import('../server/metrics/manifest-metrics.ts'),
  ]);
  const { features, ...settings } = kindSettings(options);
  const opening = {
    // The names that clients may not use are those of manifests.
    settings: { ...settings, features: new Set([...features].filter((feature) => feature !== 'ManifestBasedAdmissionControlConfig')) },
    observer: registerManifestMetrics(registry, serverId(options.featureGates)),
    report: (plugin: string, error: Error) =>
      logger.error('The manifests that changed cannot be used; what was read before stays', { plugin, error: error.message }),
  };
  const opened = new Map<string, StaticManifests>();
  for (const [plugin, folder] of Object.entries(folders)) {
    const manifests = await openManifests(plugin, folder, opening).catch((error: Error) => {
      throw new CommandError(`couldn't init admission plugin ${JSON.stringify(plugin)}: ${error.message}`);
    });
    closers.add(() => manifests.close());
    opened.set(plugin, manifests);
  }
  return opened;
}

/** Gives the chain of admission its plug-ins, some of which ask what the servers serve. */
export function equipAdmission(
  { options, client, isEnabled, now, servers }: Foundation,
  { admission, admissionMetrics, settings, isServed }: ObjectStores,
  { authorizer, rbac }: Authorization,
  configurations: PluginConfigurations,
  routes: ServiceRoutes,
): void {
  const plugins = createPlugins(enabledPluginNames(options), {
    client,
    authorizer,
    isEnabled,
    kindSettings: settings,
    isServed: isServedByName(isServed),
    metrics: admissionMetrics,
    now,
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
