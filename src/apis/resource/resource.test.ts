import { describe, expect, test } from 'vitest';
import { cellsOf, created, updated } from '../testing/kind-tester.ts';
import { deviceClasses } from './device-class.ts';
import { resourceClaimTemplates } from './resource-claim-template.ts';
import { resourceClaims } from './resource-claim.ts';
import { resourceSlices } from './resource-slice.ts';

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const claim = (devices: object): object => ({ metadata: { name: 'claim', namespace: 'default' }, spec: { devices } });
const gpu = { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } };

describe('claims', () => {
  test('defaults', () => {
    const { object } = created(resourceClaims, claim({ requests: [{ ...gpu, exactly: { ...gpu.exactly, tolerations: [{}] } }] }));
    expect(object.spec.devices.requests![0]!.exactly).toEqual({
      deviceClassName: 'gpu.example.com',
      allocationMode: 'ExactCount',
      count: 1,
      tolerations: [{ operator: 'Equal' }],
    });
    expect(cellsOf(resourceClaims, object)).toMatchObject({ State: 'pending' });
  });

  test.each([
    [
      { requests: [{ name: 'A' }] },
      [
        `spec.devices.requests[0].name: Invalid value: "A": ${LABEL}`,
        'spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
      ],
    ],
    [{ requests: [gpu, gpu] }, ['spec.devices.requests[1]: Duplicate value: "gpu"']],
    [
      { requests: [gpu], constraints: [{ requests: ['cpu'], matchAttribute: 'a.b/model' }] },
      [
        'spec.devices.constraints[0].requests[0]: Invalid value: "cpu": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\'',
      ],
    ],
    [
      { requests: [gpu], config: [{ opaque: { driver: 'd.example.com', parameters: 'x' } }] },
      ['spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object'],
    ],
    [{ requests: Array.from({ length: 33 }, (_, i) => ({ ...gpu, name: `r${i}` })) }, ['spec.devices.requests: Too many: 33: must have at most 32 items']],
    [
      { requests: [{ ...gpu, exactly: { ...gpu.exactly, allocationMode: 'All', count: 2 } }] },
      ["spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"],
    ],
  ])('%j', (devices, problems) => {
    expect(created(resourceClaims, claim(devices)).problems).toEqual(problems);
  });

  test('what is asked for never changes', () => {
    const { object } = created(resourceClaims, claim({ requests: [gpu] }));
    expect(updated(resourceClaims, object, ({ spec }) => void (spec.devices.requests = null)).problems).toEqual([
      'spec: Invalid value: {"Devices":{"Requests":null,"Constraints":null,"Config":null}}: field is immutable',
    ]);
    const template = { metadata: { name: 't', namespace: 'default' }, spec: { metadata: { name: 'x' }, spec: { devices: { requests: [gpu] } } } };
    expect(created(resourceClaimTemplates, template).problems).toEqual(['spec.metadata.name: Forbidden: cannot be set']);
  });

  test('a status', () => {
    const { object } = created(resourceClaims, claim({ requests: [gpu] }));
    const consumer = { resource: 'pods', name: 'p', uid: 'u' };
    expect(updated(resourceClaims, object, ({ status }) => void (status.reservedFor = [consumer, consumer]), 'status').problems).toEqual([
      'status.reservedFor[1]: Duplicate value: "u"',
      'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
    ]);
    const result = { request: 'gpu', driver: 'd.example.com', pool: 'p', device: 'dev' };
    const allocate = updated(
      resourceClaims,
      object,
      ({ status }) => {
        status.allocation = { devices: { results: [result] } };
        status.devices = [{ driver: 'd.example.com', pool: 'p', device: 'dev', conditions: null, networkData: { ips: ['10.0.0.1/24', '10.0.0.1'] } }];
        status.reservedFor = [consumer];
      },
      'status',
    );
    expect(allocate.problems).toEqual([
      'status.devices[0].networkData.ips[1]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
    ]);
    expect(cellsOf(resourceClaims, allocate.object)).toMatchObject({ State: 'allocated,reserved' });
    const other = { driver: 'd.example.com', pool: 'p', device: 'x', conditions: null };
    expect(updated(resourceClaims, allocate.object, ({ status }) => void (status.devices = [other, other]), 'status').problems).toEqual([
      'status.devices[0]: Invalid value: {"Driver":"d.example.com","Pool":"p","Device":"x","ShareID":""}: must be an allocated device in the claim',
      'status.devices[1]: Invalid value: {"Driver":"d.example.com","Pool":"p","Device":"x","ShareID":""}: must be an allocated device in the claim',
      'status.devices[1]: Duplicate value: {"Driver":"d.example.com","Pool":"p","Device":"x","ShareID":""}',
    ]);
    const moved = updated(resourceClaims, allocate.object, ({ status }) => void (status.allocation = { devices: {} }), 'status');
    expect(moved.problems).toContain(
      'status.allocation: Invalid value: {"Devices":{"Results":null,"Config":null},"NodeSelector":null,"AllocationTimestamp":null}: field is immutable',
    );
    const freed = updated(resourceClaims, allocate.object, ({ status }) => void (delete status.allocation, delete status.reservedFor), 'status');
    expect(freed.object.status.devices).toBeUndefined();
  });

  test('v1beta1 has the request flat', () => {
    const beta = resourceClaims.served.find(({ version }) => version === 'v1beta1')!;
    const sent = {
      apiVersion: 'resource.k8s.io/v1beta1',
      kind: 'ResourceClaim',
      metadata: { name: 'c' },
      spec: { devices: { requests: [{ name: 'gpu', deviceClassName: 'c' }] } },
      status: {},
    };
    const stored = beta.toStored!(structuredClone(sent)) as unknown as typeof sent;
    expect(stored).toMatchObject({
      apiVersion: 'resource.k8s.io/v1',
      spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'c', count: 1 } }] } },
    });
    expect(beta.fromStored!(stored)).toMatchObject({
      apiVersion: 'resource.k8s.io/v1beta1',
      spec: { devices: { requests: [{ name: 'gpu', deviceClassName: 'c', count: 1 }] } },
    });
    // What names no class may have been meant for alternatives: nothing is filled in.
    const unnamed = beta.toStored!({ ...structuredClone(sent), spec: { devices: { requests: [{ name: 'gpu', adminAccess: false }] } } } as never);
    expect(unnamed).toMatchObject({ spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: '', adminAccess: false } }] } } });
    expect(JSON.stringify(unnamed)).not.toContain('allocationMode');
  });
});

