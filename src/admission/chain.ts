import type { Admission, AdmissionAttributes, AdmissionOperation } from '../registry/admission.ts';
import { qualifiedResource } from '../util/api-object.ts';
import type { AdmissionPlugin } from './plugin.ts';

type Step = 'mutate' | 'validate';

/** Who is asked about one operation: of the targets that someone named, those who look at it; of all else, those who look at everything. */
interface Route {
  byTarget: ReadonlyMap<string, readonly AdmissionPlugin[]>;
  others: readonly AdmissionPlugin[];
}

const OPERATIONS: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const NOBODY: Route = { byTarget: new Map(), others: [] };

/**
 * The plug-ins in order: every mutation before the first validation. What each operation meets is worked out once, in `use`, which is called before the
 * first request: plug-ins read stores, and stores are made with the chain that their writes pass.
 */
export class AdmissionChain implements Admission {
  #routes: Record<Step, ReadonlyMap<AdmissionOperation, Route>> = { mutate: new Map(), validate: new Map() };

  use(plugins: readonly AdmissionPlugin[]): void {
    this.#routes = { mutate: routesOf(plugins, 'mutate'), validate: routesOf(plugins, 'validate') };
  }

  mutate(attributes: AdmissionAttributes): Promise<void> | void {
    const plugins = this.#pluginsFor('mutate', attributes);
    const waiting = run(plugins, 'mutate', attributes, 0);
    return waiting ? waiting.then(() => runAgain(plugins, attributes)) : runAgain(plugins, attributes);
  }
  validate(attributes: AdmissionAttributes): Promise<void> | void {
    return run(this.#pluginsFor('validate', attributes), 'validate', attributes, 0);
  }

  #pluginsFor(step: Step, attributes: AdmissionAttributes): readonly AdmissionPlugin[] {
    const { byTarget, others } = this.#routes[step].get(attributes.operation) ?? NOBODY;
    return byTarget.get(targetOf(attributes)) ?? others;
  }
}

const targetOf = (attributes: AdmissionAttributes): string => {
  const resource = qualifiedResource(attributes);
  return attributes.subresource === '' ? resource : `${resource}/${attributes.subresource}`;
};

function routesOf(plugins: readonly AdmissionPlugin[], step: Step): Map<AdmissionOperation, Route> {
  return new Map(OPERATIONS.map((operation) => [operation, routeOf(plugins.filter((plugin) => plugin[step] && plugin.operations.has(operation)))]));
}

function routeOf(plugins: readonly AdmissionPlugin[]): Route {
  const targets = new Set(plugins.flatMap((plugin) => plugin.targets ?? []));
  const lookingAt = (target: string): AdmissionPlugin[] => plugins.filter((plugin) => plugin.targets?.includes(target) ?? true);
  return { byTarget: new Map([...targets].map((target) => [target, lookingAt(target)])), others: plugins.filter((plugin) => !plugin.targets) };
}

/** A second round of mutations, where one of them has asked for it (apiserver/pkg/admission/reinvocation.go). */
function runAgain(plugins: readonly AdmissionPlugin[], attributes: AdmissionAttributes): Promise<void> | void {
  if (attributes.reinvocation !== 'requested') return;
  attributes.reinvocation = 'running';
  return run(plugins, 'mutate', attributes, 0);
}

/** Synchronous for as long as the plug-ins are: most writes meet none that waits. */
function run(plugins: readonly AdmissionPlugin[], step: Step, attributes: AdmissionAttributes, from: number): Promise<void> | void {
  for (let i = from; i < plugins.length; i++) {
    const waiting = plugins[i]![step]!(attributes);
    if (waiting) return waiting.then(() => run(plugins, step, attributes, i + 1));
  }
}
