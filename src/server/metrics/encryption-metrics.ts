import { createHash } from 'node:crypto';
import type { ReloadObserver } from '../../storage/encryption/encryption.ts';
import type { EncryptionObserver } from '../../storage/encryption/providers.ts';
import { GrpcError, codeName } from '../../grpc/status.ts';
import type { HistogramOptions, MetricOptions, MetricRegistry } from './registry.ts';

type Named<O> = Omit<O, 'stability'>;

/** Bounds that double from `first`, so many of them. */
const doubling = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first * 2 ** i);

/** Key ids change, and each makes series of its own: as many as upstream remembers. */
const MAX_KEY_SERIES = 100;

/** What encryption at rest tells, by upstream's names (…/storage/value, …/encrypt/envelope/metrics, …/encryptionconfig/metrics). */
export function registerEncryptionMetrics(registry: MetricRegistry, serverId: string, nowMs: () => number): EncryptionObserver & ReloadObserver {
  const counter = (options: Named<MetricOptions>) => registry.counter({ ...options, stability: 'ALPHA' });
  const gauge = (options: Named<MetricOptions>) => registry.gauge({ ...options, stability: 'ALPHA' });
  const histogram = (options: Named<HistogramOptions>) => registry.histogram({ ...options, stability: 'ALPHA' });
  const serverHash = hashOf(serverId);
  const nowSeconds = (): number => nowMs() / 1000;

  const transformations = {
    seconds: histogram({
      name: 'apiserver_storage_transformation_duration_seconds',
      help: 'How long the encryption or decryption of stored values took.',
      labels: ['transformation_type', 'transformer_prefix'],
      buckets: doubling(5e-6, 25),
    }),
    total: counter({
      name: 'apiserver_storage_transformation_operations_total',
      help: 'Encryptions and decryptions of stored values, by resource and result.',
      labels: ['resource', 'transformation_type', 'transformer_prefix', 'status'],
    }),
  };
  const dataKeys = histogram({
    name: 'apiserver_storage_data_key_generation_duration_seconds',
    help: 'How long the making of a data encryption key took.',
    buckets: doubling(5e-6, 14),
  });
  const cacheMisses = counter({
    name: 'apiserver_storage_envelope_transformation_cache_misses_total',
    help: 'Data encryption keys that had to be asked of a plug-in.',
  });
  const kmsCalls = histogram({
    name: 'apiserver_envelope_encryption_kms_operations_latency_seconds',
    help: 'How long calls to KMS plug-ins took, by gRPC status.',
    labels: ['provider_name', 'method_name', 'grpc_status_code'],
    buckets: doubling(0.0001, 20),
  });
  const keyUses = counter({
    name: 'apiserver_envelope_encryption_key_id_hash_total',
    help: 'How often a key was used.',
    labels: ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'],
    maxSeries: MAX_KEY_SERIES,
  });
  const keyUsedAt = gauge({
    name: 'apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds',
    help: 'When a key was last used.',
    labels: ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'],
    maxSeries: MAX_KEY_SERIES,
  });
  const keyToldAt = gauge({
    name: 'apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds',
    help: 'When a plug-in last told that this is its key.',
    labels: ['provider_name', 'key_id_hash', 'apiserver_id_hash'],
    maxSeries: MAX_KEY_SERIES,
  });
  const invalidKeyIds = counter({
    name: 'apiserver_envelope_encryption_invalid_key_id_from_status_total',
    help: 'Key ids of plug-ins that can not be used, by what is wrong with them.',
    labels: ['provider_name', 'error'],
  });
  const cachedSources = gauge({
    name: 'apiserver_envelope_encryption_dek_source_cache_size',
    help: 'Data encryption keys, or seeds of them, that are known without asking the plug-in.',
    labels: ['provider_name'],
  });
  const reloads = counter({
    name: 'apiserver_encryption_config_controller_automatic_reloads_total',
    help: 'Reloads of the encryption configuration, by result.',
    labels: ['status', 'apiserver_id_hash'],
  });
  const reloadedAt = gauge({
    name: 'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds',
    help: 'When the encryption configuration was last reloaded, by result.',
    labels: ['status', 'apiserver_id_hash'],
  });
  const configuration = gauge({
    name: 'apiserver_encryption_config_controller_last_config_info',
    help: 'The hash of the encryption configuration that is in use.',
    labels: ['apiserver_id_hash', 'hash'],
  });

  return {
    transformed(type, { resource }, prefix, elapsedSeconds, error) {
      transformations.total.with(resource, type, prefix, statusOf(error)).inc();
      if (!error) transformations.seconds.with(type, prefix).observe(elapsedSeconds);
    },
    dataKeyGenerated: (elapsedSeconds) => dataKeys.with().observe(elapsedSeconds),
    cacheMissed: () => cacheMisses.with().inc(),
    called: (provider, method, elapsedSeconds, error) => kmsCalls.with(provider, method, statusOf(error)).observe(elapsedSeconds),
    keyUsed(type, provider, keyId) {
      const labels = [type, provider, hashOf(keyId), serverHash];
      keyUses.with(...labels).inc();
      keyUsedAt.with(...labels).set(nowSeconds());
    },
    keyIdTold: (provider, keyId) => keyToldAt.with(provider, hashOf(keyId), serverHash).set(nowSeconds()),
    invalidKeyIdTold: (provider, problem) => invalidKeyIds.with(provider, problem).inc(),
    dekSourcesCached: (provider, count) => cachedSources.with(provider).set(count),
    loaded(hash) {
      configuration.reset();
      configuration.with(serverHash, hash).set(1);
    },
    reloaded(succeeded) {
      const labels = [succeeded ? 'success' : 'failure', serverHash];
      reloads.with(...labels).inc();
      reloadedAt.with(...labels).set(nowSeconds());
    },
  };
}

/** A failure's gRPC code, wherever among its causes it is. */
function statusOf(error: Error | undefined): string {
  if (error === undefined) return 'OK';
  if (error instanceof GrpcError) return codeName(error.code);
  return error.cause instanceof Error ? statusOf(error.cause) : 'unknown-non-grpc';
}

const hashes = new Map<string, string>();

/** Remembered: the same few key ids are told with every value. */
function hashOf(text: string): string {
  if (text === '') return '';
  let hash = hashes.get(text);
  if (hash === undefined) {
    if (hashes.size >= MAX_KEY_SERIES) hashes.clear();
    hashes.set(text, (hash = `sha256:${createHash('sha256').update(text).digest('hex')}`));
  }
  return hash;
}
