import { counter, formerName, gauge, histogram } from '../declaration.ts';

const DURATION_BUCKETS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

const shown = {
  apiserver_flowcontrol_current_executing_requests: gauge(
    'BETA',
    'Requests being served now; watches only until they have begun.',
    ['priority_level', 'flow_schema'],
    { isPerProcess: true },
  ),
  apiserver_flowcontrol_current_executing_seats: gauge('BETA', 'Seats taken now.', ['priority_level', 'flow_schema'], { isPerProcess: true }),
  apiserver_flowcontrol_current_inqueue_requests: gauge('BETA', 'Requests waiting in queues now.', ['priority_level', 'flow_schema'], { isPerProcess: true }),
  apiserver_flowcontrol_current_inqueue_seats: gauge('ALPHA', 'Seats that the requests in queues wait for.', ['priority_level', 'flow_schema'], {
    isPerProcess: true,
  }),
  apiserver_flowcontrol_current_limit_seats: gauge('ALPHA', 'Seats that a level has now.', ['priority_level'], { isPerProcess: true }),
  apiserver_flowcontrol_current_r: gauge('ALPHA', 'The virtual time of a level.', ['priority_level'], { isPerProcess: true }),
  apiserver_flowcontrol_demand_seats: histogram(
    'ALPHA',
    'Seats that a level could have used, as a part of its own, by nanoseconds.',
    [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6],
    ['priority_level'],
    { isWeighted: true },
  ),
  apiserver_flowcontrol_demand_seats_average: gauge('ALPHA', 'Seats that a level could have used in the last period, on average.', ['priority_level'], {
    isPerProcess: true,
  }),
  apiserver_flowcontrol_demand_seats_high_watermark: gauge(
    'ALPHA',
    'The most seats that a level could have used at once in the last period.',
    ['priority_level'],
    { isPerProcess: true },
  ),
  apiserver_flowcontrol_demand_seats_smoothed: gauge('ALPHA', 'Seats that a level could have used, smoothed over periods.', ['priority_level'], {
    isPerProcess: true,
  }),
  apiserver_flowcontrol_demand_seats_stdev: gauge('ALPHA', 'Deviation of the seats that a level could have used in the last period.', ['priority_level'], {
    isPerProcess: true,
  }),
  apiserver_flowcontrol_dispatch_r: gauge('ALPHA', 'The virtual time of the last dispatch.', ['priority_level'], { isPerProcess: true }),
  apiserver_flowcontrol_dispatched_requests_total: counter('BETA', 'Requests that priority and fairness let start.', ['priority_level', 'flow_schema']),
  apiserver_flowcontrol_latest_s: gauge('ALPHA', 'The virtual start of what was dispatched last.', ['priority_level'], { isPerProcess: true }),
  apiserver_flowcontrol_lower_limit_seats: gauge('ALPHA', 'Seats that a level keeps whatever others borrow.', ['priority_level'], { isPerProcess: true }),
  apiserver_flowcontrol_next_discounted_s_bounds: gauge('ALPHA', 'The same, without the estimated work in progress.', ['priority_level', 'bound'], {
    isPerProcess: true,
  }),
  apiserver_flowcontrol_next_s_bounds: gauge('ALPHA', 'The least and the greatest virtual start of the next requests of queues.', ['priority_level', 'bound'], {
    isPerProcess: true,
  }),
  apiserver_flowcontrol_nominal_limit_seats: gauge('BETA', 'Seats that a level has by its shares.', ['priority_level'], { isPerProcess: true }),
  apiserver_flowcontrol_priority_level_request_utilization: histogram(
    'ALPHA',
    'Requests served or waiting, as a part of those there is room for, by nanoseconds.',
    [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1],
    ['priority_level', 'phase'],
    { isWeighted: true },
  ),
  apiserver_flowcontrol_priority_level_seat_utilization: histogram(
    'ALPHA',
    'Seats taken, as a part of those there are, by nanoseconds.',
    [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
    ['priority_level', 'phase'],
    { isWeighted: true },
  ),
  apiserver_flowcontrol_read_vs_write_current_requests: histogram(
    'ALPHA',
    'Requests served or waiting, as a part of the limit of their kind, by nanoseconds.',
    [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
    ['phase', 'request_kind'],
    { isWeighted: true },
  ),
  apiserver_flowcontrol_rejected_requests_total: counter('BETA', 'Requests refused by priority and fairness, by reason.', [
    'priority_level',
    'flow_schema',
    'reason',
  ]),
  apiserver_flowcontrol_request_dispatch_no_accommodation_total: counter('ALPHA', 'How often the next request was wider than the seats that were free.', [
    'priority_level',
    'flow_schema',
  ]),
  apiserver_flowcontrol_request_execution_seconds: histogram('ALPHA', 'Seconds that serving took; of watches, beginning them.', DURATION_BUCKETS, [
    'priority_level',
    'flow_schema',
    'type',
  ]),
  apiserver_flowcontrol_request_queue_length_after_enqueue: histogram(
    'ALPHA',
    'Length of the queue that a request has joined.',
    [0, 10, 25, 50, 100, 250, 500, 1000],
    ['priority_level', 'flow_schema'],
  ),
  apiserver_flowcontrol_request_wait_duration_seconds: histogram('BETA', 'Seconds that requests waited in queues.', DURATION_BUCKETS, [
    'priority_level',
    'flow_schema',
    'execute',
  ]),
  apiserver_flowcontrol_seat_fair_frac: gauge('ALPHA', 'What each level that can use it gets of its target.', [], { isPerProcess: true }),
  apiserver_flowcontrol_target_seats: gauge('ALPHA', 'Seats that a level should have, from its demand.', ['priority_level'], { isPerProcess: true }),
  apiserver_flowcontrol_upper_limit_seats: gauge('ALPHA', 'Seats that a level may have by borrowing.', ['priority_level'], { isPerProcess: true }),
  apiserver_flowcontrol_watch_count_samples: histogram(
    'ALPHA',
    'Watches that a write would wake.',
    [0, 1, 10, 100, 1000, 10000],
    ['priority_level', 'flow_schema'],
  ),
  apiserver_flowcontrol_work_estimated_seats: histogram(
    'ALPHA',
    'Seats that requests were estimated to need.',
    [1, 2, 4, 8, 16, 32, 64, 100],
    ['priority_level', 'flow_schema'],
  ),
};

/** Priority and fairness (apiserver/pkg/util/flowcontrol/metrics). */
export const flowControlMetrics = {
  ...shown,
  apiserver_flowcontrol_request_concurrency_in_use: formerName(
    shown.apiserver_flowcontrol_current_executing_seats,
    'apiserver_flowcontrol_current_executing_seats',
    '1.31.0',
  ),
  apiserver_flowcontrol_request_concurrency_limit: formerName(
    shown.apiserver_flowcontrol_nominal_limit_seats,
    'apiserver_flowcontrol_nominal_limit_seats',
    '1.30.0',
  ),
};
