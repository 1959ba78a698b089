import type { OutgoingHttpHeaders } from 'node:http';
import type { APIService } from '../apis/facts/types/apiregistration-v1.ts';
import type { HostAndPort, ServiceAddress } from '../client/service-address.ts';
import type { Handler, ServerRequest } from '../endpoints/request.ts';
import { writeTextError } from '../server/filters/write-error.ts';
import type { KeyPair } from '../serving/certificates/pem.ts';
import type { TlsTarget } from '../serving/tls-dialer.ts';
import type { WeakCertificateListener } from '../serving/weak-certificates.ts';
import { type Fetched, fetchWhole } from '../serving/proxy/fetch.ts';
import { type BackendCall, Transport } from '../serving/proxy/transport.ts';
import type { Dial } from '../net/dial.ts';
import { equalJson } from '../encoding/json-equal.ts';
import type { User } from '../api/user.ts';
import { identityHeaders } from './identity-headers.ts';
import { proxyRequest } from './proxy-request.ts';

/** How other API servers are reached, whichever it is. */
export interface RemoteEnvironment {
  /** Told of requests that are answered 503. */
  onRefused?(request: ServerRequest): void;
  addressOf: ServiceAddress;
  dial?: Dial | undefined;
  onWeakCertificate?: WeakCertificateListener;
  /** `--proxy-client-cert-file`: by it they know that the identity in our headers is true. */
  clientCertificate(): KeyPair | undefined;
  /** `--aggregator-reject-forwarding-redirect` */
  rejectsRedirects: boolean;
  /** The gate RemoteRequestHeaderUID. */
  sendsUid: boolean;
}

export interface FetchOptions {
  user: User;
  /** GET where absent. */
  method?: string;
  body?: Buffer | undefined;
  headers?: OutgoingHttpHeaders;
  timeoutMs: number;
  limitBytes?: number;
  wantsStatusOnly?: boolean;
}

const DISCOVERY_TIMEOUT_MS = 5_000;
const MAX_FETCHED_BYTES = 64 << 20;

/** One group-version that another server serves: the way there, and whether it is open (kube-aggregator/pkg/apiserver/handler_proxy.go). */
export class RemoteApi {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly #environment: RemoteEnvironment;
  readonly #onUnreachable: (name: string) => void;
  #service: APIService;
  #isAvailable: boolean;
  #tls: TlsTarget;
  #transport: Transport;

  /** `service` has a `spec.service`. `onUnreachable` is called with requests that found nobody. */
  constructor(service: APIService, environment: RemoteEnvironment, onUnreachable: (name: string) => void) {
    this.name = service.metadata.name!;
    this.group = service.spec.group ?? '';
    this.version = service.spec.version ?? '';
    this.#environment = environment;
    this.#onUnreachable = onUnreachable;
    this.#service = service;
    this.#isAvailable = isAvailable(service);
    this.#tls = this.#tlsTarget();
    this.#transport = this.#openTransport();
  }

  get service(): APIService {
    return this.#service;
  }

  get isAvailable(): boolean {
    return this.#isAvailable;
  }

  /** Connections are kept where the server must prove the same, and we to it. */
  update(service: APIService): void {
    this.#service = service;
    this.#isAvailable = isAvailable(service);
    this.refreshTls();
  }

  /** After a change of our own certificate. What is under way ends on the old connections. */
  refreshTls(): void {
    const tls = this.#tlsTarget();
    if (equalJson(tls, this.#tls)) return;
    this.#tls = tls;
    this.#transport.retire();
    this.#transport = this.#openTransport();
  }

  #openTransport(): Transport {
    const { dial, onWeakCertificate } = this.#environment;
    return new Transport({ dial, tls: this.#tls, onWeakCertificate });
  }

  /** It is registered no more. What is under way may end. */
  retire(): void {
    this.#transport.retire();
  }

  close(): void {
    this.#transport.close();
  }

  /** Throws an Error that says why nobody can be reached. */
  address(): HostAndPort {
    const { namespace = '', name = '', port = 443 } = this.#service.spec.service!;
    return this.#environment.addressOf(namespace, name, port);
  }

  /** Asks as one of our own users, and reads the whole answer. Throws where none comes. */
  fetch(path: string, { user, headers = {}, limitBytes = MAX_FETCHED_BYTES, ...more }: FetchOptions, address = this.address()): Promise<Fetched> {
    const all = { ...headers, ...identityHeaders(user, this.#environment.sendsUid) };
    return fetchWhole(this.#transport, { ...address, path, headers: all, limitBytes, ...more });
  }

  /** GETs something that goes on, as one of our own users. */
  stream(path: string, { user, headers }: Pick<FetchOptions, 'user'> & { headers: OutgoingHttpHeaders }): BackendCall {
    const all = { ...headers, ...identityHeaders(user, this.#environment.sendsUid) };
    return this.#transport.send({ ...this.address(), path, method: 'GET', headers: all });
  }

  /** A connection that turned out dead is not tried again. */
  closeIdle(): void {
    this.#transport.closeIdle();
  }

  readonly handle: Handler = (request) => {
    if (!this.#isAvailable) return this.#refuse(request, 'service unavailable');
    let address: HostAndPort;
    try {
      address = this.address();
    } catch {
      return this.#refuse(request, 'service unavailable');
    }
    return this.#proxy(request, address).catch((error: Error) => {
      this.#onUnreachable(this.name);
      this.#refuse(request, error.message);
    });
  };

  #refuse(request: ServerRequest, message: string): void {
    this.#environment.onRefused?.(request);
    writeTextError(request, 503, message);
  }

  /** Rejects where no answer comes. */
  #proxy(request: ServerRequest, address: HostAndPort): Promise<void> {
    const { info } = request;
    // Clients ask every server for its resources: a slow one must not hold them up.
    const isDiscovery = !info.isResourceRequest && isGroupVersionPath(info.path);
    const { sendsUid, rejectsRedirects } = this.#environment;
    return proxyRequest(
      request,
      { transport: this.#transport, ...address },
      { sendsUid, rejectsRedirects, ...(isDiscovery && { timeoutMs: DISCOVERY_TIMEOUT_MS }) },
    );
  }

  #tlsTarget(): TlsTarget {
    const { caBundle = '', insecureSkipTLSVerify = false, service } = this.#service.spec;
    return {
      serverName: `${service!.name}.${service!.namespace}.svc`,
      isUnverified: insecureSkipTLSVerify,
      clientCertificate: this.#environment.clientCertificate(),
      ...(caBundle !== '' && { caPem: Buffer.from(caBundle, 'base64').toString() }),
    };
  }
}

const isAvailable = ({ status }: APIService): boolean =>
  status.conditions?.some((condition) => condition.type === 'Available' && condition.status === 'True') ?? false;

const isGroupVersionPath = (path: string): boolean => /^\/*[^/]+\/[^/]*\/[^/]+\/*$/.test(path);
