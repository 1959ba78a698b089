import { describe, expect, test } from 'vitest';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { replicationControllers } from '../core/replication-controller.ts';
import { created, decoded, updated } from '../testing/kind-tester.ts';
import { controllerRevisions } from './controller-revision.ts';
import { daemonSets } from './daemon-set.ts';
import { deployments } from './deployment.ts';
import { replicaSets } from './replica-set.ts';
import { statefulSets } from './stateful-set.ts';

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'web:1' }] } };
const selector = { matchLabels: { app: 'web' } };
const NO_PERCENTAGE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
const workload = (spec: object = {}): object => ({ metadata: { name: 'web', namespace: 'default' }, spec: { selector, template, ...spec } });

describe('defaults', () => {
  test('a deployment rolls by quarters', () => {
    expect(decoded(deployments, workload()).spec).toMatchObject({
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    });
    expect(decoded(deployments, workload({ replicas: 0, strategy: { type: 'Recreate' } })).spec).toMatchObject({ replicas: 0, strategy: { type: 'Recreate' } });
  });

  test('what a rolling update leaves out is 0 where updates do not roll', () => {
    const deployment = decoded(deployments, workload({ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: '50%' } } }));
    expect(deployment.spec.strategy).toEqual({ type: 'Recreate', rollingUpdate: { maxUnavailable: 0, maxSurge: '50%' } });
    const set = decoded(statefulSets, workload({ updateStrategy: { type: 'OnDelete', rollingUpdate: {} } }));
    expect(set.spec.updateStrategy).toEqual({ type: 'OnDelete', rollingUpdate: { partition: 0 } });
  });

  test('a daemon set counts its templates from one', () => {
    const { object } = created(daemonSets, workload());
    expect(object.spec.updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } });
    const { spec } = created(daemonSets, workload({ updateStrategy: { type: 'OnDelete', rollingUpdate: {} } })).object;
    expect(spec.updateStrategy).toEqual({ type: 'OnDelete', rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } });
    expect(object.metadata.annotations).toEqual({ 'deprecated.daemonset.template.generation': '1' });
    const changed = updated(daemonSets, object, (next) => void (next.spec.template.spec.containers![0]!.image = 'web:2'));
    expect(changed.object.metadata.annotations).toEqual({ 'deprecated.daemonset.template.generation': '2' });
    const forged = updated(daemonSets, object, (next) => void (next.metadata.annotations = { 'deprecated.daemonset.template.generation': '9' }));
    expect(forged.object.metadata.annotations).toEqual({ 'deprecated.daemonset.template.generation': '1' });
  });

  test('a stateful set retains claims, and they carry their type', () => {
    const { spec } = decoded(
      statefulSets,
      workload({
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }],
      }),
    );
    expect(spec).toMatchObject({
      replicas: 1,
      revisionHistoryLimit: 10,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } }],
    });
    expect(decoded(statefulSets, workload({ updateStrategy: { type: 'RollingUpdate' } })).spec.updateStrategy).toEqual({ type: 'RollingUpdate' });
  });

  test('a replication controller selects the labels of its template', () => {
    const controller = decoded(replicationControllers, { metadata: { name: 'web' }, spec: { template } });
    expect(controller.spec).toMatchObject({ replicas: 1, selector: { app: 'web' } });
    expect(controller.metadata.labels).toEqual({ app: 'web' });
  });
});

