import { describe, expect, test } from 'vitest';
import { MetricRegistry } from '../metrics/registry.ts';
import { parseRequestInfo } from '../server/request-info.ts';
import { dealHand, hashFlow } from './dealer.ts';
import { FakeFlowClock } from './fake-clock.ts';
import type { Flow } from './flow.ts';
import { FlowMetrics } from './metrics.ts';
import { PriorityLevel } from './priority-level.ts';
import { type HeldConnection, Ticket } from './ticket.ts';
import { Turn } from './turn.ts';
import { ONE_SEAT } from './work-estimate.ts';

const INFO = parseRequestInfo('GET', '/api/v1/namespaces/a/pods/b');

function newLevel({ seats = 4, queues = 16, handSize = 4, queueLengthLimit = 10 } = {}) {
  const clock = new FakeFlowClock();
  const turn = new Turn(clock, { onNext: () => level.queues.dispatch(), onOver: () => level.queues.resumeReading() });
  const metrics = new FlowMetrics(new MetricRegistry(), () => [], { nowMs: () => 0, limits: { readOnly: 1, mutating: 1 } });
  const level: PriorityLevel = new PriorityLevel(
    {
      kind: '',
      apiVersion: '',
      metadata: { name: 'l' },
      spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit } } } },
    },
    { clock, turn },
  );
  level.setSeats(seats);
  const flowOf = (name: string): Flow => ({
    schema: { name: 's', uid: '' },
    level,
    distinguisher: name,
    hand: dealHand(hashFlow('s', name), queues, handSize),
    stats: metrics.statsOf('l', 's'),
    lastTurn: 0,
  });
  const flows = new Map<string, Flow>();
  const arrive = (name: string, work = ONE_SEAT, connection?: HeldConnection): Ticket => {
    if (!flows.has(name)) flows.set(name, flowOf(name));
    const holder = { user: { name, groups: [] }, info: INFO, ...(connection && { exchange: { connection } }) };
    const ticket = new Ticket(flows.get(name)!, work, holder, clock.nowMs());
    level.queues.arrive(ticket);
    return ticket;
  };
  return { clock, level, arrive };
}

describe('seats', () => {
  test('are given until there are none; then requests wait, and start in order', () => {
    const { clock, arrive } = newLevel({ seats: 2, queues: 1, handSize: 1 });
    const tickets = ['a', 'a', 'a', 'a'].map((name) => arrive(name));
    expect(tickets.map(({ state }) => state)).toEqual(['executing', 'executing', 'waiting', 'waiting']);
    clock.pass(10);
    tickets[0]!.finish(false);
    expect(tickets.map(({ state }) => state)).toEqual(['over', 'executing', 'executing', 'waiting']);
    tickets[0]!.finish(false);
    expect(tickets[3]!.state).toBe('waiting');
  });

  test('a wide request waits for room, and one that is wider than all goes alone', () => {
    const { clock, arrive } = newLevel({ seats: 4 });
    const narrow = arrive('a');
    const wide = arrive('b', { ...ONE_SEAT, initialSeats: 9 });
    const late = arrive('c');
    expect([narrow.state, wide.state, late.state]).toEqual(['executing', 'waiting', 'executing']);
    clock.pass(10);
    narrow.finish(false);
    late.finish(false);
    expect(wide.state).toBe('executing');
  });

  test('a full queue rejects', () => {
    const { arrive } = newLevel({ seats: 1, queues: 16, handSize: 2, queueLengthLimit: 3 });
    const states = Array.from({ length: 9 }, () => arrive('a').state);
    expect(states).toEqual(['executing', ...Array.from({ length: 6 }, () => 'waiting'), 'rejected', 'rejected']);
  });

  test('who gives up leaves the queue', () => {
    const { arrive, level } = newLevel({ seats: 1 });
    arrive('a');
    const waiting = arrive('a');
    const decisions: boolean[] = [];
    waiting.onDecision = (isExecuting) => decisions.push(isExecuting);
    waiting.cancel();
    waiting.cancel();
    expect(decisions).toEqual([false]);
    expect(level.queues).toMatchObject({ waiting: 0, cancelled: 1, rejected: 1 });
  });
});

describe('fairness', () => {
  /** Serves for a while with requests of 10 ms each; who gets how many? */
  function serve(level: PriorityLevel, clock: FakeFlowClock, durationMs: number, served: Map<string, number>): void {
    for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs += 10) {
      clock.pass(10);
      const executing = Array.from(level.queues.executing);
      for (const ticket of executing) {
        served.set(ticket.flow.distinguisher, (served.get(ticket.flow.distinguisher) ?? 0) + 1);
        ticket.finish(false);
      }
    }
  }

  test('one flow with many requests leaves another its half', () => {
    const { clock, level, arrive } = newLevel({ seats: 1, queues: 128, handSize: 1, queueLengthLimit: 200 });
    for (let i = 0; i < 100; i++) arrive('greedy');
    const served = new Map<string, number>();
    serve(level, clock, 100, served);
    served.clear();
    for (let i = 0; i < 20; i++) arrive('modest');
    serve(level, clock, 200, served);
    expect(Math.abs(served.get('greedy')! - served.get('modest')!)).toBeLessThanOrEqual(2);
  });

  test('width counts: who takes twice the seats starts half as often', () => {
    const { clock, level, arrive } = newLevel({ seats: 2, queues: 128, handSize: 1, queueLengthLimit: 200 });
    for (let i = 0; i < 60; i++) {
      arrive('narrow');
      arrive('wide', { ...ONE_SEAT, initialSeats: 2 });
    }
    const served = new Map<string, number>();
    serve(level, clock, 300, served);
    const ratio = served.get('narrow')! / served.get('wide')!;
    expect(ratio).toBeGreaterThan(1.6);
    expect(ratio).toBeLessThan(2.4);
  });

  test('one who comes after long silence has saved nothing up', () => {
    const { clock, level, arrive } = newLevel({ seats: 1, queues: 128, handSize: 1, queueLengthLimit: 200 });
    for (let i = 0; i < 100; i++) arrive('busy');
    serve(level, clock, 500, new Map());
    for (let i = 0; i < 40; i++) arrive('late');
    const served = new Map<string, number>();
    serve(level, clock, 200, served);
    expect(served.get('busy')!).toBeGreaterThanOrEqual(8);
  });
});

