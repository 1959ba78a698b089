import type { Client } from '../client/client.ts';
import type { FlowControl } from '../server/flow-control.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import { parseFieldSelector } from '../api/field-selector.ts';
import { adjustSeats } from './borrowing.ts';
import { type ActiveSchema, FlowClassifier } from './classifier.ts';
import { type FlowClock, flowClock } from './clock.ts';
import type { Flow } from './flow.ts';
import { FlowMetrics, type FlowMetricsOptions } from './metrics.ts';
import { API_VERSION, CATCH_ALL, type FlowSchema, type FlowSchemaSpec, GROUP, type PriorityLevelConfiguration, type PriorityLevelSpec } from './objects.ts';
import { PriorityLevel, isSound } from './priority-level.ts';
import { Ticket, type TicketHolder } from './ticket.ts';
import { Turn } from './turn.ts';
import { WatchTracker } from './watch-tracker.ts';
import { type EstimateSources, type EstimatedRequest, ONE_SEAT, type ResourceStats, type WorkEstimate, estimateWork } from './work-estimate.ts';

const ADJUSTMENT_PERIOD_MS = 10_000;
const MAX_WAIT_MS = 60_000;

export interface FlowControllerOptions {
  /** `--max-requests-inflight` and `--max-mutating-requests-inflight` together. */
  serverSeats: number;
  requestTimeoutMs: number;
  /** What is there even where its object is not: `exempt` and `catch-all`. */
  mandatoryLevels: ReadonlyMap<string, PriorityLevelSpec>;
  mandatorySchemas: ReadonlyMap<string, FlowSchemaSpec>;
  /** By `deployments.apps`. */
  statsOf(resource: string): ResourceStats | undefined;
  /** See EstimateSources. */
  countsBytes?: boolean;
  hasWatchList?: boolean;
  registry: MetricRegistry;
  limits?: FlowMetricsOptions['limits'];
  clock?: FlowClock;
}

/** What is read of a request. */
type FlowRequest = Pick<IncomingRequest, 'user' | 'info' | 'receivedAtMs' | 'deadlineMs'> & EstimatedRequest & TicketHolder;

/** Priority and fairness, as the objects of flowcontrol.apiserver.k8s.io configure it (KEP-1040). */
export class FlowController implements FlowControl {
  readonly #options: FlowControllerOptions;
  readonly #clock: FlowClock;
  readonly #turn: Turn;
  readonly #metrics: FlowMetrics;
  readonly #watches = new WatchTracker();
  readonly #sources: EstimateSources;
  readonly #stops: (() => void)[] = [];
  #serverSeats: number;
  #levels = new Map<string, PriorityLevel>();
  #classifier!: FlowClassifier;
  #readLevels: () => PriorityLevelConfiguration[] = () => [];
  #readSchemas: () => FlowSchema[] = () => [];
  #isStale = false;
  #rotation = 0;

