import { baselineChecks } from './baseline-checks.ts';
import type { Check, PodLike, Violation } from './check.ts';
import type { Standard } from './policy.ts';
import { restrictedChecks } from './restricted-checks.ts';

type PodCheck = (pod: PodLike) => Violation | undefined;

const lastChange = Math.max(...[...baselineChecks, ...restrictedChecks].flatMap(({ versions }) => versions.map(({ since }) => since)));
const checksByStandard = new Map<string, readonly PodCheck[]>();

/** What of the pod the standard forbids: first what the baseline forbids, then the rest. */
export function violationsOf({ level, minor }: Standard, pod: PodLike): Violation[] {
  if (level === 'privileged') return [];
  return checksOf(level, Math.min(minor, lastChange))
    .map((check) => check(pod))
    .filter((violation) => violation !== undefined);
}

/** There are as many as versions with changes have passed, twice. */
function checksOf(level: 'baseline' | 'restricted', minor: number): readonly PodCheck[] {
  const key = `${level}:${minor}`;
  let checks = checksByStandard.get(key);
  if (checks === undefined) checksByStandard.set(key, (checks = gather(level, minor)));
  return checks;
}

function gather(level: 'baseline' | 'restricted', minor: number): PodCheck[] {
  const own = level === 'restricted' ? restrictedChecks.filter((check) => versionAt(check, minor)) : [];
  const replaced = new Set(own.map(({ replaces }) => replaces));
  const checks = [...baselineChecks.filter(({ id }) => !replaced.has(id)), ...own];
  return checks.flatMap((check) => versionAt(check, minor)?.check ?? []);
}

const versionAt = ({ versions }: Check, minor: number): Check['versions'][number] | undefined => versions.findLast(({ since }) => since <= minor);
