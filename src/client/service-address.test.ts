import { expect, test } from 'vitest';
import { FakeClient } from './fake-client.ts';
import { clusterAddresses, endpointAddresses, withLoopback } from './service-address.ts';

async function clientWith(spec: object, slices: readonly object[] = []): Promise<FakeClient> {
  const client = new FakeClient();
  await client.resource('', 'services').create('ns', { kind: 'Service', apiVersion: 'v1', metadata: { name: 's', namespace: 'ns' }, spec } as never);
  for (const [index, slice] of slices.entries()) {
    const metadata = { name: `s${index}`, namespace: 'ns', labels: { 'kubernetes.io/service-name': 's' } };
    await client
      .resource('discovery.k8s.io', 'endpointslices')
      .create('ns', { kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1', metadata, ...slice } as never);
  }
  return client;
}

const ports = [{ name: 'https', port: 443 }];

test.each([
  [
    { type: 'ClusterIP', clusterIP: '10.0.0.1', ports },
    { host: '10.0.0.1', port: 443 },
  ],
  [
    { type: 'ExternalName', externalName: 'example.com' },
    { host: 'example.com', port: 443 },
  ],
  [{ type: 'ClusterIP', clusterIP: 'None', ports }, 'cannot route to service with ClusterIP "None"'],
  [{ type: 'ClusterIP', clusterIP: '10.0.0.1', ports: [] }, 'no service port 443 found for service "s"'],
  [{ type: 'Odd', ports }, 'unsupported service type "Odd"'],
])('at the cluster IP: %j', async (spec, expected) => {
  const addressOf = clusterAddresses(await clientWith(spec));
  if (typeof expected === 'string') expect(() => addressOf('ns', 's', 443)).toThrow(expected);
  else expect(addressOf('ns', 's', 443)).toEqual(expected);
  expect(() => addressOf('ns', 'other', 443)).toThrow('"other" not found');
});

const slice = (addressType: string, port: number, ...endpoints: object[]): object => ({ addressType, ports: [{ name: 'https', port }], endpoints });
const ready = (...addresses: string[]): object => ({ addresses, conditions: { ready: true } });

test('at an endpoint that is ready, of the first family', async () => {
  const spec = { type: 'ClusterIP', clusterIP: 'None', ports, ipFamilies: ['IPv4', 'IPv6'] };
  const slices = [
    slice('IPv6', 8443, ready('fd00::1')),
    slice('IPv4', 8443, { addresses: ['10.1.0.1'], conditions: { ready: false } }, ready('10.1.0.2', '10.9.9.9'), { addresses: ['10.1.0.3'] }),
    { addressType: 'IPv4', ports: [{ name: 'other', port: 1 }], endpoints: [ready('10.1.0.4')] },
  ];
  const client = await clientWith(spec, slices);
  const at = (chance: number): string => {
    const { host, port } = endpointAddresses(client, () => chance)('ns', 's', 443);
    return `${host} ${port}`;
  };
  expect([at(0), at(0.99)]).toEqual(['10.1.0.2 8443', '10.1.0.3 8443']);
});

test('endpoints come and go; without any there is no way', async () => {
  const client = await clientWith({ type: 'ClusterIP', ports }, []);
  const addressOf = endpointAddresses(client);
  expect(() => addressOf('ns', 's', 443)).toThrow('no endpoints available for service "s"');
  const metadata = { name: 'late', namespace: 'ns', labels: { 'kubernetes.io/service-name': 's' } };
  await client
    .resource('discovery.k8s.io', 'endpointslices')
    .create('ns', { kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1', metadata, ...slice('IPv4', 1, ready('10.1.0.1')) } as never);
  expect(addressOf('ns', 's', 443)).toEqual({ host: '10.1.0.1', port: 1 });
  await client.resource('discovery.k8s.io', 'endpointslices').delete('ns', 'late');
  expect(() => addressOf('ns', 's', 443)).toThrow('no endpoints');
});

test('this server’s own service leads back to it', async () => {
  const addressOf = withLoopback(clusterAddresses(await clientWith({ type: 'ExternalName', externalName: 'x' })), () => ({ host: '127.0.0.1', port: 6443 }));
  expect(addressOf('default', 'kubernetes', 443)).toEqual({ host: '127.0.0.1', port: 6443 });
  expect(addressOf('ns', 's', 1)).toEqual({ host: 'x', port: 1 });
});
