import type { HistogramSeries, MetricRegistry } from '../server/metrics/registry.ts';
import type { PriorityLevel } from './priority-level.ts';

const DURATION_BUCKETS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
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
  { queueLength, wait, execution, seats }: Families,
  labels: readonly [string, string],
): Record<'queueLength' | 'waitExecuted' | 'waitRejected' | 'execution' | 'watch' | 'seats', HistogramSeries> {
  return {
    queueLength: queueLength.with(...labels),
    waitExecuted: wait.with(...labels, 'true'),
    waitRejected: wait.with(...labels, 'false'),
    execution: execution.with(...labels, 'regular'),
    watch: execution.with(...labels, 'watch'),
    seats: seats.with(...labels),
  };
}

/** The metrics apiserver_flowcontrol_*, by upstream's names and labels (apiserver/pkg/util/flowcontrol/metrics). */
export class FlowMetrics {
  fairFraction = 0;
  readonly #families: Families;
  readonly #stats = new Map<string, FlowStats>();

  constructor(registry: MetricRegistry, levels: () => Iterable<PriorityLevel>) {
    this.#families = registerFamilies(registry);
    registry.onReset(() => {
      for (const stats of this.#stats.values()) stats.reset();
    });
    registry.onCollect(() => this.#collect(levels()));
  }

  statsOf(level: string, schema: string): FlowStats {
    const key = `${level}/${schema}`;
    let stats = this.#stats.get(key);
    if (stats === undefined) this.#stats.set(key, (stats = new FlowStats(level, schema, this.#families)));
    return stats;
  }

  #collect(levels: Iterable<PriorityLevel>): void {
    const families = this.#families;
    for (const stats of this.#stats.values()) stats.print();
    families.fairFraction.with().set(this.fairFraction);
    for (const { name, nominalSeats, leastSeats, mostSeats, currentSeats, targetSeats, demand } of levels) {
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
    fairFraction: gauge('seat_fair_frac', 'What each level that can use it gets of its target.', []),
  };
}
