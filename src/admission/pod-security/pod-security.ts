import type { Namespace, Pod, PodTemplateSpec } from '../../apis/facts/types/core-v1.ts';
import type { Informer } from '../../client/client.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { internalError, invalid } from '../../api/errors.ts';
import { summarize } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE, type PluginEnvironment } from '../plugin.ts';
import type { AdmissionMetrics } from '../metrics.ts';
import { refusal } from '../refusal.ts';
import type { PodLike, Violation } from './check.ts';
import { violationsOf } from './evaluate.ts';
import { NOT_CONFIGURED, type PodSecurityConfiguration, exemptionWarning, isExempt, runsExempt } from './exemptions.ts';
import { existingPodWarnings } from './existing-pods.ts';
import { PREFIX, type NamespaceLevels, type Standard, compareLevels, equalStandards, policyOf, standardName } from './policy.ts';

/** Where a kind keeps its template of pods. */
const TEMPLATES: ReadonlyMap<string, (object: ApiObject) => PodTemplateSpec | undefined> = new Map([
  ['podtemplates', (object) => (object as ApiObject & { template?: PodTemplateSpec }).template],
  ...['replicationcontrollers', 'replicasets', 'deployments', 'statefulsets', 'daemonsets', 'jobs'].map((resource) => [resource, specTemplate] as const),
  ['cronjobs', (object) => specTemplate((object as ApiObject & { spec: { jobTemplate: ApiObject } }).spec.jobTemplate)],
]);
const POD_TARGETS = ['pods', 'pods/ephemeralcontainers', 'pods/resize'];
const TEMPLATE_TARGETS =
  'podtemplates replicationcontrollers replicasets.apps deployments.apps statefulsets.apps daemonsets.apps jobs.batch cronjobs.batch'.split(' ');

function specTemplate(object: ApiObject): PodTemplateSpec | undefined {
  return (object as ApiObject & { spec: { template?: PodTemplateSpec } }).spec.template;
}

type NamespacePolicy = ReturnType<typeof policyOf>;

/** The pod security standards, by labels of the namespace (KEP-2579; pod-security-admission/admission). Templates are only warned of. */
export function podSecurity({ client, options, metrics }: PluginEnvironment): AdmissionPlugin {
  const configuration = options.configurations?.podSecurity ?? NOT_CONFIGURED;
  const namespaces = client.resource<Namespace>('', 'namespaces').informer;
  const pods = client.resource<Pod>('', 'pods').informer;
  const policies = new WeakMap<Namespace, NamespacePolicy>();

  /** Read from its labels once; undefined where there is no such namespace. */
  function policyIn(name: string): NamespacePolicy | undefined {
    const namespace = namespaces.get('', name);
    if (!namespace) return undefined;
    let policy = policies.get(namespace);
    if (!policy) policies.set(namespace, (policy = policyOf(namespace.metadata.labels, configuration.defaults)));
    return policy;
  }

  function validate(attributes: AdmissionAttributes): void {
    if (attributes.resource === 'namespaces') checkNamespace(attributes, pods, configuration);
    else if (isExempt(configuration, attributes)) metrics.podSecurityExempted(attributes);
    else if (attributes.resource === 'pods') checkPod({ attributes, configuration, metrics }, policyIn(attributes.namespace));
    else checkTemplate({ attributes, configuration, metrics }, policyIn(attributes.namespace));
  }
  return { name: 'PodSecurity', operations: CREATE_OR_UPDATE, targets: ['namespaces', ...POD_TARGETS, ...TEMPLATE_TARGETS], validate };
}

/** One request, and what it is held against. */
interface Evaluation {
  attributes: AdmissionAttributes;
  configuration: PodSecurityConfiguration;
  metrics: AdmissionMetrics;
}

function checkNamespace(attributes: AdmissionAttributes, pods: Informer<Pod>, { defaults, namespaces }: PodSecurityConfiguration): void {
  const { object, oldObject, context } = attributes;
  const { labels, name = '' } = object!.metadata;
  const { policy, errors } = policyOf(labels, defaults);
  const old = oldObject && policyOf(oldObject.metadata.labels, defaults);
  if (!errors.isEmpty && !(old && equalJson(errors.list, old.errors.list))) throw invalid({ group: '', kind: 'Namespace' }, attributes.name, errors.list);
  if (old && !isTightened(policy.enforce, old.policy.enforce)) return;
  if (namespaces.has(name)) {
    const warning = exemptionWarning(name, policy, policyOf({}, defaults).policy, labels);
    if (warning !== undefined) context.warn(warning);
    return;
  }
  if (!old) return;
  for (const warning of existingPodWarnings(pods.list(attributes.name), attributes.name, policy.enforce)) context.warn(warning);
}

