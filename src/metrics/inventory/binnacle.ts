import { counter, gauge, histogram } from '../declaration.ts';

const PAUSE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** What upstream has no metric for: the event loop, the garbage collector, memory of V8, the embedded store, and the history. */
export const binnacleMetrics = {
  binnacle_event_loop_delay_seconds: histogram('ALPHA', 'Seconds by which turns of the event loop came late.', PAUSE_BUCKETS),
  binnacle_event_loop_delay_max_seconds: gauge('ALPHA', 'The latest that a turn of the event loop came since the last scrape, in seconds.'),
  binnacle_gc_pause_seconds: histogram('ALPHA', 'Seconds that garbage collections held the thread, by kind.', PAUSE_BUCKETS, ['kind']),
  binnacle_heap_bytes: gauge('ALPHA', 'Memory of the JavaScript heap, in bytes, by state: used or reserved.', ['state'], { isPerProcess: true }),
  binnacle_heap_limit_bytes: gauge('ALPHA', 'The most memory that the JavaScript heap may take, in bytes.', [], { isPerProcess: true }),
  binnacle_external_memory_bytes: gauge('ALPHA', 'Memory outside of the JavaScript heap that its objects hold: buffers, in bytes.', [], { isPerProcess: true }),
  binnacle_open_handles: gauge('ALPHA', 'What keeps the event loop alive, by kind: sockets, servers, timers.', ['kind'], { isPerProcess: true }),
  binnacle_history_changes_total: counter('ALPHA', 'Changes that the history has recorded since the server was started.', [], { isLazy: true }),
  binnacle_history_pruned_changes_total: counter('ALPHA', 'Changes that the history no longer keeps, since the server was started.', [], { isLazy: true }),
  binnacle_history_queued_changes: gauge('ALPHA', 'Changes that are committed and not in the history yet.', [], { isLazy: true }),
  binnacle_history_objects: gauge('ALPHA', 'Objects of which the history keeps changes.', [], { isLazy: true }),
  binnacle_history_size_bytes: gauge('ALPHA', 'Bytes of the blocks of the history, compressed.', [], { isLazy: true }),
  binnacle_storage_free_bytes: gauge('ALPHA', 'Part of the file of the store that holds nothing now, and is used before the file grows.', [], { isLazy: true }),
  binnacle_storage_free_pages: gauge('ALPHA', 'Pages of the file of the store that hold nothing now.', [], { isLazy: true }),
  binnacle_storage_pages: gauge('ALPHA', 'Pages of the file of the store.', [], { isLazy: true }),
};

/** How the work is divided among worker processes (`--workers`): made of what each of them shows. */
export const workerMetrics = {
  binnacle_worker_requests_total: counter('ALPHA', 'Requests that each worker has answered.', ['worker']),
  binnacle_worker_cpu_seconds_total: counter('ALPHA', 'CPU time of each worker.', ['worker']),
  binnacle_worker_resident_memory_bytes: gauge('ALPHA', 'Resident memory of each worker.', ['worker']),
};

/** Of the process that keeps the store and the workers (`--workers`): made of what it shows. */
export const primaryMetrics = {
  binnacle_primary_cpu_seconds_total: counter('ALPHA', 'CPU time of the primary, which keeps the store and the workers.'),
  binnacle_primary_resident_memory_bytes: gauge('ALPHA', 'Resident memory of the primary.'),
};
