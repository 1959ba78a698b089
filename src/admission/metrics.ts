import type { AdmissionOperation } from '../registry/admission.ts';
import type { Family, HistogramSeries, MetricRegistry, NumberSeries, SummarySeries } from '../server/metrics/registry.ts';

/** As upstream labels them: the steps, and, of webhooks' own metrics alone, `validating`. */
export type StepLabel = 'admit' | 'validate';
export type WebhookType = 'admit' | 'validating';
export type PolicyAction = 'allow' | 'deny' | 'audit' | 'warn';

/** Why a webhook's call came to a refusal: it said so, it could not be asked, or what it said could not be put to work. */
type RejectionCause = 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error';

/** Whose conditions: what webhooks and policies have in common. */
export interface ConditionOwner {
  readonly name: string;
  readonly kind: 'webhook' | 'policy';
  readonly type: StepLabel | WebhookType;
}

const STEP_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const WEBHOOK_BUCKETS = [...STEP_BUCKETS, 10, 25];
const CONDITION_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const POLICY_BUCKETS = [0.0000005, 0.001, 0.01, 0.1, 1];
/** Codes of webhooks are whatever they say; beyond this, all are one label. */
const MAX_CODE = 600;

interface Observable {
  observe(value: number): void;
}

/** What is observed over and over with the same labels, the last of which says whether it was refused: found once, and again after a reset. */
export class Durations {
  readonly #families: readonly Family<HistogramSeries | SummarySeries>[];
  readonly #labels: readonly string[];
  #admitted: readonly Observable[] | undefined;
  #rejected: readonly Observable[] | undefined;

  constructor(families: readonly Family<HistogramSeries | SummarySeries>[], labels: readonly string[]) {
    this.#families = families;
    this.#labels = labels;
  }

  observe(durationMs: number, isRejected: boolean): void {
    const series = isRejected ? (this.#rejected ??= this.#series('true')) : (this.#admitted ??= this.#series('false'));
    for (const one of series) one.observe(durationMs / 1000);
  }

  forget(): void {
    this.#admitted = this.#rejected = undefined;
  }

  #series(rejected: string): Observable[] {
    return this.#families.map((family) => family.with(...this.#labels, rejected));
  }
}

/** What admission counts, by upstream's names and labels (apiserver/pkg/admission/metrics and those of its policies). Durations are given in milliseconds. */
export class AdmissionMetrics {
  readonly #families: ReturnType<typeof registerFamilies>;
  readonly #kept: Durations[] = [];

  constructor(registry: MetricRegistry) {
    this.#families = registerFamilies(registry);
    registry.onReset(() => {
      for (const durations of this.#kept) durations.forget();
    });
  }

  /** Of the whole of a step. Keep it. */
  step(step: StepLabel, operation: AdmissionOperation): Durations {
    return this.#keep([this.#families.step, this.#families.stepSummary], step, operation);
  }

  /** Of one plug-in. Keep it. */
  plugin(name: string, step: StepLabel, operation: AdmissionOperation): Durations {
    return this.#keep([this.#families.plugin], name, step, operation);
  }

  #keep(families: readonly Family<HistogramSeries | SummarySeries>[], ...labels: string[]): Durations {
    const durations = new Durations(families, labels);
    this.#kept.push(durations);
    return durations;
  }

  webhookCalled(name: string, type: WebhookType, operation: string, durationMs: number, code: number, isRejected: boolean): void {
    const rejected = String(isRejected);
    this.#families.webhookRequests.with(name, type, operation, codeLabel(code), rejected).inc();
    this.#families.webhook.with(name, type, operation, rejected).observe(durationMs / 1000);
  }

  webhookRejected(name: string, type: WebhookType, operation: string, cause: RejectionCause, code: number): void {
    this.#families.webhookRejections.with(name, type, operation, cause, codeLabel(code)).inc();
  }

  webhookFailedOpen(name: string, type: WebhookType): void {
    this.#families.webhookFailOpen.with(name, type).inc();
  }

  /** Where conditions did not all hold. */
  conditionsEvaluated({ name, kind, type }: ConditionOwner, operation: string, durationMs: number, errors: number): void {
    if (errors > 0) this.#families.conditionErrors.with(name, kind, type, operation).inc(errors);
    this.#families.conditions.with(name, kind, type, operation).observe(durationMs / 1000);
  }

  webhookExcluded(name: string, step: StepLabel, operation: string): void {
    this.#families.conditionExclusions.with(name, 'webhook', step, operation).inc();
  }

  validationChecked(policy: string, binding: string, errorType: string, action: PolicyAction, durationMs: number): void {
    this.#families.validationChecks.with(policy, binding, errorType, action).inc();
    this.#families.validations.with(policy, binding, errorType, action).observe(durationMs / 1000);
  }

  mutationChecked(policy: string, binding: string, errorType: string, durationMs: number): void {
    this.#families.mutationChecks.with(policy, binding, errorType).inc();
    this.#families.mutations.with(policy, binding, errorType).observe(durationMs / 1000);
  }
}

const codeLabel = (code: number): string => String(Math.min(code, MAX_CODE));

