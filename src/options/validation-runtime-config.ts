import type { Draft } from './completion.ts';
import { BINARY_RELEASE, compareReleases } from './effective-version.ts';

/** Keys that stand for all APIs of a kind. */
const STAGES = new Set(['api/all', 'api/ga', 'api/beta', 'api/alpha']);

/** The groups that kube-apiserver's schemes register, served by default or not. */
const GROUPS = new Set([
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'extensions',
  'flowcontrol.apiserver.k8s.io',
  'imagepolicy.k8s.io',
  'internal.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
  'storagemigration.k8s.io',
]);

export function* validateRuntimeConfig(options: Draft): Generator<string> {
  yield* validateForwardCompatibility(options);
  yield* validatePriorityAndFairness(options);
  const { runtimeConfig } = options;
  if (runtimeConfig.size === 1 && runtimeConfig.get('api/all') === false) {
    yield 'invalid runtime-config with only api/all=false';
    return;
  }
  const unknown = new Set<string>();
  for (const key of runtimeConfig.keys()) {
    if (STAGES.has(key)) continue;
    const [group, version, , ...more] = key.split('/');
    if (group === undefined || version === undefined || version === '' || more.length > 0) yield `runtime-config invalid key ${key}`;
    else if (!GROUPS.has(group)) unknown.add(`${group}/${version}`);
  }
  if (unknown.size > 0) yield `unknown api groups ${[...unknown].toSorted().join(',')}`;
}

function* validateForwardCompatibility(options: Draft): Generator<string> {
  if (compareReleases(options.effectiveVersion.emulation, BINARY_RELEASE) !== 0) return;
  const refused = 'cannot be set to true if the emulation version is the same as the binary version';
  if (options.emulationForwardCompatible) yield `ServerRunOptions.EmulationForwardCompatible ${refused}`;
  if (options.runtimeConfigEmulationForwardCompatible) yield `ServerRunOptions.RuntimeConfigEmulationForwardCompatible ${refused}`;
}

/** Priority and fairness keeps its configuration in an API, which must then be served. The most particular setting decides. */
function* validatePriorityAndFairness({ enablePriorityAndFairness, runtimeConfig }: Draft): Generator<string> {
  if (!enablePriorityAndFairness) return;
  for (const key of ['flowcontrol.apiserver.k8s.io/v1', 'api/ga', 'api/all']) {
    const value = runtimeConfig.get(key);
    if (value === undefined) continue;
    if (!value) yield `--runtime-config=${key}=false conflicts with --enable-priority-and-fairness=true`;
    return;
  }
}
