import { labelHash } from '../../api/server-identity.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';

/** What is told of a configuration file that is followed. */
export interface ConfigReloads {
  /** The content that the server started with. */
  loaded(text: string): void;
  /** A later content is in use now. */
  reloaded(text: string): void;
  failed(): void;
}

/** apiserver_<subject>_config_controller_* (apiserver/pkg/server/options/authenticationconfig/metrics, and its twin for authorization). */
export function registerConfigReloads(registry: MetricRegistry, subject: 'authentication' | 'authorization', serverId: string): ConfigReloads {
  const server = labelHash(serverId);
  const reloads = registry.family(`apiserver_${subject}_config_controller_automatic_reloads_total`);
  const lastReload = registry.family(`apiserver_${subject}_config_controller_automatic_reload_last_timestamp_seconds`);
  const info = registry.family(`apiserver_${subject}_config_controller_last_config_info`);
  const loaded = (text: string): void => {
    info.clear();
    info.with(server, labelHash(text)).set(1);
  };
  const record = (status: string): void => {
    reloads.with(status, server).inc();
    lastReload.with(status, server).set(Date.now() / 1000);
  };
  return {
    loaded,
    reloaded(text) {
      record('success');
      loaded(text);
    },
    failed: () => record('failure'),
  };
}
