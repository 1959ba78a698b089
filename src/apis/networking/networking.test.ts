import { describe, expect, test } from 'vitest';
import { cellsOf, created, decoded, decodedWrite, testWrite, updated } from '../testing/kind-tester.ts';
import { ingressClasses } from './ingress-class.ts';
import { ingresses } from './ingress.ts';
import { ipAddresses } from './ip-address.ts';
import { networkPolicies } from './network-policy.ts';
import { serviceCidrs } from './service-cidr.ts';

const metadata = { name: 'web', namespace: 'default' };
const service = { service: { name: 'web', port: { number: 80 } } };

const annotated = (className?: string): object => ({
  metadata: { ...metadata, annotations: { 'kubernetes.io/ingress.class': 'a' } },
  spec: { defaultBackend: service, ...(className !== undefined && { ingressClassName: className }) },
});

describe('ingresses', () => {
  const path = (parts: object): object => ({ spec: { rules: [{ http: { paths: [{ pathType: 'Prefix', path: '/', backend: service, ...parts }] } }] } });
  const AT = 'spec.rules[0].http.paths[0]';

  test.each([
    [path({}), []],
    [{ spec: { defaultBackend: service } }, []],
    [{ spec: {} }, ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified']],
    [{ spec: { rules: [{ http: {} }] } }, ['spec.rules[0].http.paths: Required value']],
    [path({ pathType: undefined }), [`${AT}.pathType: Required value: pathType must be specified`]],
    [path({ pathType: 'Regex' }), [`${AT}.pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`]],
    [
      path({ path: 'a//b/..' }),
      [
        `${AT}.path: Invalid value: "a//b/..": must be an absolute path`,
        `${AT}.path: Invalid value: "a//b/..": must not contain '//'`,
        `${AT}.path: Invalid value: "a//b/..": cannot end with '/..'`,
      ],
    ],
    [path({ pathType: 'ImplementationSpecific', path: '' }), []],
    [path({ backend: {} }), [`${AT}.backend: Invalid value: "": resource or service backend is required`]],
    [
      path({ backend: { ...service, resource: { kind: 'A', name: 'b' } } }),
      [`${AT}.backend: Invalid value: "": cannot set both resource and service backends`],
    ],
    [
      path({ backend: { service: { name: '1a', port: { name: 'http', number: 1 } } } }),
      [`${AT}.backend: Invalid value: "": cannot set both port name & port number`],
    ],
    [
      path({ backend: { resource: { apiGroup: 'A', kind: '' } } }),
      [
        expect.stringContaining(`${AT}.backend.resource.apiGroup: Invalid value: "A"`),
        `${AT}.backend.resource.kind: Required value`,
        `${AT}.backend.resource.name: Required value`,
      ],
    ],
    [{ spec: { rules: [{ host: '10.0.0.1' }] } }, ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address']],
    [
      { spec: { rules: [{ host: '*.example.com' }], tls: [{ hosts: ['a.*'], secretName: 'A' }] } },
      [
        expect.stringContaining('spec.tls[0].hosts[0]: Invalid value: "a.*": a wildcard DNS-1123 subdomain'),
        expect.stringContaining('spec.tls[0].secretName: Invalid value: "A"'),
      ],
    ],
  ])('%j', (parts, problems) => {
    expect(created(ingresses, { metadata, ...parts }).problems).toEqual(problems);
  });

  test('the class in an annotation', () => {
    const { object } = created(ingresses, annotated());
    expect(ingresses.warnings?.(testWrite(object))).toEqual([
      'annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead',
    ]);
    expect(created(ingresses, annotated('a')).problems).toEqual([]);
    const contradicted = created(ingresses, annotated('b'));
    expect(contradicted.problems).toEqual([
      'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are specified',
    ]);
    expect(updated(ingresses, contradicted.object, () => {}).problems).toEqual([]);
  });

  test('status, and cells', () => {
    const hosts = ['a', 'b', 'c', 'd'].map((host) => ({ host: `${host}.io` }));
    const { object } = created(ingresses, { metadata, spec: { rules: hosts, tls: [{}] } });
    const balancers = (...ingress: object[]) => updated(ingresses, object, (next) => void (next.status = { loadBalancer: { ingress } }), 'status');
    expect(balancers({ ip: '010.0.0.1' }, { hostname: '1.2.3.4' }).problems).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "010.0.0.1": must not have leading 0s',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    ]);
    const served = balancers({ hostname: 'z.io' }, { ip: '1.2.3.4' }).object;
    expect(cellsOf(ingresses, served)).toMatchObject({ Class: '<none>', Hosts: 'a.io,b.io,c.io + 1 more...', Address: '1.2.3.4,z.io', Ports: '80, 443' });
  });
});

const ingressClass = (spec: object): object => ({ metadata: { name: 'nginx' }, spec: { controller: 'example.com/nginx', ...spec } });

describe('ingress classes', () => {
  test.each([
    [{}, []],
    [{ controller: '' }, ['spec.controller: Required value']],
    [{ controller: 'nginx' }, ['spec.controller: Invalid value: "nginx": must be a domain-prefixed path (such as "acme.io/foo")']],
    [{ parameters: { kind: 'A', name: 'b', namespace: 'c' } }, ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"]],
    [{ parameters: { kind: 'A', name: 'b', scope: 'Namespace' } }, ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"]],
    [
      { parameters: { scope: 'Moon' } },
      [
        'spec.parameters.kind: Required value',
        'spec.parameters.name: Required value',
        'spec.parameters.scope: Unsupported value: "Moon": supported values: "Cluster", "Namespace"',
      ],
    ],
  ])('%j', (spec, problems) => {
    expect(created(ingressClasses, ingressClass(spec)).problems).toEqual(problems);
  });

  test('the controller stays; the default one is marked', () => {
    const { object } = created(ingressClasses, ingressClass({ parameters: { apiGroup: 'x.io', kind: 'A', name: 'b' } }));
    expect(updated(ingressClasses, object, ({ spec }) => void (spec.controller = 'a.io/b')).problems).toEqual([
      'spec.controller: Invalid value: "a.io/b": field is immutable',
    ]);
    object.metadata.annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' };
    expect(cellsOf(ingressClasses, object)).toMatchObject({ Name: 'nginx (default)', Parameters: 'A.x.io/b' });
  });
});

const networkPolicy = (spec: object): object => ({ metadata, spec: { podSelector: {}, ...spec } });

describe('network policies', () => {
  const from = (...peers: object[]): object => networkPolicy({ ingress: [{ from: peers }] });

  test('an update that sends an empty list is a new generation', () => {
    const { object: old } = created(networkPolicies, networkPolicy({}));
    const sent = (spec: object): number | undefined => {
      const write = { ...decodedWrite(networkPolicies, networkPolicy(spec)), old };
      networkPolicies.prepareForUpdate!(write);
      return write.object.metadata.generation;
    };
    expect(sent({})).toBeUndefined();
    expect(sent({ ingress: [] })).toBe(2);
    expect(sent({ podSelector: { matchLabels: {} } })).toBe(2);
  });

  test('types and protocols are filled in', () => {
    expect(decoded(networkPolicies, networkPolicy({})).spec.policyTypes).toEqual(['Ingress']);
    expect(decoded(networkPolicies, networkPolicy({ egress: [{ ports: [{ port: 53 }] }] })).spec).toMatchObject({
      policyTypes: ['Ingress', 'Egress'],
      egress: [{ ports: [{ protocol: 'TCP', port: 53 }] }],
    });
  });

  test.each([
    [from({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }, { podSelector: {}, namespaceSelector: {} }), []],
    [from({}), ['spec.ingress[0].from[0]: Required value: must specify a peer']],
    [from({ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }), ['spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer']],
    [from({ ipBlock: {} }), ['spec.ingress[0].from[0].ipBlock.cidr: Required value']],
    [
      from({ ipBlock: { cidr: '10.0.0.1/8', except: ['10.0.0.0/8', 'x'] } }),
      [
        'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
        'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
        'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      networkPolicy({ egress: [{ ports: [{ protocol: 'ICMP', port: 90, endPort: 80 }, { endPort: 1 }, { port: 'http', endPort: 1 }] }] }),
      [
        'spec.egress[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"',
        'spec.egress[0].ports[0].endPort: Invalid value: 90: must be greater than or equal to `port`',
        'spec.egress[0].ports[1].endPort: Invalid value: 1: may not be specified when `port` is not specified',
        'spec.egress[0].ports[2].endPort: Invalid value: 1: may not be specified when `port` is non-numeric',
      ],
    ],
    [networkPolicy({ policyTypes: ['In'] }), ['spec.policyTypes[0]: Unsupported value: "In": supported values: "Ingress", "Egress"']],
    [
      networkPolicy({ policyTypes: ['Ingress', 'Ingress', 'Egress'] }),
      ['spec.policyTypes: Invalid value: ["Ingress","Ingress","Egress"]: may not specify more than two policyTypes'],
    ],
  ])('%j', (object, problems) => {
    expect(created(networkPolicies, object).problems).toEqual(problems);
  });

  test('a range that an older release let in may stay, with a warning', () => {
    const { object } = created(networkPolicies, from({ ipBlock: { cidr: '10.0.0.1/8' } }));
    expect(updated(networkPolicies, object, () => {}).problems).toEqual([]);
    expect(networkPolicies.warnings?.(testWrite(object))).toEqual([
      'spec.ingress[0].from[0].ipBlock.cidr: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
    ]);
  });
});

test.each([
  ['10.0.0.1', []],
  ['010.0.0.1', ['must not have leading 0s']],
  ['2001:DB8::1', ['must be in canonical form ("2001:db8::1")']],
  ['web', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
])('the name %s of an address', (name, problems) => {
  expect(ipAddresses.naming?.errors?.(name, false, ipAddresses.settings)).toEqual(problems);
});

test('an address has a parent, which stays', () => {
  expect(created(ipAddresses, { metadata: { name: '10.0.0.1' } }).problems).toEqual(['spec.parentRef: Required value']);
  expect(created(ipAddresses, { metadata: { name: '10.0.0.1' }, spec: { parentRef: { group: 'A' } } }).problems).toEqual([
    expect.stringContaining('spec.parentRef.group: Invalid value: "A"'),
    'spec.parentRef.resource: Required value',
    'spec.parentRef.name: Required value',
  ]);
  const { object } = created(ipAddresses, { metadata: { name: '10.0.0.1' }, spec: { parentRef: { resource: 'services', namespace: 'a', name: 'b' } } });
  expect(updated(ipAddresses, object, ({ spec }) => void (spec.parentRef!.name = 'c')).problems).toEqual([
    'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"a","Name":"c"}: field is immutable',
  ]);
  expect(cellsOf(ipAddresses, object)['ParentRef']).toBe('services/a/b');
});

const serviceCidr = (...cidrs: string[]): object => ({ metadata: { name: 'more' }, spec: { cidrs } });

describe('service ranges', () => {
  const MIXED = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';

  test.each([
    [['10.0.0.0/16', 'fd00::/108'], []],
    [[], ['spec.cidrs: Required value: at least one CIDR required']],
    [['10.0.0.0/16', '10.1.0.0/16'], [`spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: ${MIXED}`]],
    [['FD00::/108'], ['spec.cidrs[0]: Invalid value: "FD00::/108": must be in canonical form ("fd00::/108")']],
    [['a', 'b', 'c'], ['spec.cidrs: Invalid value: {"CIDRs":["a","b","c"]}: may only hold up to 2 values']],
  ])('%j', (cidrs, problems) => {
    expect(created(serviceCidrs, serviceCidr(...cidrs)).problems).toEqual(problems);
  });

  test('a second family may be added, and nothing else', () => {
    const { object } = created(serviceCidrs, serviceCidr('10.0.0.0/16'));
    const changed = (...cidrs: string[]) => updated(serviceCidrs, object, ({ spec }) => void (spec.cidrs = cidrs)).problems;
    expect(changed('10.0.0.0/16', 'fd00::/108')).toEqual([]);
    expect(changed('10.1.0.0/16')).toEqual(['spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable']);
    expect(changed('10.0.0.0/16', '10.1.0.0/16')).toEqual([`spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: ${MIXED}`]);
    expect(changed()).toEqual(['spec.cidrs: Invalid value: []: field is immutable']);
  });
});
