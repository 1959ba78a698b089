import { quote } from '../util/go-quote.ts';
import { CommandError } from '../options/command-error.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { printOptions } from '../options/flags/options.ts';
import { makeMissingFiles } from './generated-files.ts';
import type { Logger } from './logger.ts';
import type { StandardFilterOptions } from '../server/filters/standard-filters.ts';
import type { ServerImage, ServerState } from './server-image.ts';
import type { Replay } from './replay/replay.ts';
import type { WorkerLink } from '../workers/worker-link.ts';
import type { Clock } from '../util/clock.ts';
import { BINNACLE_VERSION } from '../options/version.ts';

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
  /** With --console: a link to the page that signs in once, as the one whose client certificate (PEM) this is. */
  consoleLink?(certificatePem: string): string;
  /** What is stored; absent where a test has put something in the server's place. */
  readonly state?: ServerState;
}

/** Builds the server chain and starts to listen. What it throws is shown to the user: an ErrnoException, or an error whose message says what to do. */
export interface ServerFactory {
  (options: CompletedOptions, logger: Logger, settings?: FactorySettings): Promise<RunningServer>;
}

export interface FactorySettings {
  /** What the primary process has told, where this one is a worker of several. */
  worker?: WorkerLink;
  /** Requests that have ended the process before; absent where there is no supervisor. */
  refusedFingerprints?: readonly string[];
  /** Of a server in a test's own process. */
  testFilters?: StandardFilterOptions['testFilters'];
  /** What the memory store begins with: another server's state. */
  image?: ServerImage | undefined;
  /** What is served in place of a store: nothing is written, and nothing runs that would. */
  replay?: Replay | undefined;
  /** Where a test tells the time. */
  clock?: Clock;
  /** Where a test has the files of the console; else they are beside the bundle. */
  consoleFolder?: string | undefined;
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
    throw explainError(error, options);
  }
}

/** The line for errors of the operating system that a user can do something about; others pass as they are. */
export function explainError(error: unknown, { bindAddress, securePort }: CompletedOptions): unknown {
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
