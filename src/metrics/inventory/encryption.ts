import { counter, exponential, gauge, histogram } from '../declaration.ts';

/** Key ids change, and each makes series of its own: as many as upstream remembers. */
const MAX_KEY_SERIES = 100;

/** Encryption at rest (apiserver/pkg/storage/value, …/server/options/encryptionconfig/metrics). */
export const encryptionMetrics = {
  apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds: gauge(
    'ALPHA',
    'When the encryption configuration was last reloaded, by result.',
    ['status', 'apiserver_id_hash'],
  ),
  apiserver_encryption_config_controller_automatic_reloads_total: counter('ALPHA', 'Reloads of the encryption configuration, by result.', [
    'status',
    'apiserver_id_hash',
  ]),
  apiserver_encryption_config_controller_last_config_info: gauge('ALPHA', 'The hash of the encryption configuration that is in use.', [
    'apiserver_id_hash',
    'hash',
  ]),
  apiserver_envelope_encryption_dek_cache_fill_percent: gauge('ALPHA', 'Part of the cache of data encryption keys (KMS v1) that is in use.'),
  apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds: histogram(
    'ALPHA',
    'Time between two values that are encrypted, or decrypted, with KMS v1.',
    exponential(60, 2, 10),
    ['transformation_type'],
  ),
  apiserver_envelope_encryption_dek_source_cache_size: gauge('ALPHA', 'Data encryption keys, or seeds of them, that are known without asking the plug-in.', [
    'provider_name',
  ]),
  apiserver_envelope_encryption_invalid_key_id_from_status_total: counter('ALPHA', 'Key ids of plug-ins that can not be used, by what is wrong with them.', [
    'provider_name',
    'error',
  ]),
  apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds: gauge(
    'ALPHA',
    'When a key was last used.',
    ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'],
    { maxSeries: MAX_KEY_SERIES },
  ),
  apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds: gauge(
    'ALPHA',
    'When a plug-in last told that this is its key.',
    ['provider_name', 'key_id_hash', 'apiserver_id_hash'],
    { maxSeries: MAX_KEY_SERIES },
  ),
  apiserver_envelope_encryption_key_id_hash_total: counter(
    'ALPHA',
    'How often a key was used.',
    ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'],
    { maxSeries: MAX_KEY_SERIES },
  ),
  apiserver_envelope_encryption_kms_operations_latency_seconds: histogram(
    'ALPHA',
    'How long calls to KMS plug-ins took, by gRPC status.',
    exponential(0.0001, 2, 20),
    ['provider_name', 'method_name', 'grpc_status_code'],
  ),
  apiserver_storage_data_key_generation_duration_seconds: histogram('ALPHA', 'How long the making of a data encryption key took.', exponential(5e-6, 2, 14)),
  apiserver_storage_data_key_generation_failures_total: counter('ALPHA', 'Data encryption keys that could not be made.'),
  apiserver_storage_envelope_transformation_cache_misses_total: counter('ALPHA', 'Data encryption keys that had to be asked of a plug-in.'),
  apiserver_storage_transformation_duration_seconds: histogram(
    'ALPHA',
    'How long the encryption or decryption of stored values took.',
    exponential(5e-6, 2, 25),
    ['transformation_type', 'transformer_prefix'],
  ),
  apiserver_storage_transformation_operations_total: counter('ALPHA', 'Encryptions and decryptions of stored values, by resource and result.', [
    'resource',
    'transformation_type',
    'transformer_prefix',
    'status',
  ]),
};
