import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { ApiError } from '../../api/errors.ts';
import { stringifyJson } from '../../encoding/json.ts';
import { type AdmissionPlugin, EVERY_OPERATION, type PluginEnvironment } from '../plugin.ts';
import { type AdmissionMetrics, type PolicyAction, policyErrorType } from '../metrics.ts';
import { refusal } from '../refusal.ts';
import type { AskedPlugin } from '../../registry/step-observer.ts';
import type { ShownObjects } from '../webhooks/shown-objects.ts';
import type { AdmissionView } from '../webhooks/view.ts';
import type { LabelIndex } from './label-index.ts';
import { ConfigurationError, paramResource, paramsFor } from './params.ts';
import { Steps, settled } from '../../util/pending.ts';
import { PolicyRequest } from './policy-request.ts';
import { manifestsOf } from '../manifests/manifests-of.ts';
import { PolicySource, type Hook } from './policy-source.ts';
import { Validator, type PolicyResult } from './validator.ts';

const FAILURE_ANNOTATION = 'validation.policy.admission.k8s.io/validation_failure';
const MAX_ANNOTATION_BYTES = 10 * 1024;
const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413, Invalid: 422 };

type ValidatingHook = Hook<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, Validator>;

interface Denial {
  policy: string;
  binding: string | undefined;
  message: string;
  reason: string;
}

/** What a request is to be told. Nothing of it is done before all is known: evaluations may have to be repeated. */
interface Findings {
  denials: Denial[];
  warnings: string[];
  annotations: [key: string, value: string][];
  counts: ((metrics: AdmissionMetrics) => void)[];
}

const newFindings = (): Findings => ({ denials: [], warnings: [], annotations: [], counts: [] });

/** Rules in CEL that requests must keep (apiserver/pkg/admission/plugin/policy/validating). */
export function validatingAdmissionPolicy(environment: PluginEnvironment): AdmissionPlugin {
  const source = new PolicySource<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, Validator>(
    environment.client,
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    (policy) => Validator.of(policy),
    manifestsOf(environment, 'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicy'),
    manifestsOf(environment, 'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'),
  );

  const { metrics } = environment;
  const validate = (attributes: AdmissionAttributes): Promise<void> | void => {
    if (!source.isSynced) return source.synced.then(() => validate(attributes));
    const hooks = source.hooksFor(attributes);
    if (!hooks) return;
    const request = new PolicyRequest(environment, attributes);
    const steps = new Steps();
    const findings = settled(() => {
      steps.begin();
      return evaluate(hooks, request, steps);
    });
    return findings instanceof Promise ? findings.then((found) => tell(found, attributes, metrics)) : tell(findings, attributes, metrics);
  };
  return { name: 'ValidatingAdmissionPolicy', operations: EVERY_OPERATION, validate };
}

function evaluate(hooks: LabelIndex<ValidatingHook>, request: PolicyRequest, steps: Steps): Findings | undefined {
  let findings: Findings | undefined;
  for (const hook of hooks.candidates(request)) {
    if (!hook.matcher.mayMatch(request)) continue;
    findings = guarded(hook, undefined, findings, () => {
      const view = hook.matcher.match(request);
      return view ? evaluatePolicy(hook, view, request, findings ?? newFindings(), steps) : findings;
    });
  }
  return findings;
}

