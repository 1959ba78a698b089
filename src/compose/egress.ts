import { readFile } from 'node:fs/promises';
import type { MetricRegistry } from '../metrics/registry.ts';
import { type ConnectProxy, type DialObserver, dialThrough } from '../serving/egress/http-connect.ts';
import type { KonnectivityObserver } from '../server/egress/konnectivity.ts';
import { registerTunnelMetrics } from '../server/egress/tunnel-metrics.ts';
import { TlsDialer, type TlsTarget } from '../serving/tls-dialer.ts';
import { type Dial, dialDirectly, dialUnix, hostPort } from '../net/dial.ts';
import { summarize } from '../api/field-errors.ts';
import { quote } from '../util/go-quote.ts';
import { CommandError, orRefuse } from '../options/command-error.ts';
import {
  type EgressConnection,
  type EgressName,
  type EgressTransport,
  type TcpTransport,
  type TlsConfiguration,
  decodeEgressConfiguration,
  validateEgressConfiguration,
} from './egress-configuration.ts';

/** The ways out that --egress-selector-config-file names; where there is none, connections are made directly. */
export type Egress = Readonly<Partial<Record<EgressName, Dial>>>;

/** Of connections through proxies, and of the tunnels in which konnectivity's are. */
interface Observers {
  dials(this: void, protocol: 'http_connect' | 'grpc', transport: 'tcp' | 'uds'): DialObserver;
  tunnels: KonnectivityObserver;
}

/** Throws CommandError where the file cannot be read or used. Undefined where there is no file: nobody has said anything of ways out. */
export async function openEgress(path: string, registry: MetricRegistry): Promise<Egress | undefined> {
  if (path === '') return undefined;
  const { egressSelections = [] } = await orRefuse('failed to read egress selector config', async () => decodeEgressConfiguration(await textOf(path)));
  const errors = validateEgressConfiguration({ egressSelections });
  if (!errors.isEmpty) throw new CommandError(`failed to validate egress selector configuration: ${summarize(errors.list)}`);
  const observers = { dials: registerDialMetrics(registry), tunnels: registerTunnelMetrics(registry) };
  const dials = egressSelections.map(async ({ name = '', connection = {} }) => {
    const canonical = name.toLowerCase();
    return [canonical, await orRefuse(`failed to create dialer for egressSelection ${quote(canonical)}`, () => dialOf(connection, observers))] as const;
  });
  return Object.fromEntries(await Promise.all(dials));
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`unable to read egress selector configuration from ${quote(path)} [${(error as Error).message}]`, { cause: error });
  }
}

/** Of a connection that was found valid. */
async function dialOf({ proxyProtocol, transport = {} }: EgressConnection, observers: Observers): Promise<Dial> {
  if (proxyProtocol === 'Direct') return dialDirectly;
  const { uds, tcp } = transport;
  if (proxyProtocol === 'GRPC') return konnectivityDial(transport, observers);
  if (!uds) return dialThrough(await tcpProxy(tcp!), observers.dials('http_connect', 'tcp'));
  const { udsName: address = '' } = uds;
  return dialThrough({ address, open: (signal) => dialUnix(address, signal) }, observers.dials('http_connect', 'uds'));
}

/** Most servers have no konnectivity, and need not load what it takes. Upstream speaks it on sockets of the file system alone. */
async function konnectivityDial({ uds, tcp }: EgressTransport, { dials, tunnels }: Observers): Promise<Dial> {
  const { dialKonnectivity } = await import('../server/egress/konnectivity.ts');
  if (!uds) {
    const { address, open } = await tcpProxy(tcp!, ['h2']);
    return dialKonnectivity({ authority: address, hasTls: tcp!.tlsConfig !== undefined, open }, { dials: dials('grpc', 'tcp'), tunnels });
  }
  const { udsName = '' } = uds;
  return dialKonnectivity({ authority: 'localhost', hasTls: false, open: (signal) => dialUnix(udsName, signal) }, { dials: dials('grpc', 'uds'), tunnels });
}

async function tcpProxy({ url = '', tlsConfig }: TcpTransport, protocols: readonly string[] = []): Promise<ConnectProxy> {
  if (!URL.canParse(url)) throw new Error(`invalid proxy server url ${quote(url)}`);
  const { hostname, port: written, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const port = written === '' ? DEFAULT_PORTS[protocol]! : Number(written);
  const address = hostPort(host, port);
  if (!tlsConfig) return { address, open: (signal) => dialDirectly(host, port, signal) };
  const dialer = new TlsDialer(dialDirectly, await tlsTarget(tlsConfig));
  return { address, open: (signal) => dialer.connect(host, port, { protocols, signal }) };
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

async function tlsTarget({ caBundle = '', clientCert = '', clientKey = '', tlsServerName = '' }: TlsConfiguration): Promise<TlsTarget> {
  const [certPem, keyPem] = await Promise.all([readFile(clientCert, 'utf8'), readFile(clientKey, 'utf8')]);
  return {
    clientCertificate: { certPem, keyPem },
    ...(caBundle !== '' && { caPem: await readFile(caBundle, 'utf8') }),
    ...(tlsServerName !== '' && { serverName: tlsServerName }),
  };
}

/** apiserver/pkg/server/egressselector/metrics */
function registerDialMetrics(registry: MetricRegistry): Observers['dials'] {
  const starts = registry.family('apiserver_egress_dialer_dial_start_total');
  const latencies = registry.family('apiserver_egress_dialer_dial_duration_seconds');
  const failures = registry.family('apiserver_egress_dialer_dial_failure_count');
  return (protocol, transport) => ({
    onStart: () => starts.with(protocol, transport).inc(),
    onFailure: (stage) => failures.with(protocol, transport, stage).inc(),
    onSuccess: (durationMs) => latencies.with(protocol, transport).observe(durationMs / 1000),
  });
}
