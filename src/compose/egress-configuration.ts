import { existsSync } from 'node:fs';
import { TEXT, decodeConfiguration, listOf, optional, structOf } from '../schema/configuration-file.ts';
import { FieldErrors } from '../api/field-errors.ts';

/** Which network a connection leads into (KEP-1281). */
export const EGRESS_NAMES = ['cluster', 'controlplane', 'etcd'] as const;
export type EgressName = (typeof EGRESS_NAMES)[number];

/** EgressSelectorConfiguration of apiserver.k8s.io as it is written, the same in both its versions. */
export interface EgressConfiguration {
  egressSelections?: EgressSelection[];
}

export interface EgressSelection {
  name?: string;
  connection?: EgressConnection;
}

export interface EgressConnection {
  proxyProtocol?: string;
  transport?: EgressTransport;
}

export interface EgressTransport {
  tcp?: TcpTransport;
  uds?: { udsName?: string };
}

export interface TcpTransport {
  url?: string;
  tlsConfig?: TlsConfiguration;
}

export interface TlsConfiguration {
  caBundle?: string;
  clientKey?: string;
  clientCert?: string;
  tlsServerName?: string;
}

const transport = structOf('v1beta1.Transport', {
  tcp: optional(
    structOf('v1beta1.TCPTransport', {
      url: TEXT,
      tlsConfig: optional(structOf('v1beta1.TLSConfig', { caBundle: TEXT, clientKey: TEXT, clientCert: TEXT, tlsServerName: TEXT })),
    }),
  ),
  uds: optional(structOf('v1beta1.UDSTransport', { udsName: TEXT })),
});

const TYPE = {
  kind: 'EgressSelectorConfiguration',
  apiVersions: ['v1beta1', 'v1alpha1'].map((version) => `apiserver.k8s.io/${version}`),
  schema: structOf('v1beta1.EgressSelectorConfiguration', {
    kind: TEXT,
    apiVersion: TEXT,
    egressSelections: listOf(
      structOf('v1beta1.EgressSelection', {
        name: TEXT,
        connection: structOf('v1beta1.Connection', { proxyProtocol: TEXT, transport: optional(transport) }),
      }),
    ),
  }),
};

/** Throws an Error where it is not such a configuration. */
export const decodeEgressConfiguration = async (text: string): Promise<EgressConfiguration> =>
  (await decodeConfiguration(text, TYPE)) as unknown as EgressConfiguration;

const PROTOCOLS = ['Direct', 'HTTPConnect', 'GRPC'];

/** All that is wrong, in upstream's words and order, and at the paths that it gives (apiserver/pkg/server/egressselector/config.go). */
export function validateEgressConfiguration({ egressSelections = [] }: EgressConfiguration): FieldErrors {
  const errors = new FieldErrors();
  const at = errors.at('service', 'connection');
  for (const { connection = {} } of egressSelections) validateConnection(connection, at);
  const seen = new Set<string>();
  for (const [index, { name = '' }] of egressSelections.entries()) {
    const canonical = name.toLowerCase();
    if (seen.has(canonical)) at.index(index).duplicate(canonical);
    else if (!EGRESS_NAMES.includes(canonical as EgressName)) at.notSupportedString(canonical, EGRESS_NAMES);
    seen.add(canonical);
  }
  return errors;
}

function validateConnection({ proxyProtocol = '', transport: way }: EgressConnection, errors: FieldErrors): void {
  switch (proxyProtocol) {
    case 'Direct':
      if (way) errors.at('transport').invalid('direct', 'config must be absent for direct connect');
      return;
    case 'HTTPConnect':
      return validateHttpConnect(way, errors);
    case 'GRPC':
      if (!way) errors.at('transport').required('transport must be set for GRPC');
      else if (way.uds) validateUds(way.uds, errors);
      // Upstream has no such way. What a proxy of mode grpc serves with certificates is reached like one of HTTPConnect.
      else if (way.tcp) validateTcp(way.tcp, errors);
      else errors.at('uds').required('UDS must be set with GRPC');
      return;
    default:
      errors.at('protocol').notSupported(proxyProtocol, PROTOCOLS);
  }
}

function validateHttpConnect(way: EgressTransport | undefined, errors: FieldErrors): void {
  if (!way) return errors.at('transport').required('transport must be set for HTTPConnect');
  const { tcp, uds } = way;
  if (tcp && uds) errors.at('tcp').invalid(tcp, 'TCP and UDS cannot both be set');
  else if (tcp) validateTcp(tcp, errors);
  else if (uds) validateUds(uds, errors);
  else errors.at('tcp').required('One of TCP or UDS must be set');
}

function validateUds({ udsName = '' }: { udsName?: string }, errors: FieldErrors): void {
  if (udsName === '') errors.at('udsName').invalid('nil', 'must be present for UDS connections');
}

function validateTcp({ url = '', tlsConfig }: TcpTransport, errors: FieldErrors): void {
  if (url.startsWith('http://')) {
    if (tlsConfig) errors.at('tlsConfig').invalid('nil', 'config must not be present when using HTTP');
  } else if (url.startsWith('https://')) validateTls(tlsConfig, errors.at('tlsConfig'));
  else errors.at('url').invalid(url, 'supported connection protocols are http:// and https://');
}

function validateTls(tls: TlsConfiguration | undefined, errors: FieldErrors): void {
  if (!tls) return errors.required('TLSConfig must be present when using HTTPS');
  const { caBundle = '', clientCert = '', clientKey = '' } = tls;
  if (caBundle !== '' && !existsSync(caBundle)) errors.at('caBundle').invalid(caBundle, 'TLS config ca bundle does not exist');
  if (clientCert === '') errors.at('clientCert').invalid('nil', 'Using TLS requires clientCert');
  else if (!existsSync(clientCert)) errors.at('clientCert').invalid(clientCert, 'TLS client cert does not exist');
  if (clientKey === '') errors.at('clientKey').invalid('nil', 'Using TLS requires requires clientKey');
  else if (!existsSync(clientKey)) errors.at('clientKey').invalid(clientKey, 'TLS client key does not exist');
}
