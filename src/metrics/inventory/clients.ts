import { counter, gauge, histogram } from '../declaration.ts';

const SIZE_BUCKETS = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];
const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 0.001, 0.01, 0.1, 1, 10];

/** The server's own clients and controllers (component-base/metrics/prometheus/restclient, …/workqueue). */
export const clientsMetrics = {
  rest_client_request_duration_seconds: histogram(
    'ALPHA',
    "Seconds that requests of the server's own clients took.",
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    ['verb', 'host'],
  ),
  rest_client_request_size_bytes: histogram('ALPHA', "Bytes that requests of the server's own clients sent.", SIZE_BUCKETS, ['verb', 'host']),
  rest_client_requests_total: counter('ALPHA', "Requests of the server's own clients, by status code.", ['code', 'method', 'host']),
  rest_client_response_size_bytes: histogram('ALPHA', "Bytes that the server's own clients were answered.", SIZE_BUCKETS, ['verb', 'host']),
  leader_election_master_status: gauge('ALPHA', 'Whether this server holds the lease of that name.', ['name']),
  leader_election_slowpath_total: counter('ALPHA', 'Renewals of a held lease that somebody else had written meanwhile, by its name.', ['name']),
  running_managed_controllers: gauge('BETA', 'Controllers that run now.', ['name', 'manager']),
  workqueue_adds_total: counter('BETA', 'Items that were added to a queue.', ['name']),
  workqueue_depth: gauge('BETA', 'Items that wait in a queue.', ['name'], { isPerProcess: true }),
  workqueue_longest_running_processor_seconds: gauge('BETA', 'For how long the longest of the items has been worked on.', ['name'], { isPerProcess: true }),
  workqueue_queue_duration_seconds: histogram('BETA', 'Seconds that items waited in a queue.', QUEUE_BUCKETS, ['name']),
  workqueue_retries_total: counter('BETA', 'Items that were put back into a queue to be tried again.', ['name']),
  workqueue_unfinished_work_seconds: gauge('BETA', 'Seconds of work that is under way and not yet in work_duration_seconds.', ['name'], { isPerProcess: true }),
  workqueue_work_duration_seconds: histogram('BETA', 'Seconds that the work on an item took.', QUEUE_BUCKETS, ['name']),
};
