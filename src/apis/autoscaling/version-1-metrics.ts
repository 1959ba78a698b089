import { parseQuantity, quantitySign } from '../../api/quantity.ts';
import type { Json } from '../../encoding/json-types.ts';
import type * as v1 from '../facts/types/autoscaling-v1.ts';
import type * as v2 from '../facts/types/autoscaling-v2.ts';

/** Metrics between v2 and the form that autoscaling/v1 keeps in annotations. Fields without a value are dropped when the result is normalized. */
export const metricToVersion1 = ({ type, object, pods, resource, containerResource, external }: v2.MetricSpec): Json =>
  ({
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric.name,
      targetValue: object.target.value,
      selector: object.metric.selector,
      averageValue: object.target.averageValue,
    },
    pods: pods && { metricName: pods.metric.name, targetAverageValue: pods.target.averageValue, selector: pods.metric.selector },
    resource: resource && {
      name: resource.name,
      targetAverageUtilization: resource.target.averageUtilization,
      targetAverageValue: resource.target.averageValue,
    },
    containerResource: containerResource && {
      name: containerResource.name,
      targetAverageUtilization: containerResource.target.averageUtilization,
      targetAverageValue: containerResource.target.averageValue,
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      targetValue: external.target.value,
      targetAverageValue: external.target.averageValue,
    },
  }) as unknown as Json;

export const metricFromVersion1 = ({ type, object, pods, resource, containerResource, external }: v1.MetricSpec): v2.MetricSpec => ({
  type,
  ...(object && { object: objectFromVersion1(object) }),
  ...(pods && { pods: { metric: identifier(pods.metricName, pods.selector), target: { type: 'AverageValue', averageValue: pods.targetAverageValue } } }),
  ...(resource && { resource: { name: resource.name, target: resourceTarget(resource) } }),
  ...(containerResource && {
    containerResource: { name: containerResource.name, target: resourceTarget(containerResource), container: containerResource.container },
  }),
  ...(external && { external: { metric: identifier(external.metricName, external.metricSelector), target: externalTarget(external) } }),
});

export const statusToVersion1 = ({ type, object, pods, resource, containerResource, external }: v2.MetricStatus): Json =>
  ({
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric.name,
      currentValue: object.current.value,
      selector: object.metric.selector,
      averageValue: object.current.averageValue,
    },
    pods: pods && { metricName: pods.metric.name, currentAverageValue: pods.current.averageValue, selector: pods.metric.selector },
    resource: resource && {
      name: resource.name,
      currentAverageUtilization: resource.current.averageUtilization,
      currentAverageValue: resource.current.averageValue,
    },
    containerResource: containerResource && {
      name: containerResource.name,
      currentAverageUtilization: containerResource.current.averageUtilization,
      currentAverageValue: containerResource.current.averageValue,
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      currentValue: external.current.value,
      currentAverageValue: external.current.averageValue,
    },
  }) as unknown as Json;

export const statusFromVersion1 = ({ type, object, pods, resource, containerResource, external }: v1.MetricStatus): v2.MetricStatus => ({
  type,
  ...(object && {
    object: {
      metric: identifier(object.metricName, object.selector),
      current: values(object.currentValue, object.averageValue),
      describedObject: object.target,
    },
  }),
  ...(pods && { pods: { metric: identifier(pods.metricName, pods.selector), current: values(undefined, pods.currentAverageValue) } }),
  ...(resource && { resource: { name: resource.name, current: values(undefined, resource.currentAverageValue, resource.currentAverageUtilization) } }),
  ...(containerResource && {
    containerResource: {
      name: containerResource.name,
      current: values(undefined, containerResource.currentAverageValue, containerResource.currentAverageUtilization),
      container: containerResource.container,
    },
  }),
  ...(external && {
    external: { metric: identifier(external.metricName, external.metricSelector), current: values(external.currentValue, external.currentAverageValue) },
  }),
});

const identifier = (name: string, selector: v2.MetricIdentifier['selector']): v2.MetricIdentifier => ({ name, ...(selector && { selector }) });

const values = (value: string | undefined, averageValue: string | undefined, averageUtilization?: number): v2.MetricValueStatus => ({
  ...(value !== undefined && { value }),
  ...(averageValue !== undefined && { averageValue }),
  ...(averageUtilization !== undefined && { averageUtilization }),
});

/** v1 cannot leave the value out: beside an average, a zero means that there is none. */
function objectFromVersion1({ target, metricName, targetValue, selector, averageValue }: v1.ObjectMetricSource): v2.ObjectMetricSource {
  const isMeant = averageValue === undefined || quantitySign(parseQuantity(targetValue)) !== 0;
  const type = averageValue === undefined ? 'Value' : 'AverageValue';
  return { describedObject: target, target: { type, ...values(isMeant ? targetValue : undefined, averageValue) }, metric: identifier(metricName, selector) };
}

function resourceTarget({ targetAverageUtilization, targetAverageValue }: v1.ResourceMetricSource | v1.ContainerResourceMetricSource): v2.MetricTarget {
  return { type: targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization', ...values(undefined, targetAverageValue, targetAverageUtilization) };
}

function externalTarget({ targetValue, targetAverageValue }: v1.ExternalMetricSource): v2.MetricTarget {
  return { type: targetValue === undefined ? 'AverageValue' : 'Value', ...values(targetValue, targetAverageValue) };
}
