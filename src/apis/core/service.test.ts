import { describe, expect, test } from 'vitest';
import { cellsOf, created, decoded, testWrite, updated } from '../testing/kind-tester.ts';
import { defineServices } from './service.ts';

const services = defineServices({});
const service = (spec: object, metadata: object = {}): object => ({ metadata: { name: 'web', namespace: 'default', ...metadata }, spec });
const port = { port: 80 };
const headful = { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };

describe('defaults', () => {
  test('a cluster IP, TCP, and the port itself as target', () => {
    expect(decoded(services, service({ ports: [port] })).spec).toEqual({
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      sessionAffinity: 'None',
      type: 'ClusterIP',
      internalTrafficPolicy: 'Cluster',
    });
  });
  test('a load balancer is reached from outside, and its addresses have a mode', () => {
    const { spec, status } = decoded(services, {
      ...service({ type: 'LoadBalancer', ports: [port] }),
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }, { hostname: 'a.b' }] } },
    });
    expect(spec).toMatchObject({ externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true });
    expect(status.loadBalancer.ingress).toEqual([{ ip: '1.2.3.4', ipMode: 'VIP' }, { hostname: 'a.b' }]);
  });
  test('clients stick for three hours', () => {
    expect(decoded(services, service({ ports: [port], sessionAffinity: 'ClientIP' })).spec.sessionAffinityConfig).toEqual({
      clientIP: { timeoutSeconds: 10_800 },
    });
  });
  test('a mere name has no policy for traffic', () => {
    expect(created(services, service({ type: 'ExternalName', externalName: 'example.com.', internalTrafficPolicy: 'Cluster' }))).toMatchObject({
      object: { spec: { type: 'ExternalName' } },
      problems: [],
    });
  });
});

const CASES: readonly [name: string, spec: object, problems: string[]][] = [
  ['good', { ports: [port] }, []],
  ['no ports', {}, ['spec.ports: Required value']],
  ['headless without ports', { clusterIP: 'None', clusterIPs: ['None'] }, []],
  [
    'headless node ports',
    { type: 'NodePort', ports: [port], clusterIP: 'None', clusterIPs: ['None'] },
    ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
  ],
  [
    'ports that meet',
    {
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'a' },
      ],
    },
    [
      'spec.ports[1].name: Duplicate value: "a"',
      'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    ],
  ],
  ['unnamed among several', { ports: [port, { port: 81, name: 'b' }] }, ['spec.ports[0].name: Required value']],
  ['a node port without need', { ports: [{ port: 80, nodePort: 30_000 }] }, ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"]],
  [
    'an address without its first',
    { ports: [port], clusterIPs: ['10.0.0.1'] },
    ['spec.clusterIPs: Invalid value: ["10.0.0.1"]: must be empty when `clusterIP` is not specified'],
  ],
  [
    'two of one family',
    { ports: [port], clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'], ipFamilies: ['IPv4', 'IPv6'] },
    [
      'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family',
      'spec.clusterIPs[1]: Invalid value: "10.0.0.2": expected an IPv6 value as indicated by `ipFamilies[1]`',
    ],
  ],
  [
    'an unreachable external address',
    { ports: [port], externalIPs: ['127.0.0.1'] },
    ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  [
    'ranges without a load balancer',
    { ports: [port], loadBalancerSourceRanges: ['10.0.0.1/8'] },
    [
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
      'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
    ],
  ],
  [
    'a name with an address',
    { type: 'ExternalName', externalName: 'a.b', clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] },
    ['spec.clusterIPs: Forbidden: may not be set for ExternalName services'],
  ],
  [
    'a health check without need',
    { ports: [port], healthCheckNodePort: 30_000 },
    ["spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"],
  ],
  [
    'an unknown type',
    { ports: [port], type: 'Other' },
    ['spec.type: Unsupported value: "Other": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'],
  ],
];

describe('validation', () => {
  test.each(CASES)('%s', (_name, spec, problems) => {
    expect(created(services, service(spec)).problems).toEqual(problems);
  });

  test('an address stays', () => {
    const old = created(services, service({ ports: [port], ...headful })).object;
    const { problems } = updated(services, old, ({ spec }) => {
      spec.clusterIP = '10.0.0.8';
      spec.clusterIPs = ['10.0.0.8'];
    });
    expect(problems).toEqual(['spec.clusterIPs[0]: Invalid value: ["10.0.0.8"]: may not change once set']);
  });
  test('the first family stays', () => {
    const old = created(services, service({ ports: [port], ...headful })).object;
    expect(updated(services, old, ({ spec }) => void (spec.ipFamilies = ['IPv6'])).problems).toEqual([
      'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
      'spec.clusterIPs[0]: Invalid value: "10.0.0.9": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ]);
  });
  test('a load balancer reports only for its own kind', () => {
    const old = created(services, service({ ports: [port] })).object;
    const { problems } = updated(services, old, ({ status }) => void (status.loadBalancer = { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP' }] }), 'status');
    expect(problems).toEqual(["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"]);
  });
});

test('a change of type drops what the new type has no use for, unless the client changed it too', () => {
  const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_001, ports: [{ port: 80, nodePort: 30_000 }], ...headful };
  const old = created(services, service(spec)).object;
  const { object, problems } = updated(services, old, (next) => void (next.spec.type = 'ClusterIP'));
  expect(problems).toEqual([]);
  expect(object.spec).toEqual({
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
    internalTrafficPolicy: 'Cluster',
    ...headful,
  });
  const named = updated(services, old, (next) => Object.assign(next.spec, { type: 'ExternalName', externalName: 'a.b' }));
  expect(named.object.spec.clusterIPs).toBeUndefined();
});

test('warnings', () => {
  const { object } = created(
    services,
    service(
      { ports: [port], externalIPs: ['2001:DB8::1'], externalName: 'x', trafficDistribution: 'PreferClose' },
      { annotations: { 'service.kubernetes.io/topology-aware-hints': 'auto' } },
    ),
  );
  expect(services.warnings?.(testWrite(object))).toEqual([
    'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
    'spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    'spec.externalName is ignored when spec.type is not "ExternalName"',
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  ]);
});

test('cells', () => {
  const balancer = decoded(services, {
    ...service({ type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_000 }], selector: { b: '2', a: '1' }, externalIPs: ['9.9.9.9'] }),
    status: { loadBalancer: { ingress: [{ hostname: 'z' }, { ip: '1.1.1.1' }] } },
  });
  expect(cellsOf(services, balancer)).toMatchObject({
    Type: 'LoadBalancer',
    'Cluster-IP': '<none>',
    'External-IP': '1.1.1.1,z,9.9.9.9',
    'Port(s)': '80:30000/TCP',
    Selector: 'a=1,b=2',
  });
  expect(cellsOf(services, decoded(services, service({ type: 'LoadBalancer' })))).toMatchObject({
    'External-IP': '<pending>',
    'Port(s)': '<none>',
    Selector: '<none>',
  });
});
