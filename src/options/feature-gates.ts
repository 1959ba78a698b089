import { gateWarning } from './feature-gate-effects.ts';
import { gateDependencies, type GateGroup, gateGroups } from './feature-gate-facts.ts';

/** Which features are on. Asking for a gate that does not exist throws: it is a slip in the code, not of the user. */
export interface FeatureGates {
  isEnabled(name: string): boolean;
}

interface Gates {
  readonly gates: FeatureGates;
  /** In upstream's words; empty when all is well. */
  readonly errors: readonly string[];
  /** One line for each gate that was moved and changes nothing, or not all that it would upstream. */
  readonly warnings: readonly string[];
}

const STAGES = [
  ['AllAlpha', 'alpha'],
  ['AllBeta', 'beta'],
] as const;

/** The component that a gate belongs to when none is named. */
const KUBE = 'kube';

const groupByGate: ReadonlyMap<string, GateGroup> = new Map(gateGroups.flatMap((group): [string, GateGroup][] => group.names.map((name) => [name, group])));

/** All gates, with what upstream's metric of them calls their stages; those of features that are always there have none. */
export const listFeatures = (gates: FeatureGates) => (): Iterable<{ name: string; stage: string; isEnabled: boolean }> =>
  gateGroups.flatMap(({ stage, names }) => names.map((name) => ({ name, stage: stage === 'GA' ? '' : stage.toUpperCase(), isEnabled: gates.isEnabled(name) })));

/** One line a gate that may be moved, for `--help`. */
export function gateHelp(): string {
  const lines: string[] = [];
  for (const { stage, isOnByDefault, names } of gateGroups) {
    if (stage === 'GA' || stage === 'deprecated') continue;
    for (const name of names) lines.push(`${KUBE}:${name}=true|false (${stage.toUpperCase()} - default=${isOnByDefault})`);
  }
  return lines.toSorted().join('\n');
}

/** Settings as `--feature-gates` was parsed: the pairs of each component; pairs with no component are under ''. */
export function resolveFeatureGates(settings: ReadonlyMap<string, readonly string[]>): Gates {
  const errors: string[] = [];
  if (settings.has('') && settings.has(KUBE)) errors.push('set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use');
  for (const component of settings.keys()) {
    if (component !== '' && component !== KUBE) errors.push(`component not registered: ${component}`);
  }
  const wanted = readPairs([...(settings.get('') ?? []), ...(settings.get(KUBE) ?? [])], errors);
  const state = applyPairs(wanted, errors);
  if (errors.length === 0) checkDependencies(state, errors);
  return { gates: { isEnabled: (name) => stateOf(state, name) }, errors, warnings: [...warnings(wanted, state)] };
}

function* warnings(wanted: ReadonlyMap<string, boolean>, state: ReadonlyMap<string, boolean>): Generator<string> {
  for (const [name, value] of wanted) {
    const group = groupByGate.get(name);
    const warning = group && gateWarning(name, value, group);
    if (warning !== undefined) yield warning;
  }
  for (const [all, stage] of STAGES) {
    if (!wanted.has(all)) continue;
    const idle = [...state].filter(([name, value]) => {
      const group = groupByGate.get(name)!;
      return group.stage === stage && !wanted.has(name) && gateWarning(name, value, group) !== undefined;
    });
    if (idle.length > 0)
      yield `--feature-gates: ${all}=${wanted.get(all)} moves gates that change nothing here, or not all: ${idle.map(([name]) => name).join(', ')}`;
  }
}

function readPairs(pairs: readonly string[], errors: string[]): Map<string, boolean> {
  const wanted = new Map<string, boolean>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals < 0 ? undefined : equals).trim();
    const value = pair.slice(equals + 1).trim();
    if (equals < 0) errors.push(`missing bool value for ${name}`);
    else if (!/^(1|t|true|0|f|false)$/i.test(value))
      errors.push(`invalid value of ${name}=${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`);
    else wanted.set(name, /^(1|t|true)$/i.test(value));
  }
  return wanted;
}

/** AllAlpha and AllBeta move their stage as a whole; gates named one by one win over them, wherever they stand. */
function applyPairs(wanted: ReadonlyMap<string, boolean>, errors: string[]): Map<string, boolean> {
  const state = new Map<string, boolean>();
  for (const [all, stage] of STAGES) {
    const value = wanted.get(all);
    if (value === undefined) continue;
    for (const group of gateGroups) if (group.stage === stage) for (const name of group.names) state.set(name, value);
  }
  for (const [name, value] of wanted) {
    const group = groupByGate.get(name);
    if (!group) errors.push(`unrecognized feature gate: ${name}`);
    else if (group.isLocked && group.isOnByDefault !== value)
      errors.push(`cannot set feature gate ${name} to ${value}, feature is locked to ${group.isOnByDefault}`);
    else state.set(name, value);
  }
  return state;
}

function stateOf(state: ReadonlyMap<string, boolean>, name: string): boolean {
  const group = groupByGate.get(name);
  if (!group) throw new Error(`feature ${JSON.stringify(name)} is not registered in FeatureGate`);
  return state.get(name) ?? group.isOnByDefault;
}

function checkDependencies(state: ReadonlyMap<string, boolean>, errors: string[]): void {
  for (const [name, needed] of Object.entries(gateDependencies)) {
    if (!stateOf(state, name)) continue;
    const missing = needed.filter((dependency) => !stateOf(state, dependency));
    if (missing.length > 0) errors.push(`${name} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`);
  }
}
