import { type ChildProcess, spawn } from 'node:child_process';
import type { RunningRequest } from '../server/running-request.ts';
import type { StallReport } from './protocol.ts';
import { type ProcessExit, type ProcessLimits, type StartProcess, SupervisedProcess } from './supervised-process.ts';

export interface ProcessCommand {
  /** The program and its arguments: Node, its own flags, a script and the script's. */
  file: string;
  args: readonly string[];
}

/** In a process group of its own, so that a terminal's Ctrl-C reaches it once, through the supervisor. */
const startApart = ({ file, args }: ProcessCommand, environment: Readonly<Record<string, string>>): ChildProcess =>
  spawn(file, args, { stdio: ['inherit', 'inherit', 'inherit', 'pipe'], env: { ...process.env, ...environment }, detached: true });

/** What a supervisor has to tell; the command line makes log lines of it. */
export interface SupervisorObserver {
  onStall(report: StallReport): void;
  onRecovery(stalledMs: number): void;
  onRestart(exit: ProcessExit, delayMs: number): void;
  onRefusal(request: RunningRequest): void;
}

/** Exit codes with which a server ends by its own will: it was told to stop, or cannot run with these flags. Starting it again would change nothing. */
const OWN_EXIT_CODES: ReadonlySet<number | null> = new Set([0, 1]);
/** A process that ends sooner than this after its start counts as one that does not start. */
const SHORT_LIFE_MS = 5_000;
const MAX_SHORT_LIVES = 5;
/** Waited before the second short life in a row, and twice as long before each further one; a server that has run for a while is started again at once. */
const FIRST_DELAY_MS = 200;

/**
 * Keeps one server running: starts it, watches it from outside, ends it when its event loop has stood still for too long or its memory has grown beyond its
 * limit, and starts it again whenever it dies. A request that has killed it twice is refused by the next one. Each further worker would be one more
 * `SupervisedProcess`, with the same record of requests that ended the process.
 */
export class Supervisor {
  readonly #start: StartProcess;
  readonly #limits: ProcessLimits;
  readonly #observer: SupervisorObserver;
  readonly #crashing = new CrashingRequests();
  #current: SupervisedProcess | undefined;
  #isStopping = false;
  #wake: (() => void) | undefined;

  constructor(command: ProcessCommand, limits: ProcessLimits, observer: SupervisorObserver) {
    this.#start = (environment) => startApart(command, environment);
    this.#limits = limits;
    this.#observer = observer;
  }

  /** Settles when the server has ended by its own will, was told to, or does not start; with the exit code to end with. */
  async run(): Promise<number> {
    for (let shortLives = 0; ;) {
      const startMs = performance.now();
      this.#current = new SupervisedProcess(this.#start, this.#crashing.refused, this.#limits, this.#observer);
      const exit = await this.#current.exited;
      this.#current = undefined;
      if (this.#isStopping || (exit.signal === null && OWN_EXIT_CODES.has(exit.code))) return exit.code ?? KILLED_EXIT_CODE;
      this.#blame(exit);
      shortLives = performance.now() - startMs < SHORT_LIFE_MS ? shortLives + 1 : 0;
      if (shortLives >= MAX_SHORT_LIVES) return exit.code ?? KILLED_EXIT_CODE;
      const delayMs = shortLives <= 1 ? 0 : FIRST_DELAY_MS * 2 ** (shortLives - 2);
      this.#observer.onRestart(exit, delayMs);
      await this.#sleep(delayMs);
      if (this.#isStopping) return 0;
    }
  }

  /** Passes a signal on to the server, which ends by it; `run` settles then. */
  stop(signal: NodeJS.Signals): void {
    this.#isStopping = true;
    this.#current?.stop(signal);
    this.#wake?.();
  }

  #blame({ stall }: ProcessExit): void {
    const request = stall?.request;
    if (!request) return;
    const crashes = this.#crashing.add(request.fingerprint);
    if (crashes > 1) this.#observer.onRefusal(request);
  }

  #sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** As a shell says it of a program that was killed. */
const KILLED_EXIT_CODE = 137;

/** A request that has ended this many processes is refused from then on. */
const CRASHES_BEFORE_REFUSAL = 2;
/** The oldest are forgotten first: a bound for what attackers can make us remember. */
const MAX_REMEMBERED = 1_000;

/** Which requests the server was at work on when it died, and how often. */
export class CrashingRequests {
  readonly #crashes = new Map<string, number>();

  /** Counts a death; answers how many there were by now. */
  add(fingerprint: string): number {
    const count = (this.#crashes.get(fingerprint) ?? 0) + 1;
    this.#crashes.delete(fingerprint);
    this.#crashes.set(fingerprint, count);
    if (this.#crashes.size > MAX_REMEMBERED) this.#crashes.delete(this.#crashes.keys().next().value!);
    return count;
  }

  /** Fingerprints of those that a server must not begin again. */
  get refused(): string[] {
    return [...this.#crashes].filter(([, count]) => count >= CRASHES_BEFORE_REFUSAL).map(([fingerprint]) => fingerprint);
  }
}