test('classes', () => {
  const spec = { selectors: [{}], config: [{}], extendedResourceName: 'cpu' };
  expect(created(deviceClasses, { metadata: { name: 'c' }, spec }).problems).toEqual([
    'spec.selectors[0].cel: Required value',
    'spec.config[0].opaque: Required value',
    'spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name',
  ]);
});

const slice = (spec: object): object => ({
  metadata: { name: 's' },
  spec: { driver: 'd.example.com', pool: { name: 'n1', resourceSliceCount: 1 }, nodeName: 'n1', ...spec },
});
const device = (more: object): object => slice({ devices: [{ name: 'dev', ...more }] });

describe('slices', () => {
  test.each([
    [slice({ nodeName: undefined }), ['spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required']],
    [
      slice({ allNodes: true }),
      [
        'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
      ],
    ],
    [
      slice({ pool: { name: 'a/B', resourceSliceCount: 0, generation: -1 } }),
      [
        expect.stringContaining('spec.pool.name: Invalid value: "B": a lowercase RFC 1123 subdomain'),
        'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
        'spec.pool.generation: Invalid value: -1: must be greater than or equal to zero',
      ],
    ],
    [
      device({ attributes: { v: { version: '1.02.0' } } }),
      ['spec.devices[0].attributes[v].version: Invalid value: "1.02.0": must be a string compatible with semver.org spec 2.0.0'],
    ],
    [device({ attributes: { v: {} } }), ['spec.devices[0].attributes[v]: Invalid value: "": exactly one value must be specified']],
    [
      device({ capacity: { m: { value: '10', requestPolicy: { default: '1', validValues: ['1'] } } } }),
      ['spec.devices[0].capacity[m].requestPolicy: Forbidden: allowMultipleAllocations must be true'],
    ],
    [
      device({ allowMultipleAllocations: true, capacity: { m: { value: '10', requestPolicy: { default: '2', validValues: ['5', '1', '20'] } } } }),
      [
        'spec.devices[0].capacity[m].requestPolicy.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
        'spec.devices[0].capacity[m].requestPolicy.validValues[2]: Invalid value: "20": option is larger than capacity value: 10',
        'spec.devices[0].capacity[m].requestPolicy.validValues: Invalid value: "2": default value is not valid according to the requestPolicy',
      ],
    ],
    [
      device({ allowMultipleAllocations: true, capacity: { m: { value: '10', requestPolicy: { default: '3', validRange: { min: '2', step: '2' } } } } }),
      ['spec.devices[0].capacity[m].requestPolicy.validRange.step: Invalid value: "3": value is not a multiple of a given step (2) from (2)'],
    ],
    [
      device({ bindingConditions: ['a'] }),
      ['spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions'],
    ],
  ])('%#', (sent, problems) => {
    expect(created(resourceSlices, sent).problems).toEqual(problems);
  });

  test('taints get a time, gated fields go, identity stays', () => {
    const { object } = created(resourceSlices, device({ taints: [{ key: 'a', effect: 'NoSchedule' }], attributes: { v: { string: 'x', ints: [1] } } }));
    expect(object.spec.devices![0]).toMatchObject({ taints: [{ timeAdded: expect.any(String) }], attributes: { v: { string: 'x' } } });
    expect(object.spec.devices![0]!.attributes!['v']!.ints).toBeUndefined();
    expect(updated(resourceSlices, object, ({ spec }) => void (spec.driver = 'other.example.com')).problems).toEqual([
      'spec.driver: Invalid value: "other.example.com": field is immutable',
    ]);
    const gated = updated(resourceSlices, object, ({ spec }) => void (spec.devices![0]!.attributes!['v']!.ints = [1]));
    expect(gated.object.metadata.generation).toBe(2);
    expect(gated.object.spec).toEqual(object.spec);
    expect(cellsOf(resourceSlices, object)).toMatchObject({ Node: 'n1', Driver: 'd.example.com', Pool: 'n1' });
  });
});
