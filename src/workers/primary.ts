import cluster, { type Worker } from 'node:cluster';
import type { ProcessExit, ProcessLimits } from '../supervision/supervised-process.ts';
import { SupervisedProcess } from '../supervision/supervised-process.ts';
import { DeadlyRequests } from '../supervision/deadly-requests.ts';
import type { StallReport } from '../supervision/protocol.ts';
import { type WorkerMessage, type WorkerSettings, WORKER_VARIABLE } from './settings.ts';

/** What a primary has to tell; the command line makes log lines of it. */
export interface PrimaryObserver {
  onStall(index: number, report: StallReport): void;
  onRecovery(index: number, stalledMs: number): void;
  onRestart(index: number, exit: ProcessExit, delayMs: number): void;
}

export interface PrimaryOptions {
  count: number;
  storeUrl: string | undefined;
  limits: ProcessLimits;
  /** Of Node itself: the limit of the heap. */
  nodeFlags: readonly string[];
  observer: PrimaryObserver;
}

/** A worker ends with this when it cannot run with these flags: it has said why. */
const OWN_FAILURE = 1;
/** A worker that ends sooner than this after its start is given a moment before the next one. */
const SHORT_LIFE_MS = 5_000;
const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 10_000;

/** A worker process that was started, and what becomes of it. */
interface RunningWorker {
  readonly process: SupervisedProcess;
  /** Resolves with its address once it is ready; never for one that ends before. */
  readonly ready: Promise<string>;
}

/**
 * Keeps worker processes running, each a whole API server, that share one port by `node:cluster`'s handles. One that dies is replaced; the others go on. All
 * are told of requests that have ended one of them twice.
 */
export class Primary {
  readonly #options: PrimaryOptions;
  readonly #deadly = new DeadlyRequests();
  readonly #workers = new Map<number, RunningWorker>();
  readonly #replacing = new Set<RunningWorker>();
  #isStopping = false;
  #fail!: (error: Error) => void;
  /** Rejects when a worker cannot be started. */
  readonly failed: Promise<never> = new Promise((_, reject) => (this.#fail = reject));

  constructor(options: PrimaryOptions) {
    this.#options = options;
    this.failed.catch(() => undefined);
    // Standard streams, the pipe of the watchdog's reports (its REPORT_FD), and the channel by which sockets are handed over.
    cluster.setupPrimary({
      exec: process.argv[1]!,
      args: process.argv.slice(2),
      execArgv: [...process.execArgv, ...options.nodeFlags],
      stdio: ['inherit', 'inherit', 'inherit', 'pipe', 'ipc'],
    });
  }

  /** Resolves with their address when all are ready. The first one alone fills a fresh store; the others then find it as it is. */
  async start(): Promise<string> {
    const url = await this.#until(this.#run(0).ready);
    await this.#until(Promise.all(Array.from({ length: this.#options.count - 1 }, (_, index) => this.#run(index + 1).ready)));
    return url;
  }

  /** One after the other: the next one takes requests before the one that it replaces stops taking them. */
  async restartAll(): Promise<void> {
    for (let index = 0; index < this.#options.count && !this.#isStopping; index++) {
      const old = this.#workers.get(index);
      if (!old) continue;
      this.#replacing.add(old);
      await this.#until(this.#run(index).ready);
      old.process.stop('SIGTERM');
      await old.process.exited;
      this.#replacing.delete(old);
    }
  }

  /** Resolves when all have ended. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    this.#isStopping = true;
    const running = [...this.#workers.values(), ...this.#replacing];
    for (const { process: worker } of running) worker.stop(signal);
    await Promise.all(running.map(({ process: worker }) => worker.exited));
  }

  #until<T>(awaited: Promise<T>): Promise<T> {
    return Promise.race([awaited, this.failed]);
  }

  #run(index: number, shortLives = 0): RunningWorker {
    const { count, storeUrl, limits, observer } = this.#options;
    const settings: WorkerSettings = { index, count, storeUrl };
    let forked!: Worker;
    const startMs = performance.now();
    const supervised = new SupervisedProcess(
      (environment) => {
        forked = cluster.fork({ ...environment, [WORKER_VARIABLE]: JSON.stringify(settings) });
        return forked.process;
      },
      this.#deadly.refused,
      limits,
      { onStall: (report) => observer.onStall(index, report), onRecovery: (stalledMs) => observer.onRecovery(index, stalledMs) },
    );
    const ready = new Promise<string>((resolve) => forked.on('message', (message: WorkerMessage) => message.type === 'ready' && resolve(message.url)));
    const worker: RunningWorker = { process: supervised, ready };
    this.#workers.set(index, worker);
    void supervised.exited.then((exit) => this.#onExit(index, worker, exit, performance.now() - startMs, shortLives), this.#fail);
    return worker;
  }

  #onExit(index: number, worker: RunningWorker, exit: ProcessExit, livedMs: number, shortLives: number): void {
    if (this.#isStopping || this.#replacing.has(worker) || this.#workers.get(index) !== worker) return;
    if (exit.signal === null && exit.code === OWN_FAILURE) return this.#fail(new WorkerFailed(exit.code));
    const fingerprint = exit.stall?.request?.fingerprint;
    if (fingerprint !== undefined) this.#deadly.add(fingerprint);
    const lives = livedMs < SHORT_LIFE_MS ? shortLives + 1 : 0;
    const delayMs = lives <= 1 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (lives - 2), MAX_DELAY_MS);
    this.#options.observer.onRestart(index, exit, delayMs);
    setTimeout(() => {
      if (!this.#isStopping) this.#run(index, lives);
    }, delayMs);
  }
}

/** A worker does not run with these flags; it has said why. */
export class WorkerFailed extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`a worker ended with exit code ${code}`);
    this.code = code;
  }
}
