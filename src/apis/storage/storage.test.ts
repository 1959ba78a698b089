import { describe, expect, test } from 'vitest';
import { cellsOf, created, decoded, testChange, testWrite, updated } from '../testing/kind-tester.ts';
import { csiDrivers } from './csi-driver.ts';
import { csiNodes } from './csi-node.ts';
import { csiStorageCapacities } from './csi-storage-capacity.ts';
import { storageClasses } from './storage-class.ts';
import { volumeAttachments } from './volume-attachment.ts';
import { volumeAttributesClasses } from './volume-attributes-class.ts';

const metadata = { name: 'fast' };

const topology = (...requirements: object[]): object => ({ matchLabelExpressions: requirements });

describe('storage classes', () => {
  const zone = { key: 'zone', values: ['a'] };

  test.each([
    [{ provisioner: 'Example.com/disk' }, []],
    [{}, ['provisioner: Required value']],
    [{ provisioner: 'a/b/c' }, [expect.stringContaining('provisioner: Invalid value: "a/b/c": a valid label key must consist of')]],
    [{ provisioner: 'x', parameters: { '': 'a' } }, ['parameters: Invalid value: "": field can not be empty.']],
    [
      { provisioner: 'x', parameters: Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`k${index}`, ''])) },
      ['parameters: Too long: may not be more than 512 bytes'],
    ],
    [{ provisioner: 'x', reclaimPolicy: 'Recycle' }, ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"']],
    [
      { provisioner: 'x', volumeBindingMode: 'Never' },
      ['volumeBindingMode: Unsupported value: "Never": supported values: "Immediate", "WaitForFirstConsumer"'],
    ],
    [{ provisioner: 'x', allowedTopologies: [topology(zone), topology(zone)] }, ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""']],
    [
      { provisioner: 'x', allowedTopologies: [topology({ key: 'zone', values: ['a', 'a'] }, { key: 'zone' })] },
      [
        'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
        'allowedTopologies[0].matchLabelExpressions[1].values: Required value',
        'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "zone"',
      ],
    ],
  ])('%j', (sent, problems) => {
    expect(created(storageClasses, { metadata, ...sent }).problems).toEqual(problems);
  });

  test('who provisions, and how, stays', () => {
    const { object } = created(storageClasses, { metadata, provisioner: 'x' });
    const changed = updated(
      storageClasses,
      object,
      (next) => void Object.assign(next, { parameters: { a: 'b' }, reclaimPolicy: 'Retain', allowVolumeExpansion: true }),
    );
    expect(changed.problems).toEqual([
      'parameters: Invalid value: {"a":"b"}: field is immutable',
      'reclaimPolicy: Invalid value: "Retain": field is immutable',
    ]);
    object.metadata.annotations = { 'storageclass.beta.kubernetes.io/is-default-class': 'true' };
    expect(cellsOf(storageClasses, object)).toMatchObject({
      Name: 'fast (default)',
      Provisioner: 'x',
      ReclaimPolicy: 'Delete',
      VolumeBindingMode: 'Immediate',
      AllowVolumeExpansion: false,
    });
  });
});

test('volume attributes classes have parameters, and keep them', () => {
  expect(created(volumeAttributesClasses, { metadata, driverName: 'x' }).problems).toEqual([
    'parameters: Required value: must contain at least one key/value pair',
  ]);
  const { object } = created(volumeAttributesClasses, { metadata, driverName: 'x', parameters: { iops: '1' } });
  expect(updated(volumeAttributesClasses, object, (next) => void Object.assign(next, { driverName: 'y', parameters: { iops: '2' } })).problems).toEqual([
    'driverName: Forbidden: updates to driverName are forbidden.',
    'parameters: Forbidden: updates to parameters are forbidden.',
  ]);
});

describe('drivers', () => {
  test('defaults', () => {
    expect(decoded(csiDrivers, { metadata }).spec).toEqual({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      volumeLifecycleModes: ['Persistent'],
      requiresRepublish: false,
      seLinuxMount: false,
    });
  });

  test.each([
    [{ tokenRequests: [{ audience: 'a', expirationSeconds: 600 }], serviceAccountTokenInSecrets: true }, []],
    [{ fsGroupPolicy: 'Some' }, ['spec.fsGroupPolicy: Unsupported value: "Some": supported values: "File", "None", "ReadWriteOnceWithFSType"']],
    [{ volumeLifecycleModes: ['Short'] }, ['spec.volumeLifecycleModes: Unsupported value: "Short": supported values: "Persistent", "Ephemeral"']],
    [
      { tokenRequests: [{ audience: 'a', expirationSeconds: 1 }, { audience: 'a' }, { audience: 'b', expirationSeconds: 4_294_967_297 }] },
      [
        'spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
        'spec.tokenRequests[1].audience: Duplicate value: "a"',
        'spec.tokenRequests[2].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      ],
    ],
    [{ nodeAllocatableUpdatePeriodSeconds: 9 }, ['spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds']],
    [
      { serviceAccountTokenInSecrets: false },
      ['spec.serviceAccountTokenInSecrets: Invalid value: false: serviceAccountTokenInSecrets is set but no tokenRequests are specified'],
    ],
  ])('%j', (spec, problems) => {
    expect(created(csiDrivers, { metadata, spec }).problems).toEqual(problems);
  });

  test('what stays, what counts, and what is told', () => {
    const { object } = created(csiDrivers, { metadata, spec: { tokenRequests: [{ audience: 'a' }] } });
    expect(csiDrivers.warnings?.(testWrite(object))).toHaveLength(1);
    expect(csiDrivers.warnings?.(testChange(object, object))).toEqual([]);
    const changed = updated(csiDrivers, object, ({ spec }) => void Object.assign(spec, { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] }));
    expect(changed.problems).toEqual([
      'spec.attachedRequired: Invalid value: false: field is immutable',
      'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
    ]);
    expect(changed.object.metadata.generation).toBe(1);
    expect(cellsOf(csiDrivers, object)).toMatchObject({ TokenRequests: 'a', Modes: 'Persistent' });
  });
});

