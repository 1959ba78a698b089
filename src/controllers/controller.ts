import type { QueueMetricsOf } from './work-queue-metrics.ts';
import type { KindSettings } from '../registry/write.ts';
import type { Clock } from '../util/clock.ts';
import type { Client } from '../client/client.ts';

/** What every controller is given. */
export interface ControllerOptions {
  /** Ends the controller; what it has begun may still finish. */
  signal: AbortSignal;
  /** Called with failures that are tried again. */
  report(error: Error): void;
  now(): Date;
  /** What later times are waited for with; the machine's where absent. */
  clock?: Clock;
  /** Absent where nothing is counted. */
  queueMetrics?: QueueMetricsOf | undefined;
  /** What the rules of built-in kinds are asked within; absent: the defaults. */
  kindSettings?: KindSettings;
}

/** Starts to keep something as it should be. Resolves when what was there at the start has been seen to; the rest goes on until the signal. */
export type Controller<Options = ControllerOptions> = (client: Client, options: Options) => Promise<void>;

/** The binary in whose place these controllers stand: so their writes look as users expect them. */
export const FIELD_MANAGER = 'kube-controller-manager';

/** Calls each when the signal aborts. One listener, since a signal warns of a leak when it has many. */
export function stopOnAbort(signal: AbortSignal, stops: Iterable<() => void>): void {
  signal.addEventListener(
    'abort',
    () => {
      for (const stop of stops) stop();
    },
    { once: true },
  );
}
