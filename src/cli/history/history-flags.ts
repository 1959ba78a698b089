import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type RemoteEndpoint, loadUserKubeconfig } from '../../client/kubeconfig.ts';
import { ApiHistory } from '../../history/api-history.ts';
import { ClusterClient } from '../../history/cluster-client.ts';
import type { RecordedResource } from '../../history/flight-format.ts';
import { FlightHistory } from '../../history/flight-history.ts';
import type { ChangeQuery, HistorySource } from '../../history/history-source.ts';
import { splitKey } from '../../history/resource-choice.ts';
import { CommandError } from '../../options/command-error.ts';

/** The flags of every command that reads the past. */
export const SOURCE_FLAGS = {
  file: { type: 'string' },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
} as const;

export const NAMESPACE_FLAG = { namespace: { type: 'string', short: 'n' } } as const;

export const SOURCE_HELP = `      --file string         a recording of \`binnacle record\`; default: the history that a server keeps
      --kubeconfig string   that server; default: $KUBECONFIG, or ~/.kube/config
      --context string      a context of it; default: its current one
`;

export const TIME_HELP = '10:05, 10:05:30, 2026-01-31T10:05:00Z, or -5m for five minutes ago';

type FlagValues = Record<string, string | boolean | undefined>;

/** A flag's text; undefined where it is not given. */
export const textFlag = (values: FlagValues, name: string): string | undefined => values[name] as string | undefined;

/** `-o json` */
export function readsJson(values: FlagValues): boolean {
  const format = values['output'];
  if (format !== undefined && format !== 'json') throw new CommandError(`-o takes json, got ${JSON.stringify(format)}`);
  return format === 'json';
}

const defaultKubeconfig = (): string => process.env['KUBECONFIG']?.split(delimiter).find(Boolean) ?? join(homedir(), '.kube', 'config');

/** The server that --kubeconfig and --context name. */
export async function connect(values: FlagValues, userAgent = 'binnacle', maxBytesPerSecond = Infinity): Promise<ClusterClient> {
  const endpoint = await endpointOf(textFlag(values, 'kubeconfig') ?? defaultKubeconfig(), textFlag(values, 'context'));
  return new ClusterClient(endpoint, userAgent, maxBytesPerSecond);
}

async function endpointOf(kubeconfig: string, context: string | undefined): Promise<RemoteEndpoint> {
  try {
    return await loadUserKubeconfig(kubeconfig, context);
  } catch (error) {
    throw new CommandError(`cannot use the kubeconfig: ${(error as Error).message}`);
  }
}

async function openSource(values: FlagValues): Promise<HistorySource> {
  const file = textFlag(values, 'file');
  if (file === undefined) return ApiHistory.open(await connect(values));
  return FlightHistory.open(file).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(error.code === 'ENOENT' ? `there is no file ${file}` : error.message);
  });
}

/** Reads the past, and closes it whatever becomes of it. */
export async function withHistory<T>(values: FlagValues, use: (source: HistorySource) => Promise<T>): Promise<T> {
  const source = await openSource(values);
  try {
    return await use(source);
  } finally {
    await source.close();
  }
}

/** What a person named: nothing, TYPE, TYPE/NAME or TYPE NAME. */
export function readChoice(program: string, positionals: readonly string[], namespace: string | undefined): ChangeQuery {
  const [first, second, ...rest] = positionals;
  if (rest.length > 0) throw new CommandError(`${JSON.stringify(program)} takes TYPE, TYPE/NAME or TYPE NAME, got ${positionals.length} arguments`);
  const slash = first?.indexOf('/') ?? -1;
  if (first === undefined || slash === -1) return { type: first, name: second, namespace };
  if (second !== undefined) throw new CommandError(`${JSON.stringify(first)} names an object already: ${JSON.stringify(second)} is one too many`);
  return { type: first.slice(0, slash), name: first.slice(slash + 1), namespace };
}

/** The same where it must be one object. */
export function readObjectChoice(program: string, positionals: readonly string[], namespace: string | undefined): ChangeQuery {
  const choice = readChoice(program, positionals, namespace);
  if (choice.type === undefined || !choice.name) throw new CommandError(`name the object: ${program} deploy/web -n shop`);
  return choice;
}

/** One object, or none: throws where objects of several namespaces have that name, or several resources. */
export function onlyOne<T extends { resource: RecordedResource; key: string }>(found: readonly T[]): T | undefined {
  const names = [...new Set(found.map(({ resource, key }) => objectText(resource, key)))];
  if (names.length > 1) throw new CommandError(`there are several of that name (${names.join('; ')}): say which with -n or TYPE.GROUP`);
  return found[0];
}

/** `deployment/web -n shop`, as a command takes it. */
export function objectText(resource: RecordedResource, key: string): string {
  const { namespace } = splitKey(key);
  return namespace === '' ? shortText(resource, key) : `${shortText(resource, key)} -n ${namespace}`;
}

/** `deployment/web` */
export const shortText = ({ kind }: RecordedResource, key: string): string => `${kind.toLowerCase()}/${splitKey(key).name}`;
