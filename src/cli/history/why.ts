import { stringifyUnescaped } from '../../encoding/json.ts';
import { type Causes, type ToldEvent, causesOf } from '../../history/causes.ts';
import type { ObjectChange } from '../../history/history-source.ts';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { readOwnFlags } from '../commands/own-flags.ts';
import { changeJson, fieldsSegments, hiddenFields, verbText, whoText } from './change-text.ts';
import {
  NAMESPACE_FLAG,
  SOURCE_FLAGS,
  SOURCE_HELP,
  objectText,
  onlyOne,
  readObjectChoice,
  readsJson,
  shortText,
  textFlag,
  withHistory,
} from './history-flags.ts';
import { timeText } from './moments.ts';
import { Screen, type Segment } from './screen.ts';

/** Of an object that is written all the time, the last ones tell most. */
const MAX_SHOWN = 20;

/** `binnacle why pod/web-abc`: the chain of changes that led to an object, as far as the record shows it. */
export async function why(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, { ...SOURCE_FLAGS, ...NAMESPACE_FLAG, output: { type: 'string', short: 'o' } });
  const choice = readObjectChoice('binnacle why', positionals, textFlag(values, 'namespace'));
  const isJson = readsJson(values);
  const screen = new Screen(output);
  await withHistory(values, async (source) => {
    const causes = await causesOf(source, choice);
    if (!causes) throw new CommandError('no change of such an object is known');
    onlyOne([causes.chain.at(-1)!, ...causes.after]);
    if (isJson) screen.raw(stringifyUnescaped(jsonOf(causes)));
    else show(screen, causes);
    await screen.end();
  });
}

function show(screen: Screen, { chain, after, end, events, sameRequest }: Causes): void {
  showChain(screen, chain);
  const then = [
    ...after.map((change) => ({ timeMs: change.timeMs, line: lineOf(change) })),
    ...events.map((event) => ({ timeMs: event.timeMs, line: eventLine(event) })),
  ];
  const sorted = then.toSorted((a, b) => a.timeMs - b.timeMs);
  const shown = sorted.slice(-MAX_SHOWN);
  const margin = ' '.repeat(3 * chain.length - 3);
  if (shown.length < sorted.length) screen.line([`${margin}├─ … ${sorted.length - shown.length} more before`, 'faint']);
  for (const [index, { line }] of shown.entries()) screen.line([`${margin}${index === shown.length - 1 ? '└' : '├'}─ `, 'faint'], ...line);
  if (end.length > 0) screen.line(['What came before its deletion:']);
  showChain(screen, end);
  if (sameRequest.length === 0) return;
  const names = sameRequest.slice(0, MAX_SHOWN).map(({ resource, key }) => objectText(resource, key));
  screen.line([`The same request changed ${names.join(', ')}${sameRequest.length > names.length ? ', …' : ''}`]);
}

function showChain(screen: Screen, chain: readonly ObjectChange[]): void {
  for (const [depth, change] of chain.entries()) {
    const name = depth === 0 ? objectText(change.resource, change.key) : shortText(change.resource, change.key);
    screen.line([indent(depth), 'faint'], ...lineOf(change, name));
  }
}

const indent = (depth: number): string => (depth === 0 ? '' : `${' '.repeat(3 * depth - 3)}└─ `);

function lineOf(change: ObjectChange, object?: string): Segment[] {
  const { timeMs, resource, type, fields, author, id } = change;
  const what = type === 'modified' ? fieldsSegments(hiddenFields(resource, fields)) : [];
  return [
    [timeText(timeMs), 'time'],
    ...(object === undefined ? [] : [[`  ${object}`, 'name'] as const]),
    [`  ${whoText(change)}`, 'who'],
    ...(type === 'modified' && !author ? [] : [[`  ${verbText(change)}`, type === 'deleted' ? 'removed' : 'added'] as const]),
    ...(what.length > 0 ? [['  '] as const, ...what] : []),
    ...(id === undefined ? [] : [[`  ${id}`, 'faint'] as const]),
  ];
}

const eventLine = ({ timeMs, source, reason, message, count }: ToldEvent): Segment[] => [
  [timeText(timeMs), 'time'],
  [`  ${source || 'event'}`, 'who'],
  [`  ${reason}: `, 'name'],
  [message],
  ...(count > 1 ? [[` (${count} times)`, 'faint'] as const] : []),
];

const jsonOf = ({ chain, after, end, events, sameRequest }: Causes) => ({
  chain: chain.map(changeJson),
  after: after.map(changeJson),
  end: end.map(changeJson),
  events: events.map(({ timeMs, ...event }) => ({ time: new Date(timeMs).toISOString(), ...event })),
  sameRequest: sameRequest.map(changeJson),
});

export const whyHelp = (program: string): string => `Shows what led to an object, as far as the record tells: the changes of its owners that it was made for,
from the outermost on, who made them, and what was done to it afterwards, with the events about it.

Usage:
  ${program} TYPE/NAME | TYPE NAME [flags]

Flags:
${SOURCE_HELP}  -n, --namespace string    its namespace; needed where several have an object of that name
  -o json                   an object of JSON: chain, after, end (what came before its deletion),
                            events, sameRequest
`;
