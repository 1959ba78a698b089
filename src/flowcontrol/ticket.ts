import type { RequestInfo } from '../endpoints/request.ts';
import type { QueuedRequest } from '../server/flow-control.ts';
import type { ConnectionInfo } from '../serving/exchange.ts';
import type { Bagged } from '../util/bag.ts';
import type { User } from '../api/user.ts';
import type { Flow } from './flow.ts';
import type { Queue } from './queue.ts';
import type { WorkEstimate } from './work-estimate.ts';

/** Until a request's actual time is known, it is taken to be this. */
export const ASSUMED_SERVICE_MS = 3;

/** What is kept of the request itself: for those who look at the queues, and to hold its connection back. */
export interface TicketHolder {
  readonly user: User;
  readonly info: RequestInfo;
  readonly exchange?: { readonly connection: HeldConnection };
}

export type HeldConnection = Pick<ConnectionInfo, 'pauseReading' | 'resumeReading'>;

/**
 * One request's way through a queue set.
 *
 *     arrive → waiting → executing → over
 *           ↘ executing            ↗
 *           ↘ rejected   (from waiting too: its time is up, or its client has gone)
 */
export class Ticket implements QueuedRequest, Bagged {
  readonly flow: Flow;
  readonly work: WorkEstimate;
  readonly holder: TicketHolder;
  readonly arrivalMs: number;
  /** Seats held, from start to the end of the aftermath. */
  readonly seats: number;
  /** In seat-milliseconds. */
  readonly totalWork: number;
  state: 'waiting' | 'executing' | 'rejected' | 'over' = 'waiting';
  /** Where it waits or came from; undefined where the level has no queues. */
  queue: Queue | undefined = undefined;
  /** The virtual time at which it came. */
  arrivalR = 0;
  startMs = 0;
  bagIndex = 0;
  onDecision: ((isExecuting: boolean) => void) | undefined = undefined;
  /** It waits no longer than this. */
  queueDeadlineMs = Infinity;

  constructor(flow: Flow, work: WorkEstimate, holder: TicketHolder, arrivalMs: number) {
    this.flow = flow;
    this.work = work;
    this.holder = holder;
    this.arrivalMs = arrivalMs;
    this.seats = Math.max(work.initialSeats, work.finalSeats);
    this.totalWork = work.initialSeats * ASSUMED_SERVICE_MS + work.finalSeats * work.additionalLatencyMs;
  }
  get flowSchemaUid(): string {
    return this.flow.schema.uid;
  }
  get priorityLevelUid(): string {
    return this.flow.level.uid;
  }
  get retryAfterSeconds(): number {
    return this.flow.level.retryAfter.seconds;
  }
  cancel(): void {
    this.flow.level.queues.cancel(this);
  }
  finish(isAtOnce: boolean): void {
    this.flow.level.queues.finish(this, isAtOnce);
  }
}
