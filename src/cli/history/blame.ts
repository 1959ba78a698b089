import { stringifyUnescaped } from '../../encoding/json.ts';
import { Blame, ownerOf } from '../../history/blame.ts';
import type { RecordedResource } from '../../history/flight-format.ts';
import type { ChangeQuery, HistorySource, ObjectChange } from '../../history/history-source.ts';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { readOwnFlags } from '../commands/own-flags.ts';
import { hiddenIn, valueText, whoText } from './change-text.ts';
import {
  NAMESPACE_FLAG,
  SOURCE_FLAGS,
  SOURCE_HELP,
  TIME_HELP,
  objectText,
  onlyOne,
  readObjectChoice,
  readsJson,
  textFlag,
  withHistory,
} from './history-flags.ts';
import { parseTime, timeText } from './moments.ts';
import { Screen } from './screen.ts';

interface Writer {
  timeMs: number;
  who: string;
  id: string | undefined;
}

/** `binnacle blame deploy/web`: each field with who wrote it last, when, and what it was before. */
export async function blame(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, {
    ...SOURCE_FLAGS,
    ...NAMESPACE_FLAG,
    at: { type: 'string' },
    output: { type: 'string', short: 'o' },
  });
  const choice = readObjectChoice('binnacle blame', positionals, textFlag(values, 'namespace'));
  const isJson = readsJson(values);
  const screen = new Screen(output);
  await withHistory(values, async (source) => {
    const at = textFlag(values, 'at');
    const toMs = at === undefined ? undefined : parseTime('--at', at, await source.endMs());
    const { resource, fields } = await blamed(source, { ...choice, toMs });
    if (isJson) screen.raw(stringifyUnescaped(fields.map(({ by, path, value, before }) => jsonOf(by, path, value, before))));
    const width = Math.max(0, ...fields.map(({ by }) => by.who.length));
    for (const { path, value, before, by } of isJson ? [] : fields) {
      screen.line(
        [timeText(by.timeMs), 'time'],
        [`  ${by.who.padEnd(width)}`, 'who'],
        ['  '],
        [path, 'path'],
        [': '],
        [valueText(hiddenIn(resource, path, value)), 'name'],
        ...(before === undefined ? [] : [[`  (before: ${valueText(hiddenIn(resource, path, before))})`, 'faint'] as const]),
      );
    }
    await screen.end();
  });
}

type JsonValue = Parameters<typeof stringifyUnescaped>[0];

const jsonOf = ({ timeMs, who, id }: Writer, path: string, value: JsonValue, before: JsonValue | undefined) => ({
  path,
  value,
  before: before ?? null,
  who,
  time: new Date(timeMs).toISOString(),
  ...(id !== undefined && { change: id }),
});

/** Of the object that there is now: what a former one of the same name had does not count. */
async function blamed(source: HistorySource, query: ChangeQuery): Promise<{ resource: RecordedResource; fields: ReturnType<Blame<Writer>['fields']> }> {
  const changes: ObjectChange[] = [];
  for await (const change of source.changes(query)) changes.push(change);
  const last = onlyOne(changes) && changes.at(-1)!;
  if (!last) throw new CommandError('no change of such an object is known');
  if (last.type === 'deleted')
    throw new CommandError(`${objectText(last.resource, last.key)} was deleted at ${timeText(last.timeMs)}, by ${whoText(last)}: give an earlier --at`);
  let fields = new Blame<Writer>();
  for (const change of changes) {
    if (change.type === 'deleted') fields = new Blame();
    const { after } = await change.versions();
    const writer = { timeMs: change.timeMs, who: change.type === 'seen' ? '-' : whoText(change), id: change.id };
    // What was there when the recording began was written before: the object itself tells by whom.
    fields.add(writer, after, change.type === 'seen' ? (leaf) => ownedBefore(ownerOf(after!, leaf)) : undefined);
  }
  return { resource: last.resource, fields: fields.fields() };
}

const ownedBefore = (owner: ReturnType<typeof ownerOf>): Writer | undefined => owner && { timeMs: owner.timeMs, who: owner.manager, id: undefined };

export const blameHelp = (program: string): string => `Shows each field of an object with who wrote it last, when, and the value before.

Usage:
  ${program} TYPE/NAME | TYPE NAME [flags]

Flags:
${SOURCE_HELP}  -n, --namespace string    its namespace; needed where several have an object of that name
      --at string           as of then: ${TIME_HELP}
  -o json                   a list of JSON, with all values in full

Of what was written before the history begins, the object's managed fields tell the manager and when
it last wrote.
`;
