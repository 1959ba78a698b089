import { describe, expect, test } from 'vitest';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { cellsOf, created, decoded, testWrite, updated } from '../testing/kind-tester.ts';
import { configMaps } from './config-map.ts';
import { endpoints } from './endpoints.ts';
import { defineCoreEvents } from './event.ts';
import { limitRanges } from './limit-range.ts';
import { namespaces } from './namespace.ts';
import { nodes } from './node.ts';
import { resourceQuotas } from './resource-quota.ts';
import { secrets } from './secret.ts';
import { serviceAccounts } from './service-account.ts';

const events = defineCoreEvents(60);
const inDefault = { name: 'a', namespace: 'default' };
const taint = { key: 'a', effect: 'NoSchedule' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const CASES: readonly [name: string, definition: ResourceDefinition, object: object, problems: string[]][] = [
  [
    'a finalizer without a domain',
    configMaps,
    { metadata: { finalizers: ['mine'] } },
    ['metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified'],
  ],
  [
    'a docker configuration that is a list',
    secrets,
    { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64('[]') } },
    ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ],
  [
    'endpoints without addresses',
    endpoints,
    { subsets: [{ ports: [{ port: 80 }] }] },
    ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`'],
  ],
  [
    'an endpoint that is no address',
    endpoints,
    { subsets: [{ addresses: [{ ip: 'x' }], ports: [{ port: 0, protocol: 'X' }] }] },
    [
      'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
      'subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'subsets[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
    ],
  ],
  [
    'taints twice',
    nodes,
    { spec: { taints: [taint, taint] } },
    ['metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair'],
  ],
  [
    'ranges of one family',
    nodes,
    { spec: { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] } },
    ['spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family'],
  ],
  [
    'features out of order',
    nodes,
    { status: { declaredFeatures: ['B', 'A/b'] } },
    ['status.declaredFeatures[1]: Invalid value: "A/b": list must be sorted alphabetically'],
  ],
  [
    'swap of nothing',
    nodes,
    { status: { nodeInfo: { swap: { capacity: 0 } } } },
    ['metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero'],
  ],
  [
    'limits the wrong way round',
    limitRanges,
    { spec: { limits: [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }] } },
    [
      'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
      'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
    ],
  ],
  [
    'a ratio out of reach',
    limitRanges,
    { spec: { limits: [{ type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '4' } }] } },
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "4": ratio 4 is greater than max/min = 2.000000'],
  ],
  [
    'claims without storage',
    limitRanges,
    { spec: { limits: [{ type: 'PersistentVolumeClaim' }] } },
    ['spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided'],
  ],
  [
    'a scope that says nothing of services',
    resourceQuotas,
    { spec: { hard: { services: '1' }, scopes: ['BestEffort'] } },
    ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
  ],
  [
    'a selector without values',
    resourceQuotas,
    { spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] } } },
    ["spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"],
  ],
  ['a quota of half a pod', resourceQuotas, { spec: { hard: { pods: '500m' } } }, ['spec.hard[pods]: Invalid value: "500m": must be an integer']],
  [
    'an event of elsewhere',
    events,
    { involvedObject: { namespace: 'other' } },
    ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
  ],
];

describe('validation', () => {
  test.each(CASES)('%s', (_name, definition, object, problems) => {
    expect(created(definition, { ...object, metadata: { ...inDefault, ...(object as Partial<ApiObject>).metadata } }).problems).toEqual(problems);
  });

  test('a node keeps its ranges, its provider and its status', () => {
    const old = created(nodes, { metadata: { name: 'n' }, spec: { podCIDR: '10.0.0.0/24', providerID: 'p' }, status: { phase: 'x' } }).object;
    expect(old).toMatchObject({ spec: { podCIDRs: ['10.0.0.0/24'] }, status: { phase: 'x' } });
    const { object, problems } = updated(nodes, old, (next) => {
      next.spec = { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24'] };
      next.status.phase = 'y';
    });
    expect(object.status.phase).toBe('x');
    expect(problems).toEqual([
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ]);
  });
  test("a quota's scopes stay", () => {
    const old = created(resourceQuotas, { metadata: inDefault, spec: { scopes: ['BestEffort'] } }).object;
    expect(updated(resourceQuotas, old, ({ spec }) => void delete spec.scopes).problems).toEqual(['spec.scopes: Invalid value: null: field is immutable']);
  });
  test('endpoints of older versions may stay as they are', () => {
    const old = decoded(endpoints, { metadata: inDefault, subsets: [{ addresses: [{ ip: '010.0.0.1' }] }] });
    expect(updated(endpoints, old, ({ metadata }) => void (metadata.labels = { a: 'b' })).problems).toEqual([]);
    expect(updated(endpoints, old, ({ subsets }) => void subsets!.push({ addresses: [{ ip: '10.0.0.2' }] })).problems).not.toEqual([]);
  });
});

test('defaults', () => {
  expect(
    decoded(limitRanges, { metadata: inDefault, spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' } }] } }).spec.limits,
  ).toEqual([{ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' }, default: { cpu: '2' }, defaultRequest: { cpu: '2', memory: '1Mi' } }]);
  expect(created(limitRanges, { metadata: { namespace: 'default' } }).object.metadata.name).toMatch(/^[0-9a-f-]{36}$/);
  expect(created(serviceAccounts, { metadata: inDefault, secrets: [{ name: 's', namespace: 'x', kind: 'Secret' }] }).object.secrets).toEqual([{ name: 's' }]);
  expect(decoded(nodes, { metadata: { name: 'n' }, status: { capacity: { cpu: '1' } } }).status.allocatable).toEqual({ cpu: '1' });
  expect(decoded(namespaces, { metadata: { name: 'n' } })).toMatchObject({
    metadata: { labels: { 'kubernetes.io/metadata.name': 'n' } },
    status: { phase: 'Active' },
  });
});

test('a namespace has its generated name for a label, unless it is none', () => {
  const labelsOf = (name: string): object | undefined => {
    const namespace = decoded(namespaces, { metadata: { generateName: 'x' } });
    namespace.metadata.name = name;
    namespaces.prepareForCreate?.(testWrite(namespace));
    return namespace.metadata.labels;
  };
  expect(labelsOf('x1')).toEqual({ 'kubernetes.io/metadata.name': 'x1' });
  expect(labelsOf('-x')).toBeUndefined();
});

const warningsOf = <T extends ApiObject>(definition: ResourceDefinition<T>, object: object): string[] =>
  definition.warnings?.(testWrite(decoded(definition, object))) ?? [];

test('warnings', () => {
  expect(warningsOf(secrets, { metadata: inDefault, type: 'kubernetes.io/tls', data: { 'tls.crt': base64('x'), 'tls.key': '' } })).toEqual([
    'tls: failed to find any PEM data in certificate input',
  ]);
  expect(warningsOf(resourceQuotas, { metadata: inDefault, spec: { hard: { cpu: '2', 'limits.cpu': '1' } } })).toEqual([
    'ResourceQuota cpu (2) should be less than limits.cpu (1)',
  ]);
  expect(warningsOf(nodes, { metadata: { name: 'n' }, spec: { externalID: 'x' } })).toEqual([
    'spec.externalID: this field is deprecated, and is unused by Kubernetes',
  ]);
  expect(endpoints.served[0]!.deprecation).toBe('v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice');
});

test('cells', () => {
  const addresses = ['10.0.0.1', '10.0.0.2', '::1', '10.0.0.4'].map((ip) => ({ ip }));
  expect(cellsOf(endpoints, decoded(endpoints, { metadata: inDefault, subsets: [{ addresses, ports: [{ port: 80 }] }] })).Endpoints).toBe(
    '10.0.0.1:80,10.0.0.2:80,[::1]:80 + 1 more...',
  );
  // Nine million texts, were they all made.
  const many = { addresses: Array.from({ length: 3_000 }, () => ({ ip: '10.0.0.1' })), ports: Array.from({ length: 3_000 }, (_, port) => ({ port })) };
  expect(cellsOf(endpoints, decoded(endpoints, { metadata: inDefault, subsets: [many] })).Endpoints).toBe('10.0.0.1:0,10.0.0.1:0,10.0.0.1:0 + 8999997 more...');
  const node = decoded(nodes, {
    metadata: { name: 'n', labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'edge' } },
    spec: { unschedulable: true },
    status: {
      conditions: [{ type: 'Ready', status: 'Unknown' }],
      addresses: [{ type: 'InternalIP', address: '1.1.1.1' }],
      nodeInfo: { kernelVersion: '6', architecture: 'arm64' },
    },
  });
  expect(cellsOf(nodes, node)).toMatchObject({
    Status: 'NotReady,SchedulingDisabled',
    Roles: 'edge,worker',
    'Internal-IP': '1.1.1.1',
    'External-IP': '<none>',
    'OS-Image': '<unknown>',
    'Kernel-Version': '6 (arm64)',
  });
  const quota = decoded(resourceQuotas, { metadata: inDefault, status: { hard: { pods: '4', 'limits.cpu': '2' }, used: { pods: '1' } } });
  expect(cellsOf(resourceQuotas, quota)).toMatchObject({ Request: 'pods: 1/4', Limit: 'limits.cpu: 0/2' });
  const event = decoded(events, { metadata: inDefault, involvedObject: { kind: 'Pod', name: 'p' }, message: ' m ', source: { component: 'c', host: 'h' } });
  expect(cellsOf(events, event)).toMatchObject({ 'Last Seen': '<unknown>', Object: 'pod/p', Source: 'c, h', Message: 'm', Count: 1 });
});
