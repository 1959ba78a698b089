import { basename } from 'node:path';
import { CommandError } from '../options/command-error.ts';
import { takeWorkerSettings } from '../workers/settings.ts';
import type { CompletedCommand } from './completion.ts';
import { ExitCode } from './exit-code.ts';
import { takeUpFlags } from './instances/up-flags.ts';
import type { RunSettings } from './run.ts';

export interface Output {
  stdout(text: string): void;
  stderr(text: string): void;
  /** Width of the terminal; 0 where the output is none. */
  readonly columns: number;
  /** Its height; absent where the output is none. */
  readonly rows?: number | undefined;
}

/** What a command line asks for, before anything heavy is loaded. */
interface Command {
  readonly name: string;
  readonly summary: string;
  readonly run: (args: readonly string[], output: Output, settings?: Partial<RunSettings>) => Promise<void>;
  readonly help: (program: string, columns: number) => Promise<string>;
  /** Takes the flags that are its own out of the arguments, where it has some beside a server's. */
  readonly takeFlags?: typeof takeUpFlags;
  /** It takes arguments and flags of its own, not a server's. */
  readonly isTool?: boolean;
  /** It starts other programs, whose arguments may have a --help that is theirs. */
  readonly readsHelpFlag?: boolean;
}

const commands: readonly Command[] = [
  {
    name: 'up',
    summary: 'Start a cluster for this machine: no flags needed',
    run: async (...args) => (await import('./up.ts')).up(...args),
    help: async (program) => upHelp(program),
    takeFlags: takeUpFlags,
  },
  {
    name: 'status',
    summary: 'Show the servers that run: those of up',
    run: async (args, output) => (await import('./instances/status.ts')).status(args, output),
    help: async (program) => (await import('./instances/status.ts')).statusHelp(program),
    isTool: true,
  },
  {
    name: 'down',
    summary: 'Stop the server that up --detach has started',
    run: async (args, output) => (await import('./instances/down.ts')).down(args, output),
    help: async (program) => (await import('./instances/down.ts')).downHelp(program),
    isTool: true,
  },
  {
    name: 'console',
    summary: 'Print a link that signs in to the page that shows a server live',
    run: async (args, output) => (await import('./instances/console.ts')).console(args, output),
    help: async (program) => (await import('./instances/console.ts')).consoleHelp(program),
    isTool: true,
  },
  {
    name: 'kubeconfig',
    summary: 'Print a kubeconfig for a user: kubeconfig --user jane --group devs',
    run: async (args, output) => (await import('./instances/kubeconfig.ts')).kubeconfig(args, output),
    help: async (program) => (await import('./instances/kubeconfig.ts')).kubeconfigHelp(program),
    isTool: true,
  },
  {
    name: 'serve',
    summary: 'Run the API server with the flags of kube-apiserver',
    run: async (...args) => (await import('./serve.ts')).serve(...args),
    help: async (program, columns) => serveHelp(program) + (await import('../options/flags/help.ts')).flagsHelp(columns),
  },
  {
    name: 'run',
    summary: 'Run a command with a server of its own: binnacle run -- go test ./...',
    run: async (args, output) => (await import('./commands/run-with-server.ts')).runWithServer(args, output),
    help: async (program) => (await import('./commands/run-with-server.ts')).runHelp(program),
    isTool: true,
    readsHelpFlag: true,
  },
  {
    name: 'envtest',
    summary: "Make a folder for KUBEBUILDER_ASSETS, for controller-runtime's envtest",
    run: async (args, output, settings) =>
      (await import('./envtest/command.ts')).envtest(args, output, {
        serve: (serverArgs) => runWithFlags(findCommand('serve'), 'kube-apiserver', serverArgs, output, settings),
      }),
    help: async (program) => (await import('./envtest/command.ts')).envtestHelp(program),
    isTool: true,
    readsHelpFlag: true,
  },
  {
    name: 'store',
    summary: "Serve the embedded store by etcd's API, for several API servers",
    run: async (args, output) => (await import('./commands/store.ts')).store(args, output),
    help: async (program) => (await import('./commands/store.ts')).storeHelp(program),
    isTool: true,
  },
  {
    name: 'backup',
    summary: 'Write the embedded store to a file, also while a server runs on it',
    run: async (args, output) => (await import('./commands/backup.ts')).backup(args, output),
    help: async (program) => (await import('./commands/backup.ts')).backupHelp(program),
    isTool: true,
  },
  {
    name: 'restore',
    summary: 'Make an embedded store of such a file; with --at, put an object back as it was',
    run: async (args, output) => {
      const { isObjectRestore, restoreObject } = await import('./history/restore.ts');
      if (isObjectRestore(args)) return restoreObject(args, output);
      return (await import('./commands/restore.ts')).restore(args, output);
    },
    help: async (program) => (await import('./commands/restore.ts')).restoreHelp(program) + (await import('./history/restore.ts')).restoreObjectHelp(program),
    isTool: true,
  },
  {
    name: 'migrate',
    summary: 'Copy all objects from the embedded store to etcd, or back',
    run: async (args, output) => (await import('./commands/migrate.ts')).migrate(args, output),
    help: async (program) => (await import('./commands/migrate.ts')).migrateHelp(program),
    isTool: true,
  },
  {
    name: 'record',
    summary: 'Record every change of any cluster to a file: record -o flight.bin',
    run: async (args, output) => (await import('./history/record.ts')).record(args, output),
    help: async (program) => (await import('./history/record.ts')).recordHelp(program),
    isTool: true,
  },
  {
    name: 'log',
    summary: 'Show the changes of objects, one a line: log deploy/web -n shop',
    run: async (args, output) => (await import('./history/log.ts')).log(args, output),
    help: async (program) => (await import('./history/log.ts')).logHelp(program),
    isTool: true,
  },
  {
    name: 'diff',
    summary: 'Show what changed between two moments: diff --from 10:00 --to 10:05',
    run: async (args, output) => (await import('./history/diff.ts')).diff(args, output),
    help: async (program) => (await import('./history/diff.ts')).diffHelp(program),
    isTool: true,
  },
  {
    name: 'blame',
    summary: 'Show who wrote each field of an object last: blame deploy/web -n shop',
    run: async (args, output) => (await import('./history/blame.ts')).blame(args, output),
    help: async (program) => (await import('./history/blame.ts')).blameHelp(program),
    isTool: true,
  },
  {
    name: 'why',
    summary: 'Show what led to an object: why pod/web-abc -n shop',
    run: async (args, output) => (await import('./history/why.ts')).why(args, output),
    help: async (program) => (await import('./history/why.ts')).whyHelp(program),
    isTool: true,
  },
  {
    name: 'undo',
    summary: 'Take one change back: undo c-000000001234',
    run: async (args, output) => (await import('./history/undo.ts')).undo(args, output),
    help: async (program) => (await import('./history/undo.ts')).undoHelp(program),
    isTool: true,
  },
  {
    name: 'at',
    summary: 'Run a command on the cluster of a moment: at 10:00 -- kubectl get pods',
    run: async (args, output) => (await import('./history/at.ts')).at(args, output),
    help: async (program) => (await import('./history/at.ts')).atHelp(program),
    isTool: true,
    readsHelpFlag: true,
  },
  {
    name: 'replay',
    summary: 'Serve a recorded cluster as it was at a moment: replay flight.bin --at 10:00',
    run: async (args, output) => (await import('./history/replay.ts')).replay(args, output),
    help: async (program) => (await import('./history/replay.ts')).replayHelp(program),
    isTool: true,
  },
  {
    name: 'completion',
    summary: 'Print what bash, zsh or fish complete commands and flags by',
    run: async (args, output) => output.stdout((await import('./completion.ts')).completionScript(args, await completedCommands())),
    help: async (program) => (await import('./completion.ts')).completionHelp(program),
    isTool: true,
  },
];

