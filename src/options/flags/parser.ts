import { CommandError } from '../command-error.ts';
import { type AnyFlag, stateWarning } from './flag.ts';
import { nearest } from './nearest.ts';
import { defaultOptions, type FlagName, flagsByName, optionName, type Options } from './options.ts';

export interface ParsedFlags {
  readonly options: Options;
  /** The flags that the command line names. */
  readonly given: ReadonlySet<FlagName>;
  /** One line for each flag that is deprecated or does nothing yet. */
  readonly warnings: readonly string[];
  readonly positional: readonly string[];
}

interface Occurrence {
  name: string;
  flag: AnyFlag;
  value: string;
}

const flagsByShort = new Map([...flagsByName].flatMap(([name, flag]): [string, string][] => (flag.short === undefined ? [] : [[flag.short, name]])));

/**
 * Reads a command line as pflag does: `--a=b`, `--a b`, `-a b`, `-ab`, `--` before arguments that look like flags. Underscores in names stand
 * for dashes. Throws a CommandError at the first thing that is wrong.
 */
export function parseFlags(args: readonly string[]): ParsedFlags {
  const options: Record<string, unknown> = defaultOptions();
  const given = new Set<FlagName>();
  const warnings = new Set<string>();
  const positional: string[] = [];
  const rest = [...args];

  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--') {
      positional.push(...rest.splice(0));
    } else if (arg.startsWith('--')) {
      assign(longFlag(arg, rest));
    } else if (arg.startsWith('-') && arg.length > 1) {
      for (const occurrence of shortFlags(arg, rest)) assign(occurrence);
    } else {
      positional.push(arg);
    }
  }
  return { options: options as Options, given, warnings: [...warnings], positional };

  function assign({ name, flag, value }: Occurrence): void {
    const key = optionName(name, flag);
    const previous = given.has(name as FlagName) ? options[key] : undefined;
    options[key] = readValue(name, flag, value, previous);
    given.add(name as FlagName);
    if (flag.deprecated !== undefined) warnings.add(`Flag --${name} has been deprecated, ${flag.deprecated}`);
    const warning = stateWarning(name, flag);
    if (warning !== undefined) warnings.add(warning);
  }
}

function readValue(name: string, flag: AnyFlag, text: string, previous: unknown): unknown {
  try {
    return flag.type.parse(text, previous);
  } catch (error) {
    const shown = flag.short === undefined ? `--${name}` : `-${flag.short}, --${name}`;
    throw new CommandError(`invalid argument ${JSON.stringify(text)} for ${JSON.stringify(shown)} flag: ${(error as Error).message}`);
  }
}

function longFlag(arg: string, rest: string[]): Occurrence {
  const equals = arg.indexOf('=');
  const written = arg.slice(2, equals < 0 ? undefined : equals);
  if (written === '' || written.startsWith('-')) throw new CommandError(`bad flag syntax: ${arg}`);
  const name = written.replaceAll('_', '-');
  const flag = flagsByName.get(name);
  if (!flag) {
    const meant = nearest(name, flagsByName.keys());
    throw new CommandError(`unknown flag: --${written}${meant === undefined ? '; `binnacle help serve` lists all flags' : `; did you mean --${meant}?`}`);
  }
  const value = equals < 0 ? (flag.type.implied ?? rest.shift()) : arg.slice(equals + 1);
  if (value === undefined) throw new CommandError(`flag needs an argument: --${name}`);
  return { name, flag, value };
}

/** `-v4`, `-v=4`, `-v 4`; flags that need no value may be written together with a last one that does: `-hv4`. */
function* shortFlags(arg: string, rest: string[]): Generator<Occurrence> {
  let letters = arg.slice(1);
  while (letters !== '') {
    const letter = letters[0]!;
    const name = flagsByShort.get(letter);
    if (name === undefined)
      throw new CommandError(`unknown shorthand flag: '${letter}' in ${arg}; known are ${[...flagsByShort.keys()].map((short) => `-${short}`).join(' and ')}`);
    const flag = flagsByName.get(name)!;
    const tail = letters.slice(1);
    if (tail.startsWith('=')) {
      yield { name, flag, value: tail.slice(1) };
      return;
    }
    if (flag.type.implied !== undefined) {
      yield { name, flag, value: flag.type.implied };
      letters = tail;
      continue;
    }
    const value = tail === '' ? rest.shift() : tail;
    if (value === undefined) throw new CommandError(`flag needs an argument: '${letter}' in ${arg}`);
    yield { name, flag, value };
    return;
  }
}