function isTightened(standard: Standard, old: Standard): boolean {
  if (equalStandards(standard, old) || standard.level === 'privileged') return false;
  return standard.minor !== old.minor || compareLevels(standard.level, old.level) > 0;
}

function checkPod(evaluation: Evaluation, found: NamespacePolicy | undefined): void {
  const { attributes, configuration, metrics } = evaluation;
  const { namespace, object, oldObject, context } = attributes;
  if (!found) {
    metrics.podSecurityFailed(attributes, true);
    throw internalError(`failed to lookup namespace ${quote(namespace)}`);
  }
  const { policy, errors } = found;
  if (errors.isEmpty && policy.enforce.level === 'privileged' && policy.audit.level === 'privileged' && policy.warn.level === 'privileged') {
    context.annotateAudit(`${PREFIX}enforce-policy`, 'privileged:latest');
    metrics.podSecurityEvaluated(attributes, 'enforce', policy.enforce, true);
    return;
  }
  const pod = object as Pod;
  if (oldObject && !isSignificant(pod, oldObject as Pod)) return;
  if (runsExempt(configuration, pod.spec.runtimeClassName, attributes)) return metrics.podSecurityExempted(attributes);
  if (!errors.isEmpty) tellOfErrors(evaluation, errors);
  context.annotateAudit(`${PREFIX}enforce-policy`, standardName(policy.enforce));
  const violations = violationsOf(policy.enforce, pod);
  metrics.podSecurityEvaluated(attributes, 'enforce', policy.enforce, violations.length === 0);
  report(evaluation, policy, pod, violations.length === 0);
  if (violations.length === 0) return;
  throw refusal(attributes, `violates PodSecurity ${describe(policy.enforce, violations)}`);
}

function tellOfErrors({ attributes, metrics }: Evaluation, errors: NamespacePolicy['errors']): void {
  attributes.context.annotateAudit(`${PREFIX}error`, `Failed to parse policy: ${summarize(errors.list)}`);
  metrics.podSecurityFailed(attributes, false);
}

function checkTemplate(evaluation: Evaluation, found: NamespacePolicy | undefined): void {
  const { attributes, configuration, metrics } = evaluation;
  const { resource, object } = attributes;
  const { policy, errors } = found ?? policyOf(undefined, configuration.defaults);
  if (errors.isEmpty && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return;
  const template = TEMPLATES.get(resource)!(object!);
  if (!template) return;
  if (runsExempt(configuration, template.spec?.runtimeClassName, attributes)) return metrics.podSecurityExempted(attributes);
  if (!errors.isEmpty) tellOfErrors(evaluation, errors);
  report(evaluation, policy, template, true);
}

/** For the audit record, and where the request goes through, for the client. */
function report({ attributes, metrics }: Evaluation, { audit, warn }: NamespaceLevels, pod: PodLike, isAllowed: boolean): void {
  const { context } = attributes;
  const audited = violationsOf(audit, pod);
  if (audited.length > 0) metrics.podSecurityEvaluated(attributes, 'audit', audit, false);
  if (audited.length > 0) context.annotateAudit(`${PREFIX}audit-violations`, `would violate PodSecurity ${describe(audit, audited)}`);
  const warned = isAllowed ? violationsOf(warn, pod) : [];
  if (warned.length > 0) metrics.podSecurityEvaluated(attributes, 'warn', warn, false);
  if (warned.length > 0) context.warn(`would violate PodSecurity ${describe(warn, warned)}`);
}

const describe = (standard: Standard, violations: readonly Violation[]): string =>
  `${quote(standardName(standard))}: ${violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')}`;

/** Of what standards look at, an update can change only which images there are, and add ephemeral containers. */
function isSignificant({ spec }: Pod, { spec: old }: Pod): boolean {
  for (const list of ['containers', 'initContainers'] as const) {
    const [now, before] = [spec[list] ?? [], old[list] ?? []];
    if (now.length !== before.length || now.some(({ image }, index) => image !== before[index]!.image)) return true;
  }
  return (spec.ephemeralContainers ?? []).some(({ name, image }) => image !== old.ephemeralContainers?.find((container) => container.name === name)?.image);
}