describe('nodes of drivers', () => {
  const driver = { name: 'd.example.com', nodeID: 'i-1', topologyKeys: ['zone'] };

  test.each([
    [[driver], []],
    [[driver, driver], ['spec.drivers[1].name: Duplicate value: "d.example.com"']],
    [[{ ...driver, name: '', nodeID: '' }], ['spec.drivers[0].name: Required value', 'spec.drivers[0].nodeID: Required value']],
    [
      [{ ...driver, topologyKeys: ['a', 'a'], allocatable: { count: -1 } }],
      ['spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0', 'spec.drivers[0]: Duplicate value: "a"'],
    ],
  ])('%j', (drivers, problems) => {
    expect(created(csiNodes, { metadata, spec: { drivers } }).problems).toEqual(problems);
  });

  test('a driver changes only in what it can take', () => {
    const { object } = created(csiNodes, { metadata, spec: { drivers: [driver] } });
    expect(updated(csiNodes, object, ({ spec }) => void (spec.drivers![0]!.allocatable = { count: 5 })).problems).toEqual([]);
    expect(updated(csiNodes, object, ({ spec }) => void (spec.drivers![0]!.nodeID = 'i-2')).problems).toEqual([
      'spec.drivers: Invalid value: {"Name":"d.example.com","NodeID":"i-2","TopologyKeys":["zone"],"Allocatable":null}: field is immutable',
    ]);
  });
});

test('capacities', () => {
  const sent = {
    metadata: { name: 'c', namespace: 'default' },
    storageClassName: 'fast',
    capacity: '1Gi',
    nodeTopology: { matchLabels: { 'beta.kubernetes.io/os': 'linux' } },
  };
  const { object, problems } = created(csiStorageCapacities, sent);
  expect(problems).toEqual([]);
  expect(csiStorageCapacities.warnings?.(testWrite(object))).toEqual([
    'nodeTopology.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
  expect(created(csiStorageCapacities, { ...sent, capacity: '-1', storageClassName: '' }).problems).toEqual([
    expect.stringContaining('storageClassName: Invalid value: "": a lowercase RFC 1123 subdomain'),
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  ]);
  expect(updated(csiStorageCapacities, object, (next) => void (next.storageClassName = 'slow')).problems).toEqual([
    'storageClassName: Invalid value: "slow": field is immutable',
  ]);
});

describe('attachments', () => {
  const spec = { attacher: 'd.example.com', nodeName: 'n1', source: { persistentVolumeName: 'pv' } };
  const sent = (parts: object): object => ({ metadata, spec: { ...spec, ...parts } });

  test.each([
    [sent({}), []],
    [sent({ source: {} }), ['spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName']],
    [
      sent({ source: { persistentVolumeName: '' } }),
      [
        'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
        expect.stringContaining('spec.source.persistentVolumeName: Invalid value: ""'),
      ],
    ],
    [
      sent({ source: { persistentVolumeName: 'pv', inlineVolumeSpec: {} } }),
      ['spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
    ],
    [
      sent({
        source: { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'd.example.com', volumeHandle: 'v' }, volumeAttributesClassName: 'A b' } },
      }),
      [],
    ],
    [
      sent({ source: { inlineVolumeSpec: { claimRef: {} } } }),
      [
        'spec.source.inlineVolumeSpec.claimRef: Forbidden: may not be specified in the context of inline volumes',
        'spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes',
        'spec.source.inlineVolumeSpec.accessModes: Required value',
        expect.stringContaining('spec.source.inlineVolumeSpec'),
      ],
    ],
    [sent({ attacher: '', nodeName: 'N' }), ['spec.attacher: Required value', expect.stringContaining('spec.nodeName: Invalid value: "N"')]],
  ])('%j', (object, problems) => {
    expect(created(volumeAttachments, object).problems).toEqual(problems);
  });

  test('what is attached where stays', () => {
    const { object } = created(volumeAttachments, sent({}));
    expect(updated(volumeAttachments, object, (next) => void (next.spec.nodeName = 'n2')).problems).toEqual([
      'spec: Invalid value: {"Attacher":"d.example.com","Source":{"PersistentVolumeName":"pv","InlineVolumeSpec":null},"NodeName":"n2"}: field is immutable',
    ]);
    const failed = updated(
      volumeAttachments,
      object,
      ({ status }) => void (status.attachError = { time: null, message: 'x'.repeat(1025), errorCode: -1 }),
      'status',
    );
    expect(failed.problems).toEqual([
      'status.attachError.message: Too long: may not be more than 262144 bytes',
      'status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ]);
  });
});