const CASES: readonly [name: string, definition: ResourceDefinition, spec: object, problems: string[]][] = [
  ['a deployment', deployments, {}, []],
  ['a negative count', deployments, { replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
  [
    'no selector',
    deployments,
    { selector: null },
    ['spec.selector: Required value', 'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
  ],
  ['an empty selector', deployments, { selector: {} }, ['spec.selector: Invalid value: {}: empty selector is invalid for deployment']],
  [
    'a selector that cannot be',
    replicaSets,
    { selector: { matchLabels: { 'a b': 'c' } } },
    [
      "spec.selector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      'spec.selector: Invalid value: {"matchLabels":{"a b":"c"}}: invalid label selector',
    ],
  ],
  [
    'an unknown strategy',
    deployments,
    { strategy: { type: 'Slow' } },
    ['spec.strategy: Unsupported value: {"Type":"Slow","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"'],
  ],
  [
    'a strategy with too much',
    deployments,
    { strategy: { type: 'Recreate', rollingUpdate: {} } },
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    'no progress at all',
    deployments,
    { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: '0%' } } },
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0'],
  ],
  [
    'more than all',
    deployments,
    { strategy: { rollingUpdate: { maxUnavailable: '120%', maxSurge: 'x' } } },
    [
      "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"x\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "120%": must not be greater than 100%',
    ],
  ],
  [
    'a text that is no percentage, told as JSON, and counted as 0 whatever number it begins with',
    deployments,
    { strategy: { rollingUpdate: { maxUnavailable: '\u0000', maxSurge: '+5%' } } },
    [
      `spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "\\u0000": ${NO_PERCENTAGE}`,
      `spec.strategy.rollingUpdate.maxSurge: Invalid value: "+5%": ${NO_PERCENTAGE}`,
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "\\u0000": may not be 0 when `maxSurge` is 0',
    ],
  ],
  [
    'a deadline before readiness',
    deployments,
    { minReadySeconds: 700 },
    ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
  ],
  [
    'pods that end',
    replicaSets,
    { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never', activeDeadlineSeconds: 5 } } },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    ],
  ],
  [
    'a daemon set that neither surges nor stops',
    daemonSets,
    { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  ],
  [
    'a daemon set that does both',
    daemonSets,
    { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: '10%' } } },
    ['spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "10%": may not be set when maxUnavailable is non-zero'],
  ],
  [
    'a stateful set of an odd kind',
    statefulSets,
    { podManagementPolicy: 'Random', updateStrategy: { type: 'OnDelete', rollingUpdate: {} }, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Burn' } },
    [
      "spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'",
      'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":0,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
      'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Burn": supported values: "Retain", "Delete"',
    ],
  ],
  ['ordinals below zero', statefulSets, { ordinals: { start: -1 } }, ['spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0']],
];

test.each(CASES)('%s is checked', (_name, definition, spec, problems) => {
  expect(created(definition as ResourceDefinition<ApiObject>, workload(spec)).problems).toEqual(problems);
});

describe('updates', () => {
  test('a selector stays', () => {
    const { object } = created(deployments, workload());
    const { problems } = updated(deployments, object, ({ spec }) => {
      spec.selector = { matchLabels: { app: 'web', tier: 'x' } };
      spec.template.metadata.labels = { app: 'web', tier: 'x' };
    });
    expect(problems).toEqual(['spec.selector: Invalid value: {"matchLabels":{"app":"web","tier":"x"}}: field is immutable']);
  });

  test("a deployment's annotations are work for its controller", () => {
    const { object } = created(deployments, workload());
    expect(updated(deployments, object, ({ metadata }) => void (metadata.annotations = { note: 'x' })).object.metadata.generation).toBe(2);
    expect(updated(deployments, object, ({ metadata }) => void (metadata.labels = { note: 'x' })).object.metadata.generation).toBe(1);
  });

  test('what makes a stateful set itself stays', () => {
    const { object } = created(statefulSets, workload({ serviceName: 'web' }));
    expect(updated(statefulSets, object, ({ spec }) => void (spec.replicas = 3)).problems).toEqual([]);
    expect(updated(statefulSets, object, ({ spec }) => void (spec.serviceName = 'other')).problems).toEqual([
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ]);
  });

  test('finalizers must be qualified', () => {
    const { object } = created(replicaSets, workload());
    expect(updated(replicaSets, object, ({ metadata }) => void (metadata.finalizers = ['orphan', 'mine'])).problems).toEqual([
      'metadata.finalizers[1]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });

  test('counts of a status fit each other', () => {
    const { object } = created(deployments, workload());
    const { problems } = updated(
      deployments,
      object,
      (next) => void (next.status = { replicas: 1, readyReplicas: 2, availableReplicas: 3, unavailableReplicas: -1 }),
      'status',
    );
    expect(problems).toEqual([
      'status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0',
      'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
      'status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas',
      'status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas',
    ]);
  });
});

const revision = (data: unknown): object => ({ metadata: { name: 'r', namespace: 'default' }, revision: 1, data });

describe('controller revisions', () => {
  test.each([
    [undefined, ['data: Required value: data is mandatory']],
    [[1], ['data: Required value: data must be a valid JSON object']],
    [{ a: 1 }, []],
  ])('data %j', (data, problems) => {
    expect(created(controllerRevisions, revision(data)).problems).toEqual(problems);
  });

  test('data stays', () => {
    const { object } = created(controllerRevisions, revision({ a: 1 }));
    expect(updated(controllerRevisions, object, (next) => void (next.data = { a: 2 } as JsonObject)).problems).toEqual([
      'data: Invalid value: {"a":2}: field is immutable',
    ]);
  });
});

describe('scale', () => {
  const object = { ...created(deployments, workload({ replicas: 4 })).object, status: { replicas: 3 } };
  const scale = deployments.subresources!['scale']!;

  test('shows replicas and selector', () => {
    expect(scale.read!(object)).toMatchObject({
      kind: 'Scale',
      metadata: { name: 'web' },
      spec: { replicas: 4 },
      status: { replicas: 3, selector: 'app=web' },
    });
  });

  test('is written back, with its preconditions', () => {
    const sent = {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'web', namespace: 'default', resourceVersion: '7' },
      spec: { replicas: 9 },
    } as ApiObject;
    const written = scale.write!(structuredClone(object), sent);
    expect(written).toMatchObject({ metadata: { resourceVersion: '7' }, spec: { replicas: 9 } });
    expect(() => scale.validateSent!({ ...sent, spec: { replicas: -1 } } as ApiObject, 'web')).toThrow(
      'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
    expect(() => scale.write!(structuredClone(object), { ...sent, metadata: { ...sent.metadata, uid: 'x' } })).toThrow(
      'Operation cannot be fulfilled on deployments/scale.apps "web": Precondition failed',
    );
  });
});

describe('what is refused is shown with what upstream has where nothing was sent', () => {
  test('a strategy', () => {
    const { problems } = created(daemonSets, workload({ updateStrategy: { type: 'Other', rollingUpdate: {} } }));
    expect(problems).toEqual([
      'spec.updateStrategy: Unsupported value: {"Type":"Other","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":0}}: supported values: "RollingUpdate", "OnDelete"',
    ]);
  });

  test('counts of a status', () => {
    const { object } = created(replicaSets, workload());
    const { problems } = updated(replicaSets, object, ({ status }) => void (status.replicas = -1), 'status');
    expect(problems).toContain('status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas');
  });

  test('a selector', () => {
    const matchExpressions = [{ key: 'a', operator: 'b', values: [] }];
    const { problems } = created(replicaSets, workload({ selector: { matchExpressions } }));
    expect(problems.at(-1)).toBe('spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"b"}]}: invalid label selector');
  });
});

test('the count of collisions does not go back, but may start anywhere', () => {
  const { object } = created(daemonSets, workload());
  const first = updated(daemonSets, object, ({ status }) => void (status.collisionCount = 2), 'status');
  expect(updated(daemonSets, object, ({ status }) => void (status.collisionCount = -1), 'status').problems).not.toContainEqual(
    expect.stringContaining('decremented'),
  );
  for (const count of [1, undefined]) {
    const { problems } = updated(daemonSets, first.object, ({ status }) => void Object.assign(status, { collisionCount: count }), 'status');
    expect(problems).toContain(`status.collisionCount: Invalid value: ${count ?? 0}: cannot be decremented`);
  }
});

test('a scale has columns of its own', () => {
  const { object } = created(deployments, workload({ replicas: 3 }));
  const columns = deployments.subresources!['scale']!.columns!;
  expect(columns.map(({ name, cell }) => [name, cell(object, new Date())])).toMatchObject([
    ['Name', 'web'],
    ['Desired', 3],
    ['Available', 0],
    ['Age', expect.any(String)],
  ]);
});
