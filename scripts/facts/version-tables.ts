import type { GateSpec } from './tree/feature-gates.ts';
import type { KindLifecycle } from './tree/api-lifecycle.ts';

/* What differs between the versions that a server can emulate: the newest and the three before it. What is the same in all of them is left out. */

const OLDER_RELEASES = 3;
const minorOf = (version: string): number => Number(version.split('.')[1]);

const head = (what: string): string => `/* Made by npm run facts from facts/: ${what} */\n`;

/** A function, so that a server that emulates nothing never makes the text; one line a gate. */
export function printGateHistory(history: Readonly<Record<string, readonly GateSpec[]>>, binary: string): string {
  const newest = minorOf(binary);
  const lines = Object.entries(history).flatMap(([name, specs]) => {
    const known = specs.filter(({ since }) => minorOf(since) <= newest);
    const first = known.findLastIndex(({ since, minCompatibility }) => minorOf(since) <= newest - OLDER_RELEASES && minCompatibility === undefined);
    const told = known.slice(Math.max(0, first));
    if (told.length === 0 || (told.length === 1 && minorOf(told[0]!.since) <= newest - OLDER_RELEASES)) return [];
    return [`${name}: ${told.map(printSpec).join(', ')}`];
  });
  return `${head('gates that were otherwise in a version that can be emulated, each with the versions since which it has been so.')}
export const gateHistory = (): string => \`
${lines.join('\n')}
\`;
`;
}

function printSpec({ since, stage, default: isOn, locked, minCompatibility }: GateSpec): string {
  const words = [since, stage === 'GA' ? stage : stage.toLowerCase(), isOn ? 'on' : 'off', ...(locked ? ['locked'] : [])];
  if (minCompatibility !== undefined) words.push(`min=${minCompatibility}`);
  return words.join(' ');
}

/** One line a kind of a group-version. */
export function printLifecycles(lifecycles: Readonly<Record<string, KindLifecycle>>, binary: string): string {
  const oldest = minorOf(binary) - OLDER_RELEASES;
  const isWithin = (version: string | undefined): boolean => version !== undefined && minorOf(version) > oldest && minorOf(version) <= minorOf(binary);
  const lines = Object.entries(lifecycles).flatMap(([kind, { introduced, removed }]) => {
    const words = [isWithin(introduced) && `introduced=${introduced}`, isWithin(removed) && `removed=${removed}`].filter((word) => word !== false);
    return words.length === 0 ? [] : [`${kind} ${words.join(' ')}`];
  });
  return `${head('kinds that came or went since the oldest version that can be emulated.')}
export const kindLifecycles = (): string => \`
${lines.join('\n')}
\`;
`;
}
