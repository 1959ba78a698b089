import { Worker } from 'node:worker_threads';
import { SETTINGS_VARIABLE, type WatchdogSettings } from './protocol.ts';
import type { WatchdogWorkerData } from './watchdog-worker.ts';

/** How often the event loop shows that it turns. Costs a microsecond each time. */
const BEAT_EVERY_MS = 50;

/** What the supervisor has told this process; undefined where it runs on its own. Answers once: the variable is gone afterwards. */
export function takeWatchdogSettings(environment: NodeJS.ProcessEnv = process.env): WatchdogSettings | undefined {
  const text = environment[SETTINGS_VARIABLE];
  if (text === undefined) return undefined;
  delete environment[SETTINGS_VARIABLE];
  return JSON.parse(text) as WatchdogSettings;
}

/**
 * Starts the thread that watches this one for the supervisor (`workerFile`: the built watchdog-worker.ts). Neither the thread nor the beats keep the process
 * alive. Answers what ends the watch.
 */
export function startWatchdog({ stallReportAfterMs }: WatchdogSettings, workerFile: string): () => void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const timer = setInterval(() => Atomics.add(beats, 0, 1), BEAT_EVERY_MS);
  timer.unref();
  const workerData: WatchdogWorkerData = { beats, stallReportAfterMs };
  const worker = new Worker(workerFile, { workerData, name: 'watchdog', stdin: false, execArgv: [] });
  worker.unref();
  return () => {
    clearInterval(timer);
    void worker.terminate();
  };
}
