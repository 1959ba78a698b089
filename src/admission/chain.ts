import type { AdmissionController, AdmissionAttributes, AdmissionOperation } from '../registry/admission.ts';
import type { FieldError } from '../api/field-errors.ts';
import { qualifiedResource } from '../api/api-object.ts';
import type { AdmissionMetrics, Durations, StepLabel } from './metrics.ts';
import type { AdmissionPlugin } from './plugin.ts';

type Step = 'mutate' | 'validate';

/** What is done about a write: by one plug-in, or in the whole of a step. */
type Work = (attributes: AdmissionAttributes) => Promise<void> | void;

/** A plug-in's part in one operation. */
interface Asked {
  readonly targets: AdmissionPlugin['targets'];
  readonly work: Work;
  /** How long it takes; undefined where nobody counts. */
  readonly durations: Durations | undefined;
}

/** What one operation meets: of the targets that someone named, those who look at it; of all else, those who look at everything. */
interface Route {
  readonly byTarget: ReadonlyMap<string, Work>;
  readonly others: Work;
  /** Of the whole step. */
  readonly durations: Durations;
}

const OPERATIONS: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const LABELS: Readonly<Record<Step, StepLabel>> = { mutate: 'admit', validate: 'validate' };

/**
 * The plug-ins in order: every mutation before the first validation. What each operation meets is worked out once, in `use`, which is called before the
 * first request: plug-ins read stores, and stores are made with the chain that their writes pass.
 */
export class AdmissionChain implements AdmissionController {
  readonly #metrics: AdmissionMetrics;
  #rightsChecks: readonly AdmissionPlugin[] = [];
  #routes: Record<Step, ReadonlyMap<AdmissionOperation, Route>> | undefined;

  constructor(metrics: AdmissionMetrics) {
    this.#metrics = metrics;
  }

  /** `checks` stand behind the plug-ins, and are no plug-ins to those who count. */
  use(plugins: readonly AdmissionPlugin[], checks: readonly AdmissionPlugin[] = []): void {
    const routes = (step: Step): Map<AdmissionOperation, Route> =>
      new Map(OPERATIONS.map((operation) => [operation, this.#route(step, operation, this.#asked(step, operation, plugins, checks))]));
    this.#rightsChecks = checks.filter(({ rights }) => rights !== undefined);
    this.#routes = { mutate: routes('mutate'), validate: routes('validate') };
  }

  #asked(step: Step, operation: AdmissionOperation, plugins: readonly AdmissionPlugin[], checks: readonly AdmissionPlugin[]): Asked[] {
    const handles = (plugin: AdmissionPlugin): boolean => plugin[step] !== undefined && plugin.operations.has(operation);
    const asked = (plugin: AdmissionPlugin, durations: Durations | undefined): Asked => ({
      targets: plugin.targets,
      work: (attributes) => plugin[step]!(attributes),
      durations,
    });
    return [
      ...plugins.filter(handles).map((plugin) => asked(plugin, this.#metrics.plugin(plugin.name, LABELS[step], operation))),
      ...checks.filter(handles).map((check) => asked(check, undefined)),
    ];
  }

  #route(step: Step, operation: AdmissionOperation, asked: readonly Asked[]): Route {
    const workOf = step === 'mutate' ? askTwice : askOnce;
    const named = new Set(asked.flatMap(({ targets }) => targets ?? []));
    const lookingAt = (target: string): Asked[] => asked.filter(({ targets }) => targets?.includes(target) ?? true);
    return {
      byTarget: new Map([...named].map((target) => [target, workOf(lookingAt(target))])),
      others: workOf(asked.filter(({ targets }) => !targets)),
      durations: this.#metrics.step(LABELS[step], operation),
    };
  }

  mutate(attributes: AdmissionAttributes): Promise<void> | void {
    return follow(this.#routes?.mutate, attributes);
  }
  validate(attributes: AdmissionAttributes): Promise<void> | void {
    return follow(this.#routes?.validate, attributes);
  }

  async rights(attributes: AdmissionAttributes): Promise<readonly FieldError[]> {
    const target = targetOf(attributes);
    const asked = this.#rightsChecks.filter(({ operations, targets }) => operations.has(attributes.operation) && (targets?.includes(target) ?? true));
    return (await Promise.all(asked.map((check) => check.rights!(attributes)))).flat();
  }
}

function follow(routes: ReadonlyMap<AdmissionOperation, Route> | undefined, attributes: AdmissionAttributes): Promise<void> | void {
  const route = routes?.get(attributes.operation);
  return route && measured(route.durations, route.byTarget.get(targetOf(attributes)) ?? route.others, attributes);
}

const targetOf = (attributes: AdmissionAttributes): string => {
  const resource = qualifiedResource(attributes);
  return attributes.subresource === '' ? resource : `${resource}/${attributes.subresource}`;
};

const askOnce =
  (asked: readonly Asked[]): Work =>
  (attributes) =>
    run(asked, attributes, 0);

/** With a second round of mutations, where one of the first has asked for it (apiserver/pkg/admission/reinvocation.go). */
const askTwice =
  (asked: readonly Asked[]): Work =>
  (attributes) => {
    const waiting = run(asked, attributes, 0);
    return waiting ? waiting.then(() => runAgain(asked, attributes)) : runAgain(asked, attributes);
  };

function runAgain(asked: readonly Asked[], attributes: AdmissionAttributes): Promise<void> | void {
  if (attributes.reinvocation !== 'requested') return;
  attributes.reinvocation = 'running';
  return run(asked, attributes, 0);
}

/** Synchronous for as long as the plug-ins are: most writes meet none that waits. */
function run(asked: readonly Asked[], attributes: AdmissionAttributes, from: number): Promise<void> | void {
  for (let i = from; i < asked.length; i++) {
    const { durations, work } = asked[i]!;
    const waiting = durations ? measured(durations, work, attributes) : work(attributes);
    if (waiting) return waiting.then(() => run(asked, attributes, i + 1));
  }
}

/** The work, and the time it takes, whether it ends at once or later. */
function measured(durations: Durations, work: Work, attributes: AdmissionAttributes): Promise<void> | void {
  const beganMs = performance.now();
  let waiting: Promise<void> | void;
  try {
    waiting = work(attributes);
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
