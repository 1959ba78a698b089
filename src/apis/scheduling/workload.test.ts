import { expect, test } from 'vitest';
import type { ApiFeature } from '../features.ts';
import { cellsOf, created, updated } from '../testing/kind-tester.ts';
import { podGroups } from './pod-group.ts';
import { workloads } from './workload.ts';

const group = (spec: object, features: readonly ApiFeature[] = []) =>
  created(
    { ...podGroups, settings: { features: new Set(features), allowsPrivileged: false } },
    { metadata: { name: 'g', namespace: 'default' }, spec: { schedulingPolicy: { basic: {} }, ...spec } },
  );
const workload = (spec: object) => created(workloads, { metadata: { name: 'w', namespace: 'default' }, spec });

test('what features have, goes without them', () => {
  const more = { priority: 7, schedulingConstraints: { topology: [{ key: 'a' }] }, resourceClaims: [{ name: 'c', resourceClaimName: 'r' }] };
  expect(group(more).object.spec).toEqual({ podGroupTemplateRef: null, schedulingPolicy: { basic: {} } });
  const { object } = group(more, ['WorkloadAwarePreemption', 'TopologyAwareWorkloadScheduling', 'DRAWorkloadResourceClaims']);
  expect(object.spec).toMatchObject({ disruptionMode: 'Pod', ...more });
});

test.each<[object, string[]]>([
  [{}, []],
  [{ schedulingPolicy: {} }, ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`']],
  [
    { schedulingPolicy: { basic: {}, gang: { minCount: -1 } } },
    [
      'spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`',
      'spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1',
    ],
  ],
  [{ podGroupTemplateRef: {} }, ['spec.podGroupTemplateRef: Invalid value: "": must specify one of: `workload`']],
])('group %j', (spec, problems) => expect(group(spec).problems).toEqual(problems));

test('a group stays as it was made', () => {
  const { problems } = updated(podGroups, group({}).object, (next) => (next.spec.schedulingPolicy = { gang: { minCount: 2 } }));
  expect(problems).toEqual(['spec.schedulingPolicy: Invalid value: null: field is immutable']);
});

test.each<[object, string[]]>([
  [{}, ['spec.podGroupTemplates: Required value']],
  [
    {
      podGroupTemplates: [
        { name: 'a', schedulingPolicy: { basic: {} } },
        { name: 'a', schedulingPolicy: { gang: {} } },
      ],
      controllerRef: { kind: 'a/b' },
    },
    [
      'spec.controllerRef.kind: Invalid value: "a/b": may not contain \'/\'',
      'spec.controllerRef.name: Required value',
      'spec.podGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"gang":{"minCount":0}}}',
      'spec.podGroupTemplates[1].schedulingPolicy.gang.minCount: Required value',
    ],
  ],
])('workload %j', (spec, problems) => expect(workload(spec).problems).toEqual(problems));

test('cells of a group', () => {
  const { object } = group({ podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: 't' } } });
  expect(cellsOf(podGroups, object)).toMatchObject({ Policy: 'Basic', Workload: 'w', Status: 'Pending' });
});
