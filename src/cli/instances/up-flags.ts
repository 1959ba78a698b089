import { CommandError } from '../../options/command-error.ts';
import { namedFolder } from './instance.ts';

/** What `binnacle up` takes beside the flags of a server. */
export interface UpFlags {
  detach: boolean;
  name: string | undefined;
  crds: readonly string[];
  apply: readonly string[];
  /** Apply again what is saved. */
  watch: boolean;
}

const VALUE_FLAG = /^--(name|crds|apply)(?:=(.*))?$/s;
const SWITCH_FLAG = /^--(detach|watch)(?:=(true|false))?$/;

/** Takes these flags out of the arguments. What is left is for a server; a name has become its folder. */
export function takeUpFlags(args: readonly string[]): { flags: UpFlags; serverArgs: string[] } {
  const values: Record<'name' | 'crds' | 'apply', string[]> = { name: [], crds: [], apply: [] };
  const serverArgs: string[] = [];
  const switches = { detach: false, watch: false };
  const rest = [...args];
  while (rest.length > 0) {
    const arg = rest.shift()!;
    const asSwitch = SWITCH_FLAG.exec(arg);
    const [, flag, given] = VALUE_FLAG.exec(arg) ?? [];
    if (asSwitch) switches[asSwitch[1] as keyof typeof switches] = asSwitch[2] !== 'false';
    else if (flag === undefined) serverArgs.push(arg);
    else {
      const value = given ?? rest.shift();
      if (value === undefined || value === '') throw new CommandError(`flag needs an argument: --${flag}`);
      values[flag as keyof typeof values].push(value);
    }
  }
  const name = values.name.at(-1);
  if (switches.watch && values.crds.length + values.apply.length === 0) throw new CommandError('--watch needs --apply or --crds: what is to be watched');
  if (name !== undefined) serverArgs.unshift(`--data-dir=${namedFolder(name)}`);
  return { flags: { ...switches, name, crds: values.crds, apply: values.apply }, serverArgs };
}
