import { parseArgs } from 'node:util';
import { CommandError } from '../../options/command-error.ts';

interface OwnFlag {
  type: 'string' | 'boolean';
  short?: string;
  default?: string | boolean;
}

interface OwnFlags {
  values: Record<string, string | boolean | undefined>;
  positionals: string[];
}

/** The flags of a command that is no server. What is wrong is a CommandError of one line. */
export function readOwnFlags(args: readonly string[], options: Record<string, OwnFlag>): OwnFlags {
  return readingFlags(() => parseArgs({ args: [...args], options, allowPositionals: true }) as OwnFlags);
}

/** What `parseArgs` throws becomes a CommandError of one line. */
export function readingFlags<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new CommandError((error as Error).message.split('\n', 1)[0]!);
  }
}

export function noArguments(program: string, positionals: readonly string[]): void {
  if (positionals.length > 0) throw new CommandError(`${JSON.stringify(program)} takes flags only, got ${JSON.stringify(positionals[0])}`);
}

/** The one argument that the command takes. */
export function onlyArgument(program: string, name: string, positionals: readonly string[]): string {
  if (positionals.length !== 1) throw new CommandError(`${JSON.stringify(program)} takes one argument, the ${name}; it got ${positionals.length}`);
  return positionals[0]!;
}
