import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { goSources } from './go-source.ts';

/** A gate as it stands at one version. */
export interface GateFacts {
  readonly stage: 'ALPHA' | 'BETA' | 'GA' | 'DEPRECATED';
  readonly default: boolean;
  readonly locked?: true;
  /** Gates that must be on while this one is. */
  readonly needs?: readonly string[];
}

export type Gates = Record<string, GateFacts>;

/** The packages whose gates kube-apiserver registers (pkg/features/kube_features.go, init). The later registration of a gate wins. */
const FOLDERS = [
  'staging/src/k8s.io/client-go/features',
  'staging/src/k8s.io/apiserver/pkg/features',
  'staging/src/k8s.io/apiextensions-apiserver/pkg/features',
  'staging/src/k8s.io/component-base/logs/api/v1',
  'staging/src/k8s.io/component-base/metrics/features',
  'staging/src/k8s.io/component-base/zpages/features',
  'staging/src/k8s.io/controller-manager/pkg/features',
  'pkg/features',
];

/** Every featuregate.FeatureGate has these two (component-base/featuregate). */
const OWN_GATES: Gates = { AllAlpha: { stage: 'ALPHA', default: false }, AllBeta: { stage: 'BETA', default: false } };

/** One step of a gate's life. */
export interface GateSpec extends Omit<GateFacts, 'needs'> {
  /** `1.34` */
  readonly since: string;
  /** Counts only where all of the control plane is at least of this version (`--min-compatibility-version`). */
  readonly minCompatibility?: string;
}

/** The gates of kube-apiserver at a minor version, `1.36`. */
export function featureGates(tree: string, version: string): Gates {
  const { sources, gateOf } = readSources(tree);
  const gates = new Map<string, GateFacts>(Object.entries(OWN_GATES));
  for (const [gate, specs] of Object.entries(gateHistory(tree))) {
    const current = specAt(specs, version);
    if (current) gates.set(gate, current);
  }
  for (const source of sources) {
    for (const [constant, others] of dependencies(source)) {
      const gate = gates.get(gateOf(constant));
      if (gate && others.length > 0) gates.set(gateOf(constant), { ...gate, needs: others.map(gateOf) });
    }
  }
  return sorted(gates);
}

/** Every gate with its steps in order, those of later versions too. */
export function gateHistory(tree: string): Record<string, GateSpec[]> {
  const { sources, gateOf } = readSources(tree);
  const history = new Map<string, GateSpec[]>();
  for (const source of sources) for (const [constant, specs] of registrations(source)) history.set(gateOf(constant), readSpecs(specs));
  return sorted(history);
}

interface GateSources {
  sources: readonly string[];
  /** The gate that a constant names. */
  gateOf(constant: string): string;
}

function readSources(tree: string): GateSources {
  const missing = FOLDERS.filter((folder) => !readdirSync(tree).includes(folder.split('/')[0]!));
  if (missing.length > 0) throw new Error(`${tree} is no tree of Kubernetes: ${missing.join(', ')} missing`);
  const sources = FOLDERS.map((folder) => goSources(join(tree, folder)).join('\n'));
  const names = new Map(
    sources.flatMap((source) => [...source.matchAll(/\b(\w+)\s+(?:featuregate\.)?Feature\s+= "(\w+)"/g)].map(([, name, gate]) => [name!, gate!])),
  );
  return { sources, gateOf: (constant) => names.get(constant.slice(constant.lastIndexOf('.') + 1)) ?? constant.slice(constant.lastIndexOf('.') + 1) };
}

const sorted = <V>(gates: ReadonlyMap<string, V>): Record<string, V> => Object.fromEntries([...gates].toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** `Gate: { {Version: …, Default: …, PreRelease: …}, … },` */
function registrations(source: string): [string, string][] {
  return [...source.matchAll(/^\t+([\w.]+): +(?:featuregate\.VersionedSpecs)?\{((?:\s*\{Version:[^{}]*\},?)+)\s*\}/gm)].map(([, constant, specs]) => [
    constant!,
    specs!,
  ]);
}

/** `Gate: {Other, features.Another},` */
function dependencies(source: string): [string, string[]][] {
  const table = /FeatureGateDependencies = map\[featuregate\.Feature\]\[\]featuregate\.Feature\{\n([\s\S]*?)^\}/m.exec(source)?.[1] ?? '';
  return [...table.matchAll(/^\t([\w.]+):\s+\{([^{}]*)\}/gm)].map(([, constant, others]) => [
    constant!,
    [...others!.replaceAll('featuregate.Feature(', '').matchAll(/[\w.]+/g)].map(([other]) => other),
  ]);
}

const STAGES: Record<string, GateFacts['stage']> = { Alpha: 'ALPHA', Beta: 'BETA', GA: 'GA', Deprecated: 'DEPRECATED' };
const minorOf = (version: string): number => Number(version.split('.')[1]);

/** What a step says of its `--min-compatibility-version` holds for those after it too (component-base/featuregate, AddVersioned). */
function readSpecs(text: string): GateSpec[] {
  const specs: GateSpec[] = [];
  for (const [, since, rest] of text.matchAll(/\{Version: version\.MustParse\("([\d.]+)"\)([^{}]*)\}/g)) {
    const stage = /PreRelease: (?:featuregate\.)?(\w+)/.exec(rest!)?.[1] ?? '';
    const minCompatibility = /MinCompatibilityVersion: version\.MustParse\("([\d.]+)"\)/.exec(rest!)?.[1] ?? specs.at(-1)?.minCompatibility;
    specs.push({
      since: since!,
      stage: STAGES[stage] ?? 'GA',
      default: /\bDefault: true/.test(rest!),
      ...(/LockToDefault: true/.test(rest!) && { locked: true }),
      ...(minCompatibility !== undefined && { minCompatibility }),
    });
  }
  return specs;
}

/**
 * The last step that is not of a later version. A gate that begins later is not there yet. One that asks for a `--min-compatibility-version` is passed over
 * where the default, the version before, is older.
 */
function specAt(specs: readonly GateSpec[], version: string): GateFacts | undefined {
  const current = specs.filter(
    ({ since, minCompatibility = '0.0' }) => minorOf(since) <= minorOf(version) && minorOf(minCompatibility) <= minorOf(version) - 1,
  );
  const last = current.at(-1);
  return last && { stage: last.stage, default: last.default, ...(last.locked && { locked: true }) };
}
