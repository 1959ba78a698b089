import { labelHash } from '../../api/server-identity.ts';
import type { MetricRegistry } from './registry.ts';

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
  const prefix = `apiserver_${subject}_config_controller_`;
  const labels = ['status', 'apiserver_id_hash'];
  const server = labelHash(serverId);
  const reloads = registry.counter({
    name: `${prefix}automatic_reloads_total`,
    help: `Changes of the ${subject} configuration that were taken over, or could not be.`,
    stability: 'BETA',
    labels,
  });
  const lastReload = registry.gauge({
    name: `${prefix}automatic_reload_last_timestamp_seconds`,
    help: `When the ${subject} configuration last changed, by whether it could be taken over.`,
    stability: 'BETA',
    labels,
  });
  const info = registry.gauge({
    name: `${prefix}last_config_info`,
    help: `The ${subject} configuration in use, by its hash.`,
    stability: 'ALPHA',
    labels: ['apiserver_id_hash', 'hash'],
  });
  const loaded = (text: string): void => {
    info.reset();
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
