import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stopOnSignals } from '../server/lifecycle.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { collectAlone, collectAsUsual, collectBetweenTurns, collectSeldom, makeAllYoung } from './garbage-collection.ts';
import { giveBackWhenIdle } from './idle-memory.ts';
import type { Logger } from '../compose/logger.ts';
import { guardProcess } from './process-guard.ts';
import { startFrugally } from './start-flags.ts';
import { type RunningServer, type ServerFactory, explainError, logStart, startChain } from '../compose/start.ts';
import type { WatchdogSettings } from '../supervision/protocol.ts';
import { startWatchdog } from '../supervision/watchdog.ts';
import type { WorkerLink } from '../workers/worker-link.ts';
import { onAbort } from '../util/on-abort.ts';

/** What is told of a server once it is ready. */
export type ReadyServer = Pick<RunningServer, 'url' | 'consoleLink'>;

export interface RunSettings {
  readonly logger: Logger;
  readonly factory?: ServerFactory;
  /** Called once the server is ready. */
  readonly onReady?: (server: ReadyServer) => void;
  /** Ends the run. Default: SIGINT or SIGTERM, of which a second one ends the process at once. */
  readonly stopSignal?: AbortSignal;
  /** What a supervisor wants of this process, where there is one. */
  readonly watchdog?: WatchdogSettings;
  /** What the primary process has told, where this one is a worker of several. */
  readonly worker?: WorkerLink;
}

/** Runs a server until it is told to stop; settles when it has. */
export async function runServer(
  options: CompletedOptions,
  { logger, factory, onReady, stopSignal = stopOnSignals(), watchdog, worker }: RunSettings,
): Promise<void> {
  if (!worker) logStart(options, logger);
  if (!worker) for (const warning of options.warnings) logger.warn(warning);
  if (!worker && options.workerCount > 0) {
    const { runWorkers } = await import('./run-workers.ts');
    return runWorkers(options, { logger, stopSignal, onReady: (url) => onReady?.({ url }) });
  }
  const stopped = aborted(stopSignal);
  const stopWatchdog = watchdog && startWatchdog(watchdog, WATCHDOG_WORKER);
  const endStart = startFrugally(options);
  const starting = startChain(options, logger, factory, {
    ...(worker && { worker }),
    ...(watchdog && { refusedFingerprints: watchdog.refusedFingerprints }),
  });
  const server = await Promise.race([starting, stopped]);
  // Told to stop while it waits for its store: there is nothing to drain, and the process ends with whatever is half open.
  if (!server) return void starting.then((late) => late.stop()).catch(() => undefined);
  const stopGuarding = guardProcess(logger);
  const stopGivingBack = giveBackWhenIdle();
  let stopCollectingSeldom: (() => void) | undefined;
  try {
    const isReady = await Promise.race([server.ready.then(() => true), stopped.then(() => false)]);
    endStart();
    if (isReady) {
      if (worker) worker.tell({ type: 'ready', url: server.url });
      else onReady?.(server);
      server.makeAhead?.();
    }
    collectAlone();
    makeAllYoung();
    collectBetweenTurns();
    stopCollectingSeldom = collectSeldom();
    await stopped;
    logger.info('Shutting down');
  } catch (error) {
    throw explainError(error, options);
  } finally {
    stopGivingBack();
    stopCollectingSeldom?.();
    collectAsUsual();
    await server.stop();
    logger.info('Stopped');
    stopGuarding();
    stopWatchdog?.();
  }
}

/** Built beside the command. */
const WATCHDOG_WORKER = join(dirname(fileURLToPath(import.meta.url)), 'watchdog-worker.cjs');

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    onAbort(signal, resolve);
  });
