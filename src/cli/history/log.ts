import { stringifyUnescaped } from '../../encoding/json.ts';
import type { HistorySource, ObjectChange } from '../../history/history-source.ts';
import type { Output } from '../command.ts';
import { readOwnFlags } from '../commands/own-flags.ts';
import { changeJson, fieldsSegments, hiddenFields, verbText, whoText } from './change-text.ts';
import { NAMESPACE_FLAG, SOURCE_FLAGS, SOURCE_HELP, TIME_HELP, objectText, readChoice, readsJson, textFlag, withHistory } from './history-flags.ts';
import { parseTime, timeText } from './moments.ts';
import { Screen, type Segment } from './screen.ts';

/** `binnacle log [TYPE[/NAME]]`: one line for each change of the objects, oldest first. */
export async function log(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, {
    ...SOURCE_FLAGS,
    ...NAMESPACE_FLAG,
    follow: { type: 'boolean', short: 'f' },
    from: { type: 'string' },
    to: { type: 'string' },
    output: { type: 'string', short: 'o' },
  });
  const choice = readChoice('binnacle log', positionals, textFlag(values, 'namespace'));
  const isJson = readsJson(values);
  const screen = new Screen(output, { isFollowing: values['follow'] === true });
  const follow = values['follow'] === true ? untilInterrupted() : undefined;
  await withHistory(values, async (source) => {
    const bounds = await boundsOf(source, textFlag(values, 'from'), textFlag(values, 'to'));
    let shown = 0;
    for await (const change of source.changes({ ...choice, ...bounds, follow: follow?.signal })) {
      if (screen.isClosed) break;
      if (!isWorthALine(change)) continue;
      if (isJson) screen.raw(stringifyUnescaped(changeJson(change)));
      else screen.line(...lineOf(change, choice.name !== undefined));
      shown++;
    }
    await screen.end();
    if (shown === 0) output.stderr('No change of such an object is known of that time.\n');
    if (source.remark !== undefined) output.stderr(`${source.remark}\n`);
  }).finally(() => follow?.end());
}

/** Aborted by Ctrl-C. Waiting for what is written to a file keeps no process alive by itself. */
function untilInterrupted(): { signal: AbortSignal; end: () => void } {
  const stop = new AbortController();
  const alive = setInterval(() => undefined, 60_000);
  const interrupt = (): void => stop.abort();
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  return {
    signal: stop.signal,
    end() {
      clearInterval(alive);
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    },
  };
}

async function boundsOf(source: HistorySource, from: string | undefined, to: string | undefined): Promise<{ fromMs?: number; toMs?: number }> {
  if (from === undefined && to === undefined) return {};
  const endMs = await source.endMs();
  return { ...(from !== undefined && { fromMs: parseTime('--from', from, endMs) }), ...(to !== undefined && { toMs: parseTime('--to', to, endMs) }) };
}

/** A write that changed nothing but a version is none that anybody looks for. */
const isWorthALine = ({ type, fields }: ObjectChange): boolean => type !== 'modified' || fields.length > 0;

/** When, the change's name, who, the verb, which object unless it is one, and what. */
function lineOf(change: ObjectChange, isOne: boolean): Segment[] {
  const { id, timeMs, resource, key, type, fields, author, gapSinceMs } = change;
  const what = type === 'modified' ? fieldsSegments(hiddenFields(resource, fields)) : [];
  const verb: Segment[] =
    type === 'modified' && !author ? [] : [[`  ${verbText(change)}`, type === 'deleted' ? 'removed' : type === 'created' ? 'added' : 'plain']];
  return [
    [timeText(timeMs), 'time'],
    ...(id === undefined ? [] : [[`  ${id}`, 'faint'] as const]),
    [`  ${whoText(change)}`, 'who'],
    ...(isOne ? [] : [[`  ${objectText(resource, key)}`, 'name'] as const]),
    ...verb,
    ...(what.length > 0 ? [['  '] as const, ...what] : []),
    ...(gapSinceMs === undefined ? [] : [[`  (not watched since ${timeText(gapSinceMs)}: may be several changes)`, 'faint'] as const]),
  ];
}

export const logHelp = (program: string): string => `Shows the changes of objects, one line each: when, who (the user, and the field manager; of a
recording the field managers that the object names), and which fields from what to what. Resource
versions and managed fields are left out.

Usage:
  ${program} [TYPE | TYPE/NAME | TYPE NAME] [flags]

Flags:
${SOURCE_HELP}  -n, --namespace string    of one namespace; default: all
      --from, --to string   ${TIME_HELP}
  -f, --follow              show what else changes, until it is stopped
  -o json                   one object of JSON a line, with all values in full
`;
