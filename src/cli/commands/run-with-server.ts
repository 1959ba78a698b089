import { CommandError } from '../../options/command-error.ts';
import { startTestServer } from '../../testing/test-server.ts';
import type { Output } from '../command.ts';
import { takeUpFlags } from '../instances/up-flags.ts';
import { endLike, runToEnd, splitArguments } from './child-command.ts';

/** `binnacle run -- <command>`: a server in memory for as long as the command runs, which finds it by KUBECONFIG. */
export async function runWithServer(args: readonly string[], output: Output): Promise<void> {
  const { flags, command } = splitArguments(args);
  if (flags.includes('--help') || flags.includes('-h')) return output.stdout(runHelp('binnacle run'));
  const [file, ...commandArgs] = command;
  if (file === undefined) throw new CommandError('"binnacle run" takes the command to run after "--": binnacle run -- npm test');
  // Signals that come while the server starts end this process as they always do: there is no command yet to hand them to.
  const { flags: own, serverArgs } = takeUpFlags(flags);
  if (own.detach || own.watch || own.name !== undefined)
    throw new CommandError('"binnacle run" has a server of its own: --detach, --watch and --name are for binnacle up');
  const { crds, apply } = own;
  const server = await startTestServer({ flags: serverArgs, ...(crds.length > 0 && { crds }), ...(apply.length > 0 && { objects: apply }) });
  const ending = await runToEnd(file, commandArgs, { ...process.env, KUBECONFIG: server.kubeconfigFile }, output).finally(() => server.stop());
  endLike(ending);
}

export const runHelp = (program: string): string => `Starts a server in memory on a free port, runs a command with KUBECONFIG set to it, and stops the server
when the command ends. The exit code is the command's; signals are forwarded to it.

Usage:
  ${program} [flags] -- <command> [arguments]

Flags:
      --crds string     CustomResourceDefinitions to begin with: a folder, file or glob; may be given
                        several times
      --apply string    manifests to apply once they are there, in the same forms

It takes the flags of \`binnacle serve\` (see \`binnacle help serve\`), with RBAC and the controllers of
\`binnacle up\`. Examples:

  binnacle run -- kubectl get namespaces
  binnacle run -- go test ./...
  binnacle run --feature-gates=AllAlpha=true -- pytest
`;