/** A policy that cannot be put to work denies, unless it says that failures are to be ignored. */
function guarded(hook: ValidatingHook, binding: string | undefined, findings: Findings | undefined, run: () => Findings | undefined): Findings | undefined {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof ConfigurationError || error instanceof ApiError)) throw error;
    if (hook.policy.spec.failurePolicy === 'Ignore') return findings;
    const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${error.message}`;
    const denial = { policy: hook.policy.metadata.name!, binding, message, reason: '' };
    const found = findings ?? newFindings();
    found.denials.push(denial);
    return found;
  }
}

function evaluatePolicy(hook: ValidatingHook, view: AdmissionView, request: PolicyRequest, before: Findings, steps: Steps): Findings {
  const { attributes, environment } = request;
  const resource = paramResource(environment.client, hook.policy.spec.paramKind);
  const collected = new Map<string, Set<string>>();
  let findings = before;
  for (const { binding, matcher } of hook.bindings) {
    findings = guarded(hook, binding.metadata.name!, findings, () => {
      if (matcher && !matcher.match(request)) return findings;
      // Others may change them while this request waits for its turn.
      const params = steps.do(() => paramsFor(environment.client, resource, binding.spec.paramRef, attributes.namespace));
      const shown = params.length > 0 ? converted(view, request) : undefined;
      const results = params.map((param) => hook.compiled().evaluate(request.inputs(view, param, shown!), steps));
      for (const result of results) {
        note(result, hook.policy, binding, findings, collected);
        const { observer } = attributes.context;
        if (observer) findings.counts.push(() => observer.told(stepOf(hook.policy, binding), { message: refusalIn(result, binding) }));
        if (isCounted(result)) findings.counts.push(countOf(result, hook.policy, binding, attributes));
      }
      return findings;
    })!;
  }
  for (const [key, values] of collected) findings.annotations.push([`${hook.policy.metadata.name}/${key}`, [...values].join(', ')]);
  return findings;
}

function converted(view: AdmissionView, request: PolicyRequest): ShownObjects {
  try {
    return request.shown(view);
  } catch (error) {
    throw error instanceof ApiError ? new ConfigurationError(`failed to convert object version: ${error.message}`) : error;
  }
}

function note(
  { refusals, annotations, annotationErrors }: PolicyResult,
  { metadata }: ValidatingAdmissionPolicy,
  binding: ValidatingAdmissionPolicyBinding,
  findings: Findings,
  collected: Map<string, Set<string>>,
): void {
  const policy = metadata.name!;
  const boundBy = binding.metadata.name!;
  const validationActions = binding.spec.validationActions ?? [];
  for (const { index, message, reason } of refusals) {
    for (const action of validationActions) {
      if (action === 'Deny') findings.denials.push({ policy, binding: boundBy, message, reason });
      else if (action === 'Warn') findings.warnings.push(`Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${boundBy}': ${message}`);
      else if (action === 'Audit')
        findings.annotations.push([
          FAILURE_ANNOTATION,
          stringifyJson([{ message, policy: binding.spec.policyName, binding: boundBy, expressionIndex: index, validationActions }]),
        ]);
    }
  }
  for (const { key, value } of annotations) collected.set(key, (collected.get(key) ?? new Set<string>()).add(cut(value)));
  for (const { message } of annotationErrors) findings.denials.push({ policy, binding: boundBy, message, reason: '' });
}

const stepOf = ({ metadata }: ValidatingAdmissionPolicy, binding: ValidatingAdmissionPolicyBinding): AskedPlugin => ({
  plugin: 'ValidatingAdmissionPolicy',
  step: 'validate',
  hook: { type: 'policy', name: metadata.name!, from: binding.metadata.name! },
});

const refusalIn = ({ refusals, annotationErrors }: PolicyResult, { spec }: ValidatingAdmissionPolicyBinding): string | undefined =>
  [...(spec.validationActions?.includes('Deny') ? refusals : []), ...annotationErrors][0]?.message;

const isCounted = ({ conditions, refusals, ignored, annotationErrors }: PolicyResult): boolean =>
  conditions !== undefined || refusals.length > 0 || ignored.length > 0 || annotationErrors.length > 0;

const ACTION_LABELS: Readonly<Record<string, PolicyAction>> = { Deny: 'deny', Audit: 'audit', Warn: 'warn' };

/** As policy/validating/dispatcher.go counts: what is admitted without an error is not. */
function countOf(
  { conditions, refusals, ignored, annotationErrors }: PolicyResult,
  { metadata }: ValidatingAdmissionPolicy,
  binding: ValidatingAdmissionPolicyBinding,
  { operation }: AdmissionAttributes,
): (metrics: AdmissionMetrics) => void {
  const policy = metadata.name!;
  const count = (metrics: AdmissionMetrics, action: PolicyAction, { message, durationMs }: { message: string; durationMs: number }): void =>
    metrics.validationChecked(policy, binding.metadata.name!, policyErrorType(message), action, durationMs);
  return (metrics) => {
    if (conditions) metrics.conditionsEvaluated({ name: policy, kind: 'policy', type: 'validate' }, operation, conditions.durationMs, conditions.errors);
    for (const one of ignored) count(metrics, 'allow', one);
    for (const one of refusals) for (const action of binding.spec.validationActions ?? []) count(metrics, ACTION_LABELS[action]!, one);
    for (const one of annotationErrors) count(metrics, 'deny', one);
  };
}

const cut = (text: string): string => (Buffer.byteLength(text) <= MAX_ANNOTATION_BYTES ? text : Buffer.from(text).subarray(0, MAX_ANNOTATION_BYTES).toString());

function tell(findings: Findings | undefined, attributes: AdmissionAttributes, metrics: AdmissionMetrics): void {
  if (!findings) return;
  for (const count of findings.counts) count(metrics);
  for (const warning of findings.warnings) attributes.context.warn(warning);
  for (const [key, value] of findings.annotations) attributes.context.annotateAudit(key, value);
  const [first] = findings.denials;
  if (first) throw denialError(first, attributes);
}

function denialError({ policy, binding, message, reason }: Denial, attributes: AdmissionAttributes): ApiError {
  const boundBy = binding === undefined ? '' : ` with binding '${binding}'`;
  const why = `ValidatingAdmissionPolicy '${policy}'${boundBy} denied request: ${message}`;
  const { message: whole, status } = refusal(attributes, why);
  const told = reason || 'Invalid';
  return new ApiError(CODES[told] ?? 422, told, whole, { ...status.details, causes: [{ message: why }] });
}
