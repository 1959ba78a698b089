import { Bag } from '../util/bag.ts';
import { Deadlines } from '../util/deadlines.ts';
import type { FlowClock } from './clock.ts';
import type { DemandIntegrator } from './demand.ts';
import type { Flow } from './flow.ts';
import { Queue } from './queue.ts';
import { ASSUMED_SERVICE_MS, type Ticket } from './ticket.ts';
import type { Turn } from './turn.ts';

/**
 * So many requests of a queue wait for the thread before connections that bring more are left unread: a turn serves fewer, and each that waits takes some
 * 2.5 KB that every young collection copies, fifty times what it takes in the socket.
 */
const MAX_READ_AHEAD = 8;

/** How a level treats requests that find no seat. */
export type QueuePolicy = { kind: 'exempt' } | { kind: 'reject' } | { kind: 'queue'; queues: number; queueLengthLimit: number };

export interface QueueSetParts {
  clock: FlowClock;
  turn: Turn;
  demand: DemandIntegrator;
}

/**
 * Fair queuing for requests that take unequal numbers of seats for unequal times (KEP-1040; apiserver/pkg/util/flowcontrol/fairqueuing).
 *
 * R, the virtual time, is the work in seat-milliseconds that an always busy queue would have been given by now. Each queue knows the R at which its
 * oldest request would start; the one whose request would end first goes next. While it is the thread and not the seats that holds requests back,
 * nobody knows how fast work is done, and R is the start of what was dispatched last (start-time fair queuing).
 */
export class QueueSet {
  readonly executing = new Bag<Ticket>();
  dispatched = 0;
  rejected = 0;
  cancelled = 0;
  #policy: QueuePolicy;
  #seatLimit = 0;
  #queues: Queue[] = [];
  #waiting = 0;
  #seatsWaiting = 0;
  #seatsInUse = 0;
  #activeQueues = 0;
  #currentR = 0;
  #lastMs: number;
  #lastStartR = 0;
  #hasStarted = false;
  #enqueued = 0;
  #robin = 0;
  #isHeldByThread = false;
  #isDispatching = false;
  /** Those for which connections are held back. */
  readonly #crowded = new Set<Queue>();
  readonly #clock: FlowClock;
  readonly #turn: Turn;
  readonly #demand: DemandIntegrator;
  /** Of those who wait. */
  readonly #queueDeadlines: Deadlines<Ticket>;

