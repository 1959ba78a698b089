import { stringifyUnescaped } from '../../encoding/json.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { printedFields } from '../../history/change-fields.ts';
import type { RecordedResource } from '../../history/flight-format.ts';
import type { ChangedField, HistorySource, ObjectChange } from '../../history/history-source.ts';
import { splitKey } from '../../history/resource-choice.ts';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { readOwnFlags } from '../commands/own-flags.ts';
import { fieldSegments, hiddenFields } from './change-text.ts';
import { NAMESPACE_FLAG, SOURCE_FLAGS, SOURCE_HELP, TIME_HELP, readChoice, readsJson, shortText, textFlag, withHistory } from './history-flags.ts';
import { parseTime } from './moments.ts';
import { Screen, type Style } from './screen.ts';

interface Difference {
  resource: RecordedResource;
  key: string;
  before: JsonObject | undefined;
  after: JsonObject | undefined;
  fields: ChangedField[];
}

/** `binnacle diff --from T --to T`: what was other at the second moment, as a tree. */
export async function diff(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, {
    ...SOURCE_FLAGS,
    ...NAMESPACE_FLAG,
    from: { type: 'string' },
    to: { type: 'string' },
    output: { type: 'string', short: 'o' },
  });
  const [from, to] = [textFlag(values, 'from'), textFlag(values, 'to')];
  if (from === undefined) throw new CommandError('name the first moment: --from 10:00, or --from=-5m');
  const choice = readChoice('binnacle diff', positionals, textFlag(values, 'namespace'));
  const isJson = readsJson(values);
  const screen = new Screen(output);
  await withHistory(values, async (source) => {
    const endMs = await source.endMs();
    const fromMs = parseTime('--from', from, endMs);
    const toMs = to === undefined ? Infinity : parseTime('--to', to, endMs);
    if (toMs < fromMs) throw new CommandError('--to is before --from');
    const changed = await differences(source.changes({ ...choice, fromMs: fromMs + 1, toMs }));
    if (isJson) for (const each of changed) screen.raw(stringifyUnescaped(jsonOf(each)));
    else showTree(screen, changed);
    await screen.end();
    if (changed.length === 0) output.stderr('Nothing changed between these two moments.\n');
  });
}

/** Every object that was other at the end, as it was at both moments. */
async function differences(changes: ReturnType<HistorySource['changes']>): Promise<Difference[]> {
  const touched = new Map<string, { first: ObjectChange; last: ObjectChange }>();
  for await (const change of changes) {
    // What was there when the recording began was there before.
    if (change.type === 'seen') continue;
    const id = `${change.resource.group} ${change.resource.plural} ${change.key}`;
    const known = touched.get(id);
    if (known) known.last = change;
    else touched.set(id, { first: change, last: change });
  }
  const found: Difference[] = [];
  for (const { first, last } of touched.values()) {
    const { before } = await first.versions();
    const { after } = await last.versions();
    const fields = printedFields(before, after);
    const isOther = (before === undefined) !== (after === undefined) || (before !== undefined && fields.length > 0);
    if (isOther) found.push({ resource: first.resource, key: first.key, before, after, fields });
  }
  return found;
}

/** Namespaces, in them objects, in them fields. */
function showTree(screen: Screen, changed: readonly Difference[]): void {
  const byNamespace = new Map<string, Difference[]>();
  for (const each of changed) {
    const { namespace } = splitKey(each.key);
    byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), each]);
  }
  for (const [namespace, objects] of [...byNamespace].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    screen.line([namespace === '' ? '(cluster)' : namespace, 'name']);
    for (const [index, each] of objects.entries()) showObject(screen, each, index === objects.length - 1);
  }
}

function showObject(screen: Screen, { resource, key, before, after, fields }: Difference, isLast: boolean): void {
  const [sign, style]: [string, Style] = before === undefined ? ['+', 'added'] : after === undefined ? ['-', 'removed'] : ['~', 'time'];
  screen.line([isLast ? '└── ' : '├── ', 'faint'], [`${sign} `, style], [shortText(resource, key)]);
  if (sign !== '~') return;
  for (const [index, field] of hiddenFields(resource, fields).entries()) {
    const branch = index === fields.length - 1 ? '└── ' : '├── ';
    screen.line([`${isLast ? '    ' : '│   '}${branch}`, 'faint'], ...fieldSegments(field));
  }
}

const jsonOf = ({ resource: { group, version, plural }, key, before, after, fields }: Difference): JsonObject => ({
  type: before === undefined ? 'created' : after === undefined ? 'deleted' : 'modified',
  group,
  version,
  resource: plural,
  key,
  fields: fields.map(({ path, from, to }) => ({ path, from: from ?? null, to: to ?? null })),
});

export const diffHelp = (program: string): string => `Shows what was other at a later moment than at an earlier one, as a tree: objects that came (+), went (-)
and changed (~), with the fields from what to what.

Usage:
  ${program} --from 10:00 [--to 10:05] [TYPE | TYPE/NAME | TYPE NAME] [flags]

Flags:
${SOURCE_HELP}  -n, --namespace string    of one namespace; default: all
      --from, --to string   ${TIME_HELP};
                            --to is the end where it is not given
  -o json                   one object of JSON a line, with all values in full
`;
