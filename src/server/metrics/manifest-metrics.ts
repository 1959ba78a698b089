import { labelHash } from '../../api/server-identity.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';

/** What is told of folders of static manifests: apiserver_manifest_admission_config_controller_* (apiserver/pkg/admission/plugin/manifest/metrics). */
export interface ManifestReloads {
  loaded(plugin: string, hash: string): void;
  failed(plugin: string): void;
}

export function registerManifestMetrics(registry: MetricRegistry, serverId: string): ManifestReloads {
  const server = labelHash(serverId);
  const reloads = registry.family('apiserver_manifest_admission_config_controller_automatic_reloads_total');
  const lastReload = registry.family('apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds');
  const info = registry.family('apiserver_manifest_admission_config_controller_last_config_info');
  const hashes = new Map<string, string>();
  const record = (status: string, plugin: string): void => {
    reloads.with(status, plugin, server).inc();
    lastReload.with(status, plugin, server).set(Date.now() / 1000);
  };
  return {
    loaded(plugin, hash) {
      record('success', plugin);
      hashes.set(plugin, hash);
      info.clear();
      for (const [each, current] of hashes) info.with(each, server, current).set(1);
    },
    failed: (plugin) => record('failure', plugin),
  };
}
