import { createHash } from 'node:crypto';
import type { ReloadObserver } from '../../storage/encryption/encryption.ts';
import type { EncryptionObserver } from '../../storage/encryption/providers.ts';
import { codeNameOf } from '../../grpc/status.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';

/** As many as the metrics of keys have series. */
const MAX_HASHES = 100;

/** What encryption at rest tells, by upstream's names (…/storage/value, …/encrypt/envelope/metrics, …/encryptionconfig/metrics). */
export function registerEncryptionMetrics(registry: MetricRegistry, serverId: string, nowMs: () => number): EncryptionObserver & ReloadObserver {
  const serverHash = hashOf(serverId);
  const nowSeconds = (): number => nowMs() / 1000;

  const transformations = {
    seconds: registry.family('apiserver_storage_transformation_duration_seconds'),
    total: registry.family('apiserver_storage_transformation_operations_total'),
  };
  const dataKeys = registry.family('apiserver_storage_data_key_generation_duration_seconds');
  const dataKeyFailures = registry.family('apiserver_storage_data_key_generation_failures_total');
  const cacheMisses = registry.family('apiserver_storage_envelope_transformation_cache_misses_total');
  const kmsCalls = registry.family('apiserver_envelope_encryption_kms_operations_latency_seconds');
  const keyUses = registry.family('apiserver_envelope_encryption_key_id_hash_total');
  const keyUsedAt = registry.family('apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds');
  const keyToldAt = registry.family('apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds');
  const invalidKeyIds = registry.family('apiserver_envelope_encryption_invalid_key_id_from_status_total');
  const cachedSources = registry.family('apiserver_envelope_encryption_dek_source_cache_size');
  const cacheFill = registry.family('apiserver_envelope_encryption_dek_cache_fill_percent');
  const interArrivals = registry.family('apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds');
  const reloads = registry.family('apiserver_encryption_config_controller_automatic_reloads_total');
  const reloadedAt = registry.family('apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds');
  const configuration = registry.family('apiserver_encryption_config_controller_last_config_info');

  return {
    transformed(type, { resource }, prefix, elapsedSeconds, error) {
      transformations.total.with(resource, type, prefix, codeNameOf(error)).inc();
      if (!error) transformations.seconds.with(type, prefix).observe(elapsedSeconds);
    },
    dataKeyGenerated: (elapsedSeconds) => dataKeys.with().observe(elapsedSeconds),
    dataKeyFailed: () => dataKeyFailures.with().inc(),
    cacheMissed: () => cacheMisses.with().inc(),
    called: (provider, method, elapsedSeconds, error) => kmsCalls.with(provider, method, codeNameOf(error)).observe(elapsedSeconds),
    keyUsed(type, provider, keyId) {
      const labels = [type, provider, hashOf(keyId), serverHash] as const;
      keyUses.with(...labels).inc();
      keyUsedAt.with(...labels).set(nowSeconds());
    },
    keyIdTold: (provider, keyId) => keyToldAt.with(provider, hashOf(keyId), serverHash).set(nowSeconds()),
    invalidKeyIdTold: (provider, problem) => invalidKeyIds.with(provider, problem).inc(),
    dekSourcesCached: (provider, count) => cachedSources.with(provider).set(count),
    dekCacheFilled: (part) => cacheFill.with().set(part),
    transformationArrived: (type, sinceLastSeconds) => interArrivals.with(type).observe(sinceLastSeconds),
    loaded(hash) {
      configuration.clear();
      configuration.with(serverHash, hash).set(1);
    },
    reloaded(succeeded) {
      const labels = [succeeded ? 'success' : 'failure', serverHash] as const;
      reloads.with(...labels).inc();
      reloadedAt.with(...labels).set(nowSeconds());
    },
  };
}

const hashes = new Map<string, string>();

/** Remembered: the same few key ids are told with every value. */
function hashOf(text: string): string {
  if (text === '') return '';
  let hash = hashes.get(text);
  if (hash === undefined) {
    if (hashes.size >= MAX_HASHES) hashes.clear();
    hashes.set(text, (hash = `sha256:${createHash('sha256').update(text).digest('hex')}`));
  }
  return hash;
}
