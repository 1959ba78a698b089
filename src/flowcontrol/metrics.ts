import type { HistogramSeries, MetricRegistry } from '../server/metrics/registry.ts';
import type { PriorityLevel } from './priority-level.ts';
import type { Ticket } from './ticket.ts';

const DURATION_BUCKETS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const DEMAND_BUCKETS = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];
const SEAT_BUCKETS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const REQUEST_BUCKETS = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1];
const READ_WRITE_BUCKETS = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const LEVEL = ['priority_level'];
const FLOW = ['priority_level', 'flow_schema'];

type Families = ReturnType<typeof registerFamilies>;

/** What is counted of one FlowSchema at one level. Plain numbers, read when someone asks; only what has a distribution is written down at once. */
export class FlowStats {
  executing = 0;
  seatsInUse = 0;
  waiting = 0;
  seatsWaiting = 0;
  dispatched = 0;
  unaccommodated = 0;
  readonly #labels: readonly [level: string, schema: string];
  readonly #families: Families;
  #series: FlowSeries | undefined;

  constructor(level: string, schema: string, families: Families) {
    this.#labels = [level, schema];
    this.#families = families;
  }

  reject(reason: string): void {
    this.#families.rejected.with(...this.#labels, reason).inc();
  }
  enqueued(queueLength: number): void {
    this.#own.queueLength.observe(queueLength);
  }
  waited(isExecuting: boolean, durationMs: number): void {
    (isExecuting ? this.#own.waitExecuted : this.#own.waitRejected).observe(durationMs / 1000);
  }
  executed(durationMs: number, isWatch: boolean): void {
    (isWatch ? this.#own.watch : this.#own.execution).observe(durationMs / 1000);
  }
  estimated(seats: number): void {
    this.#own.seats.observe(seats);
  }
  /** Watches that a write would wake. */
  watched(watches: number): void {
    this.#own.watches.observe(watches);
  }

  /** All counts begin anew; what is under way stays. */
  reset(): void {
    this.#series = undefined;
    this.dispatched = this.unaccommodated = 0;
  }

  /** Nothing, until there was a request. */
  print(): void {
    if (this.#series === undefined) return;
    const { dispatched, unaccommodated, executing, seatsInUse, waiting, seatsWaiting } = this.#families;
    dispatched.with(...this.#labels).set(this.dispatched);
    executing.with(...this.#labels).set(this.executing);
    seatsInUse.with(...this.#labels).set(this.seatsInUse);
    waiting.with(...this.#labels).set(this.waiting);
    seatsWaiting.with(...this.#labels).set(this.seatsWaiting);
    if (this.unaccommodated > 0) unaccommodated.with(...this.#labels).set(this.unaccommodated);
  }

  get #own(): FlowSeries {
    return (this.#series ??= seriesOf(this.#families, this.#labels));
  }
}

type FlowSeries = ReturnType<typeof seriesOf>;

function seriesOf(
  { queueLength, wait, execution, seats, watches }: Families,
  labels: readonly [string, string],
): Record<'queueLength' | 'waitExecuted' | 'waitRejected' | 'execution' | 'watch' | 'seats' | 'watches', HistogramSeries> {
  return {
    queueLength: queueLength.with(...labels),
    waitExecuted: wait.with(...labels, 'true'),
    waitRejected: wait.with(...labels, 'false'),
    execution: execution.with(...labels, 'regular'),
    watch: execution.with(...labels, 'watch'),
    seats: seats.with(...labels),
    watches: watches.with(...labels),
  };
}

type RequestKind = 'readOnly' | 'mutating';

export interface FlowMetricsOptions {
  nowMs(): number;
  /** --max-requests-inflight and --max-mutating-requests-inflight: what is under way of each kind is told as a part of them. */
  limits: Record<RequestKind, number>;
}

/** The metrics apiserver_flowcontrol_*, by upstream's names and labels (apiserver/pkg/util/flowcontrol/metrics). */
export class FlowMetrics {
  fairFraction = 0;
  readonly #families: Families;
  readonly #stats = new Map<string, FlowStats>();
  readonly #levels: () => Iterable<PriorityLevel>;
  readonly #options: FlowMetricsOptions;
  #sampledAtMs: number;

  constructor(registry: MetricRegistry, levels: () => Iterable<PriorityLevel>, options: FlowMetricsOptions) {
    this.#levels = levels;
    this.#options = options;
    this.#sampledAtMs = options.nowMs();
    this.#families = registerFamilies(registry);
    registry.onReset(() => {
      for (const stats of this.#stats.values()) stats.reset();
    });
    registry.onCollect(() => this.#collect());
  }

  statsOf(level: string, schema: string): FlowStats {
    const key = `${level}/${schema}`;
    let stats = this.#stats.get(key);
    if (stats === undefined) this.#stats.set(key, (stats = new FlowStats(level, schema, this.#families)));
    return stats;
  }

  /**
   * How full levels were, over the time since the last sample: upstream follows each change, which would cost every request here; a sample is
   * taken now and then, and counts for the nanoseconds until it (TimingHistogram in upstream's component-base). Not when someone asks for metrics: that
   * request would find itself at work each time.
   */
  sample(): void {
    const families = this.#families;
    const nowMs = this.#options.nowMs();
    const elapsedNs = Math.round((nowMs - this.#sampledAtMs) * 1e6);
    this.#sampledAtMs = nowMs;
    if (elapsedNs <= 0) return;
    for (const { name, queues, nominalSeats, currentSeats, waitingLimit } of this.#levels()) {
      const ratio = (value: number, limit: number): number => value / Math.max(1, limit);
      families.demand.with(name).observe(ratio(queues.seatsInUse + queues.seatsWaiting, nominalSeats), elapsedNs);
      families.seatUtilization.with(name, 'executing').observe(ratio(queues.seatsInUse, currentSeats), elapsedNs);
      families.requestUtilization.with(name, 'executing').observe(ratio(queues.executing.size, currentSeats), elapsedNs);
      families.requestUtilization.with(name, 'waiting').observe(ratio(queues.waiting, waitingLimit), elapsedNs);
    }
    const { limits } = this.#options;
    const counts = countByKind(this.#levels());
    for (const phase of ['executing', 'waiting'] as const)
      for (const kind of ['readOnly', 'mutating'] as const)
        families.readsAndWrites.with(phase, kind).observe(counts[phase][kind] / Math.max(1, limits[kind]), elapsedNs);
  }

  #printTimes({ name, queues }: PriorityLevel): void {
    const { currentR, latestS, nextS, discountedS, dispatchR } = this.#families;
    const times = queues.virtualTimes;
    currentR.with(name).set(times.currentR);
    if (times.latestS !== undefined) {
      latestS.with(name).set(times.latestS);
      dispatchR.with(name).set(times.latestS);
    }
    const next = queues.nextStarts;
    if (next === undefined) return;
    // Work in progress is taken off a queue's own time here, so both are the same.
    for (const family of [nextS, discountedS]) {
      family.with(name, 'min').set(next.least);
      family.with(name, 'max').set(next.greatest);
    }
  }

  #collect(): void {
    const families = this.#families;
    for (const stats of this.#stats.values()) stats.print();
    families.fairFraction.with().set(this.fairFraction);
    for (const level of this.#levels()) {
      const { name, nominalSeats, leastSeats, mostSeats, currentSeats, targetSeats, demand } = level;
      this.#printTimes(level);
      families.nominal.with(name).set(nominalSeats);
      families.lower.with(name).set(leastSeats);
      families.upper.with(name).set(mostSeats);
      families.current.with(name).set(currentSeats);
      families.target.with(name).set(targetSeats);
      families.demandHighest.with(name).set(demand.highest);
      families.demandAverage.with(name).set(demand.average);
      families.demandDeviation.with(name).set(demand.deviation);
      families.demandSmoothed.with(name).set(demand.smoothed);
    }
  }
}

const READ_VERBS = new Set(['get', 'list', 'watch']);

function countByKind(levels: Iterable<PriorityLevel>): Record<'executing' | 'waiting', Record<RequestKind, number>> {
  const counts = { executing: { readOnly: 0, mutating: 0 }, waiting: { readOnly: 0, mutating: 0 } };
  const add = (count: Record<RequestKind, number>, { holder }: Ticket): void => {
    count[READ_VERBS.has(holder.info.verb) ? 'readOnly' : 'mutating']++;
  };
  for (const { queues } of levels) {
    for (const ticket of queues.executing) add(counts.executing, ticket);
    for (const { waiting } of queues.queues) for (const ticket of waiting) add(counts.waiting, ticket);
  }
  return counts;
}

function registerFamilies(registry: MetricRegistry) {
  const gauge = (name: string, help: string, labels: readonly string[], stability: 'ALPHA' | 'BETA' = 'ALPHA') =>
    registry.gauge({ name: `apiserver_flowcontrol_${name}`, help, stability, labels });
  const counter = (name: string, help: string, labels: readonly string[], stability: 'ALPHA' | 'BETA' = 'ALPHA') =>
    registry.counter({ name: `apiserver_flowcontrol_${name}`, help, stability, labels });
  const histogram = (name: string, help: string, labels: readonly string[], buckets: readonly number[], stability: 'ALPHA' | 'BETA' = 'ALPHA') =>
    registry.histogram({ name: `apiserver_flowcontrol_${name}`, help, stability, labels, buckets });
  return {
    rejected: counter('rejected_requests_total', 'Requests refused by priority and fairness, by reason.', [...FLOW, 'reason'], 'BETA'),
    dispatched: counter('dispatched_requests_total', 'Requests that priority and fairness let start.', FLOW, 'BETA'),
    unaccommodated: counter('request_dispatch_no_accommodation_total', 'How often the next request was wider than the seats that were free.', FLOW),
    executing: gauge('current_executing_requests', 'Requests being served now; watches only until they have begun.', FLOW, 'BETA'),
    seatsInUse: gauge('current_executing_seats', 'Seats taken now.', FLOW, 'BETA'),
    waiting: gauge('current_inqueue_requests', 'Requests waiting in queues now.', FLOW, 'BETA'),
    seatsWaiting: gauge('current_inqueue_seats', 'Seats that the requests in queues wait for.', FLOW),
    queueLength: histogram('request_queue_length_after_enqueue', 'Length of the queue that a request has joined.', FLOW, [0, 10, 25, 50, 100, 250, 500, 1000]),
    wait: histogram('request_wait_duration_seconds', 'Seconds that requests waited in queues.', [...FLOW, 'execute'], DURATION_BUCKETS, 'BETA'),
    execution: histogram('request_execution_seconds', 'Seconds that serving took; of watches, beginning them.', [...FLOW, 'type'], DURATION_BUCKETS),
    seats: histogram('work_estimated_seats', 'Seats that requests were estimated to need.', FLOW, [1, 2, 4, 8, 16, 32, 64, 100]),
    nominal: gauge('nominal_limit_seats', 'Seats that a level has by its shares.', LEVEL, 'BETA'),
    lower: gauge('lower_limit_seats', 'Seats that a level keeps whatever others borrow.', LEVEL),
    upper: gauge('upper_limit_seats', 'Seats that a level may have by borrowing.', LEVEL),
    current: gauge('current_limit_seats', 'Seats that a level has now.', LEVEL),
    target: gauge('target_seats', 'Seats that a level should have, from its demand.', LEVEL),
    demandHighest: gauge('demand_seats_high_watermark', 'The most seats that a level could have used at once in the last period.', LEVEL),
    demandAverage: gauge('demand_seats_average', 'Seats that a level could have used in the last period, on average.', LEVEL),
    demandDeviation: gauge('demand_seats_stdev', 'Deviation of the seats that a level could have used in the last period.', LEVEL),
    demandSmoothed: gauge('demand_seats_smoothed', 'Seats that a level could have used, smoothed over periods.', LEVEL),
    watches: histogram('watch_count_samples', 'Watches that a write would wake.', FLOW, [0, 1, 10, 100, 1000, 10_000]),
    demand: histogram('demand_seats', 'Seats that a level could have used, as a part of its own, by nanoseconds.', LEVEL, DEMAND_BUCKETS),
    seatUtilization: histogram(
      'priority_level_seat_utilization',
      'Seats taken, as a part of those there are, by nanoseconds.',
      [...LEVEL, 'phase'],
      SEAT_BUCKETS,
    ),
    requestUtilization: histogram(
      'priority_level_request_utilization',
      'Requests served or waiting, as a part of those there is room for, by nanoseconds.',
      [...LEVEL, 'phase'],
      REQUEST_BUCKETS,
    ),
    readsAndWrites: histogram(
      'read_vs_write_current_requests',
      'Requests served or waiting, as a part of the limit of their kind, by nanoseconds.',
      ['phase', 'request_kind'],
      READ_WRITE_BUCKETS,
    ),
    currentR: gauge('current_r', 'The virtual time of a level.', LEVEL),
    dispatchR: gauge('dispatch_r', 'The virtual time of the last dispatch.', LEVEL),
    latestS: gauge('latest_s', 'The virtual start of what was dispatched last.', LEVEL),
    nextS: gauge('next_s_bounds', 'The least and the greatest virtual start of the next requests of queues.', [...LEVEL, 'bound']),
    discountedS: gauge('next_discounted_s_bounds', 'The same, without the estimated work in progress.', [...LEVEL, 'bound']),
    fairFraction: gauge('seat_fair_frac', 'What each level that can use it gets of its target.', []),
  };
}
