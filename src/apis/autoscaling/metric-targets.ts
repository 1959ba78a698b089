import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from '../facts/types/autoscaling-v2.ts';

const UNKNOWN = '<unknown>';
const SHOWN_MAX = 2;

/** `cpu: 12%/80%, 3/10 (avg) + 1 more...`: what is measured beside what is wanted. */
export function targetsCell({ spec, status }: HorizontalPodAutoscaler): string {
  const metrics = spec.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const texts = metrics.slice(0, SHOWN_MAX).map((metric, index) => metricText(metric, status.currentMetrics?.[index]));
  const more = metrics.length > SHOWN_MAX ? ` + ${metrics.length - SHOWN_MAX} more...` : '';
  return texts.join(', ') + more;
}

function metricText(metric: MetricSpec, status: MetricStatus | undefined): string {
  switch (metric.type) {
    case 'External':
      return valueText(metric.external?.target, status?.external?.current);
    case 'Object':
      return valueText(metric.object?.target, status?.object?.current);
    case 'Pods':
      return `${current(status?.pods?.current, 'averageValue')}/${metric.pods?.target.averageValue ?? ''}`;
    case 'Resource':
      return `${metric.resource?.name}: ${resourceText(metric.resource?.target, status?.resource?.current)}`;
    case 'ContainerResource':
      return `${metric.containerResource?.name}: ${resourceText(metric.containerResource?.target, status?.containerResource?.current)}`;
    default:
      return '<unknown type>';
  }
}

function valueText(target: MetricTarget | undefined, measured: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${measured?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`;
  return `${current(measured, 'value')}/${target?.value ?? ''}`;
}

function resourceText(target: MetricTarget | undefined, measured: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current(measured, 'averageValue')}/${target.averageValue}`;
  return `${percent(measured?.averageUtilization, UNKNOWN)}/${percent(target?.averageUtilization, '<auto>')}`;
}

const percent = (value: number | undefined, none: string): string => (value === undefined ? none : `${value}%`);

/** Measured, but without this value: Go prints no quantity as such. */
const current = (measured: MetricValueStatus | undefined, field: 'value' | 'averageValue'): string => (measured ? (measured[field] ?? '<nil>') : UNKNOWN);
