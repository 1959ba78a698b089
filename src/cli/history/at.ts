import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { endLike, runToEnd, splitArguments } from '../commands/child-command.ts';
import { onlyArgument, readOwnFlags } from '../commands/own-flags.ts';
import { SOURCE_FLAGS, SOURCE_HELP, TIME_HELP, textFlag, withHistory } from './history-flags.ts';
import { readSpeed, serveMoment } from './replay.ts';

/** `binnacle at 10:00 -- kubectl get pods`: a read-only server of that moment for as long as the command runs. */
export async function at(args: readonly string[], output: Output): Promise<void> {
  const { flags, command } = splitArguments(args);
  if (flags.includes('--help') || flags.includes('-h')) return output.stdout(atHelp('binnacle at'));
  // A moment such as -5m is no flag.
  const moment = flags.find((word) => /^-\d/.test(word));
  const { values, positionals } = readOwnFlags(
    flags.filter((word) => word !== moment),
    { ...SOURCE_FLAGS, play: { type: 'string' } },
  );
  const when = moment ?? onlyArgument('binnacle at', 'moment', positionals);
  const [file, ...commandArgs] = command;
  if (file === undefined) throw new CommandError('"binnacle at" takes the command to run after "--": binnacle at 10:00 -- kubectl get pods');
  const speed = readSpeed(textFlag(values, 'play'));
  const ending = await withHistory(values, async (source) => {
    const { server, leftOut } = await serveMoment(source, when, { port: 0, speed });
    if (leftOut.length > 0 && output.columns > 0) output.stderr(`Not in the history: ${leftOut.join(', ')}\n`);
    return runToEnd(file, commandArgs, { ...process.env, KUBECONFIG: server.kubeconfigFile }, output).finally(() => server.stop());
  });
  endLike(ending);
}

export const atHelp = (program: string): string => `Runs a command against the cluster as it was at a moment: a read-only server on a free port, for as
long as the command runs, with KUBECONFIG set to it. The exit code is the command's.

Usage:
  ${program} <moment> [flags] -- <command> [arguments]

  ${program} 10:00 -- kubectl get pods --all-namespaces
  ${program} -5m --play 10x -- kubectl get pods --watch

The moment is ${TIME_HELP};
or a resourceVersion.

Flags:
${SOURCE_HELP}      --play string         let time pass from there, 10x for ten times as fast: watches and informers
                            of the command see what happened
`;
