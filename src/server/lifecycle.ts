import type { InFlightRequests, OpenWatches } from './in-flight.ts';
import { onAbort } from '../util/on-abort.ts';

/** Something that happens once in the life of a server. */
export class LifecycleSignal {
  readonly name: string;
  /** Resolves when it has happened. */
  readonly signaled: Promise<void>;
  #isSignaled = false;
  #resolve!: () => void;

  constructor(name: string) {
    this.name = name;
    this.signaled = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
  get isSignaled(): boolean {
    return this.#isSignaled;
  }
  /** Again does nothing. */
  signal(): void {
    this.#isSignaled = true;
    this.#resolve();
  }
}

/**
 * The life of a server (apiserver/pkg/server/lifecycle_signals.go). From the left, what waits for what:
 *
 *   ShutdownInitiated ─┬─ (delay) ─────────────── AfterShutdownDelayDuration ─┬─ NotAcceptingNewRequest ─┬─ HTTPServerStoppedListening
 *                      └─ (pre-shutdown hooks) ── PreShutdownHooksStopped ────┘                          └─ (requests, watches) ── InFlightRequestsDrained
 *
 * With `sendRetryAfter` the listener stays open until the drain is over, to send new requests elsewhere.
 */
export interface LifecycleSignals {
  /** /readyz has succeeded for the first time. */
  hasBeenReady: LifecycleSignal;
  /** Every path that will be served is installed: unknown ones are 404 from now on. */
  muxAndDiscoveryComplete: LifecycleSignal;
  shutdownInitiated: LifecycleSignal;
  afterShutdownDelayDuration: LifecycleSignal;
  preShutdownHooksStopped: LifecycleSignal;
  notAcceptingNewRequest: LifecycleSignal;
  inFlightRequestsDrained: LifecycleSignal;
  httpServerStoppedListening: LifecycleSignal;
}

export function createLifecycleSignals(): LifecycleSignals {
  return {
    hasBeenReady: new LifecycleSignal('HasBeenReady'),
    muxAndDiscoveryComplete: new LifecycleSignal('MuxAndDiscoveryComplete'),
    shutdownInitiated: new LifecycleSignal('ShutdownInitiated'),
    afterShutdownDelayDuration: new LifecycleSignal('AfterShutdownDelayDuration'),
    preShutdownHooksStopped: new LifecycleSignal('PreShutdownHooksStopped'),
    notAcceptingNewRequest: new LifecycleSignal('NotAcceptingNewRequest'),
    inFlightRequestsDrained: new LifecycleSignal('InFlightRequestsDrained'),
    httpServerStoppedListening: new LifecycleSignal('HTTPServerStoppedListening'),
  };
}

export interface ShutdownOptions {
  /** `--shutdown-delay-duration` */
  delayMs: number;
  /** `--shutdown-send-retry-after` */
  sendRetryAfter: boolean;
  /** `--shutdown-watch-termination-grace-period`; with 0 all watches end at once. */
  watchGraceMs: number;
  /** `--request-timeout`: no drain takes longer. */
  requestTimeoutMs: number;
}

/** What a shutdown works on. */
export interface ShutdownParts {
  signals: LifecycleSignals;
  requests: InFlightRequests;
  watches: OpenWatches;
  runPreShutdownHooks(): Promise<void>;
  /** Stops accepting connections and calls back when that is done; resolves when the last connection is closed, by force after `graceMs`. */
  stopServing(graceMs: number, onStoppedListening: () => void): Promise<void>;
  /** What is to be closed behind the last request: the audit backend. */
  closeBackends(): Promise<void>;
  /** Resolves after a time, or at once when the signal aborts. Tests let time pass as they like. */
  sleep?: typeof sleep;
  log?(event: string): void;
}

/** After a drain that sent retry-after, connections get this long to close. */
const RETRY_AFTER_CLOSE_GRACE_MS = 2000;

/** Serves until `stop` aborts, then shuts down in order. Resolves when all is closed; rejects, after the same order, with what a pre-shutdown hook threw. */
export async function runUntil(stop: AbortSignal, options: ShutdownOptions, parts: ShutdownParts): Promise<void> {
  await new Promise<void>((resolve) => void onAbort(stop, resolve));
  await shutDown(options, parts);
}

async function shutDown(options: ShutdownOptions, parts: ShutdownParts): Promise<void> {
  const { signals } = parts;
  const announce = (signal: LifecycleSignal): void => {
    signal.signal();
    parts.log?.(signal.name);
  };
  const stopServing = (graceMs: number): Promise<void> => parts.stopServing(graceMs, () => announce(signals.httpServerStoppedListening));

  announce(signals.shutdownInitiated);
  const [, hooks] = await Promise.all([
    (parts.sleep ?? sleep)(options.delayMs).then(() => announce(signals.afterShutdownDelayDuration)),
    settle(parts.runPreShutdownHooks()).finally(() => announce(signals.preShutdownHooksStopped)),
  ]);
  announce(signals.notAcceptingNewRequest);

  const closing = options.sendRetryAfter ? undefined : stopServing(options.requestTimeoutMs);
  await drain(options, parts);
  announce(signals.inFlightRequestsDrained);
  await parts.closeBackends();
  await (closing ?? stopServing(RETRY_AFTER_CLOSE_GRACE_MS));
  if (hooks.status === 'rejected') throw hooks.reason;
}

const settle = async (promise: Promise<void>): Promise<PromiseSettledResult<void>> => (await Promise.allSettled([promise]))[0]!;

/** Waits for the requests under way and ends the watches; neither longer than it may take. */
async function drain({ requestTimeoutMs, watchGraceMs }: ShutdownOptions, parts: ShutdownParts): Promise<void> {
  const { requests, watches } = parts;
  await Promise.all([
    within(requestTimeoutMs, requests.drained(), parts), //
    within(Math.max(watchGraceMs, MIN_WATCH_GRACE_MS), endWatches(watches, watchGraceMs, parts), parts),
  ]);
}

/** Watches told to end get this long to say good-bye, whatever the grace period. */
const MIN_WATCH_GRACE_MS = 500;
const WATCH_TICK_MS = 50;
const MIN_WATCHES_PER_SECOND = 200;

/** Spreads the end of many watches over the grace period, so that their clients do not all come to the next server at once. */
async function endWatches(watches: OpenWatches, graceMs: number, parts: ShutdownParts): Promise<void> {
  const drained = watches.drained();
  const perSecond = graceMs === 0 ? Infinity : Math.max((watches.count * 1000) / graceMs, MIN_WATCHES_PER_SECOND);
  const perTick = Math.ceil((perSecond * WATCH_TICK_MS) / 1000);
  for (let ended = 0, count = watches.count; ended < count && watches.count > 0; ended += perTick) {
    watches.end(perTick);
    if (ended + perTick < count) await (parts.sleep ?? sleep)(WATCH_TICK_MS);
  }
  await drained;
}

async function within(limitMs: number, work: Promise<void>, parts: ShutdownParts): Promise<void> {
  const done = new AbortController();
  await Promise.race([work.finally(() => done.abort()), (parts.sleep ?? sleep)(limitMs, done.signal)]);
}

function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  if (durationMs <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, durationMs);
    if (!signal) return;
    onAbort(signal, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** What a process offers for being told to stop; `process` itself, or a test's. */
export interface SignalSource {
  on(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
}

/** Aborts at the first SIGTERM or SIGINT; at the second the process exits with 1, whatever is still under way. */
export function stopOnSignals(source: SignalSource = process, exit: (code: number) => void = (code) => process.exit(code)): AbortSignal {
  const controller = new AbortController();
  const onSignal = (): void => (controller.signal.aborted ? exit(1) : controller.abort());
  source.on('SIGTERM', onSignal);
  source.on('SIGINT', onSignal);
  return controller.signal;
}
