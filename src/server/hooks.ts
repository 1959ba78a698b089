import { aggregateMessage } from '../api/aggregate-message.ts';
import type { HealthCheck } from './health.ts';

/** Work to do once the server listens. It may go on behind its promise; `signal` aborts when the server stops. */
export interface PostStartHook {
  name: string;
  run(signal: AbortSignal): Promise<void> | void;
}

/** Work to do while the server still serves, before it stops. */
export interface PreShutdownHook {
  name: string;
  run(): Promise<void> | void;
}

export interface HooksOptions {
  /** Called with each post-start hook's health check when the hook is added. */
  addHealthCheck: (check: HealthCheck) => void;
  /** A post-start hook that fails takes the server down, as upstream does. */
  onFatal: (error: Error) => void;
  onFinished?: (name: string) => void;
  disabledPostStartHooks?: ReadonlySet<string>;
}

/** Named work at both ends of a server's life. Until a post-start hook has finished, its check `poststarthook/<name>` fails. */
export class Hooks {
  readonly #options: HooksOptions;
  readonly #postStart = new Map<string, { run: PostStartHook['run']; isFinished: boolean }>();
  readonly #preShutdown = new Map<string, PreShutdownHook['run']>();
  #haveStarted = false;
  #haveStopped = false;

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  /** Throws when the name is taken, or the hooks have run. */
  addPostStart({ name, run }: PostStartHook): void {
    if (this.#options.disabledPostStartHooks?.has(name)) return;
    if (this.#haveStarted) throw new Error(`unable to add "${name}" because PostStartHooks have already been called`);
    if (this.#postStart.has(name)) throw new Error(`unable to add "${name}" because it was already registered`);
    const entry = { run, isFinished: false };
    this.#postStart.set(name, entry);
    this.#options.addHealthCheck({
      name: `poststarthook/${name}`,
      check: () => {
        if (!entry.isFinished) throw new Error('not finished');
      },
    });
  }

  addPreShutdown({ name, run }: PreShutdownHook): void {
    if (this.#haveStopped) throw new Error(`unable to add "${name}" because PreShutdownHooks have already been called`);
    if (this.#preShutdown.has(name)) throw new Error(`unable to add "${name}" because it is already registered`);
    this.#preShutdown.set(name, run);
  }

  /** All at once. Resolves when all have finished; failures go to `onFatal`. */
  async runPostStart(signal: AbortSignal): Promise<void> {
    this.#haveStarted = true;
    await Promise.all(
      [...this.#postStart].map(async ([name, entry]) => {
        try {
          await entry.run(signal);
          entry.isFinished = true;
          this.#options.onFinished?.(name);
        } catch (error) {
          if (!signal.aborted) this.#options.onFatal(new Error(`PostStartHook "${name}" failed: ${messageOf(error)}`, { cause: error }));
        }
      }),
    );
  }

  /** One after the other, all of them; then throws what failed, in one. */
  async runPreShutdown(): Promise<void> {
    this.#haveStopped = true;
    const failures: string[] = [];
    for (const [name, run] of this.#preShutdown) {
      try {
        await run();
      } catch (error) {
        failures.push(`PreShutdownHook "${name}" failed: ${messageOf(error)}`);
      }
    }
    if (failures.length > 0) throw new Error(aggregateMessage(failures));
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
