import { counter, formerName, gauge, histogram } from '../declaration.ts';

/** go-grpc-prometheus, in the order in which code names them. */
const CALL = ['grpc_type', 'grpc_service', 'grpc_method'] as const;

const shown = {
  apiserver_cache_list_fetched_objects_total: counter('ALPHA', 'Objects that lists from the watch cache looked at.', ['group', 'resource', 'index']),
  apiserver_cache_list_returned_objects_total: counter('ALPHA', 'Objects that lists from the watch cache answered.', ['group', 'resource']),
  apiserver_cache_list_total: counter('ALPHA', 'Lists from the watch cache.', ['group', 'resource', 'index']),
  apiserver_init_events_total: counter('ALPHA', 'Events with which watches were begun from the watch cache.', ['group', 'resource']),
  apiserver_resource_objects: gauge('ALPHA', 'Objects stored, by resource.', ['group', 'resource']),
  apiserver_resource_size_estimate_bytes: gauge('ALPHA', 'Bytes that the objects of a resource take in the store.', ['group', 'resource']),
  apiserver_storage_consistency_checks_total: counter('ALPHA', 'Comparisons of the watch cache with the store, by result.', ['group', 'resource', 'status']),
  apiserver_storage_db_total_size_in_bytes: gauge('ALPHA', 'Size of the database of a member of etcd.', ['endpoint'], { deprecatedVersion: '1.28.0' }),
  apiserver_storage_decode_errors_total: counter('ALPHA', 'Stored objects that could not be decoded.', ['group', 'resource']),
  apiserver_storage_events_received_total: counter('BETA', 'Events that came from the store.', ['group', 'resource']),
  apiserver_storage_list_evaluated_objects_total: counter('ALPHA', 'Objects that lists of the store held against a selector.', ['group', 'resource']),
  apiserver_storage_list_fetched_objects_total: counter('ALPHA', 'Objects that lists of the store read.', ['group', 'resource']),
  apiserver_storage_list_returned_objects_total: counter('ALPHA', 'Objects that lists of the store answered.', ['group', 'resource']),
  apiserver_storage_list_total: counter('ALPHA', 'Lists of the store.', ['group', 'resource']),
  apiserver_storage_objects: gauge('STABLE', 'Objects stored, by resource.', ['resource']),
  apiserver_storage_size_bytes: gauge('STABLE', "Size of the store's file as it lies on the disk.", ['storage_cluster_id']),
  apiserver_terminated_watchers_total: counter('ALPHA', 'Watches that were ended because their client did not keep up.', ['group', 'resource']),
  apiserver_watch_filtered_events_total: counter('ALPHA', 'Objects that watches were not told of since they are of another shard.', ['group', 'resource']),
  apiserver_watch_shards_total: gauge('ALPHA', 'Open watches of shards.', ['group', 'resource']),
  apiserver_watch_cache_consistent_read_total: counter('ALPHA', 'Consistent reads from the watch cache, by success and whether the store was read instead.', [
    'group',
    'resource',
    'success',
    'fallback',
  ]),
  apiserver_watch_cache_events_dispatched_total: counter('ALPHA', 'Events that the watch cache has handed to watches.', ['group', 'resource']),
  apiserver_watch_cache_events_received_total: counter('ALPHA', 'Events that the watch cache has received.', ['group', 'resource']),
  apiserver_watch_cache_initializations_total: counter('ALPHA', 'Loads of the watch cache.', ['group', 'resource']),
  apiserver_watch_cache_read_wait_seconds: histogram(
    'ALPHA',
    'Seconds that reads waited for the watch cache to be fresh enough.',
    [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3],
    ['group', 'resource'],
  ),
  apiserver_watch_cache_resource_version: gauge('ALPHA', 'The newest revision that the watch cache has.', ['group', 'resource']),
  grpc_client_handled_total: counter('ALPHA', 'Calls to etcd that have ended, by the code of gRPC.', [...CALL, 'grpc_code']),
  grpc_client_msg_received_total: counter('ALPHA', 'Messages that etcd has sent.', CALL),
  grpc_client_msg_sent_total: counter('ALPHA', 'Messages that etcd was sent.', CALL),
  grpc_client_started_total: counter('ALPHA', 'Calls to etcd that were begun.', CALL),
  etcd_bookmark_total: counter('ALPHA', 'Signs of progress from etcd.', ['group', 'resource']),
  etcd_lease_object_counts: histogram('ALPHA', 'Objects on one lease.', [10, 50, 100, 500, 1000, 2500, 5000]),
  etcd_request_duration_seconds: histogram(
    'ALPHA',
    'How long etcd took to answer, by operation and resource.',
    [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
    ['operation', 'group', 'resource'],
  ),
  etcd_request_errors_total: counter('ALPHA', 'Requests to etcd that failed.', ['operation', 'group', 'resource']),
  etcd_requests_total: counter('ALPHA', 'Requests to etcd.', ['operation', 'group', 'resource']),
  watch_cache_capacity: gauge('ALPHA', 'Events that the watch cache has room for.', ['group', 'resource']),
  watch_cache_capacity_decrease_total: counter('ALPHA', 'How often the watch cache made its room for events smaller.', ['group', 'resource']),
  watch_cache_capacity_increase_total: counter('ALPHA', 'How often the watch cache made its room for events larger.', ['group', 'resource']),
};

/** The store and the watch cache in front of it (apiserver/pkg/storage/etcd3/metrics, …/storage/cacher/metrics). */
export const storageMetrics = {
  ...shown,
  etcd_bookmark_counts: formerName({ ...shown.etcd_bookmark_total, type: 'gauge' as const }, 'etcd_bookmark_total', '1.36.0'),
};
