import type { RecordedResource } from '../../history/flight-format.ts';
import { type ChangeFilter, FlightReader } from '../../history/flight-reader.ts';
import { CommandError } from '../../options/command-error.ts';

/** What a person named: `deploy/web`, `deployments.apps`, `cm settings`. */
export interface ObjectChoice {
  /** Undefined: of every resource. */
  type: string | undefined;
  name: string | undefined;
  /** Undefined: of every namespace. */
  namespace: string | undefined;
}

/** Reads the recording, and closes it whatever becomes of it. */
export async function withRecording<T>(file: string | undefined, use: (reader: FlightReader) => Promise<T>): Promise<T> {
  if (file === undefined) throw new CommandError('name a recording of `binnacle record`: --file flight.bin');
  const reader = await FlightReader.open(file).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(error.code === 'ENOENT' ? `there is no file ${file}` : error.message);
  });
  try {
    return await use(reader);
  } finally {
    await reader.close();
  }
}

/** The arguments of a command: nothing, TYPE, TYPE/NAME or TYPE NAME. */
export function readChoice(program: string, positionals: readonly string[], namespace: string | undefined): ObjectChoice {
  const [first, second, ...rest] = positionals;
  if (rest.length > 0) throw new CommandError(`${JSON.stringify(program)} takes TYPE, TYPE/NAME or TYPE NAME, got ${positionals.length} arguments`);
  const slash = first?.indexOf('/') ?? -1;
  if (first === undefined || slash === -1) return { type: first, name: second, namespace };
  if (second !== undefined) throw new CommandError(`${JSON.stringify(first)} names an object already: ${JSON.stringify(second)} is one too many`);
  return { type: first.slice(0, slash), name: first.slice(slash + 1), namespace };
}

export const filterOf = ({ type, name, namespace }: ObjectChoice): ChangeFilter => ({
  resource: (resource) => type === undefined || isNamed(resource, type.toLowerCase()),
  key(key) {
    const slash = key.indexOf('/');
    if (name !== undefined && key.slice(slash + 1) !== name) return false;
    return namespace === undefined || key.slice(0, Math.max(slash, 0)) === namespace;
  },
});

/** As kubectl lets people name it: plural, kind or short name, with or without its group. */
function isNamed({ group, plural, kind, shortNames }: RecordedResource, type: string): boolean {
  const dot = type.indexOf('.');
  const [name, namedGroup] = dot === -1 ? [type, undefined] : [type.slice(0, dot), type.slice(dot + 1)];
  return [plural, kind.toLowerCase(), ...shortNames].includes(name) && (namedGroup === undefined || namedGroup === group);
}

/** When the recording ends: what "-5m" counts from. */
export async function endOf(reader: FlightReader): Promise<number> {
  let endMs: number | undefined;
  for await (const { timeMs } of reader.changes()) endMs = Math.max(endMs ?? 0, timeMs);
  if (endMs === undefined) throw new CommandError('the recording has no changes yet');
  return endMs;
}

/** `deployment/web -n shop`, as a command takes it. */
export function objectText({ kind }: RecordedResource, key: string): string {
  const slash = key.indexOf('/');
  return slash === -1 ? `${kind.toLowerCase()}/${key}` : `${kind.toLowerCase()}/${key.slice(slash + 1)} -n ${key.slice(0, slash)}`;
}
