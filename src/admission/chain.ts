import type { AdmissionController, AdmissionAttributes, AdmissionOperation } from '../registry/admission.ts';
import type { AskedPlugin, StepObserver } from '../registry/step-observer.ts';
import type { FieldError } from '../api/field-errors.ts';
import { qualifiedResource } from '../api/api-object.ts';
import type { AdmissionMetrics, Durations, StepLabel } from './metrics.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { type AdmissionPluginFact, type AdmissionStep, admissionPlugins } from './plugin-order.ts';
import { RouteCounts } from './route-counts.ts';

/** What is done about a write: by one plug-in, or in the whole of a step. */
type Work = (attributes: AdmissionAttributes) => Promise<void> | void;

/** A plug-in's part in one operation. */
interface Asked {
  readonly name: string;
  readonly targets: AdmissionPlugin['targets'];
  readonly work: Work;
  /** How long it takes; undefined where nobody counts. */
  readonly durations: Durations | undefined;
}

/** Those who are asked about one target, and what has come of it. */
interface Round {
  readonly step: AdmissionStep;
  readonly asked: readonly Asked[];
  readonly counts: RouteCounts;
}

/** What one operation meets: of the targets that someone named, those who look at it; of all else, those who look at everything. */
interface Route {
  readonly byTarget: ReadonlyMap<string, Work>;
  readonly others: Work;
  /** Of the whole step. */
  readonly durations: Durations;
}

const OPERATIONS: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const LABELS: Readonly<Record<AdmissionStep, StepLabel>> = { mutate: 'admit', validate: 'validate' };
const FACTS: ReadonlyMap<string, AdmissionPluginFact> = new Map(admissionPlugins.map((fact) => [fact.name, fact]));

/**
 * The plug-ins in order: every mutation before the first validation. What each operation meets is worked out once, in `use`, which is called before the
 * first request: plug-ins read stores, and stores are made with the chain that their writes pass.
 */
export class AdmissionChain implements AdmissionController {
  readonly #metrics: AdmissionMetrics;
  #rightsChecks: readonly AdmissionPlugin[] = [];
  #routes: Record<AdmissionStep, ReadonlyMap<AdmissionOperation, Route>> | undefined;
  #counts: RouteCounts[] = [];

  constructor(metrics: AdmissionMetrics) {
    this.#metrics = metrics;
    metrics.onCollect(() => this.#counts.forEach((counts) => counts.collect()));
  }

  /** `checks` stand behind the plug-ins, and are no plug-ins to those who count. */
  use(plugins: readonly AdmissionPlugin[], checks: readonly AdmissionPlugin[] = []): void {
    this.#counts = [];
    const routes = (step: AdmissionStep): Map<AdmissionOperation, Route> =>
      new Map(OPERATIONS.map((operation) => [operation, this.#route(step, operation, plugins, checks)]));
    this.#rightsChecks = checks.filter(({ rights }) => rights !== undefined);
    this.#routes = { mutate: routes('mutate'), validate: routes('validate') };
  }

  #route(step: AdmissionStep, operation: AdmissionOperation, plugins: readonly AdmissionPlugin[], checks: readonly AdmissionPlugin[]): Route {
    const handles = (plugin: AdmissionPlugin): boolean => plugin[step] !== undefined && plugin.operations.has(operation);
    const label = LABELS[step];
    /** Those that are counted, in order: upstream asks them all, whatever the target. */
    const counted = new Map(
      plugins.filter((plugin) => isCalled(plugin, step, operation)).map((plugin) => [plugin, this.#metrics.plugin(plugin.name, label, operation)]),
    );
    const asked = (plugin: AdmissionPlugin): Asked => ({
      name: plugin.name,
      targets: plugin.targets,
      work: (attributes) => plugin[step]!(attributes),
      durations: counted.get(plugin),
    });
    const all = [...plugins.filter(handles), ...checks.filter(handles)].map(asked);
    const durationsInOrder = [...counted.values()];
    const round = (those: readonly Asked[]): Work => {
      const counts = new RouteCounts(
        durationsInOrder,
        those.map(({ durations }) => durations),
      );
      this.#counts.push(counts);
      return (step === 'mutate' ? askTwice : askOnce)({ step, asked: those, counts });
    };
    const named = new Set(all.flatMap(({ targets }) => targets ?? []));
    return {
      byTarget: new Map([...named].map((target) => [target, round(all.filter(({ targets }) => targets?.includes(target) ?? true))])),
      others: round(all.filter(({ targets }) => !targets)),
      durations: this.#metrics.step(label, operation),
    };
  }

  mutate(attributes: AdmissionAttributes): Promise<void> | void {
    attributes.context.observer?.enters('mutate');
    return follow(this.#routes?.mutate, attributes);
  }
  validate(attributes: AdmissionAttributes): Promise<void> | void {
    attributes.context.observer?.enters('validate');
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

/** Whether upstream calls it; one that upstream does not have is called where it can be. */
function isCalled(plugin: AdmissionPlugin, step: AdmissionStep, operation: AdmissionOperation): boolean {
  const fact = FACTS.get(plugin.name);
  if (fact === undefined) return plugin[step] !== undefined && plugin.operations.has(operation);
  return fact.steps.includes(step) && fact.operations.includes(operation);
}

const askOnce =
  (round: Round): Work =>
  (attributes) =>
    run(round, attributes, 0);

/** With a second round of mutations, where one of the first has asked for it (apiserver/pkg/admission/reinvocation.go). */
const askTwice =
  (round: Round): Work =>
  (attributes) => {
    const waiting = run(round, attributes, 0);
    return waiting ? waiting.then(() => runAgain(round, attributes)) : runAgain(round, attributes);
  };

function runAgain(round: Round, attributes: AdmissionAttributes): Promise<void> | void {
  if (attributes.reinvocation !== 'requested') return;
  attributes.reinvocation = 'running';
  return run(round, attributes, 0);
}

/** Synchronous for as long as the plug-ins are: most writes meet none that waits. */
function run(round: Round, attributes: AdmissionAttributes, from: number): Promise<void> | void {
  const { step, asked, counts } = round;
  const { observer } = attributes.context;
  let at = from;
  try {
    for (; at < asked.length; at++) {
      const { name, durations, work: own } = asked[at]!;
      const work = observer ? observed(observer, { plugin: name, step }, own) : own;
      const waiting = durations ? measured(durations, work, attributes) : work(attributes);
      if (waiting) return goOn(waiting, round, attributes, at);
    }
  } catch (error) {
    counts.refused(at);
    throw error;
  }
  counts.passed++;
}

function goOn(waiting: Promise<void>, round: Round, attributes: AdmissionAttributes, at: number): Promise<void> {
  return waiting.then(
    () => run(round, attributes, at + 1),
    (error: unknown) => {
      round.counts.refused(at);
      throw error;
    },
  );
}

/** The work, told to an observer. */
const observed =
  (observer: StepObserver, who: AskedPlugin, work: Work): Work =>
  (attributes) => {
    const end = observer.asks(who, () => attributes.object);
    const fail = (error: unknown): never => {
      end(error);
      throw error;
    };
    try {
      const waiting = work(attributes);
      return waiting ? waiting.then(() => end(), fail) : end();
    } catch (error) {
      return fail(error);
    }
  };

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
