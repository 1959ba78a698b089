import { parseApiVersion } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123LabelErrors, pathSegmentErrors } from '../../api/names.ts';
import { parseQuantity, quantitySign } from '../../api/quantity.ts';
import type {
  ContainerResourceMetricSource,
  CrossVersionObjectReference,
  ExternalMetricSource,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from '../facts/types/autoscaling-v2.ts';
import { validateContainerResourceName } from '../validation/resource-names.ts';

/** What an autoscaler measures (pkg/apis/autoscaling/validation). */
export interface ReferenceOptions {
  /** Where the old object has one already. */
  allowsInvalidApiVersion: boolean;
  allowsEmptyGroup: boolean;
}

type SourceField = 'object' | 'external' | 'pods' | 'resource' | 'containerResource';

/** Sources in the order in which they are looked at, by their type's name. */
const SOURCE_OF_TYPE: Record<string, SourceField> = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
};
const TYPES = Object.keys(SOURCE_OF_TYPE).toSorted();
const TARGET_TYPES: ReadonlySet<string> = new Set(['Utilization', 'Value', 'AverageValue']);
const NEITHER_VALUE_NOR_UTILIZATION = 'must set either a target raw value or a target utilization';
const BOTH_VALUE_AND_UTILIZATION = 'may not set both a target raw value and a target utilization';

export function validateMetrics(metrics: readonly MetricSpec[], minReplicas: number | undefined, references: ReferenceOptions, errors: FieldErrors): void {
  for (const [index, metric] of metrics.entries()) validateMetric(metric, references, errors.index(index));
  const canSeeWork = metrics.some(({ type }) => type === 'Object' || type === 'External');
  if (minReplicas === 0 && !canSeeWork) errors.forbidden('must specify at least one Object or External metric to support scaling to zero replicas');
}

function validateMetric(metric: MetricSpec, references: ReferenceOptions, errors: FieldErrors): void {
  const { type } = metric;
  const isKnown = Object.hasOwn(SOURCE_OF_TYPE, type);
  if (type === '') errors.at('type').required('must specify a metric source type');
  if (!isKnown) errors.at('type').notSupported(type, TYPES);

  const present = Object.values(SOURCE_OF_TYPE).filter((field) => metric[field]);
  if (present[0]) validateSource(metric, present[0], references, errors.at(present[0]));
  const expected = isKnown ? SOURCE_OF_TYPE[type]! : undefined;
  if (expected === undefined) errors.at('type').notSupported(type, TYPES);
  else if (!metric[expected]) errors.at(expected).required('must populate information for the given metric source');
  if (present.length === 1) return;
  for (const field of present) if (field !== expected) errors.at(field).forbidden('must populate the given metric source only');
}

function validateSource(metric: MetricSpec, field: SourceField, references: ReferenceOptions, errors: FieldErrors): void {
  switch (field) {
    case 'object':
      return validateObjectSource(metric.object!, references, errors);
    case 'external':
      return validateExternalSource(metric.external!, errors);
    case 'pods':
      return validatePodsSource(metric.pods!, errors);
    case 'resource':
      return validateResourceSource(metric.resource!, errors);
    case 'containerResource':
      return validateContainerSource(metric.containerResource!, errors);
  }
}

function validateObjectSource({ describedObject, metric, target }: ObjectMetricSource, references: ReferenceOptions, errors: FieldErrors): void {
  validateObjectReference(describedObject, references, errors.at('describedObject'));
  validateIdentifier(metric, errors.at('metric', 'name'));
  validateTarget(target, errors.at('target'));
  if (target.value === undefined && target.averageValue === undefined)
    errors.at('target', 'averageValue').required('must set either a target value or averageValue');
}

function validateExternalSource({ metric, target }: ExternalMetricSource, errors: FieldErrors): void {
  validateIdentifier(metric, errors.at('metric', 'name'));
  validateTarget(target, errors.at('target'));
  const [hasValue, hasAverage] = [target.value !== undefined, target.averageValue !== undefined];
  if (!hasValue && !hasAverage) errors.at('target', 'averageValue').required('must set either a target value for metric or a per-pod target');
  if (hasValue && hasAverage) errors.at('target', 'value').forbidden('may not set both a target value for metric and a per-pod target');
}

function validatePodsSource({ metric, target }: PodsMetricSource, errors: FieldErrors): void {
  validateIdentifier(metric, errors.at('metric', 'name'));
  validateTarget(target, errors.at('target'));
  if (target.averageValue === undefined) errors.at('target', 'averageValue').required('must specify a positive target averageValue');
}

function validateResourceSource({ name, target }: ResourceMetricSource, errors: FieldErrors): void {
  if (name === '') errors.at('name').required('must specify a resource name');
  validateResourceTarget(target, errors.at('target'));
}

function validateContainerSource({ name, container, target }: ContainerResourceMetricSource, errors: FieldErrors): void {
  if (name === '') errors.at('name').required('must specify a resource name');
  else validateContainerResourceName(name, errors.at('name'));
  if (container === '') errors.at('container').required('must specify a container');
  else for (const error of dns1123LabelErrors(container)) errors.at('container').invalid(container, error);
  validateResourceTarget(target, errors.at('target'));
}

function validateResourceTarget(target: MetricTarget, errors: FieldErrors): void {
  validateTarget(target, errors);
  const [hasUtilization, hasValue] = [target.averageUtilization !== undefined, target.averageValue !== undefined];
  if (!hasUtilization && !hasValue) errors.at('averageUtilization').required(NEITHER_VALUE_NOR_UTILIZATION);
  if (hasUtilization && hasValue) errors.at('averageValue').forbidden(BOTH_VALUE_AND_UTILIZATION);
}

function validateTarget({ type, value, averageValue, averageUtilization }: MetricTarget, errors: FieldErrors): void {
  if (type === '') errors.at('type').required('must specify a metric target type');
  if (!TARGET_TYPES.has(type)) errors.at('type').invalidTyped(type, 'must be either Utilization, Value, or AverageValue');
  if (value !== undefined && quantitySign(parseQuantity(value)) !== 1) errors.at('value').invalid(value, 'must be positive');
  if (averageValue !== undefined && quantitySign(parseQuantity(averageValue)) !== 1) errors.at('averageValue').invalid(averageValue, 'must be positive');
  if (averageUtilization !== undefined && averageUtilization < 1) errors.at('averageUtilization').invalid(averageUtilization, 'must be greater than 0');
}

function validateIdentifier({ name }: MetricIdentifier, errors: FieldErrors): void {
  validateSegment(name, 'must specify a metric name', errors);
}

export function validateObjectReference(reference: CrossVersionObjectReference, options: ReferenceOptions, errors: FieldErrors): void {
  validateSegment(reference.kind, '', errors.at('kind'));
  validateSegment(reference.name, '', errors.at('name'));
  const error = apiVersionError(reference, options);
  if (error !== undefined) errors.at('apiVersion').invalid(reference.apiVersion ?? '', error);
}

/** What becomes a part of a path. */
function validateSegment(text: string, whenMissing: string, errors: FieldErrors): void {
  if (text === '') errors.required(whenMissing);
  else for (const error of pathSegmentErrors(text)) errors.invalid(text, error);
}

export function apiVersionError(
  { apiVersion = '' }: CrossVersionObjectReference,
  { allowsInvalidApiVersion, allowsEmptyGroup }: ReferenceOptions,
): string | undefined {
  if (allowsInvalidApiVersion) return undefined;
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) return `unexpected GroupVersion string: ${apiVersion}`;
  return !allowsEmptyGroup && parsed.group === '' ? 'apiVersion must specify API group' : undefined;
}
