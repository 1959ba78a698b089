import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { REPORT_FD, SETTINGS_VARIABLE, type StallReport, type WatchdogMessage, type WatchdogSettings, messageReader } from './protocol.ts';

/** Starts the process with these variables added to its environment, and with a pipe as its file descriptor `REPORT_FD`. */
export type StartProcess = (environment: Readonly<Record<string, string>>) => ChildProcess;

export interface ProcessLimits {
  stallReportAfterMs: number;
  /** A process whose event loop stands still for so long is ended. */
  stallKillAfterMs: number;
  /** A process that is larger is ended; 0 for no limit. */
  memoryLimitBytes: number;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why the supervisor ended it; undefined where it ended by itself, or was told to stop. */
  killedFor: 'stall' | 'memory' | undefined;
  /** Where it stood when it ended, if its event loop stood. */
  stall: StallReport | undefined;
}

export interface ProcessObserver {
  onStall(report: StallReport): void;
  onRecovery(stalledMs: number): void;
}

/** One server process under watch: started at once, its reports read, ended when it stands still or grows beyond its limits. */
export class SupervisedProcess {
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  readonly #limits: ProcessLimits;
  readonly #observer: ProcessObserver;
  #stall: StallReport | undefined;
  #killedFor: ProcessExit['killedFor'];
  #isStopping = false;
  /** Ends a process that stands still, and one whose watchdog has fallen silent. */
  #killTimer: NodeJS.Timeout;

  constructor(start: StartProcess, refusedFingerprints: readonly string[], limits: ProcessLimits, observer: ProcessObserver) {
    this.#limits = limits;
    this.#observer = observer;
    const settings: WatchdogSettings = { stallReportAfterMs: limits.stallReportAfterMs, refusedFingerprints };
    this.#child = start({ [SETTINGS_VARIABLE]: JSON.stringify(settings) });
    const reports = this.#child.stdio[REPORT_FD] as Readable;
    reports.setEncoding('utf8').on(
      'data',
      messageReader((message) => this.#onMessage(message)),
    );
    reports.on('error', () => {});
    this.#killTimer = this.#killLater(limits.stallKillAfterMs + START_ALLOWANCE_MS);
    this.exited = this.#untilExit();
  }

  /** Passes on the signal that ends it. From now on it takes the time that it needs: its watchdog ends before its last connections do. */
  stop(signal: NodeJS.Signals): void {
    this.#isStopping = true;
    clearTimeout(this.#killTimer);
    this.#child.kill(signal);
  }

  #untilExit(): Promise<ProcessExit> {
    return new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      // 'close' comes behind the last report; what the process started itself does not hold the pipe, since it inherits no such descriptor.
      this.#child.once('close', (code, signal) => {
        clearTimeout(this.#killTimer);
        resolve({ code, signal, killedFor: this.#killedFor, stall: this.#stall });
      });
    });
  }

  #onMessage(message: WatchdogMessage): void {
    if (this.#isStopping) return;
    if (message.type === 'alive') return this.#onAlive(message.rssBytes);
    if (message.type === 'stalled') {
      this.#stall = message.report;
      this.#resetKillTimer(this.#limits.stallKillAfterMs - message.report.stalledMs);
      this.#observer.onStall(message.report);
      return;
    }
    this.#stall = undefined;
    this.#resetKillTimer(this.#limits.stallKillAfterMs);
    this.#observer.onRecovery(message.stalledMs);
  }

  #onAlive(rssBytes: number): void {
    const { memoryLimitBytes, stallKillAfterMs } = this.#limits;
    if (memoryLimitBytes > 0 && rssBytes > memoryLimitBytes) return this.#kill('memory');
    // While it stands still, the time of the first report counts.
    if (this.#stall === undefined) this.#resetKillTimer(stallKillAfterMs);
  }

  #resetKillTimer(delayMs: number): void {
    clearTimeout(this.#killTimer);
    this.#killTimer = this.#killLater(delayMs);
  }

  #killLater(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#kill('stall'), Math.max(0, delayMs));
  }

  #kill(reason: 'stall' | 'memory'): void {
    this.#killedFor ??= reason;
    this.#child.kill('SIGKILL');
  }
}

/** Until the first report: loading the program on a busy machine. */
const START_ALLOWANCE_MS = 30_000;
