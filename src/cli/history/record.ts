import { resolve } from 'node:path';
import type { ClusterClient } from '../../history/cluster-client.ts';
import { ClusterRecorder } from '../../history/cluster-recorder.ts';
import type { RecordedResource } from '../../history/flight-format.ts';
import { FlightWriter } from '../../history/flight-writer.ts';
import { CommandError } from '../../options/command-error.ts';
import { noArguments, readOwnFlags } from '../commands/own-flags.ts';
import type { Output } from '../command.ts';
import { connect } from './history-flags.ts';

const STATUS_INTERVAL_MS = 1_000;
const MIB = 1024 * 1024;
const DEFAULT_MEMORY_MIB = 256;
const DEFAULT_MIB_PER_SECOND = 16;
/** Leases say little, and are renewed every few seconds; a server's own history is told by what it records. */
const USUALLY_LEFT_OUT = 'leases.coordination.k8s.io,changes.history.binnacle.dev';
const SECRETS = 'secrets';

interface RecordFlags {
  file: string;
  leftOut: ReadonlySet<string>;
  memoryBytes: number;
  maxBytesPerSecond: number;
}

/** `binnacle record -o FILE`: watches all resources of a cluster and writes every version of every object to a file, until it is interrupted. */
export async function record(args: readonly string[], output: Output): Promise<void> {
  const { values, flags } = readFlags(args);
  const client = await connect(values, 'binnacle-record', flags.maxBytesPerSecond);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    await recordUntil(stop.signal, client, flags, output);
  } finally {
    client.close();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

function readFlags(args: readonly string[]): { values: ReturnType<typeof readOwnFlags>['values']; flags: RecordFlags } {
  const { values, positionals } = readOwnFlags(args, {
    output: { type: 'string', short: 'o' },
    kubeconfig: { type: 'string' },
    context: { type: 'string' },
    secrets: { type: 'boolean', default: false },
    exclude: { type: 'string', default: USUALLY_LEFT_OUT },
    'max-memory-mib': { type: 'string', default: String(DEFAULT_MEMORY_MIB) },
    'max-mib-per-second': { type: 'string', default: String(DEFAULT_MIB_PER_SECOND) },
  });
  noArguments('binnacle record', positionals);
  const memoryMib = mebibytes('max-memory-mib', values['max-memory-mib'], 1);
  const mibPerSecond = mebibytes('max-mib-per-second', values['max-mib-per-second'], 0.01);
  if (values['output'] === undefined) throw new CommandError('name the file to write: binnacle record -o flight.bin');
  const leftOut = String(values['exclude']).split(',').filter(Boolean);
  const flags = {
    file: resolve(String(values['output'])),
    leftOut: new Set(values['secrets'] ? leftOut : [...leftOut, SECRETS]),
    memoryBytes: memoryMib * MIB,
    maxBytesPerSecond: mibPerSecond * MIB,
  };
  return { values, flags };
}

function mebibytes(flag: string, value: unknown, least: number): number {
  const number = Number(value);
  if (!(number >= least)) throw new CommandError(`--${flag} takes a number from ${least} on, got ${JSON.stringify(value)}`);
  return number;
}

async function recordUntil(signal: AbortSignal, client: ClusterClient, flags: RecordFlags, output: Output): Promise<void> {
  const { gitVersion } = await client.get('/version', signal).catch((error: Error) => {
    throw new CommandError(`cannot reach the cluster: ${error.message}`);
  });
  const cluster = { server: client.url, gitVersion: String(gitVersion) };
  const writer = await FlightWriter.create(flags.file, cluster, Date.now(), flags).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(error.code === 'EEXIST' ? `${flags.file} is there already: name another file` : `cannot write ${flags.file}: ${error.message}`);
  });
  const problems = new Set<string>();
  const recorder = new ClusterRecorder({
    client,
    writer,
    now: Date.now,
    isWanted: (resource) => !flags.leftOut.has(nameOf(resource)),
    onProblem(message) {
      if (!problems.has(message)) output.stderr(`${message}\n`);
      problems.add(message);
    },
  });
  const status = (): string => {
    const { changes, sizeBytes, memoryBytes } = writer.totals;
    return `${recorder.resourceCount} resources, ${changes} changes, ${mib(sizeBytes)} written, ${mib(client.receivedBytes)} received, ${mib(memoryBytes)} of versions in memory`;
  };
  // It keeps the process alive, too, while there is no connection.
  const timer = setInterval(() => {
    if (output.columns > 0) output.stderr(`\r${status().slice(0, output.columns - 1)}`);
  }, STATUS_INTERVAL_MS);
  try {
    await recorder.run(signal, () => output.stdout(`Recording ${cluster.server} to ${flags.file}; stop with Ctrl-C\n`));
  } finally {
    clearInterval(timer);
    if (output.columns > 0) output.stderr('\n');
  }
  output.stdout(`${flags.file}: ${status()}\n`);
}

const nameOf = ({ group, plural }: RecordedResource): string => (group === '' ? plural : `${plural}.${group}`);
const mib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;

export const recordHelp = (program: string): string => `Watches all resources of a Kubernetes cluster (kube-apiserver, a managed one, k3s, Binnacle, …) that
you may list and watch, and writes every version of every object to a file, until it is stopped.
Definitions that come and go, restarts of the server and watches that expire are recorded through.

Usage:
  ${program} -o flight.bin [flags]

Flags:
  -o, --output string          the file to write; it must not be there yet
      --kubeconfig string      the cluster; default: $KUBECONFIG, or ~/.kube/config
      --context string         a context of it; default: its current one
      --secrets                record Secrets too, with their values
      --exclude string         resources to leave out, comma separated; default:
                               ${USUALLY_LEFT_OUT}
      --max-memory-mib 256     for the versions that differences are made against; beyond it,
                               objects are written as a whole
      --max-mib-per-second 16  what is received at most; what comes faster waits at the server

Then: binnacle log --file flight.bin deploy/web -n shop
`;