const completedCommands = (): Promise<CompletedCommand[]> =>
  Promise.all(
    commands.map(async ({ name, summary, help, isTool }) => ({
      name,
      summary,
      help: await help(`binnacle ${name}`, 0),
      takesServerFlags: !isTool || name === 'run',
    })),
  );

/** Runs a command line (argv[1] is the program) to its end and answers with the exit code. Never throws. */
export async function runCommand(argv: readonly string[], output: Output, settings?: Partial<RunSettings>): Promise<number> {
  const verbosity = readVerbosity(argv);
  try {
    await dispatch(argv, output, settings);
    return 0;
  } catch (error) {
    if (error instanceof ExitCode) return error.code;
    report(error, verbosity, output);
    return 1;
  }
}

async function dispatch([, programPath = 'binnacle', ...args]: readonly string[], output: Output, settings?: Partial<RunSettings>): Promise<void> {
  const program = basename(programPath).replace(/\.[cm]?[jt]s$/, '');
  if (program === 'kube-apiserver') return runWithFlags(findCommand('serve'), program, args, output, settings);
  const [word, ...rest] = args;
  if (word === undefined || ((word === '--help' || word === '-h') && rest.length === 0)) return output.stdout(shortHelp());
  if (word === '--version' || word === 'version') return output.stdout(await programVersion());
  if (word === 'help') return output.stdout(rest[0] === undefined ? shortHelp() : await findCommand(rest[0]).help(`binnacle ${rest[0]}`, output.columns));
  if (word.startsWith('-')) throw new CommandError(`flags come after a command: binnacle serve ${args.join(' ')}`);
  const command = findCommand(word);
  if (!command.isTool) return runWithFlags(command, `binnacle ${word}`, rest, output, settings);
  if (!command.readsHelpFlag && (rest.includes('--help') || rest.includes('-h'))) return output.stdout(await command.help(`binnacle ${word}`, output.columns));
  return command.run(rest, output, settings);
}

