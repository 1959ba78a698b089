import type { RunningRequest } from '../server/running-request.ts';
import type { StallReport } from '../supervision/protocol.ts';
import type { ProcessExit } from '../supervision/supervised-process.ts';
import { Supervisor, type SupervisorObserver } from '../supervision/supervisor.ts';
import { ExitCode } from './exit-code.ts';
import type { Output } from './command.ts';
import { parseFlags } from '../options/flags/parser.ts';
import type { Logger } from '../compose/logger.ts';
import { openLogger } from './open-logger.ts';

const MIB = 1024 * 1024;

/**
 * `--supervised`: this process only watches; the same command line, run by a process of its own, is the server. Settles when the server has stopped; throws when it
 * ended with another code than 0.
 */
export async function supervise(args: readonly string[], output: Output): Promise<void> {
  // What is wrong with the flags, the server itself says, and ends.
  const { options } = parseFlags(args);
  const { logger, close } = openLogger(options, output);
  const heapFlag = options.heapLimitMib > 0 ? [`--max-old-space-size=${options.heapLimitMib}`] : [];
  const supervisor = new Supervisor(
    { file: process.execPath, args: [...process.execArgv, ...heapFlag, ...process.argv.slice(1)] },
    {
      stallReportAfterMs: options.stallReportAfterMs,
      stallKillAfterMs: options.stallKillAfterMs,
      memoryLimitBytes: options.memoryLimitMib * MIB,
    },
    logTo(logger),
  );
  const stop = (signal: NodeJS.Signals): void => supervisor.stop(signal);
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  try {
    const code = await supervisor.run();
    if (code !== 0) throw new ExitCode(code);
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, stop);
    close();
  }
}

const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

const logTo = (logger: Logger): SupervisorObserver => ({
  onStall: ({ stalledMs, stack, request }: StallReport) =>
    logger.error('The event loop of the server stands still', { stalledMs, ...(request && fieldsOf(request)), stack: stack.join('\n') }),
  onRecovery: (stalledMs) => logger.info('The event loop of the server turns again', { stalledMs }),
  onRestart: ({ code, signal, killedFor }: ProcessExit, delayMs) =>
    logger.error('The server process died and is started again', { code, signal, killedFor: killedFor ?? 'nothing of the supervisor', delayMs }),
  onRefusal: (request) => logger.error('A request has ended the server process twice and is refused from now on', fieldsOf(request)),
});

const fieldsOf = ({ user, verb, resource, namespace, name, auditId, fingerprint }: RunningRequest): Record<string, string> => ({
  user,
  verb,
  resource,
  namespace,
  name,
  auditId,
  fingerprint,
});
