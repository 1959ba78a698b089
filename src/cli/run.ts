import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stopOnSignals } from '../server/lifecycle.ts';
import { quote } from '../util/field-errors.ts';
import { CommandError } from './command-error.ts';
import type { CompletedOptions } from './completion.ts';
import { printOptions } from './flags/options.ts';
import { allowMarking, collectAlone, collectAsUsual, makeAllYoung, postponeMarking } from './garbage-collection.ts';
import { makeMissingFiles } from './generated-files.ts';
import { giveBackWhenIdle } from './idle-memory.ts';
import type { Logger } from './logger.ts';
import { guardProcess } from './process-guard.ts';
import type { WatchdogSettings } from '../supervision/protocol.ts';
import { startWatchdog } from '../supervision/watchdog.ts';
import { BINNACLE_VERSION } from './version.ts';
import { onAbort } from '../util/on-abort.ts';

/** A server that listens. */
export interface RunningServer {
  /** Where this machine reaches it: `https://127.0.0.1:6443`. */
  readonly url: string;
  /** Settles when `/readyz` says ok; rejects when start-up fails. */
  readonly ready: Promise<void>;
  /**
   * Makes what would else be made when a client first needs it: the key that signs tokens. For a server that is a process, whose user may look for the file;
   * within another program it would keep that from ending. What fails is logged.
   */
  makeAhead?(): void;
  /** Shuts down in upstream's order, with the delays that the options ask for. Settles when all is closed; may be called again. */
  stop(): Promise<void>;
}

/** Builds the server chain and starts to listen. What it throws is shown to the user: an ErrnoException, or an error whose message says what to do. */
export interface ServerFactory {
  (options: CompletedOptions, logger: Logger, settings?: FactorySettings): Promise<RunningServer>;
}

export interface FactorySettings {
  /** Called once what it runs is loaded, before it does anything with the objects of its store. */
  onLoaded?: () => void;
  /** Requests that have ended the process before; absent where there is no supervisor. */
  refusedFingerprints?: readonly string[];
}

export interface RunSettings {
  readonly logger: Logger;
  readonly factory?: ServerFactory;
  /** Called once the server is ready. */
  readonly onReady?: (server: RunningServer) => void;
  /** Ends the run. Default: SIGINT or SIGTERM, of which a second one ends the process at once. */
  readonly stopSignal?: AbortSignal;
  /** What a supervisor wants of this process, where there is one. */
  readonly watchdog?: WatchdogSettings;
}

/** The server chain of this program; loaded only when it is to run. */
const chainFactory: ServerFactory = async (options, logger, settings) => {
  const { createServer } = await import('./server-factory.ts');
  return createServer(options, logger, settings);
};

/** The first lines of a log say what runs, and with `--v=1` how it was asked to (cmd/kube-apiserver/app/server.go; component-base/cli/flag, PrintFlags). */
export function logStart({ flags, kubernetesVersion }: CompletedOptions, logger: Logger): void {
  const flagLog = logger.module('flags');
  if (flagLog.verbosity >= 1) {
    for (const [name, value] of Object.entries(printOptions(flags))) flagLog.verbose(1, `FLAG: --${name}=${quote(value)}`);
  }
  logger.info(`Version: ${kubernetesVersion}`, { binnacle: BINNACLE_VERSION });
}

/** Starts a server: makes the files it lacks, then listens. What goes wrong is a CommandError. */
export async function startChain(
  options: CompletedOptions,
  logger: Logger,
  factory: ServerFactory = chainFactory,
  settings?: FactorySettings,
): Promise<RunningServer> {
  makeMissingFiles(options);
  try {
    return await factory(options, logger, settings);
  } catch (error) {
    throw explain(error, options);
  }
}

/** Runs a server until it is told to stop; settles when it has. */
export async function runServer(options: CompletedOptions, { logger, factory, onReady, stopSignal = stopOnSignals(), watchdog }: RunSettings): Promise<void> {
  logStart(options, logger);
  for (const warning of options.warnings) logger.warn(warning);
  const stopped = aborted(stopSignal);
  const stopWatchdog = watchdog && startWatchdog(watchdog, WATCHDOG_WORKER);
  const starting = startChain(options, logger, factory, {
    onLoaded: postponeMarking,
    ...(watchdog && { refusedFingerprints: watchdog.refusedFingerprints }),
  });
  const server = await Promise.race([starting, stopped]);
  // Told to stop while it waits for its store: there is nothing to drain, and the process ends with whatever is half open.
  if (!server) return void starting.then((late) => late.stop()).catch(() => undefined);
  const stopGuarding = guardProcess(logger);
  const stopGivingBack = giveBackWhenIdle();
  try {
    const isReady = await Promise.race([server.ready.then(() => true), stopped.then(() => false)]);
    allowMarking();
    if (isReady) {
      onReady?.(server);
      server.makeAhead?.();
    }
    collectAlone();
    makeAllYoung();
    await stopped;
    logger.info('Shutting down');
  } catch (error) {
    throw explain(error, options);
  } finally {
    stopGivingBack();
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

/** The line for errors of the operating system that a user can do something about; others pass as they are. */
function explain(error: unknown, { bindAddress, securePort }: CompletedOptions): unknown {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const isAboutListening = (error as { port?: number }).port !== undefined;
  if (code === 'EADDRINUSE')
    return new CommandError(
      `port ${securePort} on ${bindAddress} is taken: stop what listens there, or choose another with --secure-port (0 for any free one)`,
    );
  if (code === 'EACCES' && isAboutListening)
    return new CommandError(`not allowed to listen on port ${securePort} of ${bindAddress}: choose a port above 1023 with --secure-port`);
  if (code === 'EADDRNOTAVAIL') return new CommandError(`this machine has no address ${bindAddress}: choose another with --bind-address`);
  if (code === 'ENOENT' || code === 'EACCES')
    return new CommandError(path === undefined ? message : `cannot read ${path}: ${code === 'ENOENT' ? 'no such file' : 'permission denied'}`);
  return error;
}
