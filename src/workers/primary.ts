import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionSource } from '../serving/port.ts';
import type { ProcessExit, ProcessLimits } from '../supervision/supervised-process.ts';
import { SupervisedProcess } from '../supervision/supervised-process.ts';
import { CrashingRequests } from '../supervision/supervisor.ts';
import type { StallReport } from '../supervision/protocol.ts';
import { type AuditLine, ReceivedAuditLines } from './audit-lines.ts';
import { ConnectionDealer } from './connection-dealer.ts';
import { seatShares } from './seat-shares.ts';
import { type PrimaryMessage, type PrintedMetrics, WORKER_VARIABLE, type WorkerMessage, type WorkerSettings } from './settings.ts';

/** What a primary has to tell; the command line makes log lines of it. */
export interface PrimaryObserver {
  onStall(index: number, report: StallReport): void;
  onRecovery(index: number, stalledMs: number): void;
  onRestart(index: number, exit: ProcessExit, delayMs: number): void;
}

export interface PrimaryOptions {
  count: number;
  storeUrl: string | undefined;
  revisionPath: string | undefined;
  /** Whose connections the workers serve. */
  port: ConnectionSource;
  limits: ProcessLimits;
  /** Of Node itself: the limit of the heap. */
  nodeFlags: readonly string[];
  observer: PrimaryObserver;
  /** What the primary itself counts. */
  metrics: { print(): string; reset(): void };
  /** Writes a line of the audit log. Throws or rejects where it cannot. */
  writeAudit: (line: AuditLine) => Promise<void> | void;
}

/** A worker ends with this when it cannot run with these flags: it has said why. */
const OWN_FAILURE = 1;
/** A worker that ends sooner than this after its start is given a moment before the next one. */
const SHORT_LIFE_MS = 5_000;
const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 2_000;

/** For the first requests of connections that a worker was dealt before it left: while it stops, it would refuse them. */
const LEAVE_MS = 2_000;
/** A worker that has not told what it has counted by then is left out. */
const GATHER_MS = 1_000;
const SHARE_INTERVAL_MS = 1_000;

/** A worker process that was started, and what becomes of it. */
interface RunningWorker {
  readonly index: number;
  readonly channel: ChildProcess;
  readonly auditLines: ReceivedAuditLines;
  /** Seats that its requests have or wait for. */
  demand: number;
  readonly process: SupervisedProcess;
  hasEnded: boolean;
  /** Which it takes the place of, once it is ready. */
  readonly replaced: RunningWorker | undefined;
  /** Resolves with its address once it is ready; never for one that ends before. */
  readonly ready: Promise<string>;
}

/**
 * Keeps worker processes running, each a whole API server, that share one port. One that dies is replaced; the others go on. All are told of requests that
 * have ended one of them twice.
 */
