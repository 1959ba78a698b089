import type { Admission, AdmissionAttributes, AdmissionOperation } from '../registry/admission.ts';
import { qualifiedResource } from '../util/api-object.ts';
import type { AdmissionMetrics, Durations, StepLabel } from './metrics.ts';
import type { AdmissionPlugin } from './plugin.ts';

type Step = 'mutate' | 'validate';

/** A plug-in, and how long it takes over one operation; undefined where nobody counts. */
interface Asked {
  readonly plugin: AdmissionPlugin;
  readonly durations: Durations | undefined;
}

/** Who is asked about one operation: of the targets that someone named, those who look at it; of all else, those who look at everything. */
interface Route {
  readonly byTarget: ReadonlyMap<string, readonly Asked[]>;
  readonly others: readonly Asked[];
  /** Of the whole step. */
  readonly durations: Durations;
}

const OPERATIONS: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const LABELS: Readonly<Record<Step, StepLabel>> = { mutate: 'admit', validate: 'validate' };

/**
 * The plug-ins in order: every mutation before the first validation. What each operation meets is worked out once, in `use`, which is called before the
 * first request: plug-ins read stores, and stores are made with the chain that their writes pass.
 */
export class AdmissionChain implements Admission {
  readonly #metrics: AdmissionMetrics;
  #routes: Record<Step, ReadonlyMap<AdmissionOperation, Route>> | undefined;

  constructor(metrics: AdmissionMetrics) {
    this.#metrics = metrics;
  }

  /** `checks` stand behind the plug-ins, and are no plug-ins to those who count. */
  use(plugins: readonly AdmissionPlugin[], checks: readonly AdmissionPlugin[] = []): void {
    const routes = (step: Step): Map<AdmissionOperation, Route> =>
      new Map(OPERATIONS.map((operation) => [operation, routeOf(this.#asked(step, operation, plugins, checks), this.#metrics.step(LABELS[step], operation))]));
    this.#routes = { mutate: routes('mutate'), validate: routes('validate') };
  }

  #asked(step: Step, operation: AdmissionOperation, plugins: readonly AdmissionPlugin[], checks: readonly AdmissionPlugin[]): Asked[] {
    const handles = (plugin: AdmissionPlugin): boolean => plugin[step] !== undefined && plugin.operations.has(operation);
    return [
      ...plugins.filter(handles).map((plugin) => ({ plugin, durations: this.#metrics.plugin(plugin.name, LABELS[step], operation) })),
      ...checks.filter(handles).map((plugin) => ({ plugin, durations: undefined })),
    ];
  }

  mutate(attributes: AdmissionAttributes): Promise<void> | void {
    const route = this.#routes?.mutate.get(attributes.operation);
    if (!route) return;
    const asked = askedOf(route, attributes);
    return measured(route.durations, () => {
      const waiting = run(asked, 'mutate', attributes, 0);
      return waiting ? waiting.then(() => runAgain(asked, attributes)) : runAgain(asked, attributes);
    });
  }
  validate(attributes: AdmissionAttributes): Promise<void> | void {
    const route = this.#routes?.validate.get(attributes.operation);
    return route && measured(route.durations, () => run(askedOf(route, attributes), 'validate', attributes, 0));
  }
}

const askedOf = ({ byTarget, others }: Route, attributes: AdmissionAttributes): readonly Asked[] => byTarget.get(targetOf(attributes)) ?? others;

const targetOf = (attributes: AdmissionAttributes): string => {
  const resource = qualifiedResource(attributes);
  return attributes.subresource === '' ? resource : `${resource}/${attributes.subresource}`;
};

function routeOf(asked: readonly Asked[], durations: Durations): Route {
  const targets = new Set(asked.flatMap(({ plugin }) => plugin.targets ?? []));
  const lookingAt = (target: string): Asked[] => asked.filter(({ plugin }) => plugin.targets?.includes(target) ?? true);
  return {
    byTarget: new Map([...targets].map((target) => [target, lookingAt(target)])),
    others: asked.filter(({ plugin }) => !plugin.targets),
    durations,
  };
}

/** A second round of mutations, where one of them has asked for it (apiserver/pkg/admission/reinvocation.go). */
function runAgain(asked: readonly Asked[], attributes: AdmissionAttributes): Promise<void> | void {
  if (attributes.reinvocation !== 'requested') return;
  attributes.reinvocation = 'running';
  return run(asked, 'mutate', attributes, 0);
}

/** Synchronous for as long as the plug-ins are: most writes meet none that waits. */
function run(asked: readonly Asked[], step: Step, attributes: AdmissionAttributes, from: number): Promise<void> | void {
  for (let i = from; i < asked.length; i++) {
    const waiting = ask(asked[i]!, step, attributes);
    if (waiting) return waiting.then(() => run(asked, step, attributes, i + 1));
  }
}

/** The plug-in's answer, and the time it takes, whether it comes at once or later. */
function ask({ plugin, durations }: Asked, step: Step, attributes: AdmissionAttributes): Promise<void> | void {
  if (!durations) return plugin[step]!(attributes);
  const beganMs = performance.now();
  let waiting: Promise<void> | void;
  try {
    waiting = plugin[step]!(attributes);
  } catch (error) {
    durations.observe(performance.now() - beganMs, true);
    throw error;
  }
  return ended(durations, beganMs, waiting);
}

/** The same of a whole step. */
function measured(durations: Durations, work: () => Promise<void> | void): Promise<void> | void {
  const beganMs = performance.now();
  let waiting: Promise<void> | void;
  try {
    waiting = work();
  } catch (error) {
    durations.observe(performance.now() - beganMs, true);
    throw error;
  }
  return ended(durations, beganMs, waiting);
}

function ended(durations: Durations, beganMs: number, waiting: Promise<void> | void): Promise<void> | void {
  if (!waiting) return durations.observe(performance.now() - beganMs, false);
  return waiting.then(
    () => durations.observe(performance.now() - beganMs, false),
    (error: unknown) => {
      durations.observe(performance.now() - beganMs, true);
      throw error;
    },
  );
}