/** How upstream tells apart what went wrong with an expression: by the words (policy/validating/errors.go). */
export function policyErrorType(message: string): string {
  if (message.startsWith('compilation')) return 'compile_error';
  return message.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error';
}

const CONDITION_LABELS = ['name', 'kind', 'type', 'operation'];
const WEBHOOK_LABELS = ['name', 'type', 'operation'];

function registerFamilies(registry: MetricRegistry) {
  return { ...stepFamilies(registry), ...webhookFamilies(registry), ...conditionFamilies(registry), ...policyFamilies(registry) };
}

function stepFamilies(registry: MetricRegistry) {
  const labels = ['type', 'operation', 'rejected'];
  return {
    step: registry.histogram({
      name: 'apiserver_admission_step_admission_duration_seconds',
      help: 'Seconds that a step of admission took, by step (admit or validate), operation, and whether it refused.',
      stability: 'STABLE',
      labels,
      buckets: STEP_BUCKETS,
    }),
    stepSummary: registry.summary({
      name: 'apiserver_admission_step_admission_duration_seconds_summary',
      help: 'Seconds that a step of admission took, in sum, by step (admit or validate), operation, and whether it refused.',
      stability: 'ALPHA',
      labels,
    }),
    plugin: registry.histogram({
      name: 'apiserver_admission_controller_admission_duration_seconds',
      help: 'Seconds that a plug-in took over what concerns it, by name, step (admit or validate), operation, and whether it refused.',
      stability: 'STABLE',
      labels: ['name', ...labels],
      buckets: STEP_BUCKETS,
    }),
  };
}

function webhookFamilies(registry: MetricRegistry) {
  return {
    webhook: registry.histogram({
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'Seconds that the call of a webhook took, by its name, type (admit or validating), operation, and whether it refused.',
      stability: 'STABLE',
      labels: [...WEBHOOK_LABELS, 'rejected'],
      buckets: WEBHOOK_BUCKETS,
    }),
    webhookRejections: counter(
      registry,
      'apiserver_admission_webhook_rejection_count',
      'Refusals that came of webhooks, by name, type, operation, cause, and the code of the answer; codes above 600 count as 600.',
      [...WEBHOOK_LABELS, 'error_type', 'rejection_code'],
    ),
    webhookFailOpen: counter(registry, 'apiserver_admission_webhook_fail_open_count', 'Webhooks that failed and were passed over, by name and type.', [
      'name',
      'type',
    ]),
    webhookRequests: counter(
      registry,
      'apiserver_admission_webhook_request_total',
      'Calls of webhooks, by name, type, operation, code of the answer (codes above 600 count as 600), and whether it refused.',
      [...WEBHOOK_LABELS, 'code', 'rejected'],
    ),
  };
}

function conditionFamilies(registry: MetricRegistry) {
  return {
    conditionErrors: counter(
      registry,
      'apiserver_admission_match_condition_evaluation_errors_total',
      'Match conditions that ended in an error, by whose they are (name and kind), type and operation.',
      CONDITION_LABELS,
    ),
    conditionExclusions: counter(
      registry,
      'apiserver_admission_match_condition_exclusions_total',
      'Requests that match conditions kept from a webhook, by whose they are (name and kind), type and operation.',
      CONDITION_LABELS,
    ),
    conditions: registry.histogram({
      name: 'apiserver_admission_match_condition_evaluation_seconds',
      help: 'Seconds that match conditions took which did not all hold, by whose they are (name and kind), type and operation.',
      stability: 'ALPHA',
      labels: CONDITION_LABELS,
      buckets: CONDITION_BUCKETS,
    }),
  };
}

function policyFamilies(registry: MetricRegistry) {
  const labels = ['policy', 'policy_binding', 'error_type'];
  return {
    validationChecks: registry.counter({
      name: 'apiserver_validating_admission_policy_check_total',
      help: 'Expressions of validating policies that were not kept or had no answer, by policy, binding, kind of error, and what was done.',
      stability: 'BETA',
      labels: [...labels, 'enforcement_action'],
    }),
    validations: registry.histogram({
      name: 'apiserver_validating_admission_policy_check_duration_seconds',
      help: 'Seconds that these expressions took, by policy, binding, kind of error, and what was done.',
      stability: 'BETA',
      labels: [...labels, 'enforcement_action'],
      buckets: POLICY_BUCKETS,
    }),
    mutationChecks: counter(
      registry,
      'apiserver_mutating_admission_policy_check_total',
      'Mutations of policies, by policy, binding and kind of error.',
      labels,
    ),
    mutations: registry.histogram({
      name: 'apiserver_mutating_admission_policy_check_duration_seconds',
      help: 'Seconds that a mutation of a policy took, by policy, binding and kind of error.',
      stability: 'ALPHA',
      labels,
      buckets: POLICY_BUCKETS,
    }),
  };
}

const counter = (registry: MetricRegistry, name: string, help: string, labels: readonly string[]): Family<NumberSeries> =>
  registry.counter({ name, help, stability: 'ALPHA', labels });