  constructor(options: FlowControllerOptions) {
    this.#options = options;
    this.#sources = { statsOf: options.statsOf, watches: this.#watches, countsBytes: options.countsBytes, hasWatchList: options.hasWatchList };
    this.#clock = options.clock ?? flowClock;
    this.#turn = new Turn(this.#clock, {
      onNext: () => this.#dispatchAll(),
      onOver: () => {
        for (const { queues } of this.#levels.values()) queues.resumeReading();
      },
    });
    this.#serverSeats = options.serverSeats;
    const { limits = { readOnly: options.serverSeats, mutating: options.serverSeats } } = options;
    this.#metrics = new FlowMetrics(options.registry, () => this.#levels.values(), { nowMs: () => this.#clock.nowMs(), limits });
    this.#configure();
    this.#adjustLater();
  }

  /** By name. */
  get levels(): readonly PriorityLevel[] {
    return [...this.#levels.keys()].toSorted().map((name) => this.#levels.get(name)!);
  }

  /** Follows the objects from now on; resolves once all that are stored count. A change counts from the next request on. */
  async follow(client: Client): Promise<void> {
    const levels = client.resource<PriorityLevelConfiguration>(GROUP, 'prioritylevelconfigurations').informer;
    const schemas = client.resource<FlowSchema>(GROUP, 'flowschemas').informer;
    await Promise.all([levels.synced, schemas.synced]);
    const markStale = (): void => {
      this.#isStale = true;
    };
    this.#stops.push(levels.onChange(markStale), schemas.onChange(markStale));
    this.#readLevels = () => levels.list('');
    this.#readSchemas = () => schemas.list('');
    this.#configure();
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  arrive(request: FlowRequest): Ticket {
    if (this.#isStale) this.#configure();
    const flow = this.#classifier.flowOf(request.user, request.info);
    const work = request.info.verb === 'get' ? ONE_SEAT : this.#estimate(request, flow);
    const ticket = new Ticket(flow, work, request, this.#clock.nowMs());
    flow.stats.estimated(ticket.seats);
    ticket.queueDeadlineMs = this.#queueDeadlineMs(request);
    flow.level.queues.arrive(ticket);
    return ticket;
  }

  trackWatch(request: FlowRequest): () => void {
    return this.#watches.add(request.info, (field) => fieldValue(request.queryValue('fieldSelector'), field));
  }

  putOff(work: () => void): void {
    this.#turn.putOff(work);
  }

  #estimate(request: FlowRequest, { level, stats }: Flow): WorkEstimate {
    return estimateWork(request, level.maxRequestSeats, this.#sources, (watches) => stats.watched(watches));
  }

  /** A quarter of the time that there is for the whole, counted from when the request came. */
  #queueDeadlineMs({ receivedAtMs, deadlineMs }: FlowRequest): number {
    const allottedMs = deadlineMs === undefined ? this.#options.requestTimeoutMs : deadlineMs - receivedAtMs;
    return receivedAtMs + Math.min(allottedMs / 4, MAX_WAIT_MS);
  }

  /** One request of each level in turn, while the turn lasts: no level waits for all of another's. */
  #dispatchAll(): void {
    const busy = [...this.#levels.values()].filter(({ queues }) => queues.waiting > 0);
    for (let failures = 0; failures < busy.length;) {
      const level = busy[this.#rotation++ % busy.length]!;
      failures = level.queues.dispatchOne() ? 0 : failures + 1;
    }
  }

  #adjustLater(): void {
    const timer = this.#clock.after(ADJUSTMENT_PERIOD_MS, () => {
      this.#stops.splice(this.#stops.indexOf(stop), 1);
      if (this.#isStale || [...this.#levels.values()].some(({ isQuiescing, queues }) => isQuiescing && queues.isIdle)) this.#configure();
      else this.#adjust();
      this.#adjustLater();
    });
    const stop = (): void => timer.cancel();
    this.#stops.push(stop);
  }

  #adjust(): void {
    this.#metrics.sample();
    this.#metrics.fairFraction = adjustSeats([...this.#levels.values()], this.#clock.nowMs());
  }

  /** Of the whole server, which may have several processes. */
  setServerSeats(seats: number): void {
    if (seats === this.#serverSeats) return;
    this.#serverSeats = seats;
    this.#setBounds();
    this.#adjust();
  }

  /** Seats that requests have or wait for. */
  get demandedSeats(): number {
    let seats = 0;
    for (const { queues } of this.#levels.values()) seats += queues.seatsInUse + queues.seatsWaiting;
    return seats;
  }

  #setBounds(): void {
    const shareSum = [...this.#levels.values()].reduce((sum, { shares }) => sum + shares, 0);
    for (const level of this.#levels.values()) level.setBounds(this.#serverSeats, shareSum);
  }

  #configure(): void {
    this.#isStale = false;
    const wanted = new Map(
      this.#readLevels()
        .filter(isSound)
        .map((object) => [object.metadata.name!, object]),
    );
    const referable = new Set(wanted.keys());
    for (const [name, spec] of this.#options.mandatoryLevels)
      if (!wanted.has(name)) wanted.set(name, { kind: 'PriorityLevelConfiguration', apiVersion: API_VERSION, metadata: { name }, spec });
    this.#levels = this.#replaceLevels(wanted);
    this.#classifier = this.#createClassifier(this.#readSchemas().filter(({ spec }) => referable.has(spec.priorityLevelConfiguration.name)));
    this.#setBounds();
    this.#adjust();
  }

  /** Levels that stay keep their queues; one whose object is gone serves what it has taken in. */
  #replaceLevels(wanted: ReadonlyMap<string, PriorityLevelConfiguration>): Map<string, PriorityLevel> {
    const levels = new Map<string, PriorityLevel>();
    for (const [name, object] of wanted) {
      const known = this.#levels.get(name);
      known?.configure(object);
      levels.set(name, known ?? new PriorityLevel(object, { clock: this.#clock, turn: this.#turn }));
    }
    for (const [name, level] of this.#levels) {
      if (levels.has(name) || level.queues.isIdle) continue;
      level.isQuiescing = true;
      levels.set(name, level);
    }
    return levels;
  }

  #createClassifier(objects: readonly FlowSchema[]): FlowClassifier {
    const names = new Set(objects.map(({ metadata }) => metadata.name));
    const unstored = [...this.#options.mandatorySchemas]
      .filter(([name]) => !names.has(name))
      .map(([name, spec]): FlowSchema => ({ kind: 'FlowSchema', apiVersion: API_VERSION, metadata: { name }, spec }));
    const schemas = [...objects, ...unstored].map((object): ActiveSchema => {
      const level = this.#levels.get(object.spec.priorityLevelConfiguration.name)!;
      return { object, level, stats: this.#metrics.statsOf(level.name, object.metadata.name!) };
    });
    return new FlowClassifier(
      schemas,
      schemas.find(({ object }) => object.metadata.name === CATCH_ALL)!,
    );
  }
}

/** A selector that does not parse is refused elsewhere. */
function fieldValue(selector: string | undefined, field: string): string | undefined {
  if (selector === undefined || selector === '') return undefined;
  try {
    return parseFieldSelector(selector).exactMatch(field);
  } catch {
    return undefined;
  }
}
