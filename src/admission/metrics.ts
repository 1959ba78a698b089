import type { AdmissionAttributes, AdmissionOperation } from '../registry/admission.ts';
import type { MetricRegistry } from '../metrics/registry.ts';

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

/** Codes of webhooks are whatever they say; beyond this, all are one label. */
const MAX_CODE = 600;

interface Observable {
  observe(value: number, times?: number): void;
}

/** What is observed over and over with the same labels, the last of which says whether it was refused: found once. */
export class Durations {
  readonly #seriesOf: (rejected: string) => readonly Observable[];
  #admitted: readonly Observable[] | undefined;
  #rejected: readonly Observable[] | undefined;

  constructor(seriesOf: (rejected: string) => readonly Observable[]) {
    this.#seriesOf = seriesOf;
  }

  observe(durationMs: number, isRejected: boolean): void {
    const series = isRejected ? (this.#rejected ??= this.#seriesOf('true')) : (this.#admitted ??= this.#seriesOf('false'));
    for (const one of series) one.observe(durationMs / 1000);
  }

  /** So many that were let through without being looked at. */
  passed(times: number): void {
    for (const one of (this.#admitted ??= this.#seriesOf('false'))) one.observe(0, times);
  }
}

/** What admission counts, by upstream's names and labels (apiserver/pkg/admission/metrics and those of its policies). Durations are given in milliseconds. */
export class AdmissionMetrics {
  readonly #registry: MetricRegistry;
  readonly #families: ReturnType<typeof registerFamilies>;

  constructor(registry: MetricRegistry) {
    this.#registry = registry;
    this.#families = registerFamilies(registry);
    // Shown before there is one, as upstream does.
    for (const operation of ['create', 'update']) for (const resource of ['pod', 'controller']) this.#families.podExemptions.with(operation, resource, '');
  }

  /** Of the whole of a step. Keep it. */
  step(step: StepLabel, operation: AdmissionOperation): Durations {
    const { step: histogram, stepSummary } = this.#families;
    return new Durations((rejected) => [histogram.with(step, operation, rejected), stepSummary.with(step, operation, rejected)]);
  }

  /** Runs before each scrape. */
  onCollect(collect: () => void): void {
    this.#registry.onCollect(collect);
  }

  /** Of one plug-in. Keep it. */
  plugin(name: string, step: StepLabel, operation: AdmissionOperation): Durations {
    return new Durations((rejected) => [this.#families.plugin.with(name, step, operation, rejected)]);
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

  podSecurityEvaluated(
    attributes: AdmissionAttributes,
    mode: 'enforce' | 'audit' | 'warn',
    { level, minor }: { level: string; minor: number },
    isAllowed: boolean,
  ): void {
    this.#families.podEvaluations.with(isAllowed ? 'allow' : 'deny', level, policyVersion(minor), mode, ...podSecurityLabels(attributes)).inc();
  }
  podSecurityExempted(attributes: AdmissionAttributes): void {
    this.#families.podExemptions.with(...podSecurityLabels(attributes)).inc();
  }
  podSecurityFailed(attributes: AdmissionAttributes, isFatal: boolean): void {
    this.#families.podErrors.with(String(isFatal), ...podSecurityLabels(attributes)).inc();
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

/** What a request for a pod, or for what makes pods, is labelled with (pod-security-admission/metrics). */
function podSecurityLabels({ operation, resource, subresource }: AdmissionAttributes): [operation: string, resource: string, subresource: string] {
  return [operation.toLowerCase(), resource === 'pods' ? 'pod' : resource === 'namespaces' ? 'namespace' : 'controller', subresource];
}

/** The release whose standards are known; namespaces may name any later one. */
const NEWEST_MINOR = 36;
const policyVersion = (minor: number): string => (minor === Infinity ? 'latest' : minor > NEWEST_MINOR ? 'future' : `v1.${minor}`);

const codeLabel = (code: number): string => String(Math.min(code, MAX_CODE));

/** How upstream tells apart what went wrong with an expression: by the words (policy/validating/errors.go). */
export function policyErrorType(message: string): string {
  if (message.startsWith('compilation')) return 'compile_error';
  return message.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error';
}

function registerFamilies(registry: MetricRegistry) {
  return {
    podEvaluations: registry.family('pod_security_evaluations_total'),
    podExemptions: registry.family('pod_security_exemptions_total'),
    podErrors: registry.family('pod_security_errors_total'),
    step: registry.family('apiserver_admission_step_admission_duration_seconds'),
    stepSummary: registry.family('apiserver_admission_step_admission_duration_seconds_summary'),
    plugin: registry.family('apiserver_admission_controller_admission_duration_seconds'),
    webhook: registry.family('apiserver_admission_webhook_admission_duration_seconds'),
    webhookRejections: registry.family('apiserver_admission_webhook_rejection_count'),
    webhookFailOpen: registry.family('apiserver_admission_webhook_fail_open_count'),
    webhookRequests: registry.family('apiserver_admission_webhook_request_total'),
    conditionErrors: registry.family('apiserver_admission_match_condition_evaluation_errors_total'),
    conditionExclusions: registry.family('apiserver_admission_match_condition_exclusions_total'),
    conditions: registry.family('apiserver_admission_match_condition_evaluation_seconds'),
    validationChecks: registry.family('apiserver_validating_admission_policy_check_total'),
    validations: registry.family('apiserver_validating_admission_policy_check_duration_seconds'),
    mutationChecks: registry.family('apiserver_mutating_admission_policy_check_total'),
    mutations: registry.family('apiserver_mutating_admission_policy_check_duration_seconds'),
  };
}