async function runWithFlags(command: Command, program: string, args: readonly string[], output: Output, settings?: Partial<RunSettings>): Promise<void> {
  const { parseFlags } = await import('../options/flags/parser.ts');
  const own = command.takeFlags?.(args);
  const serverArgs = own?.serverArgs ?? args;
  const { options, positional } = parseFlags(serverArgs);
  if (options.help) return output.stdout(await command.help(program, output.columns));
  if (options.version === 'true' || options.version === 'raw') return output.stdout(await serverVersion(options.version));
  const extra = positional.filter((arg) => arg !== '');
  if (extra.length > 0)
    throw new CommandError(`${JSON.stringify(program)} does not take any arguments, got [${extra.map((arg) => JSON.stringify(arg)).join(' ')}]`);
  const { takeWatchdogSettings } = await import('../supervision/watchdog.ts');
  const watchdog = takeWatchdogSettings();
  const workerSettings = takeWorkerSettings();
  const worker = workerSettings && new (await import('../workers/worker-link.ts')).WorkerLink(workerSettings);
  // With --detach this process only starts another, which is then the supervisor.
  if (options.supervised && !watchdog && !own?.flags.detach) return (await import('./supervise.ts')).supervise(serverArgs, output);
  return command.run(args, output, { ...settings, ...(watchdog && { watchdog }), ...(worker && { worker }) });
}

function findCommand(name: string): Command {
  const command = commands.find((known) => known.name === name);
  if (!command) throw new CommandError(`unknown command ${JSON.stringify(name)}; the commands are ${commands.map((known) => known.name).join(', ')} and help`);
  return command;
}

/** As kube-apiserver prints it: scripts take the second word. */
async function serverVersion(form: 'true' | 'raw'): Promise<string> {
  const { BINNACLE_VERSION, KUBERNETES_VERSION } = await import('../options/version.ts');
  return form === 'true'
    ? `Kubernetes ${KUBERNETES_VERSION}\n`
    : `${JSON.stringify({ gitVersion: KUBERNETES_VERSION, binnacle: BINNACLE_VERSION, node: process.version })}\n`;
}

async function programVersion(): Promise<string> {
  const { BINNACLE_VERSION, KUBERNETES_VERSION } = await import('../options/version.ts');
  return `binnacle ${BINNACLE_VERSION} (Kubernetes ${KUBERNETES_VERSION})\n`;
}

/** Where a command's group begins in the list. */
const GROUPS: Readonly<Record<string, string>> = { up: 'Servers', store: 'Stores', record: 'The past of a cluster', completion: 'More' };

function commandGroups(): [title: string, members: (readonly [name: string, summary: string])[]][] {
  const groups: ReturnType<typeof commandGroups> = [];
  for (const { name, summary } of commands) {
    if (GROUPS[name] !== undefined) groups.push([GROUPS[name], []]);
    groups.at(-1)![1].push([name, summary]);
  }
  groups.at(-1)![1].push(['help', 'Show the help of a command: binnacle help serve']);
  return groups;
}

const shortHelp = (): string => `Binnacle is a Kubernetes API server.

Usage:
  binnacle <command> [flags]

${commandGroups()
  .map(([title, members]) => `${title}:\n${members.map(([name, summary]) => `  ${name.padEnd(12)}${summary}\n`).join('')}\n`)
  .join('')}Start with: binnacle up
`;

const serveHelp = (program: string): string => `The Kubernetes API server: it checks, stores and serves the objects of a cluster, and
tells whoever watches of their changes. With no flags it keeps them in ./.binnacle.

Usage:
  ${program} [flags]
`;

const upHelp = (program: string): string => `Starts a cluster for this machine. The store, the certificates and the kubeconfig of an
administrator are kept in ./.binnacle; start it again and everything is still there.

Usage:
  ${program} [flags]

Flags:
      --detach          go on in the background: see \`binnacle status\` and \`binnacle down\`
      --name string     an instance of this name, kept with the user's data and not in this folder
      --crds string     CustomResourceDefinitions to begin with: a folder, file or glob; may be given
                        several times
      --apply string    manifests to apply once they are there, in the same forms
      --watch           apply them again whenever they are saved; what is removed from them stays

It takes every flag of \`binnacle serve\` (see \`binnacle help serve\`), with these defaults:

      --data-dir .binnacle         where everything is kept
      --secure-port 6443           or any free port, if that one is taken
      --bind-address 127.0.0.1     reachable from this machine only
      --authorization-mode RBAC    the administrator may do everything
      --controllers '*'            what a cluster needs with no kube-controller-manager
      --console                    a page that shows it live; not with --workers
`;

/** Read apart from the parser, whose own errors must be shown too. */
function readVerbosity(argv: readonly string[]): number {
  const match = /(?:^|\s)--?v[= ]?(\d+)(?:\s|$)/.exec(argv.slice(2).join(' '));
  return match ? Number(match[1]) : 0;
}

/** From this verbosity on, errors come with their stacks. */
const STACK_VERBOSITY = 4;

function report(error: unknown, verbosity: number, output: Output): void {
  const lines = error instanceof CommandError ? error.lines : [error instanceof Error ? error.message : String(error)];
  for (const line of lines) output.stderr(`error: ${line}\n`);
  if (verbosity >= STACK_VERBOSITY && error instanceof Error) output.stderr(`${error.stack}\n`);
}
