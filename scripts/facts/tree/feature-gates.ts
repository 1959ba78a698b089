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

/** The gates of kube-apiserver at a minor version, `1.36`. */
export function featureGates(tree: string, version: string): Gates {
  const missing = FOLDERS.filter((folder) => !readdirSync(tree).includes(folder.split('/')[0]!));
  if (missing.length > 0) throw new Error(`${tree} is no tree of Kubernetes: ${missing.join(', ')} missing`);
  const gates = new Map<string, GateFacts>(Object.entries(OWN_GATES));
  const sources = FOLDERS.map((folder) => goSources(join(tree, folder)).join('\n'));
  /** The name of a constant, and the gate that it names. */
  const names = new Map(
    sources.flatMap((source) => [...source.matchAll(/\b(\w+)\s+(?:featuregate\.)?Feature\s+= "(\w+)"/g)].map(([, name, gate]) => [name!, gate!])),
  );
  const gateOf = (constant: string): string => names.get(constant.slice(constant.lastIndexOf('.') + 1)) ?? constant.slice(constant.lastIndexOf('.') + 1);
  for (const source of sources) {
    for (const [constant, specs] of registrations(source)) {
      const current = specAt(specs, version);
      if (current) gates.set(gateOf(constant), current);
    }
  }
  for (const source of sources) {
    for (const [constant, others] of dependencies(source)) {
      const gate = gates.get(gateOf(constant));
      if (gate && others.length > 0) gates.set(gateOf(constant), { ...gate, needs: others.map(gateOf) });
    }
  }
  return Object.fromEntries([...gates].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

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

/**
 * The last specification that is not of a later version. A gate that begins later is not there yet. One that asks for a `--min-compatibility-version` is passed over
 * where the default, the version before, is older.
 */
function specAt(specs: string, version: string): GateFacts | undefined {
  const all = [...specs.matchAll(/\{Version: version\.MustParse\("([\d.]+)"\)([^{}]*)\}/g)].map(([, since, rest]) => ({ since: since!, rest: rest! }));
  const oldestPeer = ({ rest }: { rest: string }): number => minorOf(/MinCompatibilityVersion: version\.MustParse\("([\d.]+)"\)/.exec(rest)?.[1] ?? '0.0');
  const current = all.filter((spec) => minorOf(spec.since) <= minorOf(version) && oldestPeer(spec) <= minorOf(version) - 1).at(-1);
  if (!current) return undefined;
  const stage = /PreRelease: (?:featuregate\.)?(\w+)/.exec(current.rest)?.[1] ?? '';
  return { stage: STAGES[stage] ?? 'GA', default: /\bDefault: true/.test(current.rest), ...(/LockToDefault: true/.test(current.rest) && { locked: true }) };
}
