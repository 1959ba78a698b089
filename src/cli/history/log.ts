import { stringifyUnescaped } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { changedFields, managersOf } from '../../history/change-fields.ts';
import type { FlightReader, ObjectChange } from '../../history/flight-reader.ts';
import { pathText } from '../../history/object-delta.ts';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { readOwnFlags } from '../commands/own-flags.ts';
import { momentText, parseMoment } from './recorded-times.ts';
import { endOf, filterOf, objectText, readChoice, withRecording } from './recording.ts';

/** `binnacle log --file FILE [TYPE[/NAME]]`: one line for each change of the objects, oldest first. */
export async function log(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, {
    file: { type: 'string', short: 'f' },
    namespace: { type: 'string', short: 'n' },
    from: { type: 'string' },
    to: { type: 'string' },
    output: { type: 'string', short: 'o' },
  });
  const choice = readChoice('binnacle log', positionals, values['namespace'] as string | undefined);
  const format = values['output'];
  if (format !== undefined && format !== 'json') throw new CommandError(`-o takes json, got ${JSON.stringify(format)}`);
  const show = format === 'json' ? jsonLine : (change: ObjectChange) => fitted(textLine(change, choice.name !== undefined), output.columns);
  await withRecording(values['file'] as string | undefined, async (reader) => {
    const { fromMs, toMs } = await boundsOf(reader, values['from'] as string | undefined, values['to'] as string | undefined);
    let shown = 0;
    for await (const change of reader.changes(filterOf(choice))) {
      if (change.timeMs > toMs) break;
      if (change.timeMs < fromMs || !isWorthALine(change)) continue;
      output.stdout(`${show(change)}\n`);
      shown++;
    }
    if (shown === 0) output.stderr('No change of such an object was recorded in that time.\n');
    if (reader.isCutOff) output.stderr('The last part of the file is not whole: it is being recorded, or the recorder was killed.\n');
  });
}

async function boundsOf(reader: FlightReader, from: string | undefined, to: string | undefined): Promise<{ fromMs: number; toMs: number }> {
  if (from === undefined && to === undefined) return { fromMs: -Infinity, toMs: Infinity };
  const endMs = await endOf(reader);
  return {
    fromMs: from === undefined ? -Infinity : parseMoment('--from', from, endMs),
    toMs: to === undefined ? Infinity : parseMoment('--to', to, endMs),
  };
}

/** A write that changed nothing but a version is none that anybody looks for. */
const isWorthALine = ({ before, after }: ObjectChange): boolean => before === undefined || after === undefined || changedFields(before, after).length > 0;

/** When, who, which object unless it is one, and what. */
function textLine(change: ObjectChange, isOne: boolean): string {
  const { timeMs, resource, key, before, after, gapSinceMs } = change;
  const who = managersOf(before, after).join(', ') || '-';
  const subject = isOne ? '' : `${objectText(resource, key)}  `;
  const gap = gapSinceMs === undefined ? '' : `  (not watched since ${momentText(gapSinceMs)}: may be several changes)`;
  return `${momentText(timeMs)}  ${who}  ${subject}${whatOf(change)}${gap}`;
}

function whatOf({ before, after, isInitial }: ObjectChange): string {
  if (after === undefined) return 'deleted';
  if (before === undefined) return isInitial ? 'first seen' : 'created';
  return changedFields(before, after)
    .map(({ path, from, to }) => `${pathText(path)}: ${valueText(from)} → ${valueText(to)}`)
    .join(', ');
}

const MAX_VALUE_CHARACTERS = 120;

export function valueText(value: Json | undefined): string {
  if (value === undefined) return 'none';
  const text = stringifyUnescaped(value);
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
}

/** On a terminal, a line is a line. */
const fitted = (text: string, columns: number): string => (columns > 0 && text.length > columns ? `${text.slice(0, columns - 1)}…` : text);

function jsonLine({ timeMs, resource, key, before, after, isInitial, gapSinceMs }: ObjectChange): string {
  const fields = changedFields(before, after).map(({ path, from, to }) => ({ path: pathText(path), from: from ?? null, to: to ?? null }));
  return stringifyUnescaped({
    time: new Date(timeMs).toISOString(),
    group: resource.group,
    version: resource.version,
    resource: resource.plural,
    key,
    managers: managersOf(before, after),
    type: after === undefined ? 'deleted' : before !== undefined ? 'modified' : isInitial ? 'seen' : 'created',
    fields,
    ...(gapSinceMs !== undefined && { notWatchedSince: new Date(gapSinceMs).toISOString() }),
  });
}

export const logHelp = (program: string): string => `Shows the changes of objects in a recording, one line each: when, who (the field managers that the
object names), and which fields from what to what. Resource versions and managed fields are left out.

Usage:
  ${program} --file flight.bin [TYPE | TYPE/NAME | TYPE NAME] [flags]

Flags:
  -f, --file string         a recording of \`binnacle record\`; it may still be recorded to
  -n, --namespace string    of one namespace; default: all
      --from, --to string   10:05, 10:05:30, 2026-01-31T10:05:00Z, or --from=-5m for five minutes
                            before the end of the recording
  -o json                   one object of JSON a line, with all values in full
`;
