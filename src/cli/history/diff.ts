import type { JsonObject } from '../../encoding/json-types.ts';
import { changedFields } from '../../history/change-fields.ts';
import type { RecordedResource } from '../../history/flight-format.ts';
import type { ChangeFilter, FlightReader } from '../../history/flight-reader.ts';
import { pathText } from '../../history/object-delta.ts';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { readOwnFlags } from '../commands/own-flags.ts';
import { valueText } from './log.ts';
import { parseMoment } from './recorded-times.ts';
import { endOf, filterOf, objectText, readChoice, withRecording } from './recording.ts';

interface Versions {
  resource: RecordedResource;
  key: string;
  before: JsonObject | undefined;
  after: JsonObject | undefined;
}

/** `binnacle diff --file FILE --from T --to T`: what was other at the second moment, by object. */
export async function diff(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, {
    file: { type: 'string', short: 'f' },
    namespace: { type: 'string', short: 'n' },
    from: { type: 'string' },
    to: { type: 'string' },
  });
  const { from, to } = values as { from?: string; to?: string };
  if (from === undefined) throw new CommandError('name the first moment: --from 10:00, or --from=-5m');
  const filter = filterOf(readChoice('binnacle diff', positionals, values['namespace'] as string | undefined));
  await withRecording(values['file'] as string | undefined, async (reader) => {
    const endMs = await endOf(reader);
    const fromMs = parseMoment('--from', from, endMs);
    const toMs = to === undefined ? Infinity : parseMoment('--to', to, endMs);
    if (toMs < fromMs) throw new CommandError('--to is before --from');
    const changed = await versionsBetween(reader, filter, fromMs, toMs);
    for (const each of changed) for (const line of linesOf(each)) output.stdout(`${line}\n`);
    if (changed.length === 0) output.stderr('Nothing changed between these two moments.\n');
  });
}

/** Every object that was other at the end, as it was at both moments. */
async function versionsBetween(reader: FlightReader, filter: ChangeFilter, fromMs: number, toMs: number): Promise<Versions[]> {
  const changed = new Map<string, Versions>();
  for await (const { timeMs, resource, key, before, after, isInitial } of reader.changes(filter)) {
    if (timeMs > toMs) break;
    // What was there when the recording began was there before.
    if (timeMs <= fromMs || isInitial) continue;
    const id = `${resource.group} ${resource.plural} ${key}`;
    const known = changed.get(id);
    if (known) known.after = after;
    else changed.set(id, { resource, key, before, after });
  }
  return [...changed.values()].filter(({ before, after }) => (before === undefined) !== (after === undefined) || changedFields(before, after).length > 0);
}

function linesOf({ resource, key, before, after }: Versions): string[] {
  const name = objectText(resource, key);
  if (before === undefined) return [`+ ${name}`];
  if (after === undefined) return [`- ${name}`];
  return [`~ ${name}`, ...changedFields(before, after).map(({ path, from, to }) => `    ${pathText(path)}: ${valueText(from)} → ${valueText(to)}`)];
}

export const diffHelp = (program: string): string => `Shows what was other at a later moment of a recording than at an earlier one: objects that came (+),
went (-) and changed (~), with the fields from what to what.

Usage:
  ${program} --file flight.bin --from 10:00 [--to 10:05] [TYPE | TYPE/NAME | TYPE NAME] [flags]

Flags:
  -f, --file string         a recording of \`binnacle record\`
  -n, --namespace string    of one namespace; default: all
      --from, --to string   10:05, 10:05:30, 2026-01-31T10:05:00Z, or --from=-5m for five minutes
                            before the end of the recording; --to is the end where it is not given
`;
