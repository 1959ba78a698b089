import type { HeldConnection, Ticket } from './ticket.ts';

/** First in, first out. Sums are kept, so that nobody has to walk along it. */
export class Queue {
  readonly waiting: Ticket[] = [];
  /** Left unread until fewer wait, the first first. */
  readonly paused: HeldConnection[] = [];
  /** The virtual time at which its oldest ticket would start. */
  nextDispatchR = 0;
  executing = 0;
  seatsInUse = 0;
  initialSeatsWaiting = 0;
  seatsWaiting = 0;
  workWaiting = 0;

  get isActive(): boolean {
    return this.waiting.length > 0 || this.executing > 0;
  }

  push(ticket: Ticket): void {
    this.waiting.push(ticket);
    this.#count(ticket, 1);
  }

  shift(): Ticket {
    const ticket = this.waiting.shift()!;
    this.#count(ticket, -1);
    return ticket;
  }

  remove(ticket: Ticket): void {
    this.waiting.splice(this.waiting.indexOf(ticket), 1);
    this.#count(ticket, -1);
  }

  /** Virtual service does not begin before arrival: a queue that could not use its share does not save it up. */
  bound(): void {
    const oldest = this.waiting[0];
    if (oldest !== undefined && this.nextDispatchR < oldest.arrivalR) this.nextDispatchR = oldest.arrivalR;
  }

  #count({ seats, totalWork, work }: Ticket, sign: 1 | -1): void {
    this.initialSeatsWaiting += sign * work.initialSeats;
    this.seatsWaiting += sign * seats;
    // Sums of floats drift; an empty queue has none.
    this.workWaiting = this.waiting.length === 0 ? 0 : this.workWaiting + sign * totalWork;
  }
}
