import { type AnyFlag, type FlagSet } from './flag.ts';
import { flagSets } from './options.ts';

/** Columns before a flag's help where it stands on lines of its own. */
const INDENT = 16;
/** Narrower terminals are not worth wrapping for. */
const MIN_COLUMNS = 40;

/**
 * All flags by section, as component-base/cli/flag prints them: on a terminal each flag's help stands wrapped below it; elsewhere
 * (`columns` 0) beside it, on one line, in a column.
 */
export function flagsHelp(columns: number): string {
  return flagSets.map((set: FlagSet) => `\n${capitalize(set.title)} flags:\n\n${sectionHelp(set, columns)}`).join('');
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function sectionHelp(set: FlagSet, columns: number): string {
  const flags = Object.entries(set.flags).filter(([, flag]) => !flag.isHidden);
  const rows = flags.map(([name, flag]) => ({ head: flagHead(name, flag), help: flagHelp(flag) }));
  if (columns >= MIN_COLUMNS) return rows.map(({ head, help }) => `${head}\n${indent(wrap(help, columns - INDENT), INDENT)}\n`).join('');
  const width = Math.max(...rows.map(({ head }) => head.length)) + 3;
  return rows.map(({ head, help }) => `${head.padEnd(width)}${indent(help.split('\n'), width).trimStart()}\n`).join('');
}

function flagHead(name: string, { short, type }: AnyFlag): string {
  const dashes = short === undefined ? `      --${name}` : `  -${short}, --${name}`;
  return type.label === '' ? dashes : `${dashes} ${type.label}`;
}

function flagHelp(flag: AnyFlag): string {
  const shownDefault = flag.type.format(flag.default);
  const isZero = shownDefault === flag.type.format(flag.type.zero);
  return [
    flag.help,
    isZero ? '' : ` (default ${shownDefault})`,
    flag.deprecated === undefined ? '' : ` (DEPRECATED: ${flag.deprecated})`,
    stateNote(flag),
  ].join('');
}

const stateNote = ({ state }: AnyFlag): string => (state.is === 'noEffect' ? ` (no effect: ${state.reason})` : '');

const indent = (lines: readonly string[], width: number): string => lines.map((line) => ' '.repeat(width) + line).join('\n');

function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines = [''];
    for (const word of paragraph.split(' ')) {
      const line = lines.at(-1)!;
      if (line === '') lines[lines.length - 1] = word;
      else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
      else lines.push(word);
    }
    return lines;
  });
}
