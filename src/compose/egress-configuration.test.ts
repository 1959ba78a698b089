import { expect, test } from 'vitest';
import { summarize } from '../api/field-errors.ts';
import { decodeEgressConfiguration, validateEgressConfiguration } from './egress-configuration.ts';

const problems = (...egressSelections: object[]): string => {
  const { list } = validateEgressConfiguration({ egressSelections });
  return list.length === 0 ? '' : summarize(list);
};
const cluster = (connection: object) => ({ name: 'cluster', connection });
const through = (transport: object) => cluster({ proxyProtocol: 'HTTPConnect', transport });
const HERE = import.meta.filename;

test('both versions are read, strictly', async () => {
  const text = (version: string, more = '') => `apiVersion: apiserver.k8s.io/${version}
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection: { proxyProtocol: HTTPConnect, transport: { uds: { udsName: /run/proxy.sock } } }
${more}`;
  for (const version of ['v1beta1', 'v1alpha1'])
    expect(await decodeEgressConfiguration(text(version))).toMatchObject({
      egressSelections: [{ name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: '/run/proxy.sock' } } } }],
    });
  await expect(decodeEgressConfiguration(text('v1'))).rejects.toThrow('no kind "EgressSelectorConfiguration" is registered for version "apiserver.k8s.io/v1"');
  await expect(decodeEgressConfiguration(text('v1beta1', 'extra: 1'))).rejects.toThrow('strict decoding error: unknown field "extra"');
});

/** Messages and paths are upstream's, as odd as some are (egressselector/config.go). */
test.each([
  ['direct', [cluster({ proxyProtocol: 'Direct' })], ''],
  ['names in any case', [{ name: 'ControlPlane', connection: { proxyProtocol: 'Direct' } }], ''],
  ['plain HTTP', [through({ tcp: { url: 'http://127.0.0.1:8131' } })], ''],
  ['TLS', [through({ tcp: { url: 'https://127.0.0.1:8131', tlsConfig: { caBundle: HERE, clientCert: HERE, clientKey: HERE } } })], ''],
  ['GRPC over UDS is well-formed', [cluster({ proxyProtocol: 'GRPC', transport: { uds: { udsName: '/x' } } })], ''],
  ['no protocol', [cluster({})], 'service.connection.protocol: Unsupported value: "": supported values: "Direct", "HTTPConnect", "GRPC"'],
  [
    'direct with a transport',
    [cluster({ proxyProtocol: 'Direct', transport: {} })],
    'service.connection.transport: Invalid value: "direct": config must be absent for direct connect',
  ],
  ['no transport', [cluster({ proxyProtocol: 'HTTPConnect' })], 'service.connection.transport: Required value: transport must be set for HTTPConnect'],
  ['neither', [through({})], 'service.connection.tcp: Required value: One of TCP or UDS must be set'],
  [
    'both',
    [through({ tcp: { url: 'http://x' }, uds: { udsName: '/x' } })],
    'service.connection.tcp: Invalid value: {"url":"http://x"}: TCP and UDS cannot both be set',
  ],
  ['no path', [through({ uds: {} })], 'service.connection.udsName: Invalid value: "nil": must be present for UDS connections'],
  ['GRPC without a transport', [cluster({ proxyProtocol: 'GRPC' })], 'service.connection.transport: Required value: transport must be set for GRPC'],
  ['GRPC over nothing', [cluster({ proxyProtocol: 'GRPC', transport: {} })], 'service.connection.uds: Required value: UDS must be set with GRPC'],
  [
    'GRPC over TCP is looked at as HTTPConnect is',
    [cluster({ proxyProtocol: 'GRPC', transport: { tcp: { url: 'https://x' } } })],
    'service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS',
  ],
  [
    'another scheme',
    [through({ tcp: { url: 'ftp://x' } })],
    'service.connection.url: Invalid value: "ftp://x": supported connection protocols are http:// and https://',
  ],
  [
    'TLS for HTTP',
    [through({ tcp: { url: 'http://x', tlsConfig: {} } })],
    'service.connection.tlsConfig: Invalid value: "nil": config must not be present when using HTTP',
  ],
  ['no TLS', [through({ tcp: { url: 'https://x' } })], 'service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS'],
  [
    'no certificate',
    [through({ tcp: { url: 'https://x', tlsConfig: {} } })],
    '[service.connection.tlsConfig.clientCert: Invalid value: "nil": Using TLS requires clientCert, service.connection.tlsConfig.clientKey: Invalid value: "nil": Using TLS requires requires clientKey]',
  ],
  [
    'files that are not there',
    [through({ tcp: { url: 'https://x', tlsConfig: { caBundle: '/no/a', clientCert: '/no/c', clientKey: '/no/k' } } })],
    '[service.connection.tlsConfig.caBundle: Invalid value: "/no/a": TLS config ca bundle does not exist, service.connection.tlsConfig.clientCert: Invalid value: "/no/c": TLS client cert does not exist, service.connection.tlsConfig.clientKey: Invalid value: "/no/k": TLS client key does not exist]',
  ],
  [
    'twice the same, and one that is none',
    [
      cluster({ proxyProtocol: 'Direct' }),
      { name: 'Cluster', connection: { proxyProtocol: 'Direct' } },
      { name: 'master', connection: { proxyProtocol: 'Direct' } },
    ],
    '[service.connection[1]: Duplicate value: "cluster", service.connection: Unsupported value: "master": supported values: "cluster", "controlplane", "etcd"]',
  ],
])('%s', (_what, selections, message) => {
  expect(problems(...selections)).toBe(message);
});
