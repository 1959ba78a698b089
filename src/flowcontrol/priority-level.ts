import { DemandIntegrator, SeatDemand } from './demand.ts';
import { EXEMPT, type PriorityLevelConfiguration, type PriorityLevelSpec, type QueuingSpec } from './objects.ts';
import { type QueuePolicy, QueueSet, type QueueSetParts } from './queue-set.ts';
import { RetryAfter } from './retry-after.ts';

/** The most of its seats that a level gives to one request. */
const MAX_SHARE_OF_ONE = 0.15;

/** One PriorityLevelConfiguration at work: its queues, and the seats that it has. */
export class PriorityLevel {
  readonly name: string;
  readonly queues: QueueSet;
  readonly retryAfter = new RetryAfter();
  readonly demand = new SeatDemand();
  readonly #integrator: DemandIntegrator;
  uid = '';
  spec: PriorityLevelSpec;
  /** Its object is gone; it serves what it has taken in. */
  isQuiescing = false;
  nominalSeats = 0;
  /** What is left when all that it may lend is lent. */
  leastSeats = 0;
  /** What it has when it borrows all that it may. */
  mostSeats = 0;
  currentSeats = 0;
  targetSeats = 0;
  /** The most seats that one request is counted; 0 where the level does not say. */
  maxRequestSeats = 0;

  constructor(object: PriorityLevelConfiguration, parts: Omit<QueueSetParts, 'demand'>) {
    this.name = object.metadata.name!;
    this.spec = object.spec;
    this.#integrator = new DemandIntegrator(parts.clock.nowMs());
    this.queues = new QueueSet(policyOf(object.spec), { ...parts, demand: this.#integrator });
    this.configure(object);
  }

  get isExempt(): boolean {
    return this.spec.type === 'Exempt';
  }
  get shares(): number {
    return (this.spec.limited ?? this.spec.exempt)?.nominalConcurrencyShares ?? 0;
  }
  get queuing(): QueuingSpec | undefined {
    return this.spec.limited?.limitResponse.queuing;
  }

  /** Requests that there is room for in all queues. */
  get waitingLimit(): number {
    return (this.queuing?.queues ?? 0) * (this.queuing?.queueLengthLimit ?? 0);
  }

  configure({ metadata, spec }: PriorityLevelConfiguration): void {
    this.uid = metadata.uid ?? '';
    this.spec = spec;
    this.isQuiescing = false;
    this.queues.configure(policyOf(spec));
  }

  /** Derives the bounds from the level's part of all shares. */
  setBounds(serverSeats: number, shareSum: number): void {
    const { limited, exempt } = this.spec;
    const nominal = shareSum === 0 ? 0 : Math.ceil((serverSeats * this.shares) / shareSum);
    const lendable = Math.round((nominal * ((limited ?? exempt)?.lendablePercent ?? 0)) / 100);
    const percent = limited?.borrowingLimitPercent;
    const borrowable = percent === undefined ? serverSeats : Math.round((nominal * percent) / 100);
    this.nominalSeats = nominal;
    this.leastSeats = nominal - lendable;
    this.mostSeats = nominal + borrowable;
    this.currentSeats ||= nominal - Math.floor(lendable / 2);
    if (this.queuing === undefined) this.maxRequestSeats = 0;
    else this.maxRequestSeats = Math.max(1, Math.min(Math.ceil(nominal * MAX_SHARE_OF_ONE), Math.floor(nominal / this.queuing.handSize)));
  }

  /** Ends a period of demand. */
  takeDemand(nowMs: number): void {
    this.demand.update(this.#integrator.take(nowMs));
  }

  setSeats(seats: number): void {
    this.currentSeats = seats;
    this.queues.setSeatLimit(seats);
  }
}

/** Whether the parts of a level agree: one that validation would refuse is left out, as upstream does. */
export function isSound({ metadata, spec }: PriorityLevelConfiguration): boolean {
  const isExempt = spec.type === 'Exempt';
  if ((spec.type === 'Limited') !== (spec.limited !== undefined) || isExempt !== (spec.exempt !== undefined)) return false;
  if (isExempt !== (metadata.name === EXEMPT)) return false;
  const response = spec.limited?.limitResponse;
  return response === undefined || (response.type === 'Reject') === (response.queuing === undefined);
}

function policyOf({ limited }: PriorityLevelSpec): QueuePolicy {
  if (limited === undefined) return { kind: 'exempt' };
  const { queuing } = limited.limitResponse;
  return queuing === undefined ? { kind: 'reject' } : { kind: 'queue', queues: queuing.queues, queueLengthLimit: queuing.queueLengthLimit };
}
