import { DEFAULT_EFFECTIVE_VERSION, type EffectiveVersion, printRelease } from './effective-version.ts';
import { gateWarning } from './feature-gate-effects.ts';
import { gateDependencies, gateGroups } from './feature-gate-facts.ts';
import { type GateState, type GateTable, newestGates, stateAt } from './feature-gate-table.ts';

/** Which features are on. Asking for a gate that does not exist throws: it is a slip in the code, not of the user. One of a later version is off. */
export interface FeatureGates {
  isEnabled(name: string): boolean;
  /** The gates that the version has which is served. */
  readonly known: GateTable;
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

/** All gates, with what upstream's metric of them calls their stages; those of features that are always there have none. */
export const listFeatures = (gates: FeatureGates) => (): Iterable<{ name: string; stage: string; isEnabled: boolean }> =>
  [...gates.known].map(([name, { stage }]) => ({ name, stage: stage === 'GA' ? '' : stage.toUpperCase(), isEnabled: gates.isEnabled(name) }));

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
export function resolveFeatureGates(settings: ReadonlyMap<string, readonly string[]>, version: EffectiveVersion = DEFAULT_EFFECTIVE_VERSION): Gates {
  const errors: string[] = [];
  if (settings.has('') && settings.has(KUBE)) errors.push('set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use');
  for (const component of settings.keys()) {
    if (component !== '' && component !== KUBE) errors.push(`component not registered: ${component}`);
  }
  const known = stateAt(version);
  const wanted = readPairs([...(settings.get('') ?? []), ...(settings.get(KUBE) ?? [])], errors);
  const gates = new SetGates(known, applyPairs(wanted, known, version, errors));
  if (errors.length === 0) checkDependencies(gates, errors);
  return { gates, errors, warnings: [...warnings(wanted, gates)] };
}

class SetGates implements FeatureGates {
  readonly known: GateTable;
  /** Those that were set, by name or with their stage. */
  readonly set: ReadonlyMap<string, boolean>;

  constructor(known: GateTable, set: ReadonlyMap<string, boolean>) {
    this.known = known;
    this.set = set;
  }

  isEnabled(name: string): boolean {
    const state = this.known.get(name);
    if (state) return this.set.get(name) ?? state.isOnByDefault;
    if (!newestGates().has(name)) throw new Error(`feature ${JSON.stringify(name)} is not registered in FeatureGate`);
    return false;
  }
}

function* warnings(wanted: ReadonlyMap<string, boolean>, { known, set }: SetGates): Generator<string> {
  for (const [name, value] of wanted) {
    const state = known.get(name);
    const warning = state && gateWarning(name, value, state);
    if (warning !== undefined) yield warning;
  }
  for (const [all, stage] of STAGES) {
    if (!wanted.has(all)) continue;
    const idle = [...set].filter(([name, value]) => {
      const state = known.get(name)!;
      return state.stage === stage && !wanted.has(name) && gateWarning(name, value, state) !== undefined;
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
function applyPairs(wanted: ReadonlyMap<string, boolean>, known: GateTable, version: EffectiveVersion, errors: string[]): Map<string, boolean> {
  const set = new Map<string, boolean>();
  for (const [all, stage] of STAGES) {
    const value = wanted.get(all);
    if (value === undefined) continue;
    for (const [name, state] of known) if (state.stage === stage) set.set(name, value);
  }
  for (const [name, value] of wanted) {
    const error = settingError(name, value, known.get(name), version);
    if (error === undefined) set.set(name, value);
    else errors.push(error);
  }
  return set;
}

function settingError(name: string, value: boolean, state: GateState | undefined, { emulation, minCompatibility }: EffectiveVersion): string | undefined {
  if (state) {
    const { isLocked, isOnByDefault } = state;
    return isLocked && isOnByDefault !== value ? `cannot set feature gate ${name} to ${value}, feature is locked to ${isOnByDefault}` : undefined;
  }
  if (!newestGates().has(name)) return `unrecognized feature gate: ${name}`;
  const at = `at emulated version ${printRelease(emulation)}, min compatibility version ${printRelease(minCompatibility)}`;
  return `cannot set feature gate ${name} to ${value}, feature is PreAlpha ${at}`;
}

function checkDependencies(gates: FeatureGates, errors: string[]): void {
  for (const [name, needed] of Object.entries(gateDependencies)) {
    if (!gates.isEnabled(name)) continue;
    const missing = needed.filter((dependency) => !gates.isEnabled(dependency));
    if (missing.length > 0) errors.push(`${name} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`);
  }
}