export class Primary {
  readonly #options: PrimaryOptions;
  readonly #instanceId = randomUUID();
  readonly #crashing = new CrashingRequests();
  readonly #dealer = new ConnectionDealer();
  readonly #workers = new Map<number, RunningWorker>();
  readonly #replacing = new Set<RunningWorker>();
  /** Who has asked for metrics, by the number of the question that the others were asked. */
  readonly #gatherings = new Map<number, Gathering>();
  #lastGathering = 0;
  readonly #shareTimer: NodeJS.Timeout;
  #restarts: Promise<void> = Promise.resolve();
  /** From then on what a worker dies of is no reason to end the others. */
  #hasStarted = false;
  #isStopping = false;
  #fail!: (error: Error) => void;
  /** Rejects when a worker cannot be started with the first ones. */
  readonly failed: Promise<never> = new Promise((_, reject) => (this.#fail = reject));

  constructor(options: PrimaryOptions) {
    this.#options = options;
    this.failed.catch(() => undefined);
    this.#shareTimer = setInterval(() => this.#shareSeats(), SHARE_INTERVAL_MS).unref();
    options.port.start((socket) => this.#dealer.offer(socket));
  }

  /** Resolves with their address when all are ready. The first one alone fills a fresh store; the others then find it as it is. */
  async start(): Promise<string> {
    const url = await this.#until(this.#run(0).ready);
    await this.#until(Promise.all(Array.from({ length: this.#options.count - 1 }, (_, index) => this.#run(index + 1).ready)));
    this.#hasStarted = true;
    return url;
  }

  /**
   * One after the other: the next one takes requests before the one that it replaces stops taking them. Where it ends before, the old one stays, and so do the
   * rest. Who asks meanwhile waits until this is done, and then replaces all again.
   */
  restartAll(): Promise<void> {
    this.#restarts = this.#restarts.catch(() => undefined).then(() => this.#restartAll());
    return this.#restarts;
  }

  async #restartAll(): Promise<void> {
    for (let index = 0; index < this.#options.count && !this.#isStopping; index++) {
      const old = this.#workers.get(index);
      if (!old) continue;
      this.#replacing.add(old);
      const next = this.#run(index, 0, old);
      await this.#until(Promise.race([next.ready, endOf(next)]));
      this.#dealer.leave(old.channel);
      await delay(LEAVE_MS);
      old.process.stop('SIGTERM');
      await old.process.exited;
      this.#replacing.delete(old);
    }
  }

  /** Resolves when all have ended. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#shareTimer);
    const running = [...this.#workers.values(), ...this.#replacing];
    for (const { process: worker } of running) worker.stop(signal);
    await Promise.all(running.map(({ process: worker }) => worker.exited));
    this.#closePort();
  }

  #closePort(): void {
    this.#dealer.close();
    void this.#options.port.stop();
  }

  #until<T>(awaited: Promise<T>): Promise<T> {
    return Promise.race([awaited, this.failed]);
  }

  #run(index: number, shortLives = 0, replaced?: RunningWorker): RunningWorker {
    const { count, storeUrl, revisionPath, port, limits, observer } = this.#options;
    const settings: WorkerSettings = { index, count, instanceId: this.#instanceId, storeUrl, revisionPath, address: port.address };
    let forked!: ChildProcess;
    const startMs = performance.now();
    const supervised = new SupervisedProcess(
      (environment) => {
        forked = this.#fork({ ...environment, [WORKER_VARIABLE]: JSON.stringify(settings) });
        return forked;
      },
      this.#crashing.refused,
      limits,
      { onStall: (report) => observer.onStall(index, report), onRecovery: (stalledMs) => observer.onRecovery(index, stalledMs) },
    );
    let onReady!: (url: string) => void;
    const ready = new Promise<string>((resolve) => (onReady = resolve));
    const auditLines = new ReceivedAuditLines(this.#options.writeAudit, (message) => tell({ channel: forked }, message));
    const worker: RunningWorker = { index, channel: forked, auditLines, process: supervised, ready, demand: 0, replaced, hasEnded: false };
    forked.on('message', (message: WorkerMessage) => this.#onMessage(worker, message, onReady));
    this.#workers.set(index, worker);
    void supervised.exited.then((exit) => this.#onExit(index, worker, exit, performance.now() - startMs, shortLives), this.#fail);
    return worker;
  }

  #fork(environment: Readonly<Record<string, string>>): ChildProcess {
    return fork(process.argv[1]!, process.argv.slice(2), {
      execArgv: [...process.execArgv, ...this.#options.nodeFlags],
      env: { ...process.env, ...environment },
      // Standard streams, the pipe of the watchdog's reports (its REPORT_FD), and the channel by which connections are handed over.
      stdio: ['inherit', 'inherit', 'inherit', 'pipe', 'ipc'],
    });
  }

  #onMessage(worker: RunningWorker, message: WorkerMessage, onReady: (url: string) => void): void {
    if (message.type === 'ready') {
      this.#dealer.join(worker.channel);
      onReady(message.url);
    } else if (message.type === 'taken') this.#dealer.taken(worker.channel);
    else if (message.type === 'leave') this.#leave(worker);
    else if (message.type === 'audit') void worker.auditLines.end(message.id, message.line);
    else if (message.type === 'audit-part') worker.auditLines.addPart(message.id, message.bytes);
    else if (message.type === 'demand') worker.demand = message.seats;
    else if (message.type === 'reset') this.#reset();
    else if (message.type === 'gather') this.#gather(worker, message.id);
    else this.#gatherings.get(message.id)?.add({ worker: worker.index, text: message.text });
  }

  #leave(worker: RunningWorker): void {
    this.#dealer.giveBack(worker.channel);
    // Told to stop, each leaves when its part of upstream's order is done; the last one closes the port.
    if (this.#isStopping && this.#dealer.isEmpty) this.#closePort();
  }

  #gather(asking: RunningWorker, id: number): void {
    const asked = [...this.#workers.values()];
    const ownId = ++this.#lastGathering;
    const gathering = new Gathering(asked.length + 1, (metrics) => {
      this.#gatherings.delete(ownId);
      tell(asking, { type: 'gathered', id, metrics });
    });
    this.#gatherings.set(ownId, gathering);
    for (const worker of asked) tell(worker, { type: 'print', id: ownId });
    gathering.add({ text: this.#options.metrics.print() });
  }

  #reset(): void {
    for (const worker of this.#workers.values()) tell(worker, { type: 'reset' });
    this.#options.metrics.reset();
  }

  #shareSeats(): void {
    const workers = [...this.#workers.values()];
    for (const [at, share] of seatShares(workers.map(({ demand }) => demand)).entries()) tell(workers[at]!, { type: 'share', share });
  }

  #onExit(index: number, worker: RunningWorker, exit: ProcessExit, livedMs: number, shortLives: number): void {
    worker.hasEnded = true;
    if (this.#isStopping || this.#replacing.has(worker) || this.#workers.get(index) !== worker) return;
    if (worker.replaced && this.#replacing.delete(worker.replaced)) return void this.#putBack(worker.replaced);
    if (!this.#hasStarted && exit.signal === null && exit.code === OWN_FAILURE) return this.#fail(new WorkerFailed(exit.code));
    const fingerprint = exit.stall?.request?.fingerprint;
    if (fingerprint !== undefined) this.#crashing.add(fingerprint);
    const lives = livedMs < SHORT_LIFE_MS ? shortLives + 1 : 0;
    const delayMs = lives <= 1 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (lives - 2), MAX_DELAY_MS);
    this.#options.observer.onRestart(index, exit, delayMs);
    setTimeout(() => {
      if (!this.#isStopping && this.#workers.get(index) === worker) this.#run(index, lives);
    }, delayMs);
  }

  /** What was to take its place has ended before it was ready. */
  #putBack(old: RunningWorker): void {
    if (old.hasEnded) this.#run(old.index);
    else this.#workers.set(old.index, old);
  }
}

async function endOf({ index, process: worker }: RunningWorker): Promise<never> {
  await worker.exited;
  throw new Error(`worker ${index} ended before it was ready`);
}

function tell({ channel }: Pick<RunningWorker, 'channel'>, message: PrimaryMessage): void {
  // With a callback, what fails is told to it: one that has just died is noticed by its end, and by nothing else.
  if (channel.connected) channel.send(message, () => undefined);
}

/** The answers to one question to all processes, which end when all have come or time is up. */
class Gathering {
  readonly #metrics: PrintedMetrics[] = [];
  readonly #expected: number;
  readonly #onDone: (metrics: readonly PrintedMetrics[]) => void;
  readonly #timer: NodeJS.Timeout;

  constructor(expected: number, onDone: (metrics: readonly PrintedMetrics[]) => void) {
    this.#expected = expected;
    this.#onDone = onDone;
    this.#timer = setTimeout(() => this.#end(), GATHER_MS);
  }

  add(metrics: PrintedMetrics): void {
    this.#metrics.push(metrics);
    if (this.#metrics.length === this.#expected) this.#end();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#onDone(this.#metrics.toSorted((a, b) => orderOf(a) - orderOf(b)));
  }
}

/** The primary last. */
const orderOf = ({ worker = Infinity }: PrintedMetrics): number => worker;

/** A worker does not run with these flags; it has said why. */
export class WorkerFailed extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`a worker ended with exit code ${code}`);
    this.code = code;
  }
}
