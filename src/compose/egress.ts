import { readFile } from 'node:fs/promises';
import type { MetricRegistry } from '../metrics/registry.ts';
import { type ConnectProxy, type DialObserver, dialThrough } from '../serving/egress/http-connect.ts';
import { TlsDialer, type TlsTarget } from '../serving/tls-dialer.ts';
import { type Dial, dialDirectly, dialUnix, hostPort } from '../net/dial.ts';
import { summarize } from '../api/field-errors.ts';
import { quote } from '../util/go-quote.ts';
import { CommandError } from '../options/command-error.ts';
import {
  type EgressConnection,
  type EgressName,
  type TcpTransport,
  type TlsConfiguration,
  decodeEgressConfiguration,
  validateEgressConfiguration,
} from './egress-configuration.ts';

/** The ways out that --egress-selector-config-file names; where there is none, connections are made directly. */
export type Egress = Readonly<Partial<Record<EgressName, Dial>>>;

type ObserverFor = (transport: 'tcp' | 'uds') => DialObserver;

/** Throws CommandError where the file cannot be read or used. Undefined where there is no file: nobody has said anything of ways out. */
export async function openEgress(path: string, registry: MetricRegistry): Promise<Egress | undefined> {
  if (path === '') return undefined;
  const { egressSelections = [] } = await orRefuse('failed to read egress selector config', async () => decodeEgressConfiguration(await textOf(path)));
  const errors = validateEgressConfiguration({ egressSelections });
  if (!errors.isEmpty) throw new CommandError(`failed to validate egress selector configuration: ${summarize(errors.list)}`);
  const observerFor = registerDialMetrics(registry);
  const dials = egressSelections.map(async ({ name = '', connection = {} }) => {
    const canonical = name.toLowerCase();
    return [canonical, await orRefuse(`failed to create dialer for egressSelection ${quote(canonical)}`, () => dialOf(connection, observerFor))] as const;
  });
  return Object.fromEntries(await Promise.all(dials));
}

async function orRefuse<T>(what: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw new CommandError(`${what}: ${(error as Error).message}`);
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`unable to read egress selector configuration from ${quote(path)} [${(error as Error).message}]`, { cause: error });
  }
}

/** Of a connection that was found valid. */
async function dialOf({ proxyProtocol, transport = {} }: EgressConnection, observerFor: ObserverFor): Promise<Dial> {
  if (proxyProtocol === 'Direct') return dialDirectly;
  if (proxyProtocol === 'GRPC') throw new Error('the protocol GRPC of konnectivity is not supported by this server; HTTPConnect is, over TCP and UDS');
  const { uds, tcp } = transport;
  if (!uds) return dialThrough(await tcpProxy(tcp!), observerFor('tcp'));
  const { udsName: address = '' } = uds;
  return dialThrough({ address, open: (signal) => dialUnix(address, signal) }, observerFor('uds'));
}

async function tcpProxy({ url = '', tlsConfig }: TcpTransport): Promise<ConnectProxy> {
  if (!URL.canParse(url)) throw new Error(`invalid proxy server url ${quote(url)}`);
  const { hostname, port: written, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const port = written === '' ? DEFAULT_PORTS[protocol]! : Number(written);
  const address = hostPort(host, port);
  if (!tlsConfig) return { address, open: (signal) => dialDirectly(host, port, signal) };
  const dialer = new TlsDialer(dialDirectly, await tlsTarget(tlsConfig));
  return { address, open: (signal) => dialer.connect(host, port, { protocols: [], signal }) };
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

const PROTOCOL = 'http_connect';

/** apiserver/pkg/server/egressselector/metrics */
function registerDialMetrics(registry: MetricRegistry): ObserverFor {
  const starts = registry.family('apiserver_egress_dialer_dial_start_total');
  const latencies = registry.family('apiserver_egress_dialer_dial_duration_seconds');
  const failures = registry.family('apiserver_egress_dialer_dial_failure_count');
  return (transport) => ({
    onStart: () => starts.with(PROTOCOL, transport).inc(),
    onFailure: (stage) => failures.with(PROTOCOL, transport, stage).inc(),
    onSuccess: (durationMs) => latencies.with(PROTOCOL, transport).observe(durationMs / 1000),
  });
}
