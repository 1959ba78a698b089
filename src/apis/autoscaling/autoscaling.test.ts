import { describe, expect, test } from 'vitest';
import { schemaOfKind } from '../facts/schemas.ts';
import type { HorizontalPodAutoscaler } from '../facts/types/autoscaling-v2.ts';
import { normalize } from '../../schema/normalize.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { created, decoded, updated } from '../testing/kind-tester.ts';
import { horizontalPodAutoscalers } from './horizontal-pod-autoscaler.ts';
import { fromVersion1, toVersion1 } from './version-1.ts';

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const autoscaler = (spec: object = {}): object => ({
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v2',
  metadata: { name: 'web', namespace: 'default' },
  spec: { scaleTargetRef, maxReplicas: 5, ...spec },
});

test('defaults', () => {
  expect(decoded(horizontalPodAutoscalers, autoscaler()).spec).toMatchObject({
    minReplicas: 1,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
  });
  expect(decoded(horizontalPodAutoscalers, autoscaler({ behavior: { scaleUp: { selectPolicy: 'Min' } } })).spec.behavior).toEqual({
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Min',
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
    },
    scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
  });
});

test.each([
  ['nothing wrong', {}, []],
  [
    'counts',
    { minReplicas: 0, maxReplicas: 0 },
    [
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.maxReplicas: Required value: must be set and greater than 0',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ],
  ],
  ['more than most', { minReplicas: 9 }, ['spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`']],
  [
    'a reference',
    { scaleTargetRef: { kind: 'a/b', name: '', apiVersion: 'v1' } },
    [
      'spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain \'/\'',
      'spec.scaleTargetRef.name: Required value',
      'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
    ],
  ],
  ['the one kind of the core group', { scaleTargetRef: { kind: 'ReplicationController', name: 'web', apiVersion: 'v1' } }, []],
  [
    'an unknown metric',
    { metrics: [{ type: 'Mood' }] },
    ['spec.metrics[0].type: Unsupported value: "Mood": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"'],
  ],
  [
    'a metric of another type',
    { metrics: [{ type: 'Pods', external: { metric: { name: 'q' }, target: { type: 'Value', value: '1', averageValue: '-1' } } }] },
    [
      'spec.metrics[0].external.target.averageValue: Invalid value: "-1": must be positive',
      'spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target',
      'spec.metrics[0].pods: Required value: must populate information for the given metric source',
    ],
  ],
  [
    'behaviour',
    {
      behavior: {
        scaleDown: { stabilizationWindowSeconds: 4000, selectPolicy: 'Any', policies: [{ type: 'Pods', value: 0, periodSeconds: 1801 }], tolerance: '-1' },
      },
    },
    [
      'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 4000: must be less than or equal to 3600',
      'spec.behavior.scaleDown.selectPolicy: Unsupported value: "Any": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
      'spec.behavior.scaleDown.tolerance: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ],
])('%s', (_name, spec, problems) => {
  expect(created(horizontalPodAutoscalers, autoscaler(spec)).problems).toEqual(problems);
});

test('a reference that is left alone is not checked anew', () => {
  const object = created(horizontalPodAutoscalers, autoscaler()).object;
  object.spec.scaleTargetRef.apiVersion = 'odd/odd/odd';
  expect(updated(horizontalPodAutoscalers, object, ({ spec }) => void (spec.maxReplicas = 6)).problems).toEqual([]);
});

describe('version 1', () => {
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
    { type: 'Pods', pods: { metric: { name: 'requests' }, target: { type: 'AverageValue', averageValue: '10' } } },
    {
      type: 'Object',
      object: {
        describedObject: scaleTargetRef,
        metric: { name: 'queue', selector: { matchLabels: { a: 'b' } } },
        target: { type: 'AverageValue', averageValue: '3' },
      },
    },
    { type: 'External', external: { metric: { name: 'lag' }, target: { type: 'Value', value: '30' } } },
    { type: 'ContainerResource', containerResource: { name: 'memory', container: 'app', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  ];
  const stored = decoded(horizontalPodAutoscalers, autoscaler({ metrics, behavior: { scaleDown: { tolerance: '0.1' } } }));
  stored.status = {
    desiredReplicas: 2,
    currentReplicas: 1,
    currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 30, averageValue: '300m' } } }],
    conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'R' }],
  };
  const viewed = normalize(schemaOfKind('autoscaling', 'v1', 'HorizontalPodAutoscaler'), toVersion1(structuredClone(stored)) as unknown as JsonObject);

  test('knows the CPU, and carries the rest along', () => {
    const { spec, status, metadata } = viewed as { spec: object; status: object; metadata: { annotations: Record<string, string> } };
    expect(spec).toEqual({ scaleTargetRef, minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 70 });
    expect(status).toEqual({ currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 30 });
    expect(metadata.annotations['autoscaling.alpha.kubernetes.io/metrics']).toMatch(
      /^\[\{"type":"Pods","pods":\{"metricName":"requests","targetAverageValue":"10"\}\},\{"type":"Object","object":\{"target":/,
    );
    expect(metadata.annotations['autoscaling.alpha.kubernetes.io/behavior']).toMatch(
      /^\{"ScaleUp":\{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":\[\{"Type":"Pods","Value":4,"PeriodSeconds":15\}/,
    );
  });

  test('comes back whole', () => {
    const back = normalize(
      horizontalPodAutoscalers.schema,
      fromVersion1(structuredClone(viewed) as never) as unknown as JsonObject,
    ) as unknown as HorizontalPodAutoscaler;
    const [cpu, ...others] = stored.spec.metrics!;
    expect(back.spec).toEqual({ ...stored.spec, metrics: [...others, cpu] });
    expect(back.status).toEqual(stored.status);
    expect(back.metadata.annotations).toBeUndefined();
  });

  test.each(['', 'x', '5', '{"ScaleUp":5}', 'null', '[]'])('overlooks annotations such as %j', (text) => {
    const annotations = Object.fromEntries(
      ['metrics', 'behavior', 'current-metrics', 'conditions'].map((name) => [`autoscaling.alpha.kubernetes.io/${name}`, text]),
    );
    const sent = { ...viewed, metadata: { name: 'web', annotations } };
    expect(fromVersion1(structuredClone(sent) as never)).toMatchObject({ spec: { metrics: [{ type: 'Resource' }] } });
  });

  test('the table shows two metrics at most', () => {
    const targets = horizontalPodAutoscalers.table!.columns!.find(({ name }) => name === 'Targets')!;
    expect(targets.cell(stored, new Date())).toBe('cpu: 30%/70%, <unknown>/10 + 3 more...');
  });
});
