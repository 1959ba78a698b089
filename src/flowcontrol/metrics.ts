import type { HistogramSeries, NumberSeries } from '../metrics/family.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { PriorityLevel } from './priority-level.ts';
import type { Ticket } from './ticket.ts';

type Families = ReturnType<typeof registerFamilies>;

/** What is counted of one FlowSchema at one level. Plain numbers, read when someone asks; only what has a distribution is written down at once. */
export class FlowStats {
  executing = 0;
  seatsInUse = 0;
  waiting = 0;
  seatsWaiting = 0;
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
  /** A request starts. */
  dispatched(): void {
    this.#own.dispatched.inc();
  }
  /** The next request is wider than the seats that are free. */
  unaccommodated(): void {
    this.#families.unaccommodated.with(...this.#labels).inc();
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

  /** Nothing, until there was a request. */
  print(): void {
    if (this.#series === undefined) return;
    const { executing, seatsInUse, waiting, seatsWaiting } = this.#families;
    executing.with(...this.#labels).set(this.executing);
    seatsInUse.with(...this.#labels).set(this.seatsInUse);
    waiting.with(...this.#labels).set(this.waiting);
    seatsWaiting.with(...this.#labels).set(this.seatsWaiting);
  }

  get #own(): FlowSeries {
    return (this.#series ??= seriesOf(this.#families, this.#labels));
  }
}

type FlowSeries = ReturnType<typeof seriesOf>;

function seriesOf(
  { dispatched, queueLength, wait, execution, seats, watches }: Families,
  labels: readonly [string, string],
): Record<'queueLength' | 'waitExecuted' | 'waitRejected' | 'execution' | 'watch' | 'seats' | 'watches', HistogramSeries> & { dispatched: NumberSeries } {
  return {
    dispatched: dispatched.with(...labels),
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
    // While nothing waits, whatever comes next begins at the present.
    const next = queues.nextStarts ?? (times.latestS === undefined ? undefined : { least: times.currentR, greatest: times.currentR });
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
  return {
    rejected: registry.family('apiserver_flowcontrol_rejected_requests_total'),
    dispatched: registry.family('apiserver_flowcontrol_dispatched_requests_total'),
    unaccommodated: registry.family('apiserver_flowcontrol_request_dispatch_no_accommodation_total'),
    executing: registry.family('apiserver_flowcontrol_current_executing_requests'),
    seatsInUse: registry.family('apiserver_flowcontrol_current_executing_seats'),
    waiting: registry.family('apiserver_flowcontrol_current_inqueue_requests'),
    seatsWaiting: registry.family('apiserver_flowcontrol_current_inqueue_seats'),
    queueLength: registry.family('apiserver_flowcontrol_request_queue_length_after_enqueue'),
    wait: registry.family('apiserver_flowcontrol_request_wait_duration_seconds'),
    execution: registry.family('apiserver_flowcontrol_request_execution_seconds'),
    seats: registry.family('apiserver_flowcontrol_work_estimated_seats'),
    nominal: registry.family('apiserver_flowcontrol_nominal_limit_seats'),
    lower: registry.family('apiserver_flowcontrol_lower_limit_seats'),
    upper: registry.family('apiserver_flowcontrol_upper_limit_seats'),
    current: registry.family('apiserver_flowcontrol_current_limit_seats'),
    target: registry.family('apiserver_flowcontrol_target_seats'),
    demandHighest: registry.family('apiserver_flowcontrol_demand_seats_high_watermark'),
    demandAverage: registry.family('apiserver_flowcontrol_demand_seats_average'),
    demandDeviation: registry.family('apiserver_flowcontrol_demand_seats_stdev'),
    demandSmoothed: registry.family('apiserver_flowcontrol_demand_seats_smoothed'),
    watches: registry.family('apiserver_flowcontrol_watch_count_samples'),
    demand: registry.family('apiserver_flowcontrol_demand_seats'),
    seatUtilization: registry.family('apiserver_flowcontrol_priority_level_seat_utilization'),
    requestUtilization: registry.family('apiserver_flowcontrol_priority_level_request_utilization'),
    readsAndWrites: registry.family('apiserver_flowcontrol_read_vs_write_current_requests'),
    currentR: registry.family('apiserver_flowcontrol_current_r'),
    dispatchR: registry.family('apiserver_flowcontrol_dispatch_r'),
    latestS: registry.family('apiserver_flowcontrol_latest_s'),
    nextS: registry.family('apiserver_flowcontrol_next_s_bounds'),
    discountedS: registry.family('apiserver_flowcontrol_next_discounted_s_bounds'),
    fairFraction: registry.family('apiserver_flowcontrol_seat_fair_frac'),
  };
}