describe('the thread', () => {
  /** A request that is answered at once, after `workMs` of work. */
  function answerAtOnce(ticket: Ticket, clock: FakeFlowClock, workMs: number, order: string[]): void {
    const answer = (): void => {
      clock.work(workMs);
      order.push(ticket.flow.distinguisher);
      ticket.finish(true);
    };
    if (ticket.state === 'executing') answer();
    else ticket.onDecision = answer;
  }

  test('requests beyond the turn’s part wait for the next one, where another flow goes before the rest of them', () => {
    const { clock, arrive } = newLevel({ seats: 50, queues: 128, handSize: 6, queueLengthLimit: 50 });
    const order: string[] = [];
    for (let i = 0; i < 200; i++) answerAtOnce(arrive('greedy'), clock, 0.1, order);
    expect(order.length).toBeLessThan(10);
    clock.turn();
    order.length = 0;
    // It has had nothing of this turn, so it does not even queue; its second does, behind the six queues of the other flow at most.
    for (let i = 0; i < 2; i++) answerAtOnce(arrive('modest'), clock, 0.1, order);
    expect(order).toEqual(['modest']);
    for (let i = 0; i < 3; i++) clock.turn();
    expect(order.lastIndexOf('modest')).toBeGreaterThan(0);
    expect(order.lastIndexOf('modest')).toBeLessThanOrEqual(7);
  });

  test('all are served in the end, and none is rejected that finds its queue with room', () => {
    const { clock, level, arrive } = newLevel({ seats: 50, queues: 128, handSize: 6, queueLengthLimit: 50 });
    const order: string[] = [];
    for (let i = 0; i < 300; i++) answerAtOnce(arrive('greedy'), clock, 0.1, order);
    for (let i = 0; i < 300; i++) clock.turn();
    expect(order).toHaveLength(300);
    expect(level.queues).toMatchObject({ rejected: 0, waiting: 0, seatsInUse: 0, isIdle: true });
  });

  test('an idle server makes nobody wait', () => {
    const { clock, arrive } = newLevel();
    for (let i = 0; i < 20; i++) {
      clock.pass(1);
      const ticket = arrive('a');
      expect(ticket.state).toBe('executing');
      clock.work(0.1);
      ticket.finish(true);
    }
  });
});

describe('connections that bring more than the thread can serve', () => {
  /** Asks without end, one request after the other, until it is held back. */
  class Flooder implements HeldConnection {
    isHeldBack = false;
    readonly tickets: Ticket[] = [];
    readonly #arrive: (connection: Flooder) => Ticket;
    constructor(arrive: (connection: Flooder) => Ticket) {
      this.#arrive = arrive;
    }
    ask(count: number): void {
      for (let asked = 0; asked < count && !this.isHeldBack; asked++) this.tickets.push(this.#arrive(this));
    }
    pauseReading(): boolean {
      if (this.isHeldBack) return false;
      return (this.isHeldBack = true);
    }
    resumeReading(): void {
      this.isHeldBack = false;
      this.ask(100);
    }
  }

  function flood(seats: number) {
    const { clock, level, arrive } = newLevel({ seats, queues: 1, handSize: 1, queueLengthLimit: 50 });
    /** What is begun keeps the thread for a while, and is over. */
    const serve = (connection: Flooder): Ticket => {
      const ticket = arrive('loud', ONE_SEAT, connection);
      const work = (): void => {
        clock.work(0.04);
        ticket.finish(true);
      };
      if (ticket.state === 'executing') work();
      ticket.onDecision = (isExecuting) => isExecuting && work();
      return ticket;
    };
    return { clock, level, arrive, connections: [new Flooder(serve), new Flooder(serve)] };
  }

  test('are left unread until fewer wait, and nobody is refused', () => {
    const { clock, level, connections } = flood(4);
    for (const connection of connections) connection.ask(100);
    for (let turn = 0; turn < 50; turn++) {
      expect(level.queues.waiting).toBeLessThanOrEqual(9);
      expect(connections.some(({ isHeldBack }) => isHeldBack)).toBe(true);
      clock.turn();
    }
    expect(level.queues.rejected).toBe(0);
    // Both have their turns.
    for (const { tickets } of connections) expect(tickets.filter(({ state }) => state === 'over').length).toBeGreaterThan(20);
  });

  test('are read when it is seats that are missing: the queues refuse what is too much', () => {
    const { clock, level, arrive, connections } = flood(1);
    connections[0]!.ask(100);
    expect(connections[0]!.isHeldBack).toBe(true);
    // What begins next keeps its seat.
    level.queues.setSeatLimit(0);
    clock.turn();
    expect(connections[0]!.isHeldBack).toBe(false);
    expect(level.queues.waiting).toBe(50);
    expect(level.queues.rejected).toBeGreaterThan(0);
    expect(arrive('loud').state).toBe('rejected');
  });
});
