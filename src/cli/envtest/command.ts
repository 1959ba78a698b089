import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { noArguments, readOwnFlags } from '../commands/own-flags.ts';
import { shellQuoted } from '../shell-quote.ts';
import { defaultAssetFolder, findKubectl, writeAssets } from './assets.ts';

const FLAGS = {
  dir: { type: 'string' },
  kubectl: { type: 'string' },
  controllers: { type: 'boolean', default: false },
  print: { type: 'string', short: 'p', default: 'path' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Built beside this bundle: what the programs of the folder start. */
const COMMAND_FILE = join(dirname(fileURLToPath(import.meta.url)), 'binnacle.js');

export interface EnvtestParts {
  /** Runs kube-apiserver with these flags until it is told to stop. */
  serve(args: readonly string[]): Promise<void>;
}

/**
 * `binnacle envtest`: a folder for KUBEBUILDER_ASSETS. The programs in it are this command again, as `binnacle envtest etcd` and
 * `binnacle envtest kube-apiserver`.
 */
export async function envtest(args: readonly string[], output: Output, { serve }: EnvtestParts): Promise<void> {
  const [word, ...rest] = args;
  if (word === 'etcd') return (await import('./etcd.ts')).runEtcd(rest, output);
  if (word === 'kube-apiserver') return (await import('./api-server.ts')).runApiServer(rest, output, serve);
  const { values, positionals } = readOwnFlags(args, FLAGS);
  if (values['help'] === true) return output.stdout(envtestHelp('binnacle envtest'));
  noArguments('binnacle envtest', positionals);
  if (values['print'] !== 'path' && values['print'] !== 'env') throw new CommandError(`--print takes path or env, not ${JSON.stringify(values['print'])}`);
  const assets = { commandFile: COMMAND_FILE, runsControllers: values['controllers'] === true };
  const folder = resolve(typeof values['dir'] === 'string' ? values['dir'] : defaultAssetFolder(assets));
  writeAssets(folder, { ...assets, kubectl: typeof values['kubectl'] === 'string' ? resolve(values['kubectl']) : findKubectl(folder) });
  output.stdout(values['print'] === 'env' ? `export KUBEBUILDER_ASSETS=${shellQuoted(folder)}\n` : `${folder}\n`);
}

export const envtestHelp = (
  program: string,
): string => `Makes a folder with kube-apiserver, etcd and kubectl for controller-runtime's envtest, and prints where it is.
The API server keeps its objects in memory; no etcd is downloaded or run. All three end with the test.

Usage:
  ${program} [flags]

  export KUBEBUILDER_ASSETS=$(npx binnacle envtest) && go test ./...
  eval "$(npx binnacle envtest --print env)"

Flags:
      --controllers      run garbage collection, namespace deletion and the other controllers of
                         \`binnacle up\`, which envtest does not have
      --dir string       the folder to make; default: one in the user's cache
      --kubectl string   the kubectl to put there; default: the one on the PATH
  -p, --print string     path, or env for a line that a shell can evaluate (default "path")
`;
