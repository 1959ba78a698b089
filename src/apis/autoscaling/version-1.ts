import { DecodeError, decodeType } from '../../schema/decode.ts';
import type { TypeSchema } from '../../schema/schema.ts';
import type { ApiObject, ObjectMeta } from '../../api/api-object.ts';
import { JsonError } from '../../encoding/json-parser.ts';
import { parseJson, stringifyJson } from '../../encoding/json.ts';
import { isJsonObject } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { schemaOf } from '../facts/schemas.ts';
import type * as v1 from '../facts/types/autoscaling-v1.ts';
import type * as v2 from '../facts/types/autoscaling-v2.ts';
import { internalForm } from '../validation/internal-form.ts';
import { metricFromVersion1, metricToVersion1, statusFromVersion1, statusToVersion1 } from './version-1-metrics.ts';

/**
 * autoscaling/v1 knows one metric: the pods' CPU. What else a v2 object says stands in annotations while a client looks at it in v1, and is read back from
 * them when it writes, so that nothing is lost (pkg/apis/autoscaling/v1/conversion.go).
 */
const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const CURRENT_METRICS = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';
const ROUND_TRIP = [
  METRICS,
  BEHAVIOR,
  'autoscaling.alpha.kubernetes.io/scale-down-tolerance',
  'autoscaling.alpha.kubernetes.io/scale-up-tolerance',
  CURRENT_METRICS,
  CONDITIONS,
];
/** Of what the pods request, where nothing is said. */
export const DEFAULT_CPU_PERCENT = 80;

const RULES = [
  ['StabilizationWindowSeconds', 'stabilizationWindowSeconds'],
  ['SelectPolicy', 'selectPolicy'],
  [
    'Policies',
    'policies',
    [
      ['Type', 'type'],
      ['Value', 'value'],
      ['PeriodSeconds', 'periodSeconds'],
    ],
  ],
  ['Tolerance', 'tolerance'],
] as const;

/** They mean nothing but on the way between versions. */
export function dropRoundTripAnnotations(metadata: ObjectMeta): void {
  if (!metadata.annotations) return;
  for (const key of ROUND_TRIP) delete metadata.annotations[key];
}

export function toVersion1(stored: ApiObject): ApiObject {
  const { metadata, spec, status } = stored as v2.HorizontalPodAutoscaler;
  dropRoundTripAnnotations(metadata);
  const metrics = spec.metrics ?? [];
  const others = metrics.filter((metric) => cpuPercent(metric) === undefined).map(metricToVersion1);
  const current = (status.currentMetrics ?? []).map(statusToVersion1);
  annotate(metadata, METRICS, listOf('MetricSpec'), others);
  annotate(metadata, CURRENT_METRICS, listOf('MetricStatus'), current);
  if (spec.behavior) {
    // Upstream writes its internal type here, with Go's names.
    const text = stringifyJson(
      internalForm(spec.behavior, [
        ['ScaleUp', 'scaleUp', RULES],
        ['ScaleDown', 'scaleDown', RULES],
      ]),
    );
    metadata.annotations = { ...metadata.annotations, [BEHAVIOR]: text };
  }
  annotate(metadata, CONDITIONS, listOf('HorizontalPodAutoscalerCondition'), (status.conditions ?? []) as unknown as Json[]);

  const { scaleTargetRef, minReplicas, maxReplicas } = spec;
  const { observedGeneration, lastScaleTime, currentReplicas = 0, desiredReplicas } = status;
  const percent = metrics.map(cpuPercent).find((value) => value !== undefined);
  const currentPercent = (status.currentMetrics ?? []).findLast(isMeasuredCpu)?.resource?.current.averageUtilization;
  return {
    kind: stored.kind,
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: percent },
    status: { observedGeneration, lastScaleTime, currentReplicas, desiredReplicas, currentCPUUtilizationPercentage: currentPercent },
  } as ApiObject;
}

const cpuPercent = ({ type, resource }: v2.MetricSpec): number | undefined =>
  type === 'Resource' && resource?.name === 'cpu' ? resource.target.averageUtilization : undefined;
const isMeasuredCpu = ({ type, resource }: v2.MetricStatus): boolean =>
  type === 'Resource' && resource?.name === 'cpu' && resource.current.averageUtilization !== undefined;

const listOf = (name: string): TypeSchema => ({ type: 'list', items: schemaOf(`io.k8s.api.autoscaling.v1.${name}`) });

function annotate(metadata: ObjectMeta, key: string, type: TypeSchema, values: Json[]): void {
  if (values.length > 0) metadata.annotations = { ...metadata.annotations, [key]: stringifyJson(decodeType(type, values)) };
}

export function fromVersion1(object: ApiObject): ApiObject {
  const { metadata, spec, status } = object as v1.HorizontalPodAutoscaler;
  const annotations = metadata.annotations ?? {};
  const others = (readList(annotations[METRICS], listOf('MetricSpec')) as v1.MetricSpec[] | undefined)?.map(metricFromVersion1) ?? [];
  const behavior = readBehavior(annotations[BEHAVIOR]);
  const current = (readList(annotations[CURRENT_METRICS], listOf('MetricStatus')) as v1.MetricStatus[] | undefined)?.map(statusFromVersion1);
  const conditions = readList(annotations[CONDITIONS], listOf('HorizontalPodAutoscalerCondition')) as v2.HorizontalPodAutoscalerCondition[] | undefined;
  dropRoundTripAnnotations(metadata);

  const { scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: percent } = spec;
  const metrics = [...others, ...(percent === undefined ? [] : [cpuMetric(percent)])];
  const { observedGeneration, lastScaleTime, currentReplicas, desiredReplicas } = status;
  return {
    kind: object.kind,
    apiVersion: 'autoscaling/v2',
    metadata,
    spec: { scaleTargetRef, minReplicas, maxReplicas, metrics: metrics.length > 0 ? metrics : [cpuMetric(DEFAULT_CPU_PERCENT)], ...(behavior && { behavior }) },
    status: {
      observedGeneration,
      lastScaleTime,
      currentReplicas,
      desiredReplicas,
      currentMetrics: current ?? measuredCpu(status.currentCPUUtilizationPercentage),
      conditions,
    },
  } as ApiObject;
}

const cpuMetric = (percent: number): v2.MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } },
});

const measuredCpu = (percent: number | undefined): v2.MetricStatus[] | null =>
  percent === undefined ? null : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: percent } } }];

/** Undefined where there is no annotation, or what it holds is not what it should. */
function readList(text: string | undefined, type: TypeSchema): unknown[] | undefined {
  const value = readJson(text);
  if (value === undefined) return undefined;
  try {
    return (decodeType(type, value) as unknown[] | null) ?? [];
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function readBehavior(text: string | undefined): v2.HorizontalPodAutoscalerBehavior | undefined {
  const value = readJson(text);
  if (!isJsonObject(value)) return undefined;
  try {
    const behavior = decodeType(schemaOf('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior'), lowerCased(value)) as v2.HorizontalPodAutoscalerBehavior;
    return behavior.scaleUp || behavior.scaleDown ? behavior : undefined;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function readJson(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Go's names of fields to those of JSON: `ScaleUp` to `scaleUp`. */
function lowerCased(value: Json): Json {
  if (Array.isArray(value)) return value.map(lowerCased);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.slice(0, 1).toLowerCase() + key.slice(1), lowerCased(inner ?? null)]),
  ) as JsonObject;
}
