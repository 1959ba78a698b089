import type { HostAndPort } from '../../client/service-address.ts';
import type { RequestInfo } from '../../endpoints/request.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';
import { type Dial } from '../../net/dial.ts';
import { ALL_AUTHENTICATED, type User } from '../../api/user.ts';
import { serviceUnavailable } from '../../api/errors.ts';
import type { Filter, RequestHandler } from '../../server/filters/filter.ts';
import type { IncomingRequest } from '../../server/server-request.ts';
import { writeTextError } from '../../server/filters/write-error.ts';
import { type Fetched, fetchWhole } from '../../serving/proxy/fetch.ts';
import { Transport } from '../../serving/proxy/transport.ts';
import type { TlsTarget } from '../../serving/tls-dialer.ts';
import { identityHeaders } from '../identity-headers.ts';
import { proxyRequest } from '../proxy-request.ts';
import type { PeerDiscovery } from './peer-discovery.ts';

/** A request that has come from another server is served by this one, or by none. */
const PROXIED = 'x-kubernetes-peer-proxied';
const USER: User = { name: 'system:apiserver', uid: 'system:apiserver', groups: [ALL_AUTHENTICATED] };
const LIST_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** What the server serves itself, where it knows the difference. */
const ACCEPT = `${LIST_TYPE};profile=nopeer,${LIST_TYPE},application/json`;
const DISCOVERY_TIMEOUT_MS = 10_000;
const MAX_DISCOVERY_BYTES = 16 << 20;

export interface PeerProxyOptions {
  /** How they prove who they are, and we to them; asked anew after `refreshTls`. */
  tls(): TlsTarget;
  dial?: Dial | undefined;
  addressOf(identity: string): Promise<HostAndPort | undefined>;
  /** Whether this server has a resource, whatever the path to it. */
  isServedHere(info: RequestInfo): boolean;
  metrics: MetricRegistry;
  random?: () => number;
}

/** Sends requests for resources that only other servers of the cluster have to one of them (apiserver/pkg/util/peerproxy/peerproxy_handler.go). */
export class PeerProxy {
  readonly #options: PeerProxyOptions;
  #transport: Transport;

  constructor(options: PeerProxyOptions) {
    this.#options = options;
    this.#transport = this.#openTransport();
  }

  /** After a change of certificates. What is under way ends on the old connections. */
  refreshTls(): void {
    this.#transport.retire();
    this.#transport = this.#openTransport();
  }

  close(): void {
    this.#transport.close();
  }

  /** `peers` is empty until it is known what there is. */
  filter(peers: Pick<PeerDiscovery, 'isEmpty' | 'serving'>): Filter {
    return (next: RequestHandler) => (request) => {
      const { info, exchange } = request;
      if (peers.isEmpty || !info.isResourceRequest || exchange.headers[PROXIED] === 'true' || this.#options.isServedHere(info)) return next(request);
      const serving = peers.serving(info);
      return serving.length === 0 ? next(request) : this.#proxy(request, serving);
    };
  }

  async fetch(address: HostAndPort, path: string): Promise<Fetched> {
    const headers = { accept: ACCEPT, [PROXIED]: 'true', ...identityHeaders(USER, true) };
    try {
      const fetched = await fetchWhole(this.#transport, { ...address, path, headers, timeoutMs: DISCOVERY_TIMEOUT_MS, limitBytes: MAX_DISCOVERY_BYTES });
      this.#count(fetched.status);
      return fetched;
    } catch (error) {
      this.#count(503);
      throw error;
    }
  }

  async #proxy(request: IncomingRequest, peers: readonly string[]): Promise<void> {
    const { info } = request;
    const addresses = await this.#addresses(peers);
    if (addresses.length === 0) {
      this.#options.metrics.family('apiserver_peer_proxy_errors_total').with('endpoint_resolution', info.apiGroup, info.apiVersion, info.resource).inc();
      throw serviceUnavailable('Error getting ip and port info of the remote server while proxying');
    }
    const address = addresses[Math.floor((this.#options.random ?? Math.random)() * addresses.length)]!;
    const onStatus = (status: number): void => this.#count(status, info);
    try {
      await proxyRequest(
        request,
        { transport: this.#transport, ...address },
        { sendsUid: true, rejectsRedirects: false, headers: { [PROXIED]: 'true' }, onStatus },
      );
    } catch (error) {
      onStatus(503);
      writeTextError(request, 503, (error as Error).message);
    }
  }

  async #addresses(peers: readonly string[]): Promise<HostAndPort[]> {
    const found = await Promise.all(peers.map((peer) => this.#options.addressOf(peer).catch(() => undefined)));
    return found.filter((address) => address !== undefined);
  }

  /** Without a resource: a question of our own for what is served. */
  #count(status: number, { apiGroup = '', apiVersion = '', resource = '' }: Partial<RequestInfo> = {}): void {
    this.#options.metrics.family('apiserver_rerouted_request_total').with(String(status), apiGroup, apiVersion, resource).inc();
  }

  #openTransport(): Transport {
    return new Transport({ dial: this.#options.dial, tls: this.#options.tls() });
  }
}