  constructor(policy: QueuePolicy, { clock, turn, demand }: QueueSetParts) {
    this.#policy = policy;
    this.#clock = clock;
    this.#turn = turn;
    this.#demand = demand;
    this.#queueDeadlines = new Deadlines(
      clock,
      ({ queueDeadlineMs }) => queueDeadlineMs,
      (ticket) => this.cancel(ticket),
    );
    this.#lastMs = clock.nowMs();
    this.#resize();
  }

  get queues(): readonly Queue[] {
    return this.#queues;
  }
  get waiting(): number {
    return this.#waiting;
  }
  get seatsInUse(): number {
    return this.#seatsInUse;
  }
  get seatsWaiting(): number {
    return this.#seatsWaiting;
  }
  /** R, and the R at which what was dispatched last began, in seat-seconds; undefined before anything was dispatched from a queue. */
  get virtualTimes(): { currentR: number; latestS: number | undefined } {
    return { currentR: this.#currentR / 1000, latestS: this.#hasStarted ? this.#lastStartR / 1000 : undefined };
  }
  /** The least and the greatest R at which a queue's next request would begin; undefined while nothing waits. */
  get nextStarts(): { least: number; greatest: number } | undefined {
    const starts = this.#queues.filter(({ waiting }) => waiting.length > 0).map(({ nextDispatchR }) => nextDispatchR / 1000);
    return starts.length === 0 ? undefined : { least: Math.min(...starts), greatest: Math.max(...starts) };
  }
  get isIdle(): boolean {
    return this.#waiting === 0 && this.executing.size === 0 && this.#crowded.size === 0;
  }

  configure(policy: QueuePolicy): void {
    this.#policy = policy;
    this.#resize();
  }

  setSeatLimit(seats: number): void {
    this.#syncTime(this.#clock.nowMs());
    this.#seatLimit = seats;
    this.dispatch();
  }

  /** Decides: afterwards the ticket is executing, waiting or rejected. Whoever holds one that waits sets its `onDecision` at once. */
  arrive(ticket: Ticket): void {
    if (this.#policy.kind !== 'queue') return this.#arriveWithoutQueue(ticket);
    const nowMs = ticket.arrivalMs;
    this.#syncTime(nowMs);
    const queue = this.#shortest(ticket.flow.hand);
    ticket.queue = queue;
    ticket.arrivalR = this.#currentR;
    const isSpent = this.#turn.isSpent(nowMs);
    if (queue.waiting.length >= this.#policy.queueLengthLimit && (isSpent || this.#seatsInUse >= this.#seatLimit)) return this.#reject(ticket, 'queue-full');
    if (!queue.isActive) {
      queue.nextDispatchR = this.#currentR;
      this.#activeQueues++;
    }
    const mayStart = isSpent ? this.#hasTurnLeft(ticket.flow, queue) : this.#waiting === 0;
    if (mayStart && this.#seatsInUse < this.#seatLimit && this.#hasRoom(ticket.seats)) return this.#start(ticket, nowMs);
    this.#enqueue(ticket, queue, nowMs);
  }

  /** The client has gone, or it waited too long. */
  cancel(ticket: Ticket): void {
    if (ticket.state !== 'waiting') return;
    const nowMs = this.#clock.nowMs();
    this.#syncTime(nowMs);
    const queue = ticket.queue!;
    queue.remove(ticket);
    queue.bound();
    if (!queue.isActive) this.#activeQueues--;
    this.#leaveQueue(ticket);
    this.#noteDemand(nowMs);
    this.cancelled++;
    this.#reject(ticket, 'time-out');
    ticket.flow.stats.waited(false, nowMs - ticket.arrivalMs);
    ticket.onDecision?.(false);
  }

  /** The request was served; its seats are free now or, where it has an aftermath, in a while. */
  finish(ticket: Ticket, isAtOnce: boolean): void {
    if (ticket.state !== 'executing') return;
    const nowMs = this.#clock.nowMs();
    const { queue, work, flow } = ticket;
    const serviceMs = nowMs - ticket.startMs;
    this.#syncTime(nowMs);
    if (isAtOnce) this.#turn.note(nowMs);
    ticket.state = 'over';
    this.executing.delete(ticket);
    flow.stats.executing--;
    flow.stats.executed(serviceMs, ticket.holder.info.verb === 'watch');
    if (queue !== undefined) {
      queue.executing--;
      queue.nextDispatchR -= work.initialSeats * (ASSUMED_SERVICE_MS - serviceMs);
      queue.bound();
      if (!queue.isActive) this.#activeQueues--;
    }
    if (work.additionalLatencyMs <= 0) this.#releaseSeats(ticket, nowMs);
    else this.#clock.after(work.additionalLatencyMs, () => this.#releaseSeats(ticket, this.#clock.nowMs()));
  }

  /** Starts whatever there is room for. */
  dispatch(): void {
    if (this.#isDispatching) return;
    while (this.dispatchOne());
  }

  /** False when nothing waits, there is no room, or the turn is spent. */
  dispatchOne(): boolean {
    if (this.#waiting === 0 || this.#seatsInUse >= this.#seatLimit) {
      this.#isHeldByThread = false;
      return false;
    }
    const nowMs = this.#clock.nowMs();
    if (this.#turn.isSpent(nowMs)) {
      this.#isHeldByThread = true;
      this.#turn.await();
      return false;
    }
    this.#syncTime(nowMs);
    const index = this.#nextQueue();
    const queue = this.#queues[index]!;
    const oldest = queue.waiting[0]!;
    if (!this.#hasRoom(oldest.seats)) {
      oldest.flow.stats.unaccommodated();
      this.#isHeldByThread = false;
      return false;
    }
    this.#robin = index;
    queue.shift();
    this.#leaveQueue(oldest);
    this.#start(oldest, nowMs);
    queue.bound();
    // What is answered at once finishes inside, and must not dispatch inside.
    this.#isDispatching = true;
    try {
      oldest.onDecision?.(true);
    } finally {
      this.#isDispatching = false;
    }
    return true;
  }

  /**
   * While the thread is what is scarce, the first request of a flow in a turn need not queue: its fair part of the turn is still to come, and those who
   * wait are others that have had theirs.
   */
  #hasTurnLeft(flow: Flow, queue: Queue): boolean {
    return queue.waiting.length === 0 && flow.lastTurn !== this.#turn.number;
  }

  #arriveWithoutQueue(ticket: Ticket): void {
    if (this.#policy.kind === 'reject' && !this.#hasRoom(ticket.seats)) this.#reject(ticket, 'concurrency-limit');
    else this.#start(ticket, ticket.arrivalMs);
  }

  #enqueue(ticket: Ticket, queue: Queue, nowMs: number): void {
    queue.push(ticket);
    queue.bound();
    this.#queueDeadlines.add(ticket);
    this.#waiting++;
    this.#seatsWaiting += ticket.seats;
    const { stats } = ticket.flow;
    stats.waiting++;
    stats.seatsWaiting += ticket.seats;
    stats.enqueued(queue.waiting.length);
    this.#noteDemand(nowMs);
    this.dispatch();
    if (this.#isHeldByThread && this.#turn.isAwaited && ticket.state === 'waiting') this.#pauseReading(ticket, queue);
  }

  /** Only while it is the thread that they wait for: how many wait for seats is for the queues to bound, and to refuse. */
  #pauseReading({ holder }: Ticket, queue: Queue): void {
    const connection = holder.exchange?.connection;
    if (connection === undefined || queue.waiting.length < MAX_READ_AHEAD || !connection.pauseReading()) return;
    queue.paused.push(connection);
    this.#crowded.add(queue);
  }

  /** Reads on what was held back, as far as there is room now. */
  resumeReading(): void {
    for (const queue of this.#crowded) {
      while (queue.paused.length > 0 && (!this.#turn.isAwaited || queue.waiting.length < MAX_READ_AHEAD)) queue.paused.shift()!.resumeReading();
      if (queue.paused.length === 0) this.#crowded.delete(queue);
    }
  }

  #leaveQueue(ticket: Ticket): void {
    this.#waiting--;
    this.#seatsWaiting -= ticket.seats;
    ticket.flow.stats.waiting--;
    ticket.flow.stats.seatsWaiting -= ticket.seats;
    this.#queueDeadlines.delete(ticket);
  }

  #reject(ticket: Ticket, reason: string): void {
    ticket.state = 'rejected';
    this.rejected++;
    ticket.flow.stats.reject(reason);
    ticket.flow.level.retryAfter.recordRefusal(Math.floor(this.#clock.nowMs() / 1000));
  }

  #start(ticket: Ticket, nowMs: number): void {
    const { queue, seats, flow } = ticket;
    const { stats } = flow;
    ticket.state = 'executing';
    ticket.startMs = nowMs;
    flow.lastTurn = this.#turn.number;
    this.executing.add(ticket);
    this.#seatsInUse += seats;
    this.dispatched++;
    stats.dispatched();
    stats.executing++;
    stats.seatsInUse += seats;
    if (this.#policy.kind !== 'exempt') stats.waited(true, nowMs - ticket.arrivalMs);
    this.#noteDemand(nowMs);
    if (queue === undefined) return;
    queue.executing++;
    queue.seatsInUse += seats;
    this.#lastStartR = queue.nextDispatchR;
    this.#hasStarted = true;
    queue.nextDispatchR += ticket.totalWork;
  }

  #releaseSeats({ seats, queue, flow }: Ticket, nowMs: number): void {
    this.#syncTime(nowMs);
    this.#seatsInUse -= seats;
    flow.stats.seatsInUse -= seats;
    if (queue !== undefined) queue.seatsInUse -= seats;
    this.#noteDemand(nowMs);
    if (this.#waiting > 0) this.dispatch();
    else if (this.#queues.length > this.#wantedQueues) this.#resize();
  }

  #hasRoom(seats: number): boolean {
    if (this.#policy.kind === 'exempt') return true;
    // One that is wider than all there is goes alone.
    return seats > this.#seatLimit ? this.executing.size === 0 : this.#seatsInUse + seats <= this.#seatLimit;
  }

  /** The queue of the hand with the least work; among equals each has its turn. */
  #shortest(hand: readonly number[]): Queue {
    const offset = this.#enqueued++ % hand.length;
    let best = this.#queues[hand[offset]!]!;
    for (let i = 1; i < hand.length && best.workWaiting > 0; i++) {
      const queue = this.#queues[hand[(offset + i) % hand.length]!]!;
      if (queue.workWaiting < best.workWaiting) best = queue;
    }
    return best;
  }

  /** The queue whose oldest request would end first; among equals, the next in the round. */
  #nextQueue(): number {
    let best = -1;
    let bestFinishR = Infinity;
    const count = this.#queues.length;
    for (let i = 1; i <= count; i++) {
      const index = (this.#robin + i) % count;
      const queue = this.#queues[index]!;
      const oldest = queue.waiting[0];
      if (oldest === undefined) continue;
      const finishR = queue.nextDispatchR + oldest.totalWork;
      if (finishR >= bestFinishR) continue;
      bestFinishR = finishR;
      best = index;
    }
    return best;
  }

  /** To be called before anything changes: what was so until now decides how far R has come. */
  #syncTime(nowMs: number): void {
    const elapsedMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    if (this.#isHeldByThread && this.#waiting > 0) this.#currentR = Math.max(this.#currentR, this.#lastStartR);
    else if (this.#activeQueues > 0) this.#currentR += (Math.min(this.#seatsInUse + this.#seatsWaiting, this.#seatLimit) * elapsedMs) / this.#activeQueues;
  }

  #noteDemand(nowMs: number): void {
    this.#demand.set(this.#seatsInUse + this.#seatsWaiting, nowMs);
  }

  get #wantedQueues(): number {
    return this.#policy.kind === 'queue' ? this.#policy.queues : 0;
  }

  /** Queues are added at once; ones that are too many go from the end when they are empty. */
  #resize(): void {
    while (this.#queues.length < this.#wantedQueues) this.#queues.push(new Queue());
    while (this.#queues.length > this.#wantedQueues && !this.#queues.at(-1)!.isActive) this.#queues.pop();
  }
}
