import { type EffectiveVersion, compareReleases, releaseOf } from './effective-version.ts';
import { type GateGroup, gateGroups } from './feature-gate-facts.ts';
import { gateHistory } from './feature-gate-history.ts';

/** How a gate stands at one version. */
export type GateState = Pick<GateGroup, 'stage' | 'isOnByDefault' | 'isLocked'>;

export type GateTable = ReadonlyMap<string, GateState>;

const newest: GateTable = new Map(gateGroups.flatMap((group) => group.names.map((name): [string, GateState] => [name, group])));

/** All that there are, as the newest version has them. */
export const newestGates = (): GateTable => newest;

/** The gates that a version knows. Those of later ones are not there yet (kubernetes: component-base/featuregate, featureSpecAtEmulationAndMinCompatVersion). */
export function stateAt(version: EffectiveVersion): GateTable {
  if (version.isDefault) return newest;
  const table = new Map(newest);
  for (const line of gateHistory().trim().split('\n')) {
    const [name, steps] = line.split(': ') as [string, string];
    const state = steps
      .split(', ')
      .map(readStep)
      .findLast(({ since, min }) => compareReleases(since, version.emulation) <= 0 && (!min || compareReleases(min, version.minCompatibility) <= 0));
    if (state) table.set(name, state);
    else table.delete(name);
  }
  return table;
}

/** `1.34 beta on locked min=1.34` */
function readStep(text: string): GateState & { since: ReturnType<typeof releaseOf>; min: ReturnType<typeof releaseOf> | undefined } {
  const [since, stage, isOn, ...more] = text.split(' ') as [string, GateState['stage'], string, ...string[]];
  const min = more.find((word) => word.startsWith('min='))?.slice('min='.length);
  return {
    since: releaseOf(since),
    stage,
    isOnByDefault: isOn === 'on',
    isLocked: more.includes('locked'),
    min: min === undefined ? undefined : releaseOf(min),
  };
}
