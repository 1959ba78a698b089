import type { Gates } from '../tree/feature-gates.ts';

export interface FlagFacts {
  name: string;
  type: string;
  default?: string;
  short?: string;
  deprecated?: true;
}

/** By the name of their set, `Secure serving`. */
export type FlagSets = Record<string, FlagFacts[]>;

/** A flag's line: its names, its type where it is no bool, and the sentence about it, at whose end the default stands. */
const FLAG = /^ {2,6}(?:-(\w), )?--([\w-]+)(?: (\S+))? {2,}(.*)$/;

/** The flags that `kube-apiserver --help` shows, without their sentences. */
export function flagsOf(help: string): FlagSets {
  const sets: FlagSets = {};
  let set: FlagFacts[] | undefined;
  let entry: string[] = [];
  const finish = (): void => {
    const match = entry.length === 0 ? null : FLAG.exec(entry[0]!);
    if (match && set) set.push(flagFrom(match, entry.join('\n')));
    entry = [];
  };
  for (const line of help.split('\n')) {
    const title = /^([A-Z][\w /-]*) flags:$/.exec(line)?.[1];
    if (title !== undefined) {
      finish();
      set = sets[title] = [];
    } else if (FLAG.test(line)) {
      finish();
      entry = [line];
    } else if (entry.length > 0 && line.trim() !== '') entry.push(line);
  }
  finish();
  return Object.fromEntries(Object.entries(sets).filter(([, flags]) => flags.length > 0));
}

function flagFrom([, short, name, type, sentence]: RegExpExecArray, text: string): FlagFacts {
  const told = /\(default (.*?)\)(?: \(DEPRECATED: [\s\S]*\))?\s*$/s.exec(text)?.[1];
  return {
    name: name!,
    type: type ?? 'bool',
    ...(told !== undefined && { default: told.replace(/^"(.*)"$/s, '$1') }),
    ...(short !== undefined && { short }),
    ...((/\(DEPRECATED: /.test(text) || sentence!.startsWith('DEPRECATED')) && { deprecated: true as const }),
  };
}

/** The gates that the help of `--feature-gates` lists: those that may be moved. */
export function gatesOf(help: string): Gates {
  const listed = [...help.matchAll(/^\s+kube:(\w+)=true\|false \((ALPHA|BETA|DEPRECATED|GA)? ?-? ?default=(true|false)\)(?:, or .*)?$/gm)];
  return Object.fromEntries(listed.map(([, name, stage, value]) => [name!, { stage: (stage ?? 'GA') as 'GA', default: value === 'true' }]));
}

/** The older versions that `--emulated-version` takes. */
export function emulatedVersions(help: string): string[] {
  const [, oldest, newest] = /kube=1\.(\d+)\.\.1\.(\d+)\(default/.exec(help) ?? [];
  if (oldest === undefined || newest === undefined) return [];
  return Array.from({ length: Number(newest) - Number(oldest) }, (_none, index) => `1.${Number(oldest) + index}`);
}
