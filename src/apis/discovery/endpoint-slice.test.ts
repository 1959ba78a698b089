import { expect, test } from 'vitest';
import { cellsOf, created, testWrite, updated } from '../testing/kind-tester.ts';
import { endpointSlices } from './endpoint-slice.ts';

const slice = (rest: object = {}): object => ({
  metadata: { name: 's', namespace: 'default' },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'] }],
  ports: [{ port: 80 }],
  ...rest,
});

test.each<[name: string, object: object, problems: string[]]>([
  ['good', {}, []],
  ['of no type', { addressType: '' }, ['addressType: Required value']],
  [
    'ports of one name',
    { ports: [{ port: 1 }, { port: 2, protocol: 'X' }] },
    ['ports[1].name: Duplicate value: ""', 'ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'],
  ],
  ['no address', { endpoints: [{ addresses: null }] }, ['endpoints[0].addresses: Required value: must contain at least 1 address']],
  ['of the other family', { endpoints: [{ addresses: ['2001:db8::1'] }] }, ['endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address']],
  [
    'not canonical',
    { addressType: 'IPv6', endpoints: [{ addresses: ['2001:DB8::1'] }] },
    ['endpoints[0].addresses[0]: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")'],
  ],
  [
    'a bare name',
    { addressType: 'FQDN', endpoints: [{ addresses: ['a'] }] },
    ['endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots'],
  ],
  [
    'hints twice',
    { endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: [{ name: 'z' }, { name: 'z' }] } }] },
    ['endpoints[0].hints.forZones[1].name: Duplicate value: "z"'],
  ],
])('%s', (_name, object, problems) => {
  expect(created(endpointSlices, slice(object)).problems).toEqual(problems);
});

test('the type stays; labels are a change of what a slice is', () => {
  const old = created(endpointSlices, slice()).object;
  const { object, problems } = updated(endpointSlices, old, (next) => {
    next.addressType = 'IPv6';
    next.endpoints = [{ addresses: ['2001:db8::1'], conditions: {} }];
    next.metadata.labels = { a: 'b' };
  });
  expect(problems).toEqual(['addressType: Invalid value: "IPv6": field is immutable']);
  expect(object.metadata.generation).toBe(2);
});

test('topology is not taken, but sending it is a change', () => {
  const endpoints = [{ addresses: ['10.0.0.1'], conditions: {}, deprecatedTopology: { a: 'b' } }];
  const old = created(endpointSlices, slice({ endpoints })).object;
  expect(old.endpoints![0]).not.toHaveProperty('deprecatedTopology');
  const { object } = updated(endpointSlices, old, (next) => {
    next.endpoints = endpoints;
  });
  expect(object.endpoints).toEqual(old.endpoints);
  expect(object.metadata.generation).toBe(2);
});

test('cells and warnings', () => {
  const { object } = created(endpointSlices, slice({ ports: [{ port: 80 }, { name: 'x' }, {}, { port: 4, name: 'y' }], endpoints: null }));
  expect(cellsOf(endpointSlices, object)).toMatchObject({ AddressType: 'IPv4', Ports: '80,x, + 1 more...', Endpoints: '<unset>' });
  expect(endpointSlices.warnings?.(testWrite(created(endpointSlices, slice({ addressType: 'FQDN' })).object))).toEqual([
    'spec.addressType: FQDN endpoints are deprecated',
  ]);
});
