import { testChange } from '../../testing/kind-tester.ts';
import { describe, expect, it } from 'vitest';
import { clone } from '../../../schema/clone.ts';
import type { JsonObject } from '../../../encoding/json-types.ts';
import type { Pod } from '../../facts/types/core-v1.ts';
import { pods } from './pod.ts';
import { canonicalPod, decodePod, errorsOf, newPod } from './test-pods.ts';

type Path = 'status' | 'ephemeralcontainers' | 'resize';

const updateRules = (path?: Path) => (path === undefined ? pods : pods.subresources![path]!.update!);

/** The pod as an update leaves it, and what is wrong with that. */
function update(old: Pod, change: (pod: Pod) => void, path?: Path): { pod: Pod; errors: string[] } {
  const changed = clone(old);
  change(changed);
  const rules = updateRules(path);
  rules.prepareForUpdate!(testChange(changed, old));
  const pod = canonicalPod(changed);
  return { pod, errors: errorsOf((errors) => rules.validateUpdate!(testChange(pod, old), errors)) };
}

const app = { name: 'app', image: 'app:1', resources: { requests: { cpu: '100m' } } };

describe('an update of a pod', () => {
  const old = newPod({ containers: [app], tolerations: [{ key: 'a', operator: 'Exists' }], activeDeadlineSeconds: 100 });

  it('may change images, shorten the deadline and add tolerations', () => {
    const { pod, errors } = update(old, ({ spec }) => {
      spec.containers![0]!.image = 'app:2';
      spec.activeDeadlineSeconds = 50;
      spec.tolerations!.push({ key: 'b', operator: 'Exists' });
    });
    expect(errors).toEqual([]);
    expect(pod.metadata.generation).toBe(2);
  });

  it('shows what else it changed, as upstream does', () => {
    const { errors } = update(old, ({ spec }) => (spec.hostname = 'other'));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain('spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,');
    expect(errors[0]).toMatch(/\n@@ -\d+,7 \+\d+,7 @@\n.*\n.*\n {2}"ImagePullSecrets": null,\n-"?.*"Hostname": "",\n\+.*"Hostname": "other",\n/);
  });

  it.each<[string, (pod: Pod) => void, string]>([
    [
      'another container',
      ({ spec }) => spec.containers!.push(clone(spec.containers![0]!)),
      'spec.containers: Forbidden: pod updates may not add or remove containers',
    ],
    [
      'a longer deadline',
      ({ spec }) => (spec.activeDeadlineSeconds = 200),
      'spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value',
    ],
    [
      'no deadline',
      ({ spec }) => delete spec.activeDeadlineSeconds,
      'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
    ],
    [
      'fewer tolerations',
      ({ spec }) => delete spec.tolerations,
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ],
    [
      'a gate',
      ({ spec }) => (spec.schedulingGates = [{ name: 'g' }]),
      "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'",
    ],
  ])('refuses %s', (_what, change, expected) => {
    expect(update(old, change).errors).toContain(expected);
  });

  it('may narrow the nodes of a gated pod only', () => {
    const gated = newPod({ schedulingGates: [{ name: 'g' }], nodeSelector: { a: '1' } });
    expect(update(gated, ({ spec }) => (spec.nodeSelector!['b'] = '2')).errors).toEqual([]);
    expect(update(gated, ({ spec }) => (spec.nodeSelector = { a: '2' })).errors).toEqual([
      'spec.nodeSelector: Invalid value: {"a":"2"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ]);
  });
});

describe('/ephemeralcontainers', () => {
  const old = newPod({});
  const debug = { name: 'debug', image: 'd', resources: {}, terminationMessagePolicy: 'File', imagePullPolicy: 'Always' };

  it('adds containers and nothing else', () => {
    const { pod, errors } = update(
      old,
      (changed) => {
        changed.spec.ephemeralContainers = [debug];
        changed.spec.hostname = 'ignored';
      },
      'ephemeralcontainers',
    );
    expect(errors).toEqual([]);
    expect(pod.spec.hostname).toBeUndefined();
    expect(pod.metadata.generation).toBe(2);
    expect(update(pod, ({ spec }) => delete spec.ephemeralContainers, 'ephemeralcontainers').errors).toEqual([
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n',
    ]);
  });
});

describe('/resize', () => {
  const old = newPod({ containers: [app], initContainers: [{ name: 'init', image: 'i' }] });

  it('changes cpu and memory', () => {
    const { pod, errors } = update(old, ({ spec }) => (spec.containers![0]!.resources = { requests: { cpu: '200m' } }), 'resize');
    expect(errors).toEqual([]);
    expect(pod.spec.containers![0]!.resources).toEqual({ requests: { cpu: '200m' } });
  });

  it('keeps the class, the amounts that are there, and the order', () => {
    expect(update(old, ({ spec }) => (spec.containers![0]!.resources = {}), 'resize').errors).toEqual([
      'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
      'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
    ]);
    expect(update(old, ({ spec }) => (spec.containers![0]!.name = 'other'), 'resize').errors).toContain(
      'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
    );
  });
});

describe('/status', () => {
  const old = decodePod({ restartPolicy: 'Never' }, { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] }, {
    qosClass: 'BestEffort',
    observedGeneration: 3,
    containerStatuses: [{ name: 'app', state: { terminated: { exitCode: 0 } }, ready: false, restartCount: 0, image: '', imageID: '' }],
  } as JsonObject);

  it('keeps owners, class and what generation was seen', () => {
    const { pod, errors } = update(
      old,
      (changed) => {
        delete changed.metadata.ownerReferences;
        changed.status = { phase: 'Running' };
      },
      'status',
    );
    expect(errors).toEqual([]);
    expect(pod.metadata.ownerReferences).toHaveLength(1);
    expect(pod.status).toMatchObject({ phase: 'Running', qosClass: 'BestEffort', observedGeneration: 3 });
  });

  it.each<[string, (pod: Pod) => void, string[]]>([
    [
      'an ended container that runs',
      ({ status }) => (status.containerStatuses![0]!.state = {}),
      ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
    ],
    ['another class', ({ status }) => (status.qosClass = 'Burstable'), ['status.qosClass: Invalid value: "Burstable": field is immutable']],
    [
      'two addresses of one family',
      ({ status }) => (status.podIPs = [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]),
      ['status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family'],
    ],
    [
      'a condition of no name',
      ({ status }) => (status.conditions = [{ type: 'a b', status: 'True', lastProbeTime: null, lastTransitionTime: null }]),
      [
        "status.conditions[0].Type: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
  ])('refuses %s', (_what, change, errors) => {
    expect(update(old, change, 'status').errors).toEqual(errors);
  });
});
