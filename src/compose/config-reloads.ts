import type { MetricRegistry } from '../metrics/registry.ts';
import { registerConfigReloads } from '../server/metrics/config-reload-metrics.ts';
import type { Logger } from './logger.ts';

/** Logs and counts what becomes of a configuration file that is followed. */
export function observedReloads(registry: MetricRegistry, logger: Logger, subject: 'authentication' | 'authorization', serverId: string) {
  const reloads = registerConfigReloads(registry, subject, serverId);
  return {
    report(error: Error): void {
      reloads.failed();
      logger.error(`The ${subject} configuration that changed cannot be used; the old one stays`, { error });
    },
    onLoaded: reloads.loaded,
    onReloaded(text: string): void {
      reloads.reloaded(text);
      logger.info(`Reloaded the ${subject} configuration`);
    },
  };
}
