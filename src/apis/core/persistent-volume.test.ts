import { describe, expect, test } from 'vitest';
import { cellsOf, created, decoded, testWrite, updated } from '../testing/kind-tester.ts';
import { persistentVolumeClaims } from './persistent-volume-claim.ts';
import { persistentVolumes } from './persistent-volume.ts';

const hostPath = { path: '/data' };
const volume = (spec: object = {}, metadata: object = {}): object => ({
  metadata: { name: 'v', ...metadata },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath, ...spec },
});
const claim = (spec: object = {}): object => ({
  metadata: { name: 'c', namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});

const affinity = (key: string): object => ({ required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] } });

test('defaults', () => {
  const { object } = created(persistentVolumes, volume({ rbd: { image: 'i' } }));
  expect(object).toMatchObject({
    spec: {
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
      hostPath: { path: '/data', type: '' },
      rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
    },
    status: { phase: 'Pending', lastPhaseTransitionTime: expect.any(String) },
  });
  expect(created(persistentVolumeClaims, claim()).object).toMatchObject({ spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } });
});

describe('volumes', () => {
  test.each<[name: string, spec: object, problems: string[]]>([
    ['good', {}, []],
    ['two sources', { nfs: { server: 's', path: '/' } }, ['spec.nfs: Forbidden: may not specify more than 1 volume type']],
    ['none', { hostPath: null }, ['spec: Required value: must specify a volume type']],
    ['no capacity', { capacity: null }, ['spec.capacity: Required value', 'spec.capacity: Unsupported value: null: supported values: "storage"']],
    [
      'a negative capacity',
      { capacity: { storage: '-1' } },
      [
        'spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
        'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
      ],
    ],
    ['a local volume anywhere', { hostPath: null, local: { path: '/mnt' } }, ['spec.nodeAffinity: Required value: Local volume requires node affinity']],
    [
      'recycling the root',
      { hostPath: { path: '/./' }, persistentVolumeReclaimPolicy: 'Recycle' },
      ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ],
    [
      'one pod and many',
      { accessModes: ['ReadWriteOncePod', 'ReadWriteMany'] },
      ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
    ['attributes without CSI', { volumeAttributesClassName: 'gold' }, ['spec.csi: Required value: has to be specified when using volumeAttributesClassName']],
    ['a disk without a name', { hostPath: null, gcePersistentDisk: {} }, ['spec.persistentDisk.pdName: Required value']],
  ])('%s', (_name, spec, problems) => {
    expect(created(persistentVolumes, volume(spec)).problems).toEqual(problems);
  });

  test('a source stays, but for the secret of expansion', () => {
    const old = created(persistentVolumes, volume()).object;
    const { problems } = updated(persistentVolumes, old, ({ spec }) => void (spec.hostPath!.path = '/other'));
    expect(problems).toEqual([
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n' +
        '@@ -2,7 +2,7 @@\n  "GCEPersistentDisk": null,\n  "AWSElasticBlockStore": null,\n  "HostPath": {\n-  "Path": "/data",\n+  "Path": "/other",\n   "Type": ""\n  },\n  "Glusterfs": null,\n',
    ]);
    const csi = created(persistentVolumes, volume({ hostPath: null, csi: { driver: 'd.example', volumeHandle: 'h' } })).object;
    expect(updated(persistentVolumes, csi, ({ spec }) => void (spec.csi!.controllerExpandSecretRef = { name: 's', namespace: 'n' })).problems).toEqual([]);
  });
  test('affinity may only follow labels to their new names', () => {
    const old = created(persistentVolumes, volume({ nodeAffinity: affinity('beta.kubernetes.io/os') })).object;
    expect(updated(persistentVolumes, old, ({ spec }) => void (spec.nodeAffinity = affinity('kubernetes.io/os'))).problems).toEqual([]);
    expect(updated(persistentVolumes, old, ({ spec }) => void (spec.nodeAffinity = affinity('other'))).problems).toEqual([
      'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":"other","Operator":"Exists","Values":null}],"MatchFields":null}]}}: field is immutable, except for updating from beta label to GA',
    ]);
  });
  test('a change of phase has its time', () => {
    const old = created(persistentVolumes, volume()).object;
    old.status.lastPhaseTransitionTime = '2020-01-01T00:00:00Z';
    const bound = updated(persistentVolumes, old, (next) => void (next.status = { phase: 'Bound' }), 'status').object;
    expect(bound.status.lastPhaseTransitionTime).not.toBe('2020-01-01T00:00:00Z');
    expect(updated(persistentVolumes, old, (next) => void (next.status = { phase: 'Pending' }), 'status').object.status.lastPhaseTransitionTime).toBe(
      '2020-01-01T00:00:00Z',
    );
  });
});

describe('claims', () => {
  test('what a volume is filled from stands in both fields', () => {
    const source = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
    expect(created(persistentVolumeClaims, claim({ dataSource: source })).object.spec.dataSourceRef).toEqual(source);
    expect(created(persistentVolumeClaims, claim({ dataSourceRef: source })).object.spec.dataSource).toEqual(source);
    expect(created(persistentVolumeClaims, claim({ dataSource: { ...source, kind: 'Other' } })).object.spec).not.toHaveProperty('dataSource');
    expect(created(persistentVolumeClaims, claim({ dataSourceRef: { ...source, namespace: 'other' } })).object.spec).not.toHaveProperty('dataSourceRef');
  });
  test('only a bound claim may grow', () => {
    const old = created(persistentVolumeClaims, claim()).object;
    const grow = ({ spec }: typeof old): void => void (spec.resources.requests = { storage: '2Gi' });
    expect(updated(persistentVolumeClaims, old, grow).problems[0]).toMatch(
      /^spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ /,
    );
    old.status = { phase: 'Bound', capacity: { storage: '1Gi' } };
    expect(updated(persistentVolumeClaims, old, grow).problems).toEqual([]);
    expect(updated(persistentVolumeClaims, old, ({ spec }) => void (spec.resources.requests = { storage: '1Mi' })).problems).toEqual([
      'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    ]);
    expect(updated(persistentVolumeClaims, old, ({ spec }) => void (spec.resources.requests = { storage: '1024Mi' })).problems).toEqual([]);
  });
  test('a class is filled in once', () => {
    const old = created(persistentVolumeClaims, claim()).object;
    expect(updated(persistentVolumeClaims, old, ({ spec }) => void (spec.storageClassName = 'fast')).problems).toEqual([]);
    old.spec.storageClassName = 'slow';
    expect(updated(persistentVolumeClaims, old, ({ spec }) => void (spec.storageClassName = 'fast')).problems).toHaveLength(1);
  });
  test('status knows how a claim grows', () => {
    const old = created(persistentVolumeClaims, claim()).object;
    const { problems } = updated(
      persistentVolumeClaims,
      old,
      ({ status }) => Object.assign(status, { allocatedResourceStatuses: { cpu: 'Growing' }, allocatedResources: { storage: '-1' } }),
      'status',
    );
    expect(problems).toEqual([
      'status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "storage"',
      'status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
      'status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
    ]);
  });
});

test('cells and warnings', () => {
  const bound = decoded(persistentVolumeClaims, {
    ...claim({ volumeName: 'v', storageClassName: 'fast' }),
    status: { phase: 'Bound', accessModes: ['ReadWriteMany', 'ReadWriteOnce'], capacity: { storage: '2Gi' } },
  });
  expect(cellsOf(persistentVolumeClaims, bound)).toMatchObject({
    Status: 'Bound',
    Volume: 'v',
    Capacity: '2Gi',
    'Access Modes': 'RWO,RWX',
    StorageClass: 'fast',
    VolumeAttributesClass: '<unset>',
  });
  const old = decoded(
    persistentVolumes,
    volume(
      { claimRef: { namespace: 'n', name: 'c' }, persistentVolumeReclaimPolicy: 'Recycle' },
      { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } },
    ),
  );
  expect(cellsOf(persistentVolumes, old)).toMatchObject({
    Capacity: '1Gi',
    'Access Modes': 'RWO',
    'Reclaim Policy': 'Recycle',
    Claim: 'n/c',
    StorageClass: 'x',
    VolumeMode: 'Filesystem',
  });
  expect(persistentVolumes.warnings?.(testWrite(old))).toEqual([
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
  ]);
});
